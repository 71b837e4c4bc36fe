"""Blenders that PyPI does not have, with their windows: run by a tool beside the project, where there is one.

Owns whether one can be run here, how it is called, and setting it up: once on a machine, in minutes, most of them of
the network. Must not know what is tested in it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from .environments import ROOT, say

TOOL = Path(os.environ.get("HEFT_REAL_BLENDER") or ROOT.parent / "shared" / "tools" / "real-blender")
# By version: the Debian it comes from, which is also its folder's name.
VERSIONS = {"4.3": "trixie", "5.2": "sid"}
LONGEST_SET_UP = 900.0  # [s]


def folder() -> Path:
    """Where the tool keeps what it has set up."""
    return Path(os.environ.get("REAL_BLENDER_DIR") or "/var/cache/real-blender")


def why_no_tool() -> str | None:
    """Why no real Blender can be run here, if so."""
    if not TOOL.exists():
        return f"no real Blender here: {TOOL} is missing (or name one like it in HEFT_REAL_BLENDER)"
    if shutil.which("apt-get") is None:
        return f"{TOOL.name} works on Debian only"
    if os.geteuid() != 0:
        return "a real Blender of its own needs root, to mount its folders"
    return None


def why_not(version: str) -> str | None:
    """Why this Blender cannot be run here, if so."""
    reason = why_no_tool()
    if reason or (folder() / VERSIONS[version] / ".ready").exists():
        return reason
    failed = os.environ.get("HEFT_SET_UP_PROBLEM")
    if failed:
        return f"Blender {version} could not be set up: {failed}"
    return f"Blender {version} is not set up here: `{TOOL.name} install {version}`, or HEFT_SET_UP_BLENDER=1"


def command(version: str) -> list[str]:
    """What runs this Blender; its arguments follow.

    It runs in a root of its own, into which the tool mounts the machine's folders, once. A folder that was deleted and
    made anew since (a clone, say) would stay as it was deleted: empty. Such a mount is taken off, for the tool to mount
    what is there now.
    """
    for mounted in (folder() / VERSIONS[version]).glob("*"):
        here = Path("/", mounted.name)
        stale = mounted.is_dir() and not (here.exists() and here.samefile(mounted))
        if stale and is_mounted(mounted):
            subprocess.run(["umount", "--lazy", mounted], check=True)
    return [str(TOOL), version]


def is_mounted(path: Path) -> bool:
    """Whether a folder shows another; Python's own answer misses one of the same disk."""
    return subprocess.run(["mountpoint", "-q", path]).returncode == 0


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
        if os.environ.get("HEFT_SET_UP_BLENDER") and why_no_tool() is None and any(map(why_not, VERSIONS)):
            say(f"setting up Blender {' and '.join(VERSIONS)} beside the other suites (once)")
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
        import fcntl  # noqa: PLC0415 - absent on Windows, where the tool is too

        start = time.monotonic()
        folder().mkdir(parents=True, exist_ok=True)
        with open(folder() / ".heft-lock", "w") as lock, tempfile.TemporaryFile("w+") as told:
            while not self._stopped and time.monotonic() < start + LONGEST_SET_UP:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(0.2)
            else:
                os.environ["HEFT_SET_UP_PROBLEM"] = "another set-up did not end"
                return
            for version in VERSIONS:
                if why_not(version) is None:
                    continue
                command = [str(TOOL), "install", version]
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
