"""A virtual screen of one's own, with hands (xdotool) and eyes (pictures).

Owns the X server and what of it must be installed. Must not know Blender.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

# As many points as a small laptop has, but tall: a sidebar in it shows most of a tab at once.
WIDTH, HEIGHT = 1280, 1080


class Screen:
    """An X server, until closed. Xvfb takes the first free number itself, so that two never meet."""

    def __init__(self, tool: Path) -> None:
        if not _is_installed():
            _install(tool)
        reading, writing = os.pipe()
        self._server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "+extension", "GLX"],
            pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise RuntimeError("Xvfb did not start")
        self.name = f":{number}"
        self._environment = {**os.environ, "DISPLAY": self.name}

    def close(self) -> None:
        self._server.terminate()
        self._server.wait(10.0)

    # --- hands -------------------------------------------------------------------------

    def hands(self, *words: object) -> None:
        """What xdotool is told."""
        subprocess.run(["xdotool", *map(str, words)], check=True, env=self._environment)

    def move(self, x: float, y: float) -> None:
        """To a place from the top left; in two steps, so that Blender sees a motion."""
        x, y = round(x), round(y)
        self.hands("mousemove", x - 2, y - 1, "mousemove", x, y)

    def hold(self, button: int = 1) -> None:
        self.hands("mousedown", button)

    def let_go(self, button: int = 1) -> None:
        self.hands("mouseup", button)

    def click(self, button: int = 1) -> None:
        """Press and let go, as long as a finger takes."""
        self.hands("mousedown", button, "sleep", 0.06, "mouseup", button)

    def wheel(self, steps: int) -> None:
        """Down, or up with a negative number."""
        self.hands("click", "--repeat", abs(steps), "--delay", 15, 5 if steps > 0 else 4)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.hands("key", key)

    def type(self, text: str) -> None:
        """Into the field that has the cursor, in place of what it holds."""
        self.hands("key", "ctrl+a", "sleep", 0.05, "type", "--delay", 20, text)

    # --- eyes --------------------------------------------------------------------------

    def picture(self, path: Path) -> Path:
        subprocess.run(["import", "-window", "root", str(path)], check=True, env=self._environment)
        return path


def _is_installed() -> bool:
    return all(map(shutil.which, ("Xvfb", "xdotool", "import")))


def _install(tool: Path) -> None:
    """The tool installs what a screen takes when it is asked for one; that one is not needed."""
    import fcntl

    with open("/tmp/heft-screen.lock", "w") as lock:  # two at once would meet in the package manager
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_installed():  # by the one that was first
            return
        if Path("/tmp/.X99-lock").exists():
            raise RuntimeError("screen :99 is taken: Xvfb, xdotool and imagemagick cannot be installed by its tool")
        subprocess.run([tool, "display", ":99"], check=True, stdout=subprocess.DEVNULL, close_fds=True)
        os.kill(int(Path("/tmp/.X99-lock").read_text()), signal.SIGTERM)
