"""How long an animator waits who drags a slider, in a real window with the installed zip.

usage: python3 dev.py bench window [4.3|5.2]

Prints, on a rig of 74 joints (`tests/bench/addon_bench.py`):
- from the slider's event to the last key written, against one `frame_set` pass over the shot in the same session,
  250 frames, without and with ground contacts;
- on 2,500 frames: the longest time that the window's thread was held up while the slider was dragged, beside the same
  drag with Live off (redraws and undo push alone), and the most that Heft itself took of one round of it;
- undo memory a step.
Exits 1 if a limit is missed. Compiled kernels are kept in out/live_bench; `HEFT_DISPLAY` names another screen.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import dev  # noqa: E402

TOOL = ROOT.parent / "shared" / "tools" / "real-blender"
PYTHONS = {"4.3": "3.13", "5.2": "3.14"}
WIDTH, HEIGHT = 1600, 900
NOTCHES, ROUNDS = 8, 3
SETTLE = "heft.settle_time"
BUILD = """
import sys
sys.path[:0] = [{root!r}, {bench!r}]
import bpy
import addon_bench
from sample_scenes import stage
addon_bench.FRAMES = {frames}
stage.empty({frames})
for ob in list(bpy.context.scene.objects):
    bpy.data.objects.remove(ob)
rig = addon_bench.build_rig("Rig")
plain = rig.copy()
plain.name = "Plain Rig"
plain.use_fake_user = True
addon_bench.activate(rig)
bpy.ops.wm.save_as_mainfile(filepath={path!r})
"""


class Blender:
    """One window, until closed."""

    def __init__(self, version: str, folder: Path) -> None:
        self.version, self.folder = version, folder
        self.console = folder / "console.txt"
        self.port = _free_port()
        self.process: subprocess.Popen | None = None
        display = os.environ.get("HEFT_DISPLAY", ":91")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.environment |= {
            "BLENDER_USER_RESOURCES": str(folder / "user"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "HEFT_CACHE": str(folder / "kernels"),
            "DISPLAY": display,
        }
        shutil.rmtree(folder / "user", ignore_errors=True)
        (folder / "user").mkdir(parents=True)
        self.console.unlink(missing_ok=True)
        subprocess.run([TOOL, "display", display], check=True, stdout=subprocess.DEVNULL, env=self.environment)
        target = next(
            each
            for each in dev.zips()
            if (each.platform, each.python_version) == (dev.this_platform(), PYTHONS[version])
        )
        if version == "4.3":
            target = dataclasses.replace(target, blender_min="4.2.0")
        extension = dev.build_zip(target, folder / "heft.zip")
        self.background("--command", "extension", "install-file", "-r", "user_default", "-e", str(extension))
        # numba asks for a source's age: what is installed again is as old as it was.
        for path in (folder / "user").rglob("engine/**/*.py"):
            os.utime(path, (1e9, 1e9))

    def background(self, *arguments: str) -> None:
        with self.console.open("a") as console:
            command = [TOOL, self.version, *arguments]
            subprocess.run(command, check=True, env=self.environment, stdout=console, stderr=console)

    def shot(self, frames: int) -> Path:
        """A file with the rig and so many frames."""
        path = self.folder / f"{frames}.blend"
        script = path.with_suffix(".py")
        names = {"root": str(ROOT), "bench": str(ROOT / "tests" / "bench"), "frames": frames, "path": str(path)}
        script.write_text(BUILD.format(**names), encoding="utf-8")
        self.background("-b", "--factory-startup", "--python-exit-code", "1", "--python", str(script))
        return path

    def open(self, path: Path) -> None:
        probe = str(Path(__file__).with_name("live_probe.py"))
        command = [TOOL, self.version, "--window-geometry", 0, 0, WIDTH, HEIGHT, path, "--python", probe]
        with self.console.open("a") as console:
            self.process = subprocess.Popen(
                [*map(str, command), "--", str(self.port)],
                env=self.environment, stdout=console, stderr=console, start_new_session=True,
            )  # fmt: skip
        self.wait_for("True", 240.0)
        self.ask("sidebar() and None")
        self.wait_for("sidebar()[2].width > 10")
        self.ask("sidebar()[2].active_panel_category = 'Heft'; sidebar()[2].tag_redraw()")
        self.wait_for("not module('warmup').is_running()", 1800.0)
        # Without a graphics card the whole view would be drawn again for every step of a slider above it.
        self.ask("bpy.context.preferences.system.use_region_overlap = False")
        self.ask("instrument()")

    def close(self) -> None:
        if self.process is None:
            return
        try:
            self.ask("restore()")
            self.ask("bpy.app.timers.register(lambda: bpy.ops.wm.quit_blender() and None, first_interval=0.1)")
            self.process.wait(30.0)
        except (OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, 9)
            self.process.wait()
        self.process = None

    def ask(self, question: str, patience: float = 600.0):
        """What Blender answers; waits while it is busy."""
        end = time.monotonic() + patience
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=patience) as peer:
                    stream = peer.makefile("rw", encoding="utf-8")
                    stream.write(json.dumps(question) + "\n")
                    stream.flush()
                    answer = json.loads(stream.readline() or '{"error": "no answer"}')
                break
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.1)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    def wait_for(self, question: str, patience: float = 600.0) -> None:
        end = time.monotonic() + patience
        while not self.ask(question):
            if time.monotonic() > end:
                raise TimeoutError(f"not true after {patience:.0f} s: {question}")
            time.sleep(0.1)

    # --- hands -------------------------------------------------------------------------

    def hands(self, *words: object) -> None:
        subprocess.run(["xdotool", *map(str, words)], check=True, env=self.environment)

    def slider(self) -> tuple[int, int]:
        """Where the slider is on the screen: the mouse goes down the sidebar until it is over it."""
        x, y, width, height = self.ask("[getattr(sidebar()[2], n) for n in ('x', 'y', 'width', 'height')]")
        at, top = x + int(width * 0.62), HEIGHT - y - height
        for place in range(top + 30, top + height - 4, 9):
            self.hands("mousemove", at - 1, place, "mousemove", at, place, "sleep", 0.06)
            if self.ask("under()").endswith(SETTLE):
                self.hands("mousemove", at, place + 4)
                return at, place + 4
        raise RuntimeError("the slider of the settle time is not in the sidebar")

    def drag(self, place: tuple[int, int], pause: float, notches: int = NOTCHES) -> None:
        """Hold the slider and pull it a few notches; the button stays down."""
        self.hands("mousemove", *place)
        time.sleep(0.2)
        self.hands("mousedown", 1)
        for k in range(1, notches + 1):
            self.hands("mousemove", place[0] + 5 * k, place[1])
            time.sleep(pause)

    def drop(self) -> None:
        self.hands("mouseup", 1)
        time.sleep(0.5)
        self.wait_for("not module('jobs').any_left()")

    def picture(self, name: str) -> None:
        folder = ROOT / "out" / "gui"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"live-{self.version}-{name}.png"
        subprocess.run([TOOL, "shot", path, self.environment["DISPLAY"]], check=True, env=self.environment)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def latencies(blender: Blender, place: tuple[int, int], frames: int) -> tuple[list[float], float]:
    """Seconds from each change of the slider to its last key, and of a pass over the shot (median)."""
    found, passes = [], []
    for _ in range(ROUNDS):
        passes.append(blender.ask(f"frame_pass({frames})"))
        blender.ask("clear()")
        blender.drag(place, 0.6)
        blender.drop()
        events = blender.ask("events")
        changes = [when for kind, when in events if kind == "change"]
        for when, after in zip(changes, [*changes[1:], float("inf")], strict=True):
            written = [end for kind, end in events if kind == "written" and when < end <= after]
            if written:
                found.append(written[-1] - when)
    return found, statistics.median(passes)


def blocked(blender: Blender, place: tuple[int, int]) -> dict:
    """What held the window's thread up while the slider was dragged, let go, and all was written."""
    time.sleep(1.0)
    blender.ask("clear()")
    blender.drag(place, 0.25, 12)
    blender.drop()
    time.sleep(0.5)
    return blender.ask("longest()")


def undo_step(blender: Blender, place: tuple[int, int]) -> float:
    """How much more the undo steps hold after a drag [MB]; NaN where Blender does not tell."""
    steps = []
    for _ in range(3):
        before = blender.ask("undo_memory()")
        blender.drag(place, 0.3, 3)
        blender.drop()
        # What a job writes is in the step that comes after it.
        blender.ask("within('bpy.ops.ed.undo_push(message=\"bench\")')")
        steps.append((blender.ask("undo_memory()") - before) / 1e6 if before >= 0 else float("nan"))
    return statistics.median(steps)


def set_up(blender: Blender, frames: int) -> tuple[int, int]:
    blender.open(blender.shot(frames))
    blender.ask("within('bpy.ops.heft.add()')")
    blender.ask("rig().heft.steps_per_second = 240")
    blender.ask("within('bpy.ops.heft.simulate()')")
    blender.ask("rig().heft.live = True")
    blender.wait_for("not module('jobs').any_left()")
    time.sleep(1.0)
    return blender.slider()


def short_shot(blender: Blender, frames: int = 250) -> bool:
    """Print latencies and undo memory of a shot that is simulated inside the callback; True if a limit is missed."""
    place = set_up(blender, frames)
    print(f"\nBlender {blender.version}, 74 joints, {frames} frames, dragged {ROUNDS} × {NOTCHES} notches")
    missed = False
    for label, settings, limit in (
        # Effortless and undisturbed nothing changes, and no key is written.
        ("effortless", "rig().heft.heaviness = 0.0", None),
        ("without contacts", "rig().heft.heaviness = 0.3", 1.0),
        ("with ground contacts", "rig().heft.heaviness = 0.0; rig().heft.ground_height = 0.6; "
         "rig().heft.root = 'ASSISTED'; rig().heft.ground = True", 2.0),
    ):  # fmt: skip
        blender.ask(settings)
        blender.wait_for("not module('jobs').any_left()")
        taken, one_pass = latencies(blender, place, frames)
        ratio = statistics.median(taken) / one_pass
        verdict = f" (limit {limit:.1f}) {'PASS' if ratio <= limit else 'FAIL'}" if limit else ""
        missed |= "FAIL" in verdict
        print(
            f"slider event to keys written, {label:21} median {1000 * statistics.median(taken):4.0f} ms, worst "
            f"{1000 * max(taken):4.0f} ms; frame_set pass {1000 * one_pass:4.0f} ms; ratio {ratio:.2f}"
            f"{verdict}",
            flush=True,
        )
    blender.picture(str(frames))
    print(f"undo memory a step, {frames} frames: {undo_step(blender, place):.1f} MB", flush=True)
    return missed


def long_shot(blender: Blender, frames: int = 2500) -> bool:
    """Print what holds the window up while a long shot is simulated beside it; True if the limit is missed."""
    place = set_up(blender, frames)
    blender.ask("rig().heft.heaviness = 0.3")
    blender.wait_for("not module('jobs').any_left()")
    said = blender.ask("module('panel_status').took(rig())")
    print(f"{frames:,} frames: {said}")
    blender.ask("rig().heft.live = False")
    calm = blocked(blender, place)
    blender.ask("rig().heft.live = True")
    blender.wait_for("not module('jobs').any_left()")
    busy = blocked(blender, place)
    print(
        f"longest hold-up of the window: {1000 * busy['gap']:.0f} ms with Live, {1000 * calm['gap']:.0f} ms without "
        f"(redraw and undo push alone): {1000 * (busy['gap'] - calm['gap']):+.0f} ms; of it Heft's own code at most "
        f"{1000 * busy['own']:.0f} ms (limit 50) {'PASS' if busy['own'] <= 0.05 else 'FAIL'}"
    )
    print("longest calls:", ", ".join(f"{name} {1000 * taken:.0f} ms" for name, taken in busy["spent"].items()))
    blender.drag(place, 0.25, 6)
    blender.picture(f"{frames}-dragging")
    blender.drop()
    blender.picture(str(frames))
    print(f"undo memory a step, {frames:,} frames: {undo_step(blender, place):.1f} MB", flush=True)
    return busy["own"] > 0.05


def main(version: str = "5.2", only: str = "") -> int:
    """`only`: short or long, for one of the two shots."""
    missed = False
    # Always the same folder: numba knows compiled kernels by where their source stands.
    blender = Blender(version, ROOT / "out" / "live_bench" / version)
    for part in (short_shot, long_shot):
        if only not in part.__name__:
            continue
        try:
            missed |= part(blender)
        except BaseException:
            blender.picture("gave-up")
            raise
        finally:
            blender.close()
    said = blender.console.read_text(errors="replace")
    print(f"tracebacks in the console: {said.count('Traceback')}")
    if "Traceback" in said:
        missed = True
        print(said[-4000:])
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
