"""The button Let Go: which switch it keys for whom, and what the shot then does. What a blow brings to a person."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import figure
import rigs
from heft.addon.read import read_controller
from heft.addon.tools import reaction_settings

LAST, GO, BACK = 60, 20, 45


@pytest.fixture
def man(empty):
    """A man who walks to +X."""
    empty.frame_start, empty.frame_end = 1, LAST
    rig = figure.rig(arms_down=1.2)
    for frame, x in ((1, 0.0), (LAST, 2.0)):
        rig.location = (x, 0.0, 0.0)
        rig.keyframe_insert("location", frame=frame)
    bpy.ops.heft.add()
    return rig


def off_by(rig, source: np.ndarray) -> np.ndarray:
    """(frames,) the farthest that a bone's head is from where the source has it."""
    shown = rigs.poses(rig, range(1, LAST + 1))
    return np.linalg.norm((shown - source)[..., :3, 3], axis=-1).max(axis=1)


def test_a_body_falls_from_the_frame_on_and_returns(man):
    source = rigs.poses(man, range(1, LAST + 1))
    man.heft.recovery_time = 0.4
    bpy.context.scene.frame_set(GO)
    assert bpy.ops.heft.let_go() == {"FINISHED"}
    assert man.heft.ground, "there is something to fall on"
    bpy.context.scene.frame_set(BACK)
    assert bpy.ops.heft.let_go(back=True) == {"FINISHED"}
    gone = read_controller.let_go_frames(man, np.arange(1, LAST + 1))
    assert gone.nonzero()[0].tolist() == list(range(GO - 1, BACK - 1))
    assert read_controller.has_free_root(man) and man.heft.root == "ANIMATED"
    bpy.ops.heft.simulate()
    off = off_by(man, source)
    assert off[:GO].max() < 1e-4
    assert off[BACK - 2] > 0.2
    assert off[BACK + 11 :].max() < 0.02


def test_it_takes_effect_whatever_the_recovery_time(man):
    """With a recovery time of 0 the way back takes a second: a body that lies does not jump to its feet."""
    bpy.context.scene.frame_set(GO)
    bpy.ops.heft.let_go()
    bpy.context.scene.frame_set(30)
    bpy.ops.heft.let_go(back=True)
    source = rigs.poses(man, range(1, LAST + 1))
    bpy.ops.heft.simulate()
    off = off_by(man, source)
    assert off[28] > 0.1 and off[31] > 0.05 and off[-1] < 0.02


def test_selected_bones_alone(man):
    bpy.ops.object.mode_set(mode="POSE")
    for bone in man.pose.bones:
        chosen = bone.name in ("upper_arm.L", "forearm.L")
        if bpy.app.version >= (5, 0):
            bone.select = chosen
        else:
            bone.bone.select = chosen
    bpy.context.scene.frame_set(GO)
    assert bpy.ops.heft.let_go() == {"FINISHED"}
    assert not man.heft.let_go and not man.heft.ground
    keyed = read_controller.keyed_settings(man)
    assert {path for path in keyed if path.endswith("behaviour")} == {
        'pose.bones["upper_arm.L"].heft.behaviour', 'pose.bones["forearm.L"].heft.behaviour',
    }  # fmt: skip
    bpy.ops.object.mode_set(mode="OBJECT")
    source = rigs.poses(man, range(1, LAST + 1))
    bpy.ops.heft.simulate()
    shown = rigs.poses(man, range(1, LAST + 1))
    turned = np.degrees(rigs.angles(source[..., :3, :3], shown[..., :3, :3]))
    arm, leg = (man.pose.bones.find(name) for name in ("forearm.L", "thigh.L"))
    assert turned[:GO].max() < 0.02 and turned[:, leg].max() < 0.02
    assert turned[GO:, arm].max() > 3.0


def test_it_is_refused_outside_the_range(man):
    bpy.context.scene.frame_set(LAST + 5)
    with pytest.raises(RuntimeError, match=f"Frame {LAST + 5} is not in the range that is simulated, 1 to {LAST}"):
        bpy.ops.heft.let_go()


def test_a_throw_brings_what_a_blow_needs_and_takes_it_back(man):
    bpy.ops.heft.throw(frame=30)
    assert {name: getattr(man.heft, name) for name in ("root",)} == {"root": "ASSISTED"}
    assert man.heft.recovery_time == pytest.approx(reaction_settings.BLOW["recovery_time"])
    assert man.heft.settle_time == pytest.approx(reaction_settings.BLOW["settle_time"])
    reaction_settings.take_back(man, tuple(reaction_settings.BLOW))
    assert man.heft.root == "ANIMATED" and man.heft.recovery_time == 0.0


def test_what_the_animator_has_set_stays(man):
    man.heft.root, man.heft.settle_time = "ANIMATED", 0.1
    assert reaction_settings.prepare(man) == ("recovery_time",)
    assert man.heft.root == "ANIMATED" and man.heft.settle_time == pytest.approx(0.1)
    man.heft.controller = "LIMP"
    reaction_settings.take_back(man, ("recovery_time",))
    assert reaction_settings.prepare(man) == ()


def test_a_chain_is_no_person(empty):
    rig = rigs.chain()
    bpy.ops.heft.add()
    assert reaction_settings.prepare(rig) == ()
