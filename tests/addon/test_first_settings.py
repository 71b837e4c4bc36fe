"""How big a rig is taken to be when physics is added."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import bpy
import pytest

import conventions
import rigs
import skeletons
from heft.addon import first_settings


def _sized(rig) -> tuple[float, float]:
    """Heights before and after physics was added [m]."""
    bpy.ops.heft.add()
    scale = abs(rig.matrix_world.to_3x3().determinant()) ** (1.0 / 3.0)
    tall = first_settings.standing_height(rig, bpy.context.scene) * scale
    return tall, tall * rig.heft.meters_per_unit


@pytest.mark.skipif(not rigs.DATA.exists(), reason="shared/data is not part of the project")
def test_people_are_as_tall_as_people(tmp_path):
    """All files with a person in them, in whatever units."""
    rows = []
    for stem in skeletons.MESHES:
        rigs.open_skin(rigs.DATA / "rigs" / f"{stem}.glb", tmp_path)
        rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
        bpy.context.view_layer.objects.active = rig
        rows.append((stem, *_sized(rig)))
    for path in sorted((rigs.DATA / "mocap").glob("*.bvh")):
        rigs.new_file()
        with redirect_stdout(io.StringIO()):
            bpy.ops.import_anim.bvh(filepath=str(skeletons.shortened(path, tmp_path)))
        rows.append((path.stem, *_sized(bpy.context.object)))
    for stem, found, guessed in rows:
        print(f"{stem:20s} {found:9.3f} units, taken as {guessed:.2f} m")
    assert len(rows) == 23 and all(1.4 <= guessed <= 2.1 for *_, guessed in rows)


def test_sizes_that_may_be_meant_are_left(empty):
    skeleton, _ = conventions.build(*conventions.CONVENTIONS["plain English"])
    for size, unit, meters in (
        (1.0, 1.0, 1.0),
        (0.45, 1.0, 1.0),
        (100.0, 1.0, 0.01),
        (100.0, 0.01, 1.0),
        (0.004, 1.0, 0),
    ):
        rigs.new_file()
        rig = conventions.armature(skeleton, size)
        bpy.context.scene.unit_settings.scale_length = unit
        bpy.ops.heft.add()
        tall = first_settings.standing_height(rig, bpy.context.scene) * unit * rig.heft.meters_per_unit
        assert rig.heft.meters_per_unit == pytest.approx(meters) if meters else 1.4 < tall < 2.1
    rig.scale = (250.0,) * 3
    bpy.context.view_layer.update()
    assert first_settings.meters_per_unit(rig, bpy.context.scene) == 1.0, "the object's scale counts"
    rigs.new_file()
    rig = conventions.armature(skeleton, 100.0)
    rig.heft.meters_per_unit = 2.0
    bpy.ops.heft.add()
    assert rig.heft.meters_per_unit == 2.0, "what the user has set stays"
