"""The environments that Heft is developed in: which packages, where, and how they are made.

Owns what must be on a machine before anything can run. Must not know what is run in them.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WINDOWS = os.name == "nt"


class Missing(Exception):
    """Something this machine lacks; the message says what and how to get it."""


NUMBA = ("numba==0.68.1", "llvmlite==0.50.0")
SCIPY_311 = "scipy==1.15.3"  # the last one for the numpy that Blender 4.2 ships
PYTEST = ("pytest==9.0.3", "hypothesis==6.170.15")


@dataclass(frozen=True)
class Env:
    """A virtual environment: a Python and exactly these packages."""

    name: str
    requirements: tuple[str, ...]
    python_version: str = "3.11"

    @property
    def folder(self) -> Path:
        content = "\n".join((self.python_version, platform.machine(), *self.requirements))
        return cache_folder() / f"{self.name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if WINDOWS else "bin/python")


ENGINE = Env("engine", ("numpy==2.4.6", "scipy==1.17.1", *NUMBA, "mujoco==4.0.0", *PYTEST, "ruff==0.17.4"))
# One a Blender version, with the numpy that it ships.
BLENDER = {
    "4.2": Env("blender-4.2", ("bpy==4.2.23", "numpy==1.24.3", SCIPY_311, *NUMBA, *PYTEST)),
    "4.5": Env("blender-4.5", ("bpy==4.5.15", "numpy==1.26.4", SCIPY_311, *NUMBA, *PYTEST)),
    "5.0": Env("blender-5.0", ("bpy==5.0.1", "numpy==1.26.4", SCIPY_311, *NUMBA, *PYTEST, "pillow==13.0.0")),
}
# Blender as it is delivered, without numba and scipy: what the packaged zip must live in.
BARE = Env("blender-5.0-bare", ("bpy==5.0.1", "numpy==1.26.4"))


def cache_folder() -> Path:
    if os.environ.get("HEFT_ENVS"):
        return Path(os.environ["HEFT_ENVS"]).resolve()
    if WINDOWS:
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "heft-dev"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/heft-dev"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heft-dev"


def find_python(version: str) -> str:
    """The command of a Python of that minor version."""
    candidates = [[os.environ["HEFT_PYTHON"]]] if os.environ.get("HEFT_PYTHON") else []
    candidates += [[sys.executable], [f"python{version}"]]
    candidates += [[str(path)] for path in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
    if WINDOWS:
        candidates.append(["py", f"-{version}"])
    if shutil.which("uv"):
        candidates.append(["uv", "run", "--no-project", "--python", version, "python"])
    ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    for command in candidates:
        try:
            answer = subprocess.run([*command, "-c", ask], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        found, path = answer.strip().split(" ", 1)
        if found == version:
            return path
    raise Missing(
        f"No Python {version} here, and Blender's module bpy runs on no other. Install it (python.org, "
        f"`apt install python{version} python{version}-venv`, `pyenv install {version}` or `uv python install "
        f"{version}`) or name one in HEFT_PYTHON, then run this again."
    )


_making = threading.Lock()


def ensure(env: Env) -> Path:
    """The environment's Python, made first where it is not there yet."""
    with _making:
        return _ensure(env)


def _ensure(env: Env) -> Path:
    if not env.python.exists():
        say(f"setting up {env.name} (once): {', '.join(env.requirements)}")
        base = find_python(env.python_version)
        env.folder.parent.mkdir(parents=True, exist_ok=True)
        # Built aside and renamed: an interrupted or concurrent set-up never leaves half an environment.
        part = Path(tempfile.mkdtemp(prefix=f".{env.name}-", dir=env.folder.parent))
        try:
            python = part / env.python.relative_to(env.folder)
            quietly([base, "-m", "venv", part], f"Python {env.python_version} cannot make a virtual environment")
            quietly([python, "-m", "pip", "install", *env.requirements], f"{env.name} could not be installed")
            try:
                part.rename(env.folder)
            except OSError:
                if not env.python.exists():
                    raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    if any(requirement.startswith("bpy==") for requirement in env.requirements):
        ensure_system_libraries(env)
    return env.python


def quietly(command: list, failure: str) -> None:
    """Run, and show the output only if it fails."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Missing(f"{failure}:\n{done.stdout}")


# What bpy links to or loads (libEGL: Workbench pictures) beyond a minimal Debian or Ubuntu.
SYSTEM_PACKAGES = (
    "libegl1 libgl1 libgl1-mesa-dri libgomp1 libice6 libsm6 libx11-6 libxext6 libxfixes3 libxi6 libxkbcommon0 "
    "libxrender1 libxxf86vm1"
)


def missing_system_libraries(env: Env) -> list[str]:
    """Shared libraries that bpy asks for and the system does not have."""
    module = next(env.folder.glob("lib/python*/site-packages/bpy/__init__*.so"), None)
    if module is None or not shutil.which("ldd"):
        return []
    lines = subprocess.run(["ldd", module], capture_output=True, text=True).stdout.splitlines()
    return sorted({line.split()[0] for line in lines if "not found" in line})


def ensure_system_libraries(env: Env) -> None:
    if not sys.platform.startswith("linux"):
        return
    missing = missing_system_libraries(env)
    if not missing and has_egl():
        return
    what = ", ".join(missing) or "libEGL.so.1"
    command = f"apt-get install -y --no-install-recommends {SYSTEM_PACKAGES}"
    if os.geteuid() == 0 and shutil.which("apt-get"):
        say(f"installing what Blender needs of the system ({what})")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for step in ("apt-get update", command):
            subprocess.run(step.split(), stdin=subprocess.DEVNULL, capture_output=True, env=environment)
        missing = missing_system_libraries(env)
    if missing:
        raise Missing(f"{env.name} lacks {', '.join(missing)}. On Debian or Ubuntu:\n    sudo {command}")
    if not has_egl():
        say(f"no libEGL.so.1: pictures will be rendered by Cycles, slowly. For Workbench:\n    sudo {command}")


def has_egl() -> bool:
    listed = subprocess.run(["sh", "-c", "PATH=$PATH:/sbin ldconfig -p"], capture_output=True, text=True).stdout
    return "libEGL.so.1" in listed


def environment_variables() -> dict[str, str]:
    """The caller's, with the project importable and nothing of another Python leaking in."""
    variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONHOME", "VIRTUAL_ENV")}
    return {**variables, "PYTHONPATH": str(ROOT), "PYTHONNOUSERSITE": "1"}


def run(env: Env, *arguments) -> int:
    """Run the environment's Python in the project's root."""
    command = [str(ensure(env)), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=environment_variables()).returncode


def say(text: str) -> None:
    print(f"dev: {text}", flush=True)
