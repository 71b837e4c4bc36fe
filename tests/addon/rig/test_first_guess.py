"""How big a rig is taken to be when physics is added."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import bpy
import pytest

import conventions
import rigs
import skeletons
from heft.addon.rig import first_guess


def _sized(rig) -> tuple[float, float]:
    """Heights before and after physics was added [m]."""
    bpy.ops.heft.add()
    scale = abs(rig.matrix_world.to_3x3().determinant()) ** (1.0 / 3.0)
    tall = first_guess.standing_height(rig, bpy.context.scene) * scale
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
        tall = first_guess.standing_height(rig, bpy.context.scene) * unit * rig.heft.meters_per_unit
        assert rig.heft.meters_per_unit == pytest.approx(meters) if meters else 1.4 < tall < 2.1
    rig.scale = (250.0,) * 3
    bpy.context.view_layer.update()
    assert first_guess.meters_per_unit(rig, bpy.context.scene) == 1.0, "the object's scale counts"
    rigs.new_file()
    rig = conventions.armature(skeleton, 100.0)
    rig.heft.meters_per_unit = 2.0
    bpy.ops.heft.add()
    assert rig.heft.meters_per_unit == 2.0, "what the user has set stays"


def legged(size: float, height: float) -> bpy.types.Object:
    """Four straight legs under a back of this length [m], as bones named for an animal."""
    data = bpy.data.armatures.new("Beast")
    rig = bpy.data.objects.new("Beast", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")

    def bone(name, head, tail, parent=None):
        made = data.edit_bones.new(name)
        made.head, made.tail, made.parent = head, tail, parent
        return made

    back = bone("spine", (0, size / 2, height), (0, 0, height))
    chest = bone("chest", (0, 0, height), (0, -size / 2, height), back)
    neck = bone("neck", (0, -size / 2, height), (0, -0.6 * size, 1.2 * height), chest)
    bone("head", (0, -0.6 * size, 1.2 * height), (0, -0.75 * size, 1.2 * height), neck)
    for side, x in (("L", 0.1 * size), ("R", -0.1 * size)):
        for names, y, above in (
            (("thigh", "shin", "foot"), size / 2, back),
            (("upper_arm", "forearm", "hand"), -size / 2, chest),
        ):
            parent = above
            for name, top, low in zip(names, (1.0, 0.55, 0.1), (0.55, 0.1, 0.0), strict=True):
                parent = bone(f"{name}.{side}", (x, y, top * height), (x, y - 0.01, low * height), parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def test_an_animal_is_as_heavy_as_its_size(empty):
    """By the cube of its size; a cat is no 70 kg."""
    masses = []
    for size in (0.45, 0.9):
        rigs.new_file()
        rig = legged(size, 0.5 * size)
        bpy.ops.heft.add()
        masses.append(rig.heft.total_mass)
    print(f"45 cm of back: {masses[0]:.2g} kg, 90 cm: {masses[1]:.2g} kg")
    assert 0.3 < masses[0] < 8.0 and masses[1] == pytest.approx(8.0 * masses[0], rel=0.06)


def test_a_skinned_animal_weighs_what_its_skin_holds_of_water(empty):
    rig = legged(0.9, 0.45)
    box = rigs.mesh_object("Skin", lambda form: rigs.bmesh.ops.create_cube(form, size=0.3), (0.0, 0.0, 0.45))
    box.vertex_groups.new(name="spine").add(range(8), 1.0, "REPLACE")
    box.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.add()
    assert rig.heft.total_mass == pytest.approx(1000.0 * 0.3**3, rel=0.05)
    bpy.ops.heft.remove()
    rig.heft.total_mass = 12.0
    bpy.ops.heft.add()
    assert rig.heft.total_mass == 12.0, "what the user has set stays"


def test_people_keep_their_mass_unless_they_are_children_or_giants(empty):
    skeleton, _ = conventions.build(*conventions.CONVENTIONS["plain English"])
    for size, grown in ((1.0, True), (0.45, False)):
        rigs.new_file()
        rig = conventions.armature(skeleton, size)
        tall, _ = _sized(rig)
        wanted = 70.0 if grown else 70.0 * (tall / 1.75) ** 2
        assert rig.heft.total_mass == pytest.approx(wanted, rel=0.05)
    rigs.new_file()
    rig = rigs.chain(5)
    bpy.ops.heft.add()
    assert rig.heft.total_mass == 70.0, "nobody knows what a chain is made of"
