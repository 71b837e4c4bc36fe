"""Bones taken with the mouse: pulled into a pose, taken back, keyed, undone; a limb of a result thrown."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

ADDON_TESTS = Path(__file__).resolve().parents[1] / "addon"
READY = "__import__('sys').modules['bl_ext.user_default.heft.addon.simulate.compile_engine'].is_posing_ready()"
BUILD = f"""
import sys
sys.path.insert(0, {str(ADDON_TESTS)!r})
import figure
for ob in list(bpy.data.objects):
    bpy.data.objects.remove(ob)
_rig = figure.rig(arms_down=1.2)
bpy.context.scene.frame_end = 40
_rig.select_set(True)
bpy.ops.object.mode_set(mode='POSE')
"""
# The view from the front; where a bone's end is on the screen, and in the world; all channels.
LOOK = """
from bpy_extras import view3d_utils
from mathutils import Quaternion
def man():
    return bpy.data.objects['Man']
def view():
    return next(a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == 'VIEW_3D')
def from_the_front():
    data = view().spaces.active.region_3d
    data.view_perspective, data.view_distance = 'ORTHO', 3.2
    data.view_location = (0.0, 0.0, 0.9)
    data.view_rotation = Quaternion((1.0, 0.0, 0.0), 1.5707963)
    view().spaces.active.shading.type = 'SOLID'
def world(bone, end='tail'):
    ob = man().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return list(ob.matrix_world @ getattr(ob.pose.bones[bone], end))
def on_screen(bone, end='tail'):
    region = next(r for r in view().regions if r.type == 'WINDOW')
    at = view3d_utils.location_3d_to_region_2d(region, view().spaces.active.region_3d, world(bone, end))
    return [region.x + at.x, bpy.context.window_manager.windows[0].height - region.y - at.y]
def channels():
    return [[*b.location, *b.rotation_quaternion, *b.scale] for b in man().pose.bones]
def curves():
    data = man().animation_data
    if not data or not data.action:
        return 0
    a = data.action
    bags = [b for l in a.layers for s in l.strips for b in s.channelbags] if hasattr(a, 'layers') else [a]
    return sum(len(b.fcurves) for b in bags)
def result():
    ob = man().heft_result
    if ob is None or ob.animation_data is None:
        return []
    out = []
    for frame in (12, 16, 24):
        bpy.context.scene.frame_set(frame)
        out.append(world('hand.L'))
    bpy.context.scene.frame_set(10)
    return out
"""


def runs(window, command: str) -> None:
    """Wait until the command has the mouse: what is pressed before selects a bone."""
    window.wait_for(f"any(o.bl_idname == {command!r} for o in bpy.context.window_manager.windows[0].modal_operators)")
    time.sleep(0.3)


def ready(blender, window_of, shot: Path):
    blender.build(BUILD, shot)
    window = window_of(shot)
    window.ask(LOOK)
    window.wait_for(READY, 900.0)
    window.ask("from_the_front()")
    window.open_tab()
    time.sleep(0.5)
    return window


def take(window, bone: str, way: tuple[int, int], done: str = "", steps: int = 10) -> None:
    """Hold a bone by its tail and move the mouse; the button stays down. done: what comes of it, unless the bone's
    tail follows the mouse."""
    x, y = window.ask(f"on_screen({bone!r})")
    window.screen.move(x, y)
    window.screen.hold()
    # A press counts where the mouse is when Blender comes to look at it.
    window.ask("0")
    time.sleep(0.2)
    for k in range(1, steps + 1):
        window.screen.hands("mousemove", round(x + way[0] * k / steps), round(y + way[1] * k / steps))
        time.sleep(0.06)
    follows = f"(lambda p: abs(p[0] - {x + way[0]}) + abs(p[1] - {y + way[1]}))(on_screen({bone!r})) < 4.0"
    window.wait_for(done or follows, 60.0)


def apart(a, b) -> float:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5


def test_a_hand_is_pulled_and_the_body_follows(blender, window_of, tmp_path):
    window = ready(blender, window_of, tmp_path / "man.blend")
    start, feet = window.ask("channels()"), window.ask("[world('foot.L'), world('foot.R')]")
    window.click("bpy.ops.heft.pull_pose")
    runs(window, "HEFT_OT_pull_pose")

    # held: the hand is under the mouse, the feet stay; Esc puts every channel back
    take(window, "hand.L", (90, -190))
    window.picture("pull-1-held")
    assert window.ask("channels()") != start
    for before, after in zip(feet, window.ask("[world('foot.L'), world('foot.R')]"), strict=True):
        assert apart(before, after) < 1e-3
    window.screen.press("Escape")
    window.screen.let_go()
    window.wait_for(f"channels() == {start}", 10.0)

    # let go: the pose stays, one step of undo, no keys
    take(window, "hand.L", (110, -140))
    window.screen.let_go()
    time.sleep(0.5)
    posed = window.ask("channels()")
    assert posed != start and window.ask("curves()") == 0
    window.picture("pull-2-let-go")
    for _ in range(3):
        window.screen.press("ctrl+z")
        window.wait_for(f"channels() == {start}", 20.0)
        window.screen.press("ctrl+shift+z")
        window.wait_for(f"channels() == {posed}", 20.0)

    # a pin by the key P holds the other hand; hips go down, knees bend
    x, y = window.ask("on_screen('hand.R', 'head')")
    window.screen.move(x, y)
    window.screen.press("p")
    window.wait_for("[b.name for b in man().pose.bones if b.heft.pin == 'ON'] != []", 10.0)
    pinned = window.ask("[b.name for b in man().pose.bones if b.heft.pin == 'ON'][0]")
    held = window.ask(f"world({pinned!r}, 'head')")
    take(window, "spine", (0, 40))
    window.picture("pull-3-hips-down")
    assert apart(window.ask(f"world({pinned!r}, 'head')"), held) < 1e-3
    for before, after in zip(feet, window.ask("[world('foot.L'), world('foot.R')]"), strict=True):
        assert apart(before, after) < 1e-3
    window.screen.let_go()

    # gravity: the arm that nothing holds hangs
    window.screen.press("g")
    take(window, "head", (0, -20))
    time.sleep(1.5)
    window.picture("pull-4-gravity")
    window.screen.press("Escape")
    window.screen.let_go()
    window.screen.press("g")

    # with auto keying the pulled bones get keys
    window.ask("setattr(bpy.context.scene.tool_settings, 'use_keyframe_insert_auto', True)")
    take(window, "hand.L", (-60, 60))
    window.screen.let_go()
    window.wait_for("curves() > 0", 10.0)
    window.screen.press("Return")
    time.sleep(0.5)
    window.picture("pull-5-done")
    assert window.ask("man().is_property_set('heft')") is False, "no physics was needed"


def test_the_tool_in_the_toolbar_pulls_once(blender, window_of, tmp_path):
    window = ready(blender, window_of, tmp_path / "man.blend")
    window.ask(
        "_w = bpy.context.window_manager.windows[0]\n"
        "with bpy.context.temp_override(window=_w, area=view(), region=view().regions[-1]):\n"
        "    bpy.ops.wm.tool_set_by_id(name='heft.pull_tool')\n"
    )
    start = window.ask("channels()")
    time.sleep(0.5)
    # a click beside all bones is none, and leaves nothing behind that the next motion meets
    x, y = window.ask("on_screen('hand.R')")
    window.screen.move(x - 120, y)
    window.screen.click()
    window.screen.move(x, y)
    time.sleep(0.3)
    assert window.ask("len(bpy.context.window_manager.windows[0].modal_operators)") == 0
    assert window.ask("channels()") == start
    take(window, "hand.R", (-80, -150))
    window.picture("tool-1-held")
    window.screen.let_go()
    window.wait_for(f"channels() != {start}", 10.0)
    window.screen.press("ctrl+z")
    window.wait_for(f"channels() == {start}", 20.0)


@pytest.mark.parametrize("live", [False, True])
def test_a_limb_is_thrown_and_the_push_is_listed(blender, window_of, tmp_path, live):
    window = ready(blender, window_of, tmp_path / "man.blend")
    window.click("bpy.ops.heft.add")
    window.wait_for("man().heft.enabled", 30.0)
    window.ask(f"setattr(man().heft, 'settle_time', 0.6), setattr(man().heft, 'live', {live})")
    window.click("bpy.ops.heft.simulate")
    window.wait_for("man().heft_result is not None and man().heft.shown == 'RESULT'", 300.0)
    before = window.ask("result()")
    window.click("bpy.ops.heft.nudge")
    runs(window, "HEFT_OT_nudge")

    take(window, "hand.L", (150, -80), "len(man().heft.pushes) == 1 and man().heft.pushes[0].impulse > 1.0")
    window.picture(f"nudge-1-aimed-{live}")
    window.screen.press("Escape")
    window.screen.let_go()
    window.wait_for("len(man().heft.pushes) == 0", 30.0)
    assert window.ask("result()") == before

    take(window, "hand.L", (150, -80), "len(man().heft.pushes) == 1 and man().heft.pushes[0].impulse > 1.0")
    window.screen.let_go()
    window.wait_for("len(man().heft.pushes) == 1 and man().heft.pushes[0].impulse > 1.0", 60.0)
    bone, frame, place = window.ask("(lambda p: [p.bone, p.frame, p.place])(man().heft.pushes[0])")
    assert (bone, frame) == ("hand.L", 10) and place > 0.9
    after = window.ask("result()")
    assert max(apart(a, b) for a, b in zip(before, after, strict=True)) > 0.02
    window.screen.press("Return")
    window.ask("bpy.context.scene.frame_set(13)")
    time.sleep(0.5)
    window.picture(f"nudge-2-thrown-{live}")
