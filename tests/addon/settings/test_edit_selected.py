"""An edit of the active bone in the sidebar reaches all selected bones, once, and can be taken back."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

import rigs
from heft.addon import memory
from heft.addon.settings import edit_selected
from heft.addon.simulate import session
from heft.addon.ui.panels import bones


@pytest.fixture
def posed(empty, monkeypatch):
    """A chain in Pose Mode, its first four of five bones selected, edited as by hand."""
    empty.frame_end = 5
    rig = rigs.chain(5)
    bpy.ops.heft.add()
    bpy.ops.object.mode_set(mode="POSE")
    for i, bone in enumerate(rig.pose.bones):
        (bone if hasattr(bone, "select") else bone.bone).select = i < 4
    rig.data.bones.active = rig.data.bones[0]
    memory.notify(memory.UNDO)
    monkeypatch.setattr(edit_selected, "by_hand", lambda _context: True)
    return rig


def scales(rig) -> list[float]:
    return [round(bone.heft.settle_scale, 4) for bone in rig.pose.bones]


def drawn(rig) -> None:
    edit_selected.look(rig.pose.bones[0], bones.EDITED)


def test_numbers_and_choices_reach_the_selected_bones(posed):
    drawn(posed)
    posed.pose.bones[0].heft.settle_scale = 2.0
    assert scales(posed) == [2.0, 2.0, 2.0, 2.0, 1.0]
    posed.pose.bones[0].heft.behaviour = "LIMP"
    assert [bone.heft.behaviour for bone in posed.pose.bones] == ["LIMP"] * 4 + ["SIMULATED"]
    posed.pose.bones[0].heft.behaviour = "SIMULATED"
    assert {bone.heft.behaviour for bone in posed.pose.bones} == {"SIMULATED"}


def test_what_a_bone_is_stays_its_own(posed):
    posed.pose.bones[0].heft.role = "HEAD"
    assert [bone.heft.role for bone in posed.pose.bones] == ["HEAD"] + ["AUTO"] * 4


def test_a_drag_taken_back_leaves_all_as_they_were(posed):
    posed.pose.bones[1].heft.settle_scale = 3.0  # not the active one: its own
    assert scales(posed) == [1.0, 3.0, 1.0, 1.0, 1.0]
    drawn(posed)
    for value in (1.2, 1.7, 2.4):
        posed.pose.bones[0].heft.settle_scale = value
        drawn(posed)  # the panel is drawn during the drag too
    assert scales(posed) == [2.4] * 4 + [1.0]
    posed.pose.bones[0].heft.settle_scale = 1.0  # Esc: Blender sets the old value
    assert scales(posed) == [1.0, 3.0, 1.0, 1.0, 1.0]


def test_after_a_drag_the_old_value_is_an_edit_like_any_other(posed, monkeypatch):
    posed.pose.bones[1].heft.settle_scale = 3.0
    drawn(posed)
    posed.pose.bones[0].heft.settle_scale = 2.0
    now = edit_selected.time.monotonic()
    monkeypatch.setattr(edit_selected, "time", SimpleNamespace(monotonic=lambda: now + 2.0 * edit_selected.RESTS))
    drawn(posed)
    posed.pose.bones[0].heft.settle_scale = 1.0
    assert scales(posed) == [1.0] * 5


def test_one_simulation_an_edit(posed, monkeypatch):
    posed.heft.live = True
    calls, simulate = [], session.simulate
    monkeypatch.setattr(session, "simulate", lambda *args, **named: calls.append(1) or simulate(*args, **named))
    posed.pose.bones[0].heft.heaviness_scale = 0.5
    assert len(calls) == 1


def test_a_script_sets_one_bone(posed, monkeypatch):
    monkeypatch.undo()
    posed.pose.bones[0].heft.settle_scale = 2.0
    assert scales(posed) == [2.0, 1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(("area", "region", "mode", "spreads"), [
    ("VIEW_3D", "UI", "POSE", True), ("VIEW_3D", "UI", "OBJECT", False), ("VIEW_3D", "WINDOW", "POSE", False),
    ("CONSOLE", "WINDOW", "POSE", False), (None, None, "POSE", False),
])  # fmt: skip
def test_by_hand_is_in_the_sidebar_in_pose_mode(area, region, mode, spreads):
    context = SimpleNamespace(
        area=area and SimpleNamespace(type=area), region=region and SimpleNamespace(type=region), mode=mode
    )
    assert edit_selected.by_hand(context) == spreads


def test_a_click_in_the_list_selects_in_either_mode(posed):
    for mode in ("POSE", "OBJECT"):
        bpy.ops.object.mode_set(mode=mode)
        posed.heft.bone_index = 3
        assert posed.data.bones.active.name == posed.pose.bones[3].name and posed.heft.bone_index == 3
        chosen = [bone.name for bone in posed.pose.bones if panel_bones_selected(bone)]
        assert chosen == [posed.pose.bones[3].name]
        posed.heft.bone_index = 0
    posed.heft.bone_index = 99
    assert posed.heft.bone_index == 0


def panel_bones_selected(bone) -> bool:
    return bone.select if hasattr(bone, "select") else bone.bone.select
