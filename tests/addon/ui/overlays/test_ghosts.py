"""Ghosts, onion skins and arcs: other poses than the one that is shown."""

from __future__ import annotations

import bpy
import numpy as np

from heft.addon.simulate import session
from heft.addon.ui.overlays.primitives import Lines, Solid
from overlay_pieces import drawn, only, seen, select, walker


def capsule_heads(piece: Solid) -> np.ndarray:
    """(n, 3) where the bodies' frames are."""
    return piece.places.make()[piece.row, :, :, 3].astype(float)


def bone_heads(rig) -> np.ndarray:
    return np.array([rig.matrix_world @ bone.head for bone in rig.pose.bones])


def test_the_ghost_is_what_blender_shows_of_the_other(empty):
    rig = walker(empty, heaviness=0.8, settle_time=0.4)
    ghost = only(drawn(rig, "show_ghost", frame=17), Solid)[0]
    result = bone_heads(rig)
    bpy.ops.heft.show(which="SOURCE")
    bpy.context.scene.frame_set(17)
    source = bone_heads(rig)
    assert np.abs(result - source).max() > 0.01, "they differ"
    np.testing.assert_allclose(capsule_heads(ghost), source, atol=1e-5)
    np.testing.assert_allclose(capsule_heads(only(drawn(rig, "show_ghost", frame=17), Solid)[0]), result, atol=1e-5)


def test_onion_skins_are_the_poses_around(empty):
    rig = walker(empty, heaviness=0.8)
    rig.heft.onion_before, rig.heft.onion_after, rig.heft.onion_step = 2, 1, 5
    skins = only(drawn(rig, "show_onion", frame=15), Solid)
    assert len(skins) == 3
    for frame, skin in zip((5, 10, 20), skins, strict=True):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(capsule_heads(skin), bone_heads(rig), atol=1e-5)
    assert skins[0].color[3] < skins[1].color[3], "the farther the fainter"
    assert len(only(drawn(rig, "show_onion", frame=28), Solid)) == 2, "none beyond the end"


def test_arcs_are_the_ways_of_the_selected_bones_tails(empty):
    rig = walker(empty, heaviness=0.8)
    rig.heft.arc_bones, rig.heft.path_frames = "SELECTED", 0
    bpy.ops.object.mode_set(mode="POSE")
    name = rig.pose.bones[2].name
    select(rig, name)
    source, result = only(drawn(rig, "show_arcs", frame=9), Lines)
    for which, line in (("SOURCE", source), ("RESULT", result)):
        bpy.ops.heft.show(which=which)
        segments, colors = line.make()
        assert segments.shape == (29, 2, 3) and colors.shape == (29, 2, 4)
        for frame in (1, 13, 29):
            bpy.context.scene.frame_set(frame)
            np.testing.assert_allclose(segments[frame - 1, 0], rig.matrix_world @ rig.pose.bones[name].tail, atol=1e-5)
    rig.heft.path_frames = 4
    assert only(drawn(rig, "show_arcs", frame=9), Lines)[0].make()[0].shape == (8, 2, 3)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_without_a_simulation_in_this_session_the_keys_are_sampled(empty, tmp_path):
    rig = walker(empty, heaviness=0.8, settle_time=0.4)
    known = capsule_heads(only(drawn(rig, "show_ghost", frame=17), Solid)[0])
    way = seen(rig).footage.result.places
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    rig = bpy.data.objects["Rig"]
    assert session.last_shown(rig) is None
    shown = rig.heft.shown
    ghost = only(drawn(rig, "show_ghost", frame=17), Solid)[0]
    np.testing.assert_allclose(capsule_heads(ghost), known, atol=1e-4)
    np.testing.assert_allclose(seen(rig).footage.result.places, way, atol=1e-4)
    assert drawn(rig, "show_contacts", "show_stress", frame=17) == [], "forces are not kept in files"
    assert rig.heft.shown == shown and bpy.context.scene.frame_current == 17


def test_live_changes_move_ghosts_and_arcs(empty):
    rig = walker(empty, heaviness=0.2)
    first = seen(rig).footage.result.places
    rig.heft.live = True
    rig.heft.heaviness = 0.9
    assert np.abs(seen(rig).footage.result.places - first).max() > 1e-3
