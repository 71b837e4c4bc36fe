"""A real Blender in a window of its own on a virtual screen, driven by mouse and keyboard.

Owns starting it from a clean user folder with the installed extension, hands (xdotool), eyes
(screenshots) and questions (`inspector`). Must not know what is tested.

Widgets are found as a user's eye would not have to: the mouse goes down the sidebar and asks
each button under it for its name, by Blender's own Copy Data Path and Copy Python Command.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

TOOL = Path(__file__).resolve().parents[3] / "shared" / "tools" / "real-blender"
INSPECTOR = Path(__file__).with_name("inspector.py")
WIDTH, HEIGHT = 1600, 900
# What the console may not hold.
BAD = ("Traceback (most recent call last)", "Error: Python:", "segmentation fault", "EXCEPTION_ACCESS")
HEFT_TAB = "Heft"


class Window:
    """One Blender, until closed."""

    def __init__(self, version: str, folder: Path, extension: Path, display: str, port: int, pictures: Path) -> None:
        self.version, self.display, self.port, self.pictures = version, display, port, pictures
        self.console = folder / "console.txt"
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.environment |= {
            "BLENDER_USER_RESOURCES": str(folder / "user"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "HEFT_CACHE": str(folder / "kernels"),
            "DISPLAY": display,
        }
        (folder / "user").mkdir(parents=True, exist_ok=True)
        pictures.mkdir(parents=True, exist_ok=True)
        subprocess.run([TOOL, "display", display], check=True, stdout=subprocess.DEVNULL, env=self.environment)
        self._blender("--command", "extension", "install-file", "-r", "user_default", "-e", str(extension))
        self.process: subprocess.Popen | None = None

    def _blender(self, *arguments: str) -> None:
        with self.console.open("a") as console:
            subprocess.run(
                [TOOL, self.version, *arguments], check=True, env=self.environment, stdout=console, stderr=console
            )

    def build(self, code: str, path: Path) -> None:
        """Make a file with a Blender without a window."""
        script = path.with_suffix(".py")
        script.write_text(f"import bpy\n{code}\nbpy.ops.wm.save_as_mainfile(filepath={str(path)!r})\n")
        self._blender("-b", "--factory-startup", "--python-exit-code", "1", "--python", str(script))

    def open(self, *arguments: str) -> None:
        """Start Blender with its window; returns when it answers."""
        console = self.console.open("a")
        command = [TOOL, self.version, "--window-geometry", "0", "0", str(WIDTH), str(HEIGHT), *arguments]
        self.process = subprocess.Popen(
            [*map(str, command), "--python", str(INSPECTOR), "--", str(self.port)],
            env=self.environment, stdout=console, stderr=console, start_new_session=True,
        )  # fmt: skip
        self.wait_for("True", 120.0)

    def close(self) -> None:
        if self.process is None:
            return
        try:
            self.ask("bpy.app.timers.register(lambda: bpy.ops.wm.quit_blender() and None, first_interval=0.1)")
            self.process.wait(20.0)
        except (OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, 9)
        self.process = None

    # --- questions ---------------------------------------------------------------------

    def ask(self, question: str, patience: float = 120.0):
        """What Blender answers; waits while it is busy."""
        end = time.monotonic() + patience
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=patience) as peer:
                    with peer.makefile("rw", encoding="utf-8") as stream:
                        stream.write(json.dumps(question) + "\n")
                        stream.flush()
                        answer = json.loads(stream.readline() or '{"error": "no answer"}')
                break
            except OSError:
                if time.monotonic() > end or (self.process is not None and self.process.poll() is not None):
                    raise
                time.sleep(0.1)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    def wait_for(self, question: str, patience: float = 60.0):
        """Ask until the answer is true."""
        end = time.monotonic() + patience
        while True:
            answer = self.ask(question)
            if answer:
                return answer
            if time.monotonic() > end:
                self.picture("gave-up")
                raise TimeoutError(f"not true after {patience:.0f} s: {question}")
            time.sleep(0.05)

    def complaints(self) -> list[str]:
        """Lines of the console that tell of a bug."""
        text = self.console.read_text(errors="replace")
        return [line for line in text.splitlines() if any(word in line for word in BAD)]

    # --- hands -------------------------------------------------------------------------

    def hands(self, *words: object) -> None:
        subprocess.run(["xdotool", *map(str, words)], check=True, env=self.environment)

    def move(self, x: float, y: float) -> None:
        """To a place on the screen, from the top left; in two steps, so that Blender sees a motion."""
        self.hands("mousemove", round(x) - 2, round(y) - 1)
        time.sleep(0.03)
        self.hands("mousemove", round(x), round(y))
        time.sleep(0.05)

    def click(self, x: float, y: float, button: int = 1) -> None:
        self.move(x, y)
        time.sleep(0.1)
        self.hold(button)
        self.let_go(button)
        time.sleep(0.1)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.hands("key", key)
            time.sleep(0.1)

    def hold(self, button: int = 1) -> None:
        self.hands("mousedown", button)
        time.sleep(0.05)

    def let_go(self, button: int = 1) -> None:
        self.hands("mouseup", button)
        time.sleep(0.1)

    # --- eyes --------------------------------------------------------------------------

    def picture(self, name: str) -> Path:
        path = self.pictures / f"{self.version}-{name}.png"
        subprocess.run([TOOL, "shot", path, self.display], check=True, env=self.environment)
        return path

    # --- places ------------------------------------------------------------------------

    def region(self, kind: str = "WINDOW", area: str = "VIEW_3D") -> tuple[int, int, int, int]:
        """Left, top, width and height on the screen."""
        x, y, width, height = self.ask(
            f"next([r.x, r.y, r.width, r.height] for a in bpy.context.window_manager.windows[0].screen.areas "
            f"if a.type == {area!r} for r in a.regions if r.type == {kind!r})"
        )
        return x, HEIGHT - y - height, width, height

    def open_tab(self) -> None:
        """The sidebar with Heft's tab in front, wide enough for its labels."""
        self.ask(
            "for _a in bpy.context.window_manager.windows[0].screen.areas:\n"
            "    if _a.type == 'VIEW_3D':\n"
            "        _a.spaces[0].show_region_ui = True\n"
        )
        self.wait_for("any(r.width > 10 for a in bpy.context.window_manager.windows[0].screen.areas "
                      "if a.type == 'VIEW_3D' for r in a.regions if r.type == 'UI')")  # fmt: skip
        self.ask(
            "for _a in bpy.context.window_manager.windows[0].screen.areas:\n"
            "    for _r in _a.regions:\n"
            "        if _a.type == 'VIEW_3D' and _r.type == 'UI':\n"
            f"            _r.active_panel_category = {HEFT_TAB!r}; _r.tag_redraw()\n"
        )
        time.sleep(0.5)

    def buttons(self, step: int = 8) -> dict[str, tuple[int, int]]:
        """What stands in the sidebar: paths of properties and commands, and where they are on the screen."""
        x, top, width, height = self.region("UI")
        found: dict[str, list[tuple[int, int]]] = {}
        for column in (0.25, 0.62):
            at = x + int(width * column)
            for y in range(top + 8, top + height - 4, step):
                name = self.name_at(at, y)
                if name and (name not in found or found[name][0][0] == at):
                    found.setdefault(name, []).append((at, y))
        return {name: (spots[0][0], (spots[0][1] + spots[-1][1]) // 2) for name, spots in found.items()}

    def name_at(self, x: int, y: int) -> str:
        """The button at a place: a command's Python, or a property's path."""
        self.hands("mousemove", x - 1, y, "mousemove", x, y, "sleep", 0.03, "key", "ctrl+shift+c", "sleep", 0.03)
        name = self.ask("_name(bpy.context.window_manager)")
        if not name:
            self.hands("key", "ctrl+c", "sleep", 0.03)
            name = self.ask("_name(bpy.context.window_manager)")
            name = name.partition("(")[0] if name.startswith("bpy.ops.") else ""
        return name


def available() -> str | None:
    """Why no window can be opened here, if so."""
    if not TOOL.exists():
        return f"no {TOOL.name} beside the project"
    if shutil.which("apt-get") is None:
        return f"{TOOL.name} works on Debian only"
    if os.geteuid() != 0:
        return f"{TOOL.name} needs root"
    return None
