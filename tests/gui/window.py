"""A real Blender in a window of its own on a virtual screen, driven by mouse and keyboard.

Owns starting it from a clean user folder with the installed extension, questions (`inspector`), and finding
buttons. Must not know what is tested.

A button is found as a hand finds one in the dark: the mouse goes down the sidebar until Blender says that the
button under it is the one. Where it was last is tried first.
"""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import subprocess
import time
from pathlib import Path

from screen import HEIGHT, WIDTH, Screen

from tools import packaging, real_blenders

INSPECTOR, LOOK = (Path(__file__).with_name(name) for name in ("inspector.py", "look.py"))
ADDON_TESTS = Path(__file__).resolve().parents[1] / "addon"
# What the console may not hold.
BAD = ("Traceback (most recent call last)", "Error: Python:", "segmentation fault", "EXCEPTION_ACCESS")
HEFT_TAB = "Heft"
# Between two looks down the sidebar [pixels]: buttons are 20 high.
STEP = 9


# Debian's Pythons. Its 4.3 is not among those zips are made for, but its Python has one.
PYTHONS = {"4.3": "3.13", "5.2": "3.14"}


def build_zip(version: str, folder: Path) -> Path:
    """The extension as this Blender takes it."""
    wanted = (packaging.this_platform(), PYTHONS[version])
    target = next(each for each in packaging.zips() if (each.platform, each.python_version) == wanted)
    if version == "4.3":
        target = dataclasses.replace(target, blender_min="4.2.0")
    return packaging.build_zip(target, folder / "heft.zip")


class Window:
    """One Blender, until closed."""

    def __init__(self, version: str, folder: Path, extension: Path, screen: Screen, pictures: Path) -> None:
        self.version, self.screen, self.pictures = version, screen, pictures
        self.port = _free_port()
        self.console = folder / "console.txt"
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.environment |= {
            "BLENDER_USER_RESOURCES": str(folder / "user"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "HEFT_CACHE": str(folder / "kernels"),
            "DISPLAY": screen.name,
        }
        (folder / "user").mkdir(parents=True, exist_ok=True)
        pictures.mkdir(parents=True, exist_ok=True)
        self.background("--command", "extension", "install-file", "-r", "user_default", "-e", str(extension))
        # numba asks for a source's age: what is installed again is as old as it was.
        for path in (folder / "user").rglob("engine/**/*.py"):
            os.utime(path, (1e9, 1e9))
        self.process: subprocess.Popen | None = None
        self._places: dict[str, tuple[int, int]] = {}

    def background(self, *arguments: str) -> None:
        """Run this Blender without a window, to its end."""
        with self.console.open("a") as console:
            subprocess.run(
                [*real_blenders.command(self.version), *arguments],
                check=True,
                env=self.environment,
                stdout=console,
                stderr=console,
            )

    def build(self, code: str, path: Path) -> None:
        """Make a file with a Blender without a window."""
        script = path.with_suffix(".py")
        script.write_text(f"import bpy\n{code}\nbpy.ops.wm.save_as_mainfile(filepath={str(path)!r})\n")
        self.background("-b", "--factory-startup", "--python-exit-code", "1", "--python", str(script))

    def open(self, *arguments: str) -> None:
        """Start Blender with its window; returns when it answers."""
        command = [*real_blenders.command(self.version), "--window-geometry", "0", "0", WIDTH, HEIGHT, *arguments]
        with self.console.open("a") as console:
            self.process = subprocess.Popen(
                [*map(str, command), "--python", str(INSPECTOR), "--", str(self.port)],
                env=self.environment, stdout=console, stderr=console, start_new_session=True,
            )  # fmt: skip
        self.wait_for("True", 240.0)
        self.ask(f"import sys; sys.path.insert(0, {str(ADDON_TESTS)!r})")
        self.ask(LOOK.read_text(encoding="utf-8"))
        # Else the whole view is drawn again, without a graphics card, for every button the mouse passes.
        self.ask("bpy.context.preferences.system.use_region_overlap = False")

    def close(self) -> None:
        """Leave Blender without saving."""
        if self.process is None:
            return
        try:
            self.ask("bpy.app.timers.register(lambda: bpy.ops.wm.quit_blender() and None, first_interval=0.1)", 10.0)
            self.process.wait(30.0)
        except (OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, 9)
            self.process.wait()
        self.process = None

    # --- questions ---------------------------------------------------------------------

    def ask(self, question: str, patience: float = 240.0):
        """What Blender answers; waits while it is busy."""
        end = time.monotonic() + patience
        while True:
            try:
                with (
                    socket.create_connection(("127.0.0.1", self.port), timeout=patience) as peer,
                    peer.makefile("rw", encoding="utf-8") as stream,
                ):
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

    def picture(self, name: str) -> Path:
        """What is to be seen once all is drawn, and panels have slid to their places."""
        if self.process is not None and self.process.poll() is None:
            self.ask("[area.tag_redraw() for area in region()['window'].screen.areas] and None")
            time.sleep(0.3)
            self.ask("True")
        return self.screen.picture(self.pictures / f"{self.version}-{name}.png")

    # --- places ------------------------------------------------------------------------

    def box(self, kind: str = "WINDOW", area: str = "VIEW_3D") -> tuple[int, int, int, int]:
        """Left, top, width and height of a region on the screen."""
        x, y, width, height = self.ask(
            f"(lambda r: [r.x, r.y, r.width, r.height])(region({kind!r}, {area!r})['region'])"
        )
        return x, HEIGHT - y - height, width, height

    def open_tab(self) -> None:
        """The sidebar with Heft's tab in front."""
        self.ask("region('WINDOW')['area'].spaces[0].show_region_ui = True")
        self.wait_for("region()['region'].width > 10")
        self.ask(f"region()['region'].active_panel_category = {HEFT_TAB!r}; region()['region'].tag_redraw()")

    def rest(self) -> None:
        """Take the mouse to where nothing is, in the view."""
        x, top, width, height = self.box("WINDOW")
        self.screen.move(x + width * 0.25, top + height * 0.9)

    def to(self, name: str, patience: float = 20.0) -> tuple[int, int]:
        """Put the mouse on the sidebar's button of that name (a path, or the start of a command); its place."""
        end = time.monotonic() + patience
        while True:
            if name in self._places and self._is_at(name, self._places[name]):
                return self._places[name]
            if self._search(name):
                return self._places[name]
            if time.monotonic() > end:
                self.picture("not-found")
                raise TimeoutError(f"no button {name} in the sidebar")

    def click(self, name: str, done: str | None = None, patience: float = 60.0) -> None:
        """Click a button, and wait for what it does."""
        self.to(name)
        self.screen.click()
        if done is not None:
            self.wait_for(done, patience)

    def _is_at(self, name: str, place: tuple[int, int]) -> bool:
        """Is it the button there? The view is asked until it has seen the mouse."""
        self.screen.move(*place)
        end = time.monotonic() + 0.4
        while time.monotonic() < end:
            if _is_named(self.ask("under()"), name):
                return True
        return False

    def _search(self, name: str) -> bool:
        """From where the sidebar stands to its end, then from its start."""
        x, top, width, height = self.box("UI")
        for scroll in (0, -200, *[height // 50] * 6):
            if scroll:
                self.screen.move(x + width // 2, top + height // 2)
                self.screen.wheel(scroll)
            if self._sweep(name, [x + int(width * column) for column in (0.62, 0.25)], top, top + height):
                return True
        return False

    def _sweep(self, name: str, columns: list[int], top: int, bottom: int) -> bool:
        last = self._places.get(name, (columns[0], top))[1]
        for x in columns:
            for y in sorted(range(top + 6, bottom - 4, STEP), key=lambda y: abs(y - last)):
                self.screen.move(x, y)
                found = self.ask("under()")
                if found:
                    self._places[found] = (x, y)
                if _is_named(found, name) and self._is_at(name, (x, y)):
                    place = (x, y + 4) if self._is_at(name, (x, y + 4)) else (x, y)
                    self._places[name] = place
                    return self._is_at(name, place)
        return False

    def drag(self, name: str, way: int, steps: int, look: str) -> list:
        """Hold a slider and pull it by `way` pixels; what `look` said at every step, once it had followed. The button
        stays down."""
        self.to(name)
        seen = [self.ask(look)]
        self.screen.hold()
        for _ in range(steps):
            # From where it is: Blender puts the mouse back while a slider has it.
            self.screen.hands("mousemove_relative", "--", way // steps, 0)
            end = time.monotonic() + 3.0
            while (now := self.ask(look)) == seen[-1] and time.monotonic() < end:
                pass
            seen.append(now)
        return seen[1:]


def _is_named(found: str, name: str) -> bool:
    if name.startswith("bpy.ops."):
        return found.startswith(name)
    # Blender 4 says no more of a path than its end.
    return found in (name, name.rpartition(".")[2])


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
