"""Run in a clean Blender by test_package.py: install the zip, use it, write what was seen as JSON.

usage: use_installed_extension.py EXTENSION.zip REPORT.json
"""

import importlib.util
import json
import math
import os
import re
import sys

import bpy
import numpy as np

MODULE = "bl_ext.user_default.heft"
FRAMES = 30


def build_rig():
    """Four bones along x, the first one swinging."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=False)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    ob = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for i in range(4):
        bone = ob.data.edit_bones.new(f"bone.{i}")
        bone.head, bone.tail, bone.parent = (0.3 * i, 0, 1), (0.3 * (i + 1), 0, 1), parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    first = ob.pose.bones["bone.0"]
    first.rotation_mode = "XYZ"
    for frame, degrees in ((1, 0), (12, 60), (20, -30), (30, 0)):
        first.rotation_euler.z = math.radians(degrees)
        first.keyframe_insert("rotation_euler", frame=frame)
    ob.animation_data.action.name = "Swing"
    return ob


def sample(ob):
    """(frames, bones, 3) tails of the evaluated pose, in the armature's space."""
    scene, poses = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        poses.append([tuple(bone.tail) for bone in evaluated.pose.bones])
    return np.array(poses)


def bake(heaviness):
    ob = build_rig()
    source, before = sample(ob), sorted(action.name for action in bpy.data.actions)
    assert bpy.ops.heft.add() == {"FINISHED"}
    ob.heft.heaviness = heaviness
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    assert bpy.ops.heft.bake(target="ACTION") == {"FINISHED"}
    baked_action = ob.animation_data.action.name
    assert bpy.ops.heft.remove() == {"FINISHED"}
    return before, baked_action, source, sample(ob)


def main(zip_path, report_path):
    report = {"modules_before": [name for name in ("numba", "scipy") if importlib.util.find_spec(name)]}
    bpy.ops.extensions.package_install_files(filepath=zip_path, repo="user_default", enable_on_install=True)
    report["module"] = next((name for name in bpy.context.preferences.addons.keys() if name.endswith(".heft")), None)  # noqa: SIM118
    report["actions_before"], report["baked_action"], source, result = bake(heaviness=0.0)
    report["actions_after"] = sorted(action.name for action in bpy.data.actions)
    report["identity_deviation"] = float(np.abs(result - source).max())
    *_, source, result = bake(heaviness=1.0)
    report["heavy_deviation"] = float(np.abs(result - source).max())
    report["finite"] = bool(np.isfinite(result).all())
    engine = sys.modules[f"{MODULE}.engine"]
    report["compiled"] = engine.is_compiled()
    import numba
    import scipy

    page = sys.modules[f"{MODULE}.addon.ui.operators.manual"].page_path("FOLLOW")
    shown = re.findall(r'src="file://([^"]+)"', page.read_text(encoding="utf-8"))
    report["manual"] = {"page": str(page), "pictures": {path: os.path.isfile(path) for path in shown}}
    report["libraries"] = {"numba": numba.__file__, "scipy": scipy.__file__}
    bpy.ops.preferences.addon_disable(module=MODULE)
    report["registered_after_disable"] = [
        name for name in ("heft", "heft_collider", "heft_result", "heft_store") if hasattr(bpy.types.Object, name)
    ]
    with open(report_path, "w") as file:
        json.dump(report, file)


main(*sys.argv[1:])
