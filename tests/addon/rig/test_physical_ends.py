"""Where bones begin and end, whatever their tails are drawn like."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import long_tails
import mixamo_like
import rest_poses
import rigs
from heft.addon.rig import bone_roles, first_guess, physical_ends


def test_a_glTF_import_at_any_object_scale_is_the_same_person(empty, tmp_path):
    """Its inner bones are drawn up to 20 m long, or as stubs of a centimetre."""
    ways, drawn = [], []
    for scale in mixamo_like.SCALES:
        rig = mixamo_like.open_imported(scale, tmp_path)
        _, ends = physical_ends.find(rig, bpy.context.scene)
        ways.append(ends.ways * scale)
        drawn.append(max(bone.length for bone in rig.data.bones) * scale)
        assert scale * ends.size == pytest.approx(1.77, abs=0.03), scale
    assert drawn[0] > 10.0 and drawn[2] < 0.05, "the importer draws other tails now: are these still absurd?"
    np.testing.assert_allclose(ways[0], ways[1], atol=1e-5)
    np.testing.assert_allclose(ways[2], ways[1], atol=1e-5)


def test_masses_and_shapes_do_not_hang_on_tails(empty):
    from heft.addon.blender import engine_space
    from heft.addon.read import read_rig

    models = []
    for times in (1.0, 50.0):
        rigs.new_file()
        rig = mixamo_like.build()
        long_tails.scale_tails(rig, times)
        bpy.ops.heft.add()
        place = engine_space.Placement.from_matrices(np.eye(4)[None], 1.0)
        models.append(read_rig.build_model(rig, read_rig.skeleton_of(rig), place, bpy.context.scene, 1, solid=True))
    np.testing.assert_allclose(models[0].masses, models[1].masses, rtol=1e-4)
    np.testing.assert_allclose(models[0].centers, models[1].centers, atol=1e-4)
    assert [len(shapes) for shapes in models[0].shapes] == [len(shapes) for shapes in models[1].shapes]


@pytest.mark.parametrize("kind", rest_poses.KINDS)
def test_a_person_is_as_tall_and_heavy_in_every_rest_pose(empty, kind):
    rig = mixamo_like.build()
    told = dict(bone_roles.roles_of(rig))
    person = rest_poses.read(rig, [1], 1.0)
    rng = np.random.default_rng(7)
    for unit in (1.0, 1000.0):
        rigs.new_file()
        helper = np.array([5.0, -3.0, 0.0]) if kind == "far helper" else None
        made = rest_poses.build(person, rest_poses.draw(person, kind, rng), unit, helper)
        bpy.ops.heft.add()
        tall = first_guess.bone_height(made) * made.heft.meters_per_unit
        assert tall == pytest.approx(1.74, rel=0.05) and made.heft.total_mass == pytest.approx(70.0)
        found = bone_roles.roles_of(made)
        assert [name for name in person.names if found[name] != told[name]] == []
