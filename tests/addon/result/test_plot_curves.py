"""Curves: numbers checked against closed forms and evaluated poses; written, followed, taken away."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
import state
from heft.addon.blender import actions
from heft.addon.result import plot_curves
from heft.addon.simulate import session

WHEN = range(1, 41)


@pytest.fixture
def rig(empty):
    rig = rigs.chain(4)
    rigs.wave(rig)
    bpy.ops.heft.add()
    rig.heft.heaviness, rig.heft.curve_bones, rig.heft.curve_stress = 0.4, "ALL", True
    return rig


def plotted(rig, bone: str, words: str) -> np.ndarray:
    """(frames,) what the empty's property is, as Blender evaluates it."""
    out = []
    for frame in WHEN:
        bpy.context.scene.frame_set(frame)
        holder = plot_curves.holder_of(rig).evaluated_get(bpy.context.evaluated_depsgraph_get())
        out.append(holder[f"{bone} {words}"])
    return np.array(out)


def test_torque_of_a_plank_is_its_weight_at_half_its_length(empty):
    empty.frame_end = 40
    data = bpy.data.armatures.new("Plank")
    rig = bpy.data.objects.new("Plank", data)
    empty.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for i, (start, end) in enumerate(((0.0, 0.6), (0.6, 1.1))):
        bone = data.edit_bones.new(f"plank.{i}")
        bone.head, bone.tail, bone.parent = (0.0, start, 1.0), (0.0, end, 1.0), above
        above = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.heft.add()
    rig.pose.bones[1].heft.mass = 2.0
    rig.heft.curve_bones, rig.heft.use_curves, rig.heft.use_strength, rig.heft.strength = "ALL", True, True, 4.0
    rig.heft.curve_stress = True
    bpy.ops.heft.simulate()
    given = plotted(rig, "plank.1", "torque (N m)")
    assert given == pytest.approx(np.full(40, 2.0 * 9.81 * 0.5 / 2.0), rel=1e-4)  # m g L/2
    # Such a joint holds three times what hangs on it: at four times that a twelfth is used.
    assert plotted(rig, "plank.1", "stress") == pytest.approx(np.full(40, 1.0 / 12.0), rel=1e-3)


def test_they_are_what_the_simulation_gave(rig):
    rig.heft.use_curves = True
    bpy.ops.heft.simulate()
    found = session.last_shown(rig)
    for body, name in enumerate(found.reading.names):
        wanted = np.sqrt((found.result.torques[:, body] ** 2).sum(axis=1))
        assert plotted(rig, name, "torque (N m)") == pytest.approx(wanted, rel=1e-5, abs=1e-5)
    assert max(plotted(rig, "bone.002", "torque (N m)")) > 0.1


def test_deviation_is_the_angle_between_the_poses_that_blender_evaluates(rig):
    rig.heft.use_curves = True
    bpy.ops.heft.simulate()
    result = rigs.poses(rig, WHEN)
    written = {bone.name: plotted(rig, bone.name, "deviation (°)") for bone in rig.pose.bones}
    bpy.ops.heft.show(which="SOURCE")
    source = rigs.poses(rig, WHEN)
    for i, bone in enumerate(rig.pose.bones):
        turn = np.einsum("fji,fjk->fik", source[:, i, :3, :3], result[:, i, :3, :3])
        angle = np.degrees(np.arccos(np.clip((np.trace(turn, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0)))
        assert written[bone.name] == pytest.approx(angle, abs=0.06)
    assert max(written["bone.003"]) > 2.0


def test_selected_bones_only_with_units_and_no_keys_to_edit(rig):
    rig.heft.curve_bones = "SELECTED"
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "bone.002"
    bpy.ops.heft.simulate()
    rig.heft.use_curves = True
    holder = plot_curves.holder_of(rig)
    found = list(actions.active_curves(holder))
    assert {curve.data_path for curve in found} == {
        '["bone.002 torque (N m)"]', '["bone.002 stress"]', '["bone.002 deviation (°)"]'
    }  # fmt: skip
    assert all(curve.group.name == "bone.002" for curve in found)
    assert all(not len(curve.keyframe_points) and len(curve.sampled_points) == 40 for curve in found), "nobody edits it"
    rig.heft.curve_torque = False
    assert {curve.data_path for curve in actions.active_curves(holder)} == {
        '["bone.002 stress"]', '["bone.002 deviation (°)"]'
    }  # fmt: skip
    names = holder.keys()
    assert not any("torque" in name for name in names)
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "bone.001"
    bpy.ops.heft.pick_curve_bones()
    assert {group.name for group in actions.active_bag(holder).groups} == {"bone.001"}


def test_live_and_takes_write_them_again(rig):
    rig.heft.use_curves = True
    bpy.ops.heft.simulate()
    first = plotted(rig, "bone.003", "deviation (°)")
    bpy.ops.heft.keep_take()
    rig.heft.live = True
    rig.heft.heaviness = 1.0
    second = plotted(rig, "bone.003", "deviation (°)")
    assert np.abs(second - first).max() > 1.0
    bpy.ops.heft.flip_take()
    assert np.array_equal(plotted(rig, "bone.003", "deviation (°)"), first)
    bpy.ops.heft.flip_take()
    assert np.array_equal(plotted(rig, "bone.003", "deviation (°)"), second)


def test_they_leave_the_rig_alone_and_no_trace(rig):
    bpy.ops.heft.simulate()
    before = state.snapshot(rig, pose=False)
    current = session.is_current(rig, bpy.context.scene)
    rig.heft.use_curves = True
    assert current and session.is_current(rig, bpy.context.scene), "of no consequence to the simulation"
    bpy.context.scene.frame_set(7)
    seen = state.difference(before, state.snapshot(rig, pose=False))
    assert seen and all(" Rig curves" in line or line.startswith(" scene") for line in seen)
    rig.heft.use_curves = False
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    rig.heft.use_curves = True
    bpy.ops.heft.remove()
    assert not any("curves" in block.name for kind in ("objects", "actions") for block in getattr(bpy.data, kind))


def test_undone_in_one_step_and_saved(rig, tmp_path):
    bpy.ops.heft.simulate()
    bpy.ops.ed.undo_push(message="simulated")
    rig.heft.use_curves = True
    bpy.ops.ed.undo_push(message="curves")
    bpy.ops.ed.undo()
    assert plot_curves.holder_of(bpy.data.objects["Rig"]) is None and not bpy.data.objects["Rig"].heft.use_curves
    bpy.ops.ed.redo()
    before = plotted(bpy.data.objects["Rig"], "bone.003", "torque (N m)")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "curves.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "curves.blend"))
    assert np.array_equal(plotted(bpy.data.objects["Rig"], "bone.003", "torque (N m)"), before)
    bpy.ops.heft.remove()
    assert "Rig curves" not in bpy.data.objects and "Rig curves" not in bpy.data.actions


def test_graph_editors_list_them_and_the_keys_again(rig):
    assert not bpy.ops.heft.show_curves.poll()
    rig.heft.use_curves = True
    bpy.ops.heft.simulate()
    assert bpy.ops.heft.show_curves.poll()
    words = [kind.words.split()[0] for kind in plot_curves.KINDS.values()]
    assert words == plot_curves.WORDS.split()


def test_long_bone_names_fit(rig):
    rig.data.bones["bone.002"].name = "a bone with a name as long as Blender will have it, ÄÖÜ, and"
    bpy.ops.heft.simulate()
    rig.heft.use_curves = True
    names = plot_curves.holder_of(rig).keys()
    assert all(len(name.encode()) <= 63 for name in names)
    assert len(list(actions.active_curves(plot_curves.holder_of(rig)))) == 12
