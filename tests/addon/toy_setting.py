"""Run by behaviour/test_new_setting.py in a Blender of its own: all that follows from one declaration and one use.

Argument: a copy of the project to which the setting `damping_scale` of a bone was added.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path

import bpy
import numpy as np

NAME, FIELD = "damping_scale", "heft_damping_scale"


def load_addon(root: Path) -> None:
    """Put that copy of the project under the name `heft` into Blender."""
    spec = importlib.util.spec_from_file_location("heft", root / "__init__.py", submodule_search_locations=[str(root)])
    heft = importlib.util.module_from_spec(spec)
    sys.modules["heft"] = heft
    spec.loader.exec_module(heft)
    sys.path.insert(0, str(Path(__file__).parent))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    heft.register()


def part(name: str):
    return importlib.import_module(f"heft.addon.{name}")


def used(rig: bpy.types.Object) -> np.ndarray:
    """What the controller has of it, for every bone."""
    names = tuple(bone.name for bone in rig.pose.bones)
    return read_controller.controller_of(rig, None, names, np.arange(1, 5)).damping_ratio


def digests(rig: bpy.types.Object) -> tuple[str, str]:
    now = inputs.of(rig, bpy.context.scene)
    return now.total, now.rigs[rig].structure


def check_digests(rig: bpy.types.Object) -> None:
    """In the fingerprint, not in the structure of the model."""
    before, model = digests(rig)
    rig.pose.bones[1].heft.damping_scale = 0.5
    after, model_after = digests(rig)
    assert before != after and model == model_after
    assert np.allclose(used(rig), (1.0, 0.5, 1.0))


def check_saved(rig: bpy.types.Object) -> None:
    saved = part("settings.saved")
    saved.pack(rig)
    assert json.loads(rig.heft_store)["bones"]["bone.001"][NAME] == 0.5
    unusual.lose(rig)
    assert rig.pose.bones[1].heft.damping_scale == 1.0
    saved.unpack(rig)
    assert rig.pose.bones[1].heft.damping_scale == 0.5


def check_take(rig: bpy.types.Object) -> None:
    takes = part("result.take_settings")
    text = takes.packed(rig, shot.of(rig))
    rig.pose.bones[1].heft.damping_scale = 2.0
    assert takes.phrase(takes.packed(rig, shot.of(rig)), text) == "bone bone.001"
    takes.restore(rig, text)
    assert rig.pose.bones[1].heft.damping_scale == 0.5


def check_handed_on(rig: bpy.types.Object) -> None:
    """To another character, to the other side, to selected bones; by presets; by an edit in the panel."""
    copies, presets = part("tools.copy_settings"), part("ui.operators.presets")
    other = rigs.post(3, "Other", at=(1.0, 0.0, 0.0))
    copies.copy_character(rig, [other], bpy.context.scene)
    assert other.pose.bones[1].heft.damping_scale == 0.5
    rig.pose.bones[0].name, rig.pose.bones[1].name = "arm.R", "arm.L"
    copies.mirror(rig, [rig.pose.bones["arm.L"]])
    assert rig.pose.bones["arm.R"].heft.damping_scale == 0.5
    assert NAME in presets.BONE and NAME in part("ui.panels.bones").EDITED
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones["arm.L"]
    bpy.ops.heft.load_bone_preset(filepath=str(presets.FOLDER / "presets" / "heft" / "bone" / "Heavy.py"))
    assert rig.pose.bones["arm.L"].heft.damping_scale == 1.0, "presets reset it"
    bpy.ops.object.mode_set(mode="OBJECT")


def check_keyed(rig: bpy.types.Object) -> None:
    bone = rig.pose.bones["arm.L"]
    for frame, value in ((1, 1.0), (3, 3.0)):
        setattr(bone, FIELD, value)
        bone.keyframe_insert(FIELD, frame=frame)
    assert np.allclose(used(rig)[:, 1], (1.0, 2.0, 3.0, 3.0), atol=0.2)
    assert NAME in [name for name, _, _ in part("settings.keyable_bone").KEYABLE_ITEMS]


def check_help() -> None:
    for name in (f"bpy.types.HeftBone.{NAME}", f"bpy.types.PoseBone.{FIELD}"):
        url = bpy.types.WM_OT_doc_view_manual._lookup_rna_url(name, verbose=False)
        assert url.endswith("bones.html#multipliers"), url


def check_tests() -> None:
    """The tests ask for a case, and are content with it."""
    try:
        every.test_no_setting_is_left_out("bone")
    except AssertionError as error:
        assert NAME in str(error)
    else:
        raise AssertionError("no test misses a case")
    every.CASES["bone"][NAME] = every.Case(1.0, 0.2, every.swing)
    every.test_no_setting_is_left_out("bone")
    keyed = importlib.import_module("behaviour.test_keyed_settings")
    assert ("bone", NAME) in keyed.KEYABLE


if __name__ == "__main__":
    load_addon(Path(sys.argv[1]))
    inputs, shot, read_controller = part("read.inputs"), part("read.shot"), part("read.read_controller")
    rigs, unusual = (importlib.import_module(name) for name in ("rigs", "unusual"))
    every = importlib.import_module("behaviour.test_every_setting")
    rigs.new_file()
    rig = rigs.post(3)
    bpy.ops.heft.add()
    check_digests(rig)
    check_saved(rig)
    check_take(rig)
    check_handed_on(rig)
    check_keyed(rig)
    check_help()
    check_tests()
    print("all of it follows")
