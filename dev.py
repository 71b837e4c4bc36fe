#!/usr/bin/env python3
"""Heft's chores, each with all its set-up:

    python3 dev.py demo                 bake a sample scene without a window, into out/
    python3 dev.py test [SUITE…] [-k…]  lint and tests (suites: engine 4.2 4.5 5.0 package window real); what is the
                                        same in all Blenders is left to the newest, unless a suite is named
    python3 dev.py bench [engine|addon] how fast it is, in ratios
    python3 dev.py bench panel          how long the sidebar takes to draw, on 74 and 700 bones
    python3 dev.py bench window [4.3]   what a drag waits for in a real window (5.2 unless told), undo memory, and what
                                        drawing the panels of 700 bones takes there
    python3 dev.py bench posing         what a motion of the mouse takes in Pull Pose
    python3 dev.py bench on_time        who is on time: On Time beside other laws, a table and out/on_time.svg
    python3 dev.py bench overlays [4.3|5.2]  what overlays cost while playing, in the real window
    python3 dev.py rigs [4.2|4.5|5.0]   every real rig through Heft and back: a table, also as out/rigs.md
    python3 dev.py rigs wild [COUNT]    random rigs, 2000 unless told, in each of these Blenders
    python3 dev.py package [--all]      the extension zips, into dist/
    python3 dev.py scenes [NAME…]       rebuild the sample scenes
    python3 dev.py pictures [NAME…]     render all that README and manual show, or these scenes and figures of it

Standard library only. Environments are made once, under the user's cache folder
(or $HEFT_ENVS), and named after what is in them; nothing else is installed,
save Blender's system libraries where this runs as root on Debian. With HEFT_SET_UP_BLENDER=1
the Blenders of the suites `window` and `real` are set up too, beside the other suites.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent
WINDOWS = os.name == "nt"


class Missing(Exception):
    """Something this machine lacks; the message says what and how to get it."""


# --- Environments ---------------------------------------------------------------------------------

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


# --- real Blenders --------------------------------------------------------------------------------

# Blenders that PyPI does not have, with their windows: run by a tool beside the project, where there is one. It sets
# each up once on a machine, which takes minutes, most of them of the network. By version: the Debian it comes from.
REAL_BLENDER = Path(os.environ.get("HEFT_REAL_BLENDER") or ROOT.parent / "shared" / "tools" / "real-blender")
REAL = {"4.3": "trixie", "5.2": "sid"}
LONGEST_SET_UP = 900.0  # [s]


def real_folder() -> Path:
    """Where the tool keeps what it has set up."""
    return Path(os.environ.get("REAL_BLENDER_DIR") or "/var/cache/real-blender")


def why_no_tool() -> str | None:
    """Why no real Blender can be run here, if so."""
    if not REAL_BLENDER.exists():
        return f"no real Blender here: {REAL_BLENDER} is missing (or name one like it in HEFT_REAL_BLENDER)"
    if shutil.which("apt-get") is None:
        return f"{REAL_BLENDER.name} works on Debian only"
    if os.geteuid() != 0:
        return "a real Blender of its own needs root, to mount its folders"
    return None


def why_not_real(version: str) -> str | None:
    """Why this Blender cannot be run here, if so."""
    reason = why_no_tool()
    if reason or (real_folder() / REAL[version] / ".ready").exists():
        return reason
    failed = os.environ.get("HEFT_SET_UP_PROBLEM")
    if failed:
        return f"Blender {version} could not be set up: {failed}"
    return f"Blender {version} is not set up here: `{REAL_BLENDER.name} install {version}`, or HEFT_SET_UP_BLENDER=1"


class SetUp:
    """Sets up the real Blenders in the background, where that was asked for and is not done yet.

    The tool builds aside and renames, so that what is interrupted is no half Blender; but two of it at a time would
    undo one another. So each holds a lock until its last process is gone, also one whose dev.py is gone.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
        self._stopped = False
        self._starting = threading.Lock()  # what is being started is there to be ended, or is not started
        self._thread = threading.Thread(target=self._work, daemon=True)
        if os.environ.get("HEFT_SET_UP_BLENDER") and why_no_tool() is None and any(map(why_not_real, REAL)):
            say(f"setting up Blender {' and '.join(REAL)} beside the other suites (once)")
            self._thread.start()

    def wait(self) -> None:
        """Until all is set up, or it is known why not."""
        if self._thread.ident is not None:
            self._thread.join()

    def stop(self) -> None:
        """End it, finished or not."""
        with self._starting:
            self._stopped = True
            if self._process is not None and self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGTERM)
        self.wait()

    def _work(self) -> None:
        import fcntl  # absent on Windows, where the tool is too

        start = time.monotonic()
        real_folder().mkdir(parents=True, exist_ok=True)
        with open(real_folder() / ".heft-lock", "w") as lock, tempfile.TemporaryFile("w+") as told:
            while not self._stopped and time.monotonic() < start + LONGEST_SET_UP:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(0.2)
            else:
                os.environ["HEFT_SET_UP_PROBLEM"] = "another set-up did not end"
                return
            for version in REAL:
                if why_not_real(version) is None:
                    continue
                command = [str(REAL_BLENDER), "install", version]
                with self._starting:
                    if self._stopped:
                        break
                    self._process = subprocess.Popen(
                        command, stdin=subprocess.DEVNULL, stdout=told, stderr=told, pass_fds=[lock.fileno()],
                        start_new_session=True,
                    )  # fmt: skip
                try:
                    code = self._process.wait(max(LONGEST_SET_UP - (time.monotonic() - start), 1.0))
                except subprocess.TimeoutExpired:
                    os.killpg(self._process.pid, signal.SIGTERM)
                    code = f"nothing after {LONGEST_SET_UP / 60:.0f} minutes"
                if code:
                    told.seek(0)
                    last = " ".join(told.read().split())[-300:]
                    os.environ["HEFT_SET_UP_PROBLEM"] = f"`{' '.join(command[-2:])}` ended with {code} {last}".strip()
                    break
        say(f"real Blenders: {os.environ.get('HEFT_SET_UP_PROBLEM', 'set up')}, {time.monotonic() - start:.0f} s")


# --- test -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Suite:
    """One pytest run; paths that do not exist are left out. A real one needs the real Blenders."""

    name: str
    env: Env
    paths: tuple[str, ...]
    real: bool = False


BLENDER_TESTS = ("tests/addon", "tests/test_sample_scenes.py")
# Two at a time: long ones first, and those in windows when the real Blenders are set up beside the first.
SUITES = (
    Suite("4.2", BLENDER["4.2"], BLENDER_TESTS),
    Suite("engine", ENGINE, ("tests/engine", "tests/test_dev.py", "tests/test_manual.py")),
    Suite("window-5.2", ENGINE, ("tests/gui",), real=True),
    Suite("5.0", BLENDER["5.0"], BLENDER_TESTS),
    Suite("4.5", BLENDER["4.5"], BLENDER_TESTS),
    Suite("window-4.3", ENGINE, ("tests/gui",), real=True),
    Suite("real", ENGINE, ("tests/test_real_blender.py",), real=True),
    Suite("package", ENGINE, ("tests/test_package.py",)),
)
# How a line of a suite ends that tells of a test that failed and is tried once more (`tests/gui`).
TRIED_AGAIN = "and is tried again"
# pytest's words and their order in its closing line.
OUTCOMES = ("failed", "passed", "skipped", "error")


def run_suite(suite: Suite, pytest_arguments: list[str], wordy: bool, named: bool = False) -> dict[str, int]:
    """How many tests had which outcome; a run that died counts as one error. Wordy: show all that pytest said. Named:
    the suite was asked for, so that nothing is left to other suites."""
    start = time.monotonic()
    paths = [path for path in suite.paths if (ROOT / path).exists()]
    if not paths:
        raise Missing(f"None of {', '.join(suite.paths)} is here.")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [suite.env.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        command += ["-c", "tests/pytest.ini", "--rootdir=.", *pytest_arguments, *paths]
        done = subprocess.run(
            [str(part) for part in command],
            cwd=ROOT,
            env={**environment_variables(), "HEFT_TEST_SUITE": suite.name, "HEFT_TEST_ALL": "1" if named else ""},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        counts = count_outcomes(report)
    no_tests_chosen = done.returncode == 5
    if done.returncode and not no_tests_chosen and not counts["failed"] + counts["error"]:
        counts["error"] = 1
    if wordy or counts["failed"] + counts["error"]:
        print(done.stdout, flush=True)
    else:  # the reasons of skips, and of second tries, stay readable
        for line in done.stdout.splitlines():
            if line.startswith("SKIPPED") or line.endswith(TRIED_AGAIN):
                print(f"    {line}", flush=True)
    verdict = "FAILED" if counts["failed"] + counts["error"] else "ok"
    say(f"{suite.name} {verdict} – {outcome_text(counts)} in {time.monotonic() - start:.1f} s")
    return counts


def count_outcomes(report: Path) -> dict[str, int]:
    counts = dict.fromkeys(OUTCOMES, 0)
    if not report.exists():
        return {**counts, "error": 1}
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        failed, errors, skipped = (int(suite.get(key, 0)) for key in ("failures", "errors", "skipped"))
        counts["failed"] += failed
        counts["error"] += errors
        counts["skipped"] += skipped
        counts["passed"] += int(suite.get("tests", 0)) - failed - errors - skipped
    return counts


def outcome_text(counts: dict[str, int]) -> str:
    plural = {"error": "errors"} if counts["error"] > 1 else {}
    return ", ".join(f"{counts[word]} {plural.get(word, word)}" for word in OUTCOMES if counts[word]) or "no tests ran"


def test(arguments: list[str]) -> int:
    names = {suite.name for suite in SUITES} | {suite.name.partition("-")[0] for suite in SUITES}
    chosen = [argument for argument in arguments if argument in names]
    pytest_arguments = [argument for argument in arguments if argument not in names]
    suites = [s for s in SUITES if not chosen or {s.name, s.name.partition("-")[0]} & set(chosen)]
    start = time.monotonic()
    totals = dict.fromkeys(OUTCOMES, 0)
    # The other environments are made when their suites begin, beside those that run. One Blender's may ask the package
    # manager, which setting up the real ones asks too.
    real = any(suite.real for suite in suites)
    first = BLENDER["5.0"] if real else ENGINE
    for env in (ENGINE, next((suite.env for suite in suites if suite.env is not ENGINE), first)):
        ensure(env)
    set_up = SetUp() if real else None

    def counted(suite: Suite) -> dict[str, int]:
        ensure(suite.env)
        if suite.real:
            ensure(BLENDER["5.0"])  # builds the zip that they install
            set_up.wait()
        return run_suite(suite, pytest_arguments, len(suites) == 1, bool(chosen))

    try:
        if run(ENGINE, "-m", "ruff", "check", "--quiet", "."):
            totals["error"] += 1
            say("ruff FAILED")
        with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
            for counts in pool.map(counted, suites):
                for word in OUTCOMES:
                    totals[word] += counts[word]
    finally:
        if set_up is not None:
            set_up.stop()
    print(f"=== {outcome_text(totals)} in {time.monotonic() - start:.2f}s ===", flush=True)
    return int(bool(totals["failed"] or totals["error"] or not totals["passed"]))


# --- package --------------------------------------------------------------------------------------

# The platforms of pip whose wheels run where Blender of that name runs.
WHEEL_PLATFORMS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_12_0_arm64", "macosx_11_0_arm64"),
    "macos-x64": ("macosx_12_0_x86_64", "macosx_10_15_x86_64", "macosx_10_14_x86_64", "macosx_10_13_x86_64"),
}


@dataclass(frozen=True)
class Zip:
    """One extension zip: the Blenders of one Python on one platform, and their wheels."""

    platform: str
    python_version: str
    blender_min: str
    blender_max: str | None  # the first Blender that it is not for
    wheels: tuple[str, ...]

    @property
    def path(self) -> Path:
        return ROOT / "dist" / f"heft-{heft_version()}-py{self.python_version}-{self.platform}.zip"


def zips() -> list[Zip]:
    """All zips. Intel Macs end with Blender 4.5 and numba 0.62. Blender's own builds from 5.1 have Python 3.13,
    Debian's 5.2 has 3.14: Blender tells these two apart by the wheels' Python tag."""
    found = [Zip("macos-x64", "3.11", "4.2.0", "5.0.0", ("numba==0.62.1", "llvmlite==0.45.1", SCIPY_311))]
    for name in ("linux-x64", "windows-x64", "macos-arm64"):
        found.append(Zip(name, "3.11", "4.2.0", "5.1.0", (*NUMBA, SCIPY_311)))
        found.append(Zip(name, "3.13", "5.1.0", None, (*NUMBA, "scipy==1.17.1")))
    found.append(Zip("linux-x64", "3.14", "5.2.0", None, (*NUMBA, "scipy==1.17.1")))
    return found


def this_platform() -> str:
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    return f"{system}-{machine}"


def heft_version() -> str:
    lines = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8").splitlines()
    return next(line.split('"')[1] for line in lines if line.startswith("version = "))


def download_wheels(target: Zip) -> list[Path]:
    """The zip's wheels, from the cache folder or downloaded into it."""
    folder = cache_folder() / "wheels" / f"{target.platform}-py{target.python_version}"
    folder.mkdir(parents=True, exist_ok=True)

    def held() -> dict[str, Path | None]:
        return {pin: next(folder.glob(f"{pin.replace('==', '-')}-*.whl"), None) for pin in target.wheels}

    absent = [pin for pin, path in held().items() if path is None]
    if absent:
        command = [ensure(ENGINE), "-m", "pip", "download", "--only-binary=:all:", "--no-deps", "--dest", folder]
        command += ["--python-version", target.python_version]
        for name in WHEEL_PLATFORMS[target.platform]:
            command += ["--platform", name]
        quietly([*command, *absent], f"No wheels of {', '.join(absent)} for {target.platform} {target.python_version}")
    return [path for path in held().values() if path is not None]


def manifest_text(target: Zip, wheels: list[str]) -> str:
    """blender_manifest.toml, narrowed to the zip's Blenders, platform and wheels."""
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("blender_version_min"))
    narrowed = [f'blender_version_min = "{target.blender_min}"']
    if target.blender_max:
        narrowed.append(f'blender_version_max = "{target.blender_max}"')
    narrowed.append(f'platforms = ["{target.platform}"]')
    narrowed.append("wheels = [\n" + "".join(f'    "./wheels/{name}",\n' for name in wheels) + "]")
    return text.replace(line, "\n".join(narrowed))


def build_zip(target: Zip, path: Path | None = None) -> Path:
    """Build the zip, in `dist` if no path is given, and have Blender's own tool validate it."""
    wheels, path = download_wheels(target), path or target.path
    tool = next(BLENDER["5.0"].folder.glob("**/bl_pkg/cli/blender_ext.py"))
    path.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder, "heft")
        unwanted = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
        for name in ("addon", "engine"):
            shutil.copytree(ROOT / name, stage / name, ignore=unwanted)
        for name in ("__init__.py", "LICENSE"):
            shutil.copy(ROOT / name, stage / name)
        (stage / "wheels").mkdir()
        for wheel in wheels:
            shutil.copy(wheel, stage / "wheels")
        manifest = manifest_text(target, [wheel.name for wheel in wheels])
        (stage / "blender_manifest.toml").write_text(manifest, encoding="utf-8")
        python = ensure(BLENDER["5.0"])
        build = [python, tool, "build", "--source-dir", stage, "--output-filepath", path]
        quietly(build, f"{path.name} could not be built")
    quietly([python, tool, "validate", path], f"{path.name} is not valid")
    return path


def package(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="dev.py package")
    options.add_argument("--all", action="store_true", help="every platform and Python, not only this one's 3.11")
    everything = options.parse_args(arguments).all
    targets = [z for z in zips() if everything or (z.platform == this_platform() and z.python_version == "3.11")]
    if not targets:
        raise Missing(f"No zip is made for {this_platform()}; --all builds the others.")
    ensure(BLENDER["5.0"])
    for target in targets:
        path = build_zip(target)
        until = f"below {target.blender_max}" if target.blender_max else "on"
        say(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e6:.0f} MB, Blender {target.blender_min} {until}")
    return 0


# --- demo, scenes, bench --------------------------------------------------------------------------


def demo(arguments: list[str]) -> int:
    return run(BLENDER["5.0"], "-m", "sample_scenes", "demo", *arguments)


def scenes(arguments: list[str]) -> int:
    # Built by the oldest Blender, because Blender 4.2 opens no file of 5.0.
    return run(BLENDER["4.2"], "-m", "sample_scenes", "build", *arguments)


def pictures(arguments: list[str]) -> int:
    # Renders leave overlays out: those are taken in a real window, where there is one.
    if not arguments or "overlays" in arguments:
        run(ENGINE, "tests/gui/overlay_pictures.py", "5.2")
    return run(BLENDER["5.0"], "-m", "sample_scenes", "picture", *arguments)


def bench(arguments: list[str]) -> int:
    chosen = arguments or ["engine", "on_time", "addon", "posing"]
    failures = 0
    if "engine" in chosen:
        failures += bool(run(ENGINE, "tests/bench/engine_bench.py"))
    if "on_time" in chosen:
        failures += bool(run(ENGINE, "tests/bench/on_time_bench.py"))
    if "overlays" in chosen:
        failures += bool(run(ENGINE, "tests/bench/overlay_bench.py", *chosen[1:]))
    if "addon" in chosen:
        failures += bool(run(BLENDER["5.0"], "tests/bench/addon_bench.py"))
    if "panel" in chosen or "addon" in chosen:
        failures += bool(run(BLENDER["5.0"], "tests/bench/panel_bench.py"))
    if "window" in chosen:
        ensure(BLENDER["5.0"])  # builds the zip
        failures += bool(run(ENGINE, "tests/bench/live_bench.py", *chosen[1:]))
    if "posing" in chosen:
        failures += bool(run(BLENDER["5.0"], "tests/bench/posing_bench.py"))
    return int(failures > 0)


def rigs(arguments: list[str]) -> int:
    versions = [argument for argument in arguments if argument in BLENDER] or list(BLENDER)
    others = [argument for argument in arguments if argument not in BLENDER]
    for version in versions:
        ensure(BLENDER[version])
    if "wild" in others:
        return max(run(BLENDER[version], "tests/bench/wild_rigs.py", *others[1:]) for version in versions)
    output = ROOT / "out" / "rigs.md"
    output.unlink(missing_ok=True)
    return max(run(BLENDER[version], "tests/bench/rigs_table.py", "--output", output, *others) for version in versions)


COMMANDS = {
    "demo": demo,
    "test": test,
    "bench": bench,
    "package": package,
    "scenes": scenes,
    "pictures": pictures,
    "rigs": rigs,
}


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in COMMANDS:
        print(__doc__)
        return 2
    try:
        return COMMANDS[arguments[0]](arguments[1:])
    except Missing as missing:
        print(f"dev: {missing}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
