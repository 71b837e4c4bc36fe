"""An animator's way through, by mouse and keyboard: set up, simulate, tune by dragging, take back, bake, leave."""

from __future__ import annotations

import time
from pathlib import Path

ADDON_TESTS = Path(__file__).resolve().parents[1] / "addon"
# A checksum of the result's keys, of the source's keys, and of what the settings are.
LOOK = """
import zlib
import numpy as np
def keys(action):
    if action is None:
        return 0
    bags = [b for l in action.layers for s in l.strips for b in s.channelbags] if hasattr(action, 'layers') else [action]
    total = 0
    for bag in bags:
        for curve in bag.fcurves:
            co = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get('co', co)
            total = zlib.crc32(co, total)
    return total
def rig():
    return bpy.data.objects['Rig']
def result():
    ob = rig().heft_result
    return keys(ob.animation_data.action) if ob and ob.animation_data else 0
def source():
    return [keys(a) for a in sorted(bpy.data.actions, key=lambda a: a.name) if not a.name.endswith('result')]
def shape():
    return [rig().heft.enabled, round(rig().heft.settle_time, 6), rig().heft.live, result()]
"""
BUILD = f"""
import sys
sys.path.insert(0, {str(ADDON_TESTS)!r})
import rigs
rigs.new_file()
_rig = rigs.chain(8, connected=True)
rigs.wave(_rig, end=60, step=6)
bpy.context.scene.frame_end = 60
_rig.select_set(True)
bpy.context.view_layer.objects.active = _rig
"""


def press_button(window, places: dict, name: str, done: str, patience: float = 60.0) -> None:
    """Click a button and wait for what it does."""
    time.sleep(0.3)
    window.click(*places[name])
    window.wait_for(done, patience)


def drag(window, place: tuple[int, int], way: int, steps: int = 8) -> list:
    """Hold a slider and pull it; what the rig was like at every step. The button stays down."""
    window.move(*place)
    window.hold()
    seen = []
    for k in range(1, steps + 1):
        window.hands("mousemove", place[0] + round(way * k / steps), place[1])
        time.sleep(0.15)
        seen.append(window.ask("shape()"))
    return seen


def test_an_animators_way_through(blender, window_of, tmp_path):
    shot = tmp_path / "shot.blend"
    blender.build(BUILD, shot)
    window = window_of(shot)
    window.ask(LOOK)
    window.open_tab()
    window.picture("1-empty")
    source = window.ask("source()")
    press_button(window, window.buttons(), "bpy.ops.heft.add", "rig().heft.enabled")
    places = window.buttons()
    window.picture("2-physics")

    # weight, typed in as a user does, then Simulate
    window.move(*places["heft.heaviness"])
    window.hands("click", "--repeat", 2, "--delay", 60, 1)
    time.sleep(0.2)
    window.hands("key", "ctrl+a")
    window.hands("type", "0.4")
    window.press("Return")
    window.wait_for("abs(rig().heft.heaviness - 0.4) < 1e-6")
    press_button(window, places, "bpy.ops.heft.simulate", "result() != 0 and rig().heft.shown == 'RESULT'", 120.0)
    window.picture("3-simulated")
    first = window.ask("result()")

    # Live: keys change while the button is still down
    places = window.buttons()
    press_button(window, places, "heft.live", "rig().heft.live")
    before = window.ask("shape()")
    seen = drag(window, places["heft.settle_time"], 60)
    assert len({result for *_, result in seen}) >= 4, "the result follows the mouse"
    assert all(result != first for *_, result in seen[2:])
    window.picture("4-dragging")
    window.hands("key", "Escape")
    window.let_go()
    window.wait_for(f"shape() == {before}", 10.0)
    window.picture("5-cancelled")

    # a drag, taken back and done again ten times
    drag(window, places["heft.settle_time"], 60)
    window.let_go()
    after = window.ask("shape()")
    assert after != before
    window.move(500, 500)
    for _ in range(10):
        window.hands("key", "ctrl+z")
        window.wait_for(f"shape() == {before}", 20.0)
        window.hands("key", "ctrl+shift+z")
        window.wait_for(f"shape() == {after}", 20.0)
    assert window.ask("source()") == source
    window.picture("6-undone-and-redone")

    # source and result, mix
    places = window.buttons()
    assert "heft.mix" in places, places
    drag(window, places["heft.mix"], -80, 4)
    window.let_go()
    assert window.ask("rig().heft.mix") < 0.9
    window.picture("7-mix")
    window.press("ctrl+z")

    # bake, save, reopen, remove
    press_button(window, places, "bpy.ops.heft.bake", "True")
    time.sleep(0.6)
    window.picture("8-bake")
    window.press("Return")
    window.wait_for("any('baked' in a.name for a in bpy.data.actions)", 30.0)
    assert window.ask("[keys(a) for a in bpy.data.actions if 'baked' not in a.name and not a.name.endswith('result')]")
    window.press("ctrl+s")
    window.wait_for("not bpy.data.is_dirty", 20.0)
    window.close()
    window.open(str(shot))
    window.ask(LOOK)
    window.wait_for("rig().heft.enabled")
    window.open_tab()
    window.picture("9-reopened")
    press_button(
        window, window.buttons(), "bpy.ops.heft.remove", "not rig().heft.enabled and rig().heft_result is None"
    )
    window.picture("10-removed")
