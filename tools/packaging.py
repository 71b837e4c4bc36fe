"""The extension zips: one a platform and Python, with the wheels that these need.

Owns what goes into a zip and that Blender's own tool finds it valid.
"""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .environments import BLENDER, ENGINE, NUMBA, ROOT, SCIPY_311, cache_folder, ensure, quietly

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
