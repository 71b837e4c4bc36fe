"""What overlays cost: playback in the real window with all of them on, against none.

    python3 dev.py bench overlays [4.3|5.2 …]

A mannequin of 74 bones with skin walks on the ground, simulated. Off and on take turns; the ratio is that of the
medians of frames a second. Also printed: what Python takes a frame in the draw callbacks, and what each overlay costs
alone. Exits 1 where the ratio is below 0.8.

Where the processor draws the screen, pixels cost most of a frame: the view is small and plain, so that they do not hide
what is compared.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "gui")]

import overlay_pictures  # noqa: E402
import window  # noqa: E402

from tools import environments, real_blenders  # noqa: E402

ROUNDS, SECONDS, LEAST = 5, 4.0, 0.8
window.WIDTH, window.HEIGHT = 960, 640  # of the window [pixels]
MEASURE = """
import sys, time
view = sys.modules['bl_ext.user_default.heft.addon.ui.overlays.callbacks']
seen = {'frames': 0, 'python': 0.0, 'pieces': 0.0}
def timed(draw):
    def drawn():
        start = time.perf_counter()
        draw()
        seen['python'] += time.perf_counter() - start
    return drawn
def timed_pieces(make):
    def made(*what):
        start = time.perf_counter()
        found = make(*what)
        seen['pieces'] += time.perf_counter() - start
        return found
    return made
view.pieces = timed_pieces(view.pieces)
view.unregister()
view._draw_solid, view._draw_flat = timed(view._draw_solid), timed(view._draw_flat)
view.register()
def count(*_args):
    seen['frames'] += 1
bpy.app.handlers.frame_change_post.append(count)
def begin():
    seen.update(frames=0, python=0.0, pieces=0.0, start=time.perf_counter())
def end():
    taken = time.perf_counter() - seen['start']
    return [seen['frames'] / taken, *(1000.0 * seen[k] / max(seen['frames'], 1) for k in ('python', 'pieces'))]
def play():
    scene = bpy.context.scene
    scene.sync_mode, scene.render.fps = 'NONE', 240
    bpy.context.preferences.system.viewport_aa = 'OFF'
    shading = views()[0].spaces[0].shading
    shading.show_shadows = shading.show_cavity = False
    with within():
        bpy.ops.screen.animation_play()
"""


def measure(found: window.Window, *switches: str) -> tuple[float, float, float]:
    """Frames a second; milliseconds a frame in the draw callbacks, and of these before anything is drawn."""
    found.ask(f"only(*{switches!r})")
    time.sleep(1.0)  # what is worked out once is not what is measured
    found.ask("begin()")
    time.sleep(SECONDS)
    rate, callbacks, pieces = found.ask("end()")
    return rate, callbacks, pieces


def bench(version: str, found: window.Window, shot: Path) -> bool:
    """Print the figures of one Blender; whether they will do."""
    found.open(str(shot))
    try:
        found.ask(f"SWITCHES = {overlay_pictures.SWITCHES!r}\n{overlay_pictures.HELP}")
        found.wait_for("ready()", 600.0)
        found.ask("wide()")
        time.sleep(1.0)
        found.ask("look(4.2, (0.0, 0.2, 0.85), (1.4, 0.0, 0.6))")
        # the rate is that of playing, not of the shot: it is simulated at its own
        found.ask("simulate()", 600.0)
        found.ask(MEASURE)
        found.ask("play()")
        every = overlay_pictures.SWITCHES
        measure(found, *every)
        off, on, callbacks, pieces = [], [], [], []
        for _ in range(ROUNDS):
            off.append(measure(found)[0])
            for kept, value in zip((on, callbacks, pieces), measure(found, *every), strict=True):
                kept.append(value)
        plain, full = statistics.median(off), statistics.median(on)
        good = full >= LEAST * plain
        bones = found.ask("len(rig().data.bones)")
        print(f"\nBlender {version}, {bones} bones with skin on the ground, {ROUNDS} rounds of {SECONDS:.0f} s in turn")
        print(f"frames a second without overlays  {plain:8.1f}")
        print(f"frames a second with all of them  {full:8.1f}")
        print(
            f"ratio                             {full / plain:8.2f}   limit {LEAST:.2f}  {'PASS' if good else 'FAIL'}"
        )
        print(f"draw callbacks, with drawing      {statistics.median(callbacks):8.2f} ms a frame")
        print(f"draw callbacks, Python before it  {statistics.median(pieces):8.2f} ms a frame")
        for name in every:
            rate, taken, before = measure(found, name)
            figures = f"{rate:8.1f} a second {rate / plain:8.2f} {taken:8.2f} {before:8.2f} ms"
            print(f"  {name.removeprefix('show_'):12} alone {figures}")
    finally:
        found.close()
    bad = found.complaints()
    print("\n".join(bad), end="")
    return good and not bad


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("versions", nargs="*", default=[])
    options.add_argument("--folder", type=Path, default=environments.cache_folder() / "overlay-window")
    chosen = options.parse_args()
    shot = ROOT / "out" / "overlay_shot.blend"
    shot.parent.mkdir(exist_ok=True)
    # by the oldest Blender, so that all can open it
    if environments.run(environments.BLENDER["4.2"], "tests/bench/overlay_shot.py", shot):
        return 1
    good = True
    for version in chosen.versions or real_blenders.VERSIONS:
        reason = real_blenders.why_not(version)
        if reason is not None:
            print(f"No window: {reason}")
            return 1
        with overlay_pictures.opened(version, chosen.folder / version, overlay_pictures.OUT) as found:
            good = bench(version, found, shot) and good
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
