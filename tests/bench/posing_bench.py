"""What a motion of the mouse takes while a bone is pulled, against what Blender itself takes to show the rig's next
frame.

The rig of `addon_bench`: a root and 74 joints, 52 of them hinges, without a skin. A motion is the engine's rounds, the
channels written and the pose evaluated; the frame is `frame_set` of the same rig. Medians, measured in turns.
Run with `python3 dev.py bench posing`.
"""

from __future__ import annotations

import math
import statistics
import sys
import time

import bpy
import numpy as np
from addon_bench import BALLS, FRAMES, HINGES, build_rig

from sample_scenes import stage

EVENTS = 120
PULLED = "joint.08"  # the end of a limb


def main() -> int:
    stage.empty(FRAMES)
    stage.load_addon()
    for ob in list(bpy.context.scene.objects):
        bpy.data.objects.remove(ob)
    from heft.addon.tools import pull_pose

    rig, scene = build_rig("Rig"), bpy.context.scene
    scene.frame_set(1)
    start = time.perf_counter()
    pull = pull_pose.Pull(rig, scene, bpy.context.evaluated_depsgraph_get())
    grabbed = time.perf_counter() - start
    shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    home = np.array(shown.matrix_world @ shown.pose.bones[PULLED].tail)
    pull.grab(PULLED, home)
    pull.pull(home)
    times: dict[str, list[float]] = {"rounds": [], "written": [], "evaluated": [], "frame_set": []}
    for k in range(EVENTS):
        target = home + 0.15 * np.array([math.sin(0.1 * k), 1.0 - math.cos(0.13 * k), math.sin(0.07 * k)])
        marks = [time.perf_counter()]
        pull.posing.pull(pull._inside(target))
        marks.append(time.perf_counter())
        pull.write()
        marks.append(time.perf_counter())
        bpy.context.view_layer.update()
        marks.append(time.perf_counter())
        for name, taken in zip(("rounds", "written", "evaluated"), np.diff(marks), strict=True):
            times[name].append(taken)
    for k in range(EVENTS):
        begin = time.perf_counter()
        scene.frame_set(1 + k % FRAMES)
        times["frame_set"].append(time.perf_counter() - begin)
    medians = {name: 1e3 * statistics.median(each) for name, each in times.items()}
    event = sum(medians[name] for name in ("rounds", "written", "evaluated"))
    print(f"\n{BALLS + HINGES} joints; medians of {EVENTS} [ms]; taking hold of a bone {1e3 * grabbed:.0f} ms")
    for name, taken in medians.items():
        print(f"  {name:<12}{taken:8.2f}")
    print(f"  a motion of the mouse {event:.2f} ms, {event / medians['frame_set']:.1f} × frame_set")
    return 0


if __name__ == "__main__":
    sys.exit(main())
