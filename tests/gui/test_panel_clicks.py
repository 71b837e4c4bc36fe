"""Clicks that only a window shows: a preset picked by mouse, a menu that is gone with the next click, Simulate that
stays where it is, a sample character in sight beside the cube."""

from __future__ import annotations

import time

# Blender as it comes: cube, camera and light.
BUILD = ""
# Where a point above the rig's place is in the view, in parts of its width and height.
SEEN = """
from bpy_extras.view3d_utils import location_3d_to_region_2d
def seen(height):
    there, spot = region('WINDOW'), rig().location.copy()
    spot.z += height
    x, y = location_3d_to_region_2d(there['region'], there['area'].spaces[0].region_3d, spot)
    return [x / there['region'].width, y / there['region'].height]
"""
# From a field to the row above it [pixels].
ROW = 26
# What the first of the presets, Heavy, says.
HEAVY = 0.6


def test_from_the_cube_to_a_result(blender, window_of, tmp_path):
    shot = tmp_path / "cube.blend"
    blender.build(BUILD, shot)
    window = window_of(shot)
    window.open_tab()
    window.click("bpy.ops.heft.add_sample", "any(ob.type == 'ARMATURE' for ob in bpy.data.objects)")
    window.picture("sample-beside")
    # beside the cube, and the view looks at it
    assert window.ask("rig().location.x > 1.3 and abs(rig().location.x) < 3.0")
    window.ask(SEEN)
    foot, head = window.ask("[seen(height) for height in (0.0, 1.6)]")
    assert all(0.15 < part < 0.85 for part in (*foot, *head)), (foot, head)
    assert head[1] - foot[1] > 0.3, "large enough to be seen"

    # its skin is as good as the armature
    window.ask("bpy.context.view_layer.objects.active = bpy.data.objects['Walker body']")
    window.rest()
    window.click("bpy.ops.heft.add", "rig().is_property_set('heft') and rig().heft.enabled")
    x, y = place = window.to("bpy.ops.heft.simulate")
    window.ask("rig().heft.message = 'Something to know. ' * 12")
    window.rest()
    assert window._is_at("bpy.ops.heft.simulate", (x, y)), "a message does not move it"
    window.picture("message-below")

    # over its button, Return opens the menu of presets; it is gone with the next click, wherever that is
    x, y = window.to("heft.controller")
    window.screen.move(x, y - ROW)
    time.sleep(1.0)
    window.screen.press("Return")
    time.sleep(1.0)
    window.picture("presets-open")
    window.screen.move(*place)
    time.sleep(0.5)
    window.screen.click()
    time.sleep(1.0)
    if not window.ask("busy() or result() != 0"):  # some Blenders take this click for the menu alone
        window.click("bpy.ops.heft.simulate")
    window.wait_for("result() != 0 and shown() == 'RESULT on'", 1200.0)
    assert window.ask("rig().heft.show_ghost")
    window.picture("first-result-with-ghost")

    # a click on its button opens the menu of presets, one on its first row picks Heavy, and the menu is gone
    x, y = window.to("heft.controller")
    window.screen.move(x, y - ROW)
    time.sleep(1.0)
    window.screen.click()
    time.sleep(1.0)
    window.picture("presets-by-mouse")
    window.screen.move(x, y)
    time.sleep(1.0)
    window.screen.click()
    window.wait_for(f"abs(rig().heft.heaviness - {HEAVY}) < 1e-6")
    window.picture("preset-picked")
