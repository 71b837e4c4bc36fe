"""What bones carry, and let go."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.read import shot
from heft.addon.simulate import session
from heft.engine.geometry import mass_properties


def carried(rig, bone: str = "bone.002") -> bpy.types.Object:
    """A box held beside the top of the post."""
    box = rigs.block("Box", 0.2)
    box.parent, box.parent_type, box.parent_bone = rig, "BONE", bone
    box.location = (0.5, 0.0, 0.0)
    return box


def test_a_parented_object_adds_its_mass_and_shape(rig):
    bpy.ops.heft.simulate()
    bare = session.last_shown(rig).reading.model
    box = carried(rig)
    box.heft_collider.mass = 5.0
    rig.heft.ground, rig.heft.ground_height = True, -1.0
    bpy.ops.heft.simulate()
    model = session.last_shown(rig).reading.model
    assert model.total_mass == pytest.approx(bare.total_mass + 5.0)
    assert model.centers[2, 0] > 0.3, "the centre moves towards the load"
    assert len(model.shapes[2]) == 2
    held = model.shapes[2][1]
    bpy.context.view_layer.update()
    spot = np.linalg.inv(np.array(rig.pose.bones[2].matrix)) @ np.array(box.matrix_world)
    np.testing.assert_allclose(mass_properties.center_of_mass(held), spot[:3, 3], atol=1e-5)
    box.heft_collider.mass = 0.0
    bpy.ops.heft.simulate()
    heavy = session.last_shown(rig).reading.model.total_mass
    assert heavy == pytest.approx(bare.total_mass + 1000.0 * 0.2**3, rel=1e-6), "as heavy as water"


def test_parts_that_outweigh_a_body_are_the_body(rig):
    """A robot of boxes on its bones weighs what it is said to weigh; what the user gave a mass is still carried."""
    bpy.ops.heft.simulate()
    total = session.last_shown(rig).reading.model.total_mass
    boxes = [carried(rig) for _ in range(4)]
    bpy.ops.heft.simulate()
    model = session.last_shown(rig).reading.model
    assert model.total_mass == pytest.approx(total)
    assert model.masses[2] > 0.9 * total
    boxes[0].heft_collider.mass = 5.0
    bpy.ops.heft.simulate()
    assert session.last_shown(rig).reading.model.total_mass == pytest.approx(total + 5.0 + 3 * 1000.0 * 0.2**3)


def test_a_load_makes_an_arm_harder_to_push(rig):
    push = rig.heft.pushes.add()
    push.bone, push.direction, push.impulse, push.frame = "bone.002", (0.0, 1.0, 0.0), 3.0, 10
    bpy.ops.heft.simulate()
    light = rigs.bend(rig).max()
    carried(rig).heft_collider.mass = 5.0
    bpy.ops.heft.simulate()
    assert rigs.bend(rig).max() < 0.6 * light


def test_an_object_that_moves_on_its_bone_is_no_part_of_it(rig):
    box = carried(rig)
    assert [load.ob for load in shot.loads(rig)] == [box]
    box.keyframe_insert("location", frame=3)
    assert shot.loads(rig) == []


def test_a_box_let_go_starts_from_the_hand(rig):
    box = carried(rig)
    box.heft_collider.moves, box.heft_collider.free_from = "FREE", 15
    rigs.collide(rig, box)
    before = rigs.places(box, rigs.FRAMES)
    bpy.ops.heft.simulate()
    now = rigs.places(box, rigs.FRAMES)
    np.testing.assert_allclose(now[:15], before[:15], atol=1e-5)
    assert now[-1, 2, 3] < before[-1, 2, 3] - 1.0
    assert session.last_shown(rig).reading.model.total_mass == pytest.approx(3.0, rel=1e-5)
