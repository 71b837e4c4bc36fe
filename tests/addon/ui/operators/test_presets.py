"""Presets: what they hold, that they apply at once and alone, and that they move a body as their names say."""

from __future__ import annotations

import ast
import itertools
import json
from pathlib import Path

import bpy
import numpy as np
import pytest

import rigs
import unusual
from heft.addon import declare
from heft.addon.settings.bone import HeftBone
from heft.addon.settings.character import HeftArmature
from heft.addon.simulate import session
from heft.addon.ui.operators import presets as presets

FOLDER = presets.FOLDER / "presets" / "heft"
CHARACTER = {path.stem: path for path in sorted((FOLDER / "character").glob("*.py"))}
BONE = {path.stem: path for path in sorted((FOLDER / "bone").glob("*.py"))}
# What each preset sets, as recorded when every preset named every setting.
VALUES = json.loads(Path(__file__).with_name("preset_values.json").read_text())
FPS = 24


def load(name: str) -> None:
    assert bpy.ops.heft.load_preset(filepath=str(CHARACTER[name])) == {"FINISHED"}


def values(group, names) -> tuple:
    return tuple(round(v, 6) if isinstance(v := getattr(group, name), float) else v for name in names)


ALL = [(path, presets.CHARACTER) for path in CHARACTER.values()] + [(path, presets.BONE) for path in BONE.values()]


@pytest.mark.parametrize(("path", "owned"), ALL, ids=lambda value: getattr(value, "stem", ""))
def test_a_preset_sets_what_presets_own_and_says_what_it_does(path: Path, owned):
    script = ast.parse(path.read_text(encoding="utf-8"))
    sets = [line.targets[0].attr for line in script.body if isinstance(getattr(line, "value", None), ast.Constant)
            and isinstance(line, ast.Assign)]  # fmt: skip
    assert set(sets) <= set(owned), "what is no preset's is left alone"
    assert len(presets.told(str(path))) > 20
    assert not presets.told(str(path)).endswith(".")


def unusual_values(group, names) -> None:
    """Give each of these settings a value that is no preset's."""
    for name in names:
        setattr(group, name, unusual.unusual(group.bl_rna.properties[name]))


@pytest.mark.parametrize("name", VALUES["character"])
def test_a_preset_leaves_nothing_of_what_was_set_before(rig, name):
    """All values that a preset gives, as they were when every preset named every setting."""
    unusual_values(rig.heft, presets.CHARACTER)
    load(name)
    wanted = VALUES["character"][name]
    assert {each: getattr(rig.heft, each) for each in wanted} == pytest.approx(wanted)
    assert all(rig.heft.is_property_set(each) for each in presets.CHARACTER), "chosen: a ball brings no others"


@pytest.mark.parametrize("name", VALUES["bone"])
def test_a_bone_preset_leaves_nothing_of_what_was_set_before(rig, name):
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones[1]
    look = rig.pose.bones[1].heft
    unusual_values(look, presets.BONE)
    bpy.ops.heft.load_bone_preset(filepath=str(BONE[name]))
    wanted = VALUES["bone"][name]
    assert {each: getattr(look, each) for each in wanted} == pytest.approx(wanted)


@pytest.mark.parametrize(("path", "owned"), ALL, ids=lambda value: getattr(value, "stem", ""))
def test_a_preset_holds_only_what_differs_from_plain(path: Path, owned):
    kind = HeftArmature if path.parent.name == "character" else HeftBone
    for line in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            name = line.targets[0].attr
            assert line.value.value != kind.declared[name].keywords["default"], f"{path.stem}: {name}"


def test_the_names_asked_for_are_there():
    wanted = {"Heavy", "Springy", "Stiff_Mocap", "Rag_Doll", "Tail", "Jiggle", "Tired", "Robot"}
    assert wanted <= set(CHARACTER) and {"Tail", "Jiggle"} <= set(BONE)
    assert {Path(p) for p in bpy.utils.preset_paths("heft/character")} >= {FOLDER / "character"}


def test_each_preset_applies_alone_and_differs_from_all_others(rig):
    others = [n for n in declare.names(HeftArmature, is_list=False) if n not in presets.CHARACTER]
    before, seen = [getattr(rig.heft, n) for n in others if n != "gravity"], {}
    for name in CHARACTER:
        load(name)
        seen[name] = values(rig.heft, presets.CHARACTER)
        now = [getattr(rig.heft, n) for n in others if n != "gravity"]
        if name == "Rag_Doll":
            assert rig.heft.ground and rig.heft.touch_self_limp, "something to fall on, and not through itself"
            for each in ("ground", "ground_height"):
                rig.heft.property_unset(each)
            now = [getattr(rig.heft, n) for n in others if n != "gravity"]
        assert now == before
    for one, other in itertools.combinations(seen, 2):
        assert seen[one] != seen[other], (one, other)


def test_the_plain_preset_is_what_physics_starts_with(rig):
    start = values(rig.heft, presets.CHARACTER)
    load("Rag_Doll")
    load("Plain")
    assert values(rig.heft, presets.CHARACTER) == start


def test_live_simulates_once_for_a_whole_preset(rig, monkeypatch):
    rig.heft.live = True
    calls, simulate = [], session.simulate
    monkeypatch.setattr(session, "simulate", lambda *args, **named: calls.append(1) or simulate(*args, **named))
    load("Heavy")
    assert len(calls) == 1


def test_a_preset_of_ones_own(rig, monkeypatch, tmp_path):
    monkeypatch.setenv("BLENDER_USER_SCRIPTS", str(tmp_path))
    monkeypatch.setattr(bpy.utils, "user_resource", lambda *_a, path="", create=False, **_n: _made(tmp_path / path))
    found = bpy.utils.preset_paths
    monkeypatch.setattr(bpy.utils, "preset_paths",
                        lambda sub: [*found(sub), str(_made(tmp_path / "presets" / sub))])  # fmt: skip
    rig.heft.settle_time, rig.heft.heaviness = 0.123, 0.456
    assert bpy.ops.heft.add_preset(name="Mine") == {"FINISHED"}
    mine = tmp_path / "presets" / "heft" / "character" / "Mine.py"
    wanted = values(rig.heft, presets.CHARACTER)
    load("Rag_Doll")
    assert values(rig.heft, presets.CHARACTER) != wanted
    bpy.ops.heft.load_preset(filepath=str(mine))
    assert values(rig.heft, presets.CHARACTER) == wanted
    assert presets.told(str(mine)) == "settle time 0.123, heaviness 0.456"
    bpy.ops.heft.add_preset(name="Mine", remove_name=True)
    assert not mine.exists()


def _made(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def test_bone_presets_reach_the_selected_bones_only(rig):
    bpy.ops.object.mode_set(mode="POSE")
    bones = rig.pose.bones
    for i, bone in enumerate(bones):
        (bone if hasattr(bone, "select") else bone.bone).select = i < 2
    rig.data.bones.active = rig.data.bones[0]
    bpy.ops.heft.load_bone_preset(filepath=str(BONE["Tail"]))
    assert [round(bone.heft.settle_scale, 3) for bone in bones] == [2.5, 2.5, 1.0]
    bpy.ops.heft.load_bone_preset(filepath=str(BONE["Plain"]))
    assert [bone.heft.settle_scale for bone in bones] == [1.0, 1.0, 1.0]


# --- moving as their names say --------------------------------------------------------------------


def swing_and_stop(bones: int = 4) -> bpy.types.Object:
    """A beam held level at its root that is turned through 60° in half a second, then held still."""
    rig = rigs.post(bones, length=0.3)
    rig.rotation_euler.x = np.pi / 2  # from upright to level
    first = rig.pose.bones[0]
    first.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (12, 0.0), (24, np.radians(60.0)), (96, np.radians(60.0))):
        first.rotation_euler.z = angle
        first.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_end = 96
    bpy.ops.heft.add()
    rig.heft.total_mass = 5.0
    rig.heft.ground = False  # nothing to lie on, also for Rag Doll
    first.heft.behaviour = "ANIMATED"
    return rig


def ways(names) -> dict[str, np.ndarray]:
    """The tip of the beam on every frame, by preset, and of the source: (frames, 3) [m]."""
    rig = swing_and_stop()
    found = {}
    for name in names:
        load(name)
        bpy.ops.heft.simulate()
        found[name] = tips(rig)
    bpy.ops.heft.show(which="SOURCE")
    found["source"] = tips(rig)
    return found


def tips(rig) -> np.ndarray:
    scene, out = bpy.context.scene, []
    for frame in range(1, scene.frame_end + 1):
        scene.frame_set(frame)
        out.append(rig.matrix_world @ rig.pose.bones[-1].tail)
    return np.array(out)


@pytest.fixture(scope="module")
def moved():
    rigs.new_file()
    return ways(["Heavy", "Springy", "Stiff_Mocap", "Rag_Doll", "Tail", "Jiggle", "Tired", "Robot", "Under_Water"])


def sag(moved, name: str) -> float:
    """How much lower than the source the tip hangs before anything moves, on frame 12 [m]."""
    return float(moved["source"][11, 2] - moved[name][11, 2])


def turned(way: np.ndarray) -> np.ndarray:
    """The tip's direction seen from above [°]."""
    return np.degrees(np.unwrap(np.arctan2(way[:, 1], way[:, 0])))


def overshoot(moved, name: str) -> float:
    """How far the tip swings past where it is held in the end [°]."""
    way, end = turned(moved[name]), turned(moved["source"])[-1]
    start = turned(moved["source"])[0]
    return float(np.max((way - end) * np.sign(end - start)))


def crossings(moved, name: str) -> int:
    """How often the tip passes through the place where it is held, by more than a tenth of a degree."""
    off = (turned(moved[name]) - turned(moved["source"])[-1])[23:]
    signs = np.sign(off[np.abs(off) > 0.1])
    return int(np.sum(signs[1:] != signs[:-1]))


def lag(moved, name: str) -> float:
    """How far the tip is behind the source half way through the turn [°]."""
    return float(abs(turned(moved["source"])[17] - turned(moved[name])[17]))


def test_the_beam_shows_the_presets_apart(moved):
    for name in moved:
        if name != "source":
            row = (sag(moved, name), lag(moved, name), overshoot(moved, name), crossings(moved, name))
            print(f"{name:12s} sag {row[0]:7.4f} m  lag {row[1]:6.2f}°  overshoot {row[2]:6.2f}°  crossings {row[3]}")
    assert sag(moved, "Heavy") > 5.0 * max(sag(moved, "Stiff_Mocap"), 1e-3), "heavy sags, stiff mocap does not"
    assert sag(moved, "Rag_Doll") > sag(moved, "Heavy")
    assert overshoot(moved, "Springy") > 1.5 * overshoot(moved, "Heavy")
    assert crossings(moved, "Springy") >= crossings(moved, "Heavy") + 2
    assert crossings(moved, "Jiggle") > crossings(moved, "Springy")
    assert overshoot(moved, "Jiggle") < 0.5 * overshoot(moved, "Springy")
    assert lag(moved, "Tail") > 5.0 and overshoot(moved, "Tail") > 5.0
    assert overshoot(moved, "Tired") < 0.5 * overshoot(moved, "Heavy") + 1.0 and sag(moved, "Tired") > 0.1
    for exact in ("Robot", "Stiff_Mocap"):
        assert np.abs(moved[exact] - moved["source"]).max() < 1e-4
    assert overshoot(moved, "Under_Water") < 0.3 * lag(moved, "Under_Water")


def yield_to_a_push(names) -> dict[str, np.ndarray]:
    """How far the tip of a standing post is from its place after a push on frame 5, by preset (frames,) [m]."""
    rigs.new_file()
    bpy.context.scene.frame_end = 60
    rig = rigs.post(3)
    bpy.ops.heft.add()
    push = rig.heft.pushes.add()
    push.bone, push.frame, push.impulse = "bone.002", 5, 40.0
    found = {}
    for name in names:
        load(name)
        bpy.ops.heft.simulate()
        way = tips(rig)
        found[name] = np.linalg.norm(way - way[0], axis=1)
    return found


def test_a_push_shows_the_presets_for_recordings_apart():
    off = yield_to_a_push(["Robot", "Stiff_Mocap", "Hit_and_Recover", "Plain"])
    for name, far in off.items():
        print(f"{name:16s} {far.max():.3f} m at most, {far[16]:.4f} m after half a second, {far[28]:.4f} after one")
    assert off["Robot"].max() < off["Stiff_Mocap"].max() < off["Hit_and_Recover"].max()
    assert off["Stiff_Mocap"][4 + 14] < 0.02 * off["Stiff_Mocap"].max(), "back within half a second"
    assert off["Hit_and_Recover"][4 + 12] > 0.02 * off["Hit_and_Recover"].max(), "still on its way"
    assert off["Hit_and_Recover"][4 + 26] < 0.02 * off["Hit_and_Recover"].max()
