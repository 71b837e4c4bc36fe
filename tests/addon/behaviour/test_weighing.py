"""How heavy bodies are: by skin, as a person's, the same on both sides."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import figure
import rigs
from de_leva import TABLE, de_leva
from heft.addon.blender import engine_space
from heft.addon.read import read_rig
from heft.addon.simulate import session
from heft.engine.anatomy import person_masses, skin_volumes
from rigs import DATA

MOCAP = sorted((DATA / "mocap").glob("cmu_*.bvh"))
SEGMENTS = {
    "Head": ("neck", "head"), "Trunk": ("hips", "spine", "chest"), "Upper arm": ("upper_arm.L",),
    "Forearm": ("forearm.L",), "Hand": ("hand.L",), "Thigh": ("thigh.L",), "Shank": ("shin.L",), "Foot": ("foot.L",),
}  # fmt: skip


def model_of(rig):
    placement = engine_space.Placement.from_matrices(np.eye(4)[None], 1.0)
    return read_rig.build_model(rig, read_rig.skeleton_of(rig), placement, bpy.context.scene, 1)


@pytest.mark.skipif(not TABLE.exists(), reason=f"no tables in {TABLE}")
@pytest.mark.parametrize("arms_down", [0.0, 0.8])
def test_a_man_in_his_skin_weighs_what_the_table_says(empty, arms_down):
    wanted = de_leva()
    man = figure.rig(arms_down)
    figure.skin(man, arms_down)
    bpy.ops.heft.add()
    model = model_of(man)
    off = []
    for name, parts in SEGMENTS.items():
        found = sum(model.masses[model.index(part)] for part in parts) / model.total_mass
        print(f"{name}: {100 * found:.2f} % of the body, de Leva {100 * wanted[name][0]:.2f} %: "
              f"{100 * (found / wanted[name][0] - 1):+.1f} %")  # fmt: skip
        off.append(abs(found / wanted[name][0] - 1.0))
    assert max(off) < 0.15


@pytest.mark.parametrize("arms_down", [0.0, 0.8])
def test_without_a_skin_he_weighs_the_same(empty, arms_down):
    man = figure.rig(arms_down)
    bpy.ops.heft.add()
    model = model_of(man)
    assert model.total_mass == pytest.approx(70.0)
    for name, parts in SEGMENTS.items():
        found = sum(model.masses[model.index(part)] for part in parts) / model.total_mass
        key = {"Upper arm": "UPPER_ARM", "Forearm": "LOWER_ARM"}.get(name, name.upper())
        assert found == pytest.approx(person_masses.TABLE[key].mass, rel=2e-3)
    thigh = model.index("thigh.L")
    long = np.linalg.norm(np.subtract(*reversed(figure.bones(0.0)[8][2:])))
    assert np.linalg.norm(model.centers[thigh]) == pytest.approx(0.38535 * long, rel=1e-3)
    across = np.linalg.eigvalsh(model.inertias[thigh])[1:]
    np.testing.assert_allclose(across, model.masses[thigh] * (0.348 * long) ** 2, rtol=1e-2)


def partner(name: str) -> str:
    for one, other in (("Left", "Right"), ("LHip", "RHip"), ("LThumb", "RThumb"), ("_L_", "_R_")):
        if one in name:
            return name.replace(one, other)
    return name


@pytest.mark.skipif(not MOCAP, reason=f"no motion capture in {DATA / 'mocap'}")
@pytest.mark.parametrize("path", MOCAP[::4], ids=lambda path: path.stem)
def test_recorded_people_weigh_the_same_left_and_right(empty, path):
    bpy.ops.import_anim.bvh(filepath=str(path))
    bpy.ops.heft.add()
    model = model_of(bpy.context.object)
    pairs = [(name, partner(name)) for name in model.names if partner(name) != name]
    off = [abs(model.masses[model.index(a)] / model.masses[model.index(b)] - 1.0) for a, b in pairs]
    print(f"{path.stem}: {len(pairs)} pairs, largest difference {max(off):.1e}")
    assert len(pairs) >= 10 and max(off) < 1e-9
    hands = sum(m for m, n in zip(model.masses, model.names, strict=True) if "LeftHand" in n or "LThumb" in n)
    assert 0.001 < hands / model.total_mass < 0.02
    assert model.masses[model.index("Hips")] > 0.05 * model.total_mass, "though it has no length"


@pytest.mark.parametrize("name", ["RiggedFigure", "CesiumMan"])
def test_skinned_samples_weigh_the_same_left_and_right(empty, name, tmp_path):
    path = DATA / "rigs" / f"{name}.glb"
    if not path.exists():
        pytest.skip(f"no rigs in {path.parent}")
    rigs.open_skin(path, tmp_path)
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    rig.heft.detail = "FULL"
    bpy.ops.heft.add()
    model = model_of(rig)
    pairs = [(n, partner(n)) for n in model.names if partner(n) != n and "arm" not in n]
    arms = {"CesiumMan": ("Skeleton_arm_joint_L__4_", "Skeleton_arm_joint_R"),
            "RiggedFigure": ("arm_joint_L_1", "arm_joint_R_1")}  # fmt: skip
    pairs.append(arms[name])
    off = [abs(model.masses[model.index(a)] / model.masses[model.index(b)] - 1.0) for a, b in pairs]
    print(f"{name}: {len(pairs)} pairs, largest difference {max(off):.1e}")
    assert len(pairs) == 5 and max(off) < 1e-9
    assert model.masses.sum() == pytest.approx(70.0)


def test_dragging_a_slider_does_not_fill_the_skin_again(empty, monkeypatch):
    man = figure.rig()
    figure.skin(man)
    bpy.context.scene.frame_end = 3
    bpy.ops.heft.add()
    session.simulate(man, bpy.context.scene)
    calls = []
    monkeypatch.setattr(skin_volumes, "fill", lambda *args: calls.append(args))
    for mass in (50.0, 60.0):
        man.heft.total_mass = mass
        session.simulate(man, bpy.context.scene, fresh=False)
        session.simulate(man, bpy.context.scene, fresh=True)
        assert session.last_shown(man).reading.model.total_mass == pytest.approx(mass)
    assert not calls


def test_ignored_bones_lend_their_mass_to_their_carrier(empty):
    rig = rigs.chain(4, connected=False)
    bpy.ops.heft.add()
    whole = model_of(rig)
    rig.pose.bones[3].heft.behaviour = "IGNORED"
    merged = model_of(rig)
    assert len(merged) == 3
    assert merged.masses[2] == pytest.approx(whole.masses[2] + whole.masses[3])
    assert merged.total_mass == pytest.approx(whole.total_mass)
    # About any point the moments of the whole stay what they were.
    assert np.trace(merged.inertias[2]) > np.trace(whole.inertias[2])
