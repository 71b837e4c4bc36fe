"""How long an animator waits who drags a slider, in a real window with the installed zip.

usage: python3 dev.py bench window [4.3|5.2] [short|long|panels]

Prints, on a rig of 74 joints (`addon_bench`):
- from the slider's event to the last key written, against one `frame_set` pass over the shot in the same session,
  250 frames, without contacts (keys that are stepped, and heaviness 0.3) and with ground contacts;
- on 2,500 frames: the longest time that the window's thread was held up while the slider was dragged, beside the same
  drag with Live off (redraws and undo push alone), and the most that Heft itself took of one round of it;
- undo memory a step;
and on a rig of 700 bones what Heft's panels take of a redraw of the sidebar, Blender's own layout included.
Exits 1 if a limit is missed. Compiled kernels are kept beside the environments.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "gui")]

import overlay_pictures  # noqa: E402
from window import Window  # noqa: E402

from tools import environments, real_blenders  # noqa: E402

PROBE = Path(__file__).with_name("live_probe.py")
OUT = ROOT / "out" / "gui"
NOTCHES, ROUNDS, REDRAWS = 8, 4, 30
SETTLE = "heft.settle_time"
# A drag goes through the times most characters settle in: from here [s] by so many pixels, of 1 ms each, a notch.
USUAL, NOTCH = 0.1, 60
DEAD = 8  # motions before Blender takes them for a drag
IDLE = "not module('simulate.jobs').any_left()"
BEGIN = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests" / "bench")!r}]
"""
SHOT = """
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
"""
MANY_BONES = "import panel_bench; panel_bench.build_rig({bones})"


def begin(window: Window, code: str, name: str) -> None:
    """Make a file by `code` and open it, with clocks, when all is compiled."""
    shot = window.console.with_name(f"{name}.blend")
    window.build(BEGIN + code, shot)
    window.open(str(shot))
    window.ask(PROBE.read_text(encoding="utf-8"))
    window.wait_for("not module('simulate.compile_engine').is_running()", 1800.0)


def end(window: Window) -> None:
    if window.process is not None:
        window.ask("restore()")
        window.close()


def pull(window: Window, place: tuple[int, int], pause: float, notches: int = NOTCHES, start: float = USUAL) -> None:
    """Hold the slider, at `start` seconds, and pull it a few notches; the button stays down."""
    window.ask(f"rig().heft.settle_time = {start}")
    window.wait_for(IDLE, 600.0)
    window.ask("clear()")
    window.screen.hands("mousemove", *place)
    time.sleep(0.2)
    window.screen.hold()
    for k in range(DEAD + notches):
        # by so much more: Blender puts the pointer back where it was while a slider is dragged
        window.screen.hands("mousemove_relative", NOTCH if k >= DEAD else 1, 0)
        time.sleep(pause if k >= DEAD else 0.05)


def drop(window: Window) -> None:
    window.screen.let_go()
    time.sleep(0.5)
    window.wait_for(IDLE, 600.0)


def latencies(window: Window, place: tuple[int, int], frames: int) -> tuple[list[float], float]:
    """Seconds from each change of the slider to its last key, and of a pass over the shot (median)."""
    found, passes = [], []
    for _ in range(ROUNDS):
        passes.append(window.ask(f"frame_pass({frames})"))
        pull(window, place, 0.6)
        drop(window)
        events = window.ask("events")
        passes.append(window.ask(f"frame_pass({frames})"))
        changes = [when for kind, when in events if kind == "change"]
        for when, after in zip(changes, [*changes[1:], float("inf")], strict=True):
            written = [end for kind, end in events if kind == "written" and when < end <= after]
            if written:
                found.append(written[-1] - when)
    return found, statistics.median(passes)


def blocked(window: Window, place: tuple[int, int]) -> dict:
    """What held the window's thread up while the slider was dragged, let go, and all was written."""
    time.sleep(1.0)
    window.ask("clear()")
    pull(window, place, 0.25, 12)
    drop(window)
    time.sleep(0.5)
    return window.ask("longest()")


def undo_step(window: Window, place: tuple[int, int]) -> float:
    """How much more the undo steps hold after a drag [MB]; NaN where Blender does not tell."""
    steps = []
    for _ in range(3):
        window.ask(f"rig().heft.settle_time = {USUAL}")
        window.wait_for(IDLE, 600.0)
        window.ask("within('bpy.ops.ed.undo_push(message=\"before\")')")
        before = window.ask("undo_memory()")
        pull(window, place, 0.3, 3)
        drop(window)
        # What a job writes is in the step that comes after it.
        window.ask("within('bpy.ops.ed.undo_push(message=\"bench\")')")
        steps.append((window.ask("undo_memory()") - before) / 1e6 if before >= 0 else float("nan"))
    return statistics.median(steps)


def set_up(window: Window, frames: int) -> tuple[int, int]:
    """The rig simulated and live; where the slider is."""
    begin(window, SHOT.format(frames=frames), str(frames))
    window.ask("instrument()")
    window.open_tab()
    window.ask("within('bpy.ops.heft.add()')")
    window.ask("rig().heft.steps_per_second = 240")
    window.ask("within('bpy.ops.heft.simulate()')", 600.0)
    window.ask("rig().heft.live = True")
    window.wait_for(IDLE, 600.0)
    time.sleep(1.0)
    return window.to(SETTLE)


def short(window: Window, frames: int = 250) -> bool:
    """Print latencies and undo memory of a shot that is simulated inside the callback; True if a limit is missed."""
    place = set_up(window, frames)
    print(
        f"\nBlender {window.version}, 74 joints, {frames} frames, dragged {ROUNDS} × {NOTCHES} notches from {USUAL} s"
    )
    missed = False
    for label, settings, limit in (
        # Effortless and undisturbed nothing changes, and no key is written.
        ("effortless", "rig().heft.heaviness = 0.0", None),
        ("pose to pose", "step_keys('CONSTANT')", 1.0),
        ("with weight", "step_keys('BEZIER'); rig().heft.heaviness = 0.3", 1.0),
        ("with ground contacts", "rig().heft.heaviness = 0.0; rig().heft.ground_height = 0.6; "
         "rig().heft.root = 'ASSISTED'; rig().heft.ground = True", 2.0),
    ):  # fmt: skip
        window.ask(settings)
        window.wait_for(IDLE, 600.0)
        taken, one_pass = latencies(window, place, frames)
        median = statistics.median(taken)
        ratio = median / one_pass
        verdict = f" (limit {limit:.1f}) {'PASS' if ratio <= limit else 'FAIL'}" if limit else ""
        missed |= "FAIL" in verdict
        if len(taken) < ROUNDS * NOTCHES // 2:
            raise RuntimeError(f"Of {ROUNDS * NOTCHES} notches only {len(taken)} were taken: the hand slipped.")
        print(
            f"slider event to keys written, {label:21} {len(taken)} ×, {1000 * median:4.0f} ms in median, "
            f"worst {1000 * max(taken):4.0f} ms; frame_set pass {1000 * one_pass:4.0f} ms; ratio {ratio:.2f}"
            f"{verdict}",
            flush=True,
        )
    window.picture(f"live-{frames}")
    print(f"undo memory a step, {frames} frames: {undo_step(window, place):.1f} MB", flush=True)
    return missed


def long(window: Window, frames: int = 2500) -> bool:
    """Print what holds the window up while a long shot is simulated beside it; True if the limit is missed."""
    place = set_up(window, frames)
    window.ask("rig().heft.heaviness = 0.3")
    window.wait_for(IDLE, 600.0)
    said = window.ask("module('ui.panels.status').took(rig())")
    print(f"{frames:,} frames: {said}")
    window.ask("rig().heft.live = False")
    calm = blocked(window, place)
    window.ask("rig().heft.live = True")
    window.wait_for(IDLE, 600.0)
    busy = blocked(window, place)
    print(
        f"longest hold-up of the window: {1000 * busy['gap']:.0f} ms with Live, {1000 * calm['gap']:.0f} ms without "
        f"(redraw and undo push alone): {1000 * (busy['gap'] - calm['gap']):+.0f} ms; of it Heft's own code at most "
        f"{1000 * busy['own']:.0f} ms (limit 50) {'PASS' if busy['own'] <= 0.05 else 'FAIL'}"
    )
    print("longest calls:", ", ".join(f"{name} {1000 * taken:.0f} ms" for name, taken in busy["spent"].items()))
    pull(window, place, 0.25, 6)
    window.picture(f"live-{frames}-dragging")
    drop(window)
    window.picture(f"live-{frames}")
    print(f"undo memory a step, {frames:,} frames: {undo_step(window, place):.1f} MB", flush=True)
    return busy["own"] > 0.05


def panels(window: Window, bones: int = 700, limit: float = 1.0) -> bool:
    """Print what Heft's panels take of a redraw [ms]; True if it is too long."""
    begin(window, MANY_BONES.format(bones=bones), str(bones))
    window.ask("open_panels()")
    window.ask("within('bpy.ops.heft.add()')")
    window.ask("rig().heft.heaviness = 0.5")
    window.ask("within('bpy.ops.heft.simulate()')", 600.0)
    window.ask("within(\"bpy.ops.object.mode_set(mode='POSE')\")")
    window.ask("rig().data.bones.active = rig().data.bones[1]")
    window.open_tab()
    for _ in range(REDRAWS):
        window.ask("redraw()")
        time.sleep(0.1)
    found = window.ask("drawing_times()")
    window.picture(f"panels-{bones}")
    total = found["at first"]
    print(f"\nBlender {window.version}: the panels of a rig of {bones} bones, {found['rounds']} redraws")
    for name, taken in sorted(found["panels"].items(), key=lambda each: -each[1])[:9]:
        print(f"  {name:28s} {taken:6.3f} ms")
    print(f"with every panel open {found['all']:.2f} ms a redraw; as the tab opens {total:.2f} ms ", end="")
    print(f"(limit {limit:.1f}) {'PASS' if total <= limit else 'FAIL'}", flush=True)
    window.ask("instrument()")
    window.ask(f"pose({REDRAWS})")
    time.sleep(0.1 * REDRAWS)
    print(f"every panel open while a bone is being turned {window.ask('drawing_times()')['all']:.2f} ms; ", end="")
    print("at most ", end="")
    print(", ".join(f"{name} {1000 * taken:.1f} ms" for name, taken in window.ask("spent").items()), flush=True)
    return total > limit


PARTS = (short, long, panels)


def main(arguments: list[str]) -> int:
    version = next((each for each in arguments if each in real_blenders.VERSIONS), "5.2")
    chosen = [part for part in PARTS if part.__name__ in arguments] or PARTS
    reason = real_blenders.why_not(version)
    if reason is not None:
        print(f"No window: {reason}")
        return 1
    missed = False
    with overlay_pictures.opened(version, environments.cache_folder() / "bench-window" / version, OUT) as window:
        for part in chosen:
            try:
                missed |= part(window)
            except BaseException:
                window.picture("gave-up")
                raise
            finally:
                end(window)
        bad = window.complaints()
    print(f"complaints in the console: {len(bad)}")
    print("\n".join(bad), end="")
    return int(missed or bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
