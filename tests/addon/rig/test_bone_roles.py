"""What the bones of rigs are: meshes and Rigify against labels by hand, corrections, and what follows from roles."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stdout

import addon_utils
import bpy
import numpy as np
import pytest

import conventions
import rigs
import skeletons
from heft.addon.read import read_controller
from heft.addon.rig import bone_roles
from heft.addon.simulate import session
from heft.engine.anatomy.role_list import JOINT_OF_ROLE, ROLES, Part
from role_checks import check, check_by_shape

GENERATED = {
    "basic_human": skeletons.BASIC_HUMAN, "human": skeletons.HUMAN, "horse": skeletons.HORSE, "bird": skeletons.BIRD,
}  # fmt: skip


def skeleton_of(rig) -> tuple[skeletons.Skeleton, list[bool]]:
    bones = list(rig.data.bones)
    place = {bone.name: i for i, bone in enumerate(bones)}
    heads, tails = (np.array([getattr(bone, f"{end}_local") for bone in bones]) for end in ("head", "tail"))
    parents = [place[bone.parent.name] if bone.parent else -1 for bone in bones]
    return skeletons.Skeleton([*place], parents, heads, tails), [bone.use_deform for bone in bones]


@pytest.fixture(scope="module")
def meshes(tmp_path_factory):
    """The skeletons of the glTF files."""
    if not rigs.DATA.exists():
        pytest.skip("the meshes are not here: shared/data is not part of the project")
    found = {}
    for stem in (*skeletons.MESHES, "babylon_r_hand"):
        rigs.open_skin(rigs.DATA / "rigs" / f"{stem}.glb", tmp_path_factory.mktemp("skins"))
        rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
        found[stem] = skeleton_of(rig)[0]
    return found


@pytest.mark.parametrize("stem", skeletons.MESHES)
def test_meshes(meshes, stem):
    skeleton, truth = meshes[stem], skeletons.MESHES[stem]
    assert set(truth) == set(skeleton.names), "every bone is labelled"
    check(stem, skeleton, truth)
    if stem != "RobotExpressive":  # its feet hang on the floor, not on its legs
        check_by_shape(stem, skeleton, truth)


def test_a_hand_alone(meshes):
    check("babylon_r_hand", meshes["babylon_r_hand"], skeletons.HAND)


@pytest.fixture(scope="module")
def generated():
    """Rigify's rigs as generated, and two as offered: skeleton and which bones deform."""
    found = {}
    rigs.new_file()
    if addon_utils.enable("rigify", default_set=True) is None:
        pytest.skip("Rigify cannot be enabled in this Blender")
    for name in ("wolf", *GENERATED):
        for ob in [*bpy.data.objects]:
            bpy.data.objects.remove(ob)
        getattr(bpy.ops.object, f"armature_{name}_metarig_add")()
        if name not in GENERATED or name == "basic_human":
            found[f"{name} metarig"] = skeleton_of(bpy.context.object)
        if name not in GENERATED:
            continue
        with redirect_stdout(io.StringIO()):
            bpy.ops.pose.rigify_generate()
        found[name] = skeleton_of(bpy.context.object)
    addon_utils.disable("rigify", default_set=True)
    return found


def test_rigify(generated):
    check("basic metarig", generated["basic_human metarig"][0], skeletons.METARIG)
    check_by_shape("basic metarig", generated["basic_human metarig"][0], skeletons.METARIG)
    check("wolf metarig", generated["wolf metarig"][0], skeletons.WOLF)
    for name, truth in GENERATED.items():
        skeleton, deform = generated[name]
        if "human" in name:
            assert set(truth) == {n for n, d in zip(skeleton.names, deform, strict=True) if d}, "every bone is labelled"
        check(f"generated {name}", skeleton, truth, deform)
    check_by_shape("generated basic_human", generated["basic_human"][0], skeletons.BASIC_HUMAN,
                   generated["basic_human"][1])  # fmt: skip


def test_roots_and_the_second_halves_of_limbs_have_no_joint():
    def joints(*parts):
        names = tuple(f"{i}" for i in range(len(parts)))
        known = {name: Part(*part.split()) for name, part in zip(names, parts, strict=True)}
        return bone_roles.joints_of(names, np.arange(-1, len(parts) - 1), known)

    assert joints("PELVIS MIDDLE", "SPINE MIDDLE", "SPINE MIDDLE", "NECK MIDDLE") == [None, "spine", "spine", "neck"]
    assert joints("SPINE MIDDLE", "COLLAR LEFT", "UPPER_ARM LEFT", "UPPER_ARM LEFT", "LOWER_ARM LEFT") == [
        None, "shoulder", "shoulder", None, "elbow",
    ]  # fmt: skip
    assert joints("PELVIS MIDDLE", "PELVIS LEFT", "THIGH LEFT", "THIGH LEFT") == [None, "hip", "hip", None]
    assert set(JOINT_OF_ROLE) <= {name for name, _ in ROLES}


def test_a_named_joint_is_as_strong_as_a_persons(empty):
    rig = rigs.post(4)
    for bone, name in zip(rig.data.bones, ("hips", "spine", "link", "forearm"), strict=True):
        bone.name = name
    bpy.ops.heft.add()
    rig.heft.use_strength, rig.heft.total_mass, rig.heft.strength = True, 70.0, 0.5
    bpy.ops.heft.simulate()
    reading = session.last_shown(rig).reading

    def strength(name):
        given = read_controller.controller_of(rig, reading.model, reading.names, reading.frames).strength
        return given[reading.names.index(name)]

    assert strength("spine") == pytest.approx(0.5 * 70.0 * 687.9 / 69.6, rel=1e-3)
    assert strength("forearm") == pytest.approx(0.5 * 70.0 * 101.4 / 69.6, rel=1e-3)
    assert strength("link") == pytest.approx(0.5 * reading.model.strengths[reading.names.index("link")])
    fingerprint = rig.heft.fingerprint
    rig.pose.bones["link"].heft.role = "HEAD"
    assert strength("link") == pytest.approx(0.5 * 70.0 * 51.0 / 75.0, rel=1e-3), "corrections count"
    bpy.ops.heft.simulate()
    assert rig.heft.fingerprint != fingerprint


def test_roles_are_corrected_for_all_selected_bones(empty):
    rig = rigs.post(3)
    bpy.ops.heft.add()
    assert bone_roles.roles_of(rig)["bone.001"] == Part("OTHER", "MIDDLE")
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.heft.set_role(role="TAIL")
    rig.pose.bones[1].heft.side = "LEFT"
    assert [*bone_roles.roles_of(rig).values()] == [
        Part("TAIL", "MIDDLE"),
        Part("TAIL", "LEFT"),
        Part("TAIL", "MIDDLE"),
    ]
    assert bone_roles.found_in(rig)["bone.001"] == Part("OTHER", "MIDDLE")
    rig.data.bones.active = rig.data.bones[0]
    rig.pose.bones[0].heft.role, rig.pose.bones[0].heft.settle_scale = "HEAD", 2.0
    bpy.ops.heft.copy_to_selected()
    assert rig.pose.bones[2].heft.settle_scale == 2.0 and rig.pose.bones[2].heft.role == "TAIL"


def test_asking_again_costs_nothing(empty):
    skeleton, _ = conventions.build(*conventions.CONVENTIONS["Unreal"])
    rig = conventions.armature(skeleton)
    bpy.ops.heft.add()
    bone_roles.roles_of(rig)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        bone_roles.roles_of(rig)
        times.append(1000.0 * (time.perf_counter() - start))
    per_75 = min(times) * 75 / len(skeleton.names)
    print(f"roles of {len(skeleton.names)} bones asked again: {min(times):.3f} ms, {per_75:.3f} ms on 75")
    assert per_75 < 1.0
    rig.data.bones["head"].name = "thigh_x"
    assert bone_roles.roles_of(rig)["thigh_x"].role == "THIGH", "a changed rig is looked at again"
