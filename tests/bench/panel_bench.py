"""How long the sidebar takes to draw: every panel's poll and draw, on rigs of 74 and 700 bones.

Without a window: Blender's own layout is stood in for by one that only writes down, so this is what Heft adds to a
redraw, with every panel open. Run with `python3 dev.py bench addon`; exits 1 if a limit is missed.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import time
from pathlib import Path

import bpy

from sample_scenes import stage

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "addon"))

import drawing

LIMIT = 1.0  # [ms] a rig of 700 bones
ROUNDS = 41


def build_rig(bones: int) -> bpy.types.Object:
    """Rows of ten bones on one root, keyed, alone in a file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.frame_end = 3
    rows = [("root", None, (0.0, 0.0, 0.0), (0.0, 0.0, 0.2))]
    for i in range(bones - 1):
        parent = rows[0] if i % 10 == 0 else rows[-1]
        head = parent[3]
        rows.append((f"b.{i:03d}", parent[0], head, (head[0] + 0.05, head[1] + 0.02 * (i // 10), head[2] + 0.1)))
    rig = stage.rig("Rig", rows)
    for bone in rig.pose.bones:
        for frame in (1, 3):
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    return rig


def build(bones: int) -> bpy.types.Object:
    """Such a rig with physics and a result, in Pose Mode with a bone active."""
    rig = build_rig(bones)
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.5
    bpy.ops.heft.simulate()
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones[1]
    return rig


def milliseconds(panel) -> float:
    """The median of a panel's poll and draw."""
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        drawing.draw(panel)
        taken.append(1e3 * (time.perf_counter() - start))
    return statistics.median(taken)


def main() -> int:
    stage.load_addon()
    panels = [cls for cls in importlib.import_module("heft.addon").CLASSES if issubclass(cls, bpy.types.Panel)]
    panels = [cls for cls in panels if getattr(cls, "bl_category", "") == "Heft"]
    rows: dict[str, list[float]] = {}
    for bones in (74, 700):
        build(bones)
        for panel in panels:
            rows.setdefault(panel.__name__, []).append(milliseconds(panel))
        bpy.ops.object.mode_set(mode="OBJECT")
    rows["all of them"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    print(f"{'drawing the panel [ms]':28s} {'74 bones':>9s} {'700 bones':>9s}")
    for name, (small, large) in rows.items():
        print(f"{name:28s} {small:9.3f} {large:9.3f}")
    failed = rows["all of them"][1] > LIMIT
    print(f"{'FAILED' if failed else 'ok'}: {rows['all of them'][1]:.2f} ms with 700 bones (limit {LIMIT})")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
