"""Run by behaviour/test_seam.py in a Blender of its own: all that follows from a controller's two files.

Argument: a copy of the project to which the controller `PULL` was added.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

# Plain Python: what is tried is the seam, and nothing has to be compiled.
os.environ["NUMBA_DISABLE_JIT"] = "1"

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from toy_setting import load_addon, part


def check_panel(rig: bpy.types.Object) -> None:
    items = [item.identifier for item in rig.heft.bl_rna.properties["controller"].enum_items]
    assert items == ["FOLLOW", "ON_TIME", "LIMP", "PULL"]
    entry = part("controllers").entry("PULL")
    assert all(hasattr(rig.heft, name) for name in entry.rows)
    assert all(hasattr(rig.pose.bones[0], f"heft_{name}") for name in entry.bone_rows)


def check_result(rig: bpy.types.Object) -> None:
    """The multiplier reaches the bodies, and Live simulates when it is edited."""
    rig.heft.controller, rig.heft.heaviness, rig.heft.steps_per_second = "PULL", 1.0, 24
    rig.heft.pull = 0.5
    rig.pose.bones[1].heft.pull_scale = 0.5
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    session = part("simulate.session")
    noted = session.last_shown(rig).result.channels["pull"]
    assert noted.unit == "times" and np.allclose(noted.values, [0.5, 0.25, 0.5])
    rig.heft.live = True
    rig.pose.bones[2].heft.pull_scale = 0.0
    assert np.allclose(session.last_shown(rig).result.channels["pull"].values, [0.5, 0.25, 0.0])
    rig.heft.live = False


def check_curve(rig: bpy.types.Object) -> None:
    curves = part("result.plot_curves")
    assert "curve_pull" in curves.kinds_of(rig)
    rig.heft.curve_pull, rig.heft.curve_bones, rig.heft.use_curves = True, "ALL", True
    holder = curves.holder_of(rig)
    assert {f"{bone.name} pull (times)" for bone in rig.pose.bones} <= set(holder.keys())
    rig.heft.controller = "FOLLOW"
    assert "curve_pull" not in curves.kinds_of(rig)
    rig.heft.controller = "PULL"


def check_overlay(rig: bpy.types.Object) -> None:
    pieces = importlib.import_module("overlay_pieces")
    bpy.ops.heft.show(which="RESULT")
    solid, *others = pieces.drawn(rig, "show_pull", frame=2)
    assert len(solid.tints) == 3
    assert any("Pull" in getattr(each, "text", "") for each in others), others
    drawing = importlib.import_module("drawing")
    panel = drawing.draw(part("ui.panels.overlays").HEFT_PT_overlays)
    assert "show_pull" in panel.texts("prop")


def check_saved(rig: bpy.types.Object) -> None:
    saved, takes = part("settings.saved"), part("result.take_settings")
    saved.pack(rig)
    stored = json.loads(rig.heft_store)
    assert stored["armature"]["pull"] == 0.5 and stored["bones"]["bone.001"]["pull_scale"] == 0.5
    text = takes.packed(rig, part("read.shot").of(rig))
    rig.heft.pull = 1.0
    takes.restore(rig, text)
    assert rig.heft.pull == 0.5


if __name__ == "__main__":
    load_addon(Path(sys.argv[1]))
    rigs = importlib.import_module("rigs")
    rigs.new_file()
    rig = rigs.post(3)
    bpy.context.scene.frame_end = 3
    bpy.ops.heft.add()
    check_panel(rig)
    check_result(rig)
    check_curve(rig)
    check_overlay(rig)
    check_saved(rig)
    print("all of it follows")
