"""How long the animator waits, against what Blender itself takes for the same shot.

Ratios of medians, measured in turns in one run, on a rig of a root and 74 joints
(22 balls, 52 hinges: locked on two axes; 118 degrees of freedom), 250 frames, 240 steps a second.
Run with `python3 dev.py bench addon`; exits 1 if a limit is missed.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable

import bpy
from mathutils import Euler

from sample_scenes import mannequin, stage, walk

BALLS, HINGES, FRAMES, STEPS_PER_SECOND, ROUNDS = 22, 52, 250, 240, 7
KEY_EVERY = 10  # frames


def build_rig(name: str) -> bpy.types.Object:
    """A spine with limbs and fingers: every third of the first joints starts a branch; keys on every joint."""
    draw = random.Random(1)
    rows = [("root", None, (0, 0, 1), (0, 0.1, 1))]
    for i in range(BALLS + HINGES):
        parent = rows[0] if i % 9 == 0 else rows[-1]
        head = parent[3]
        step = (draw.uniform(-0.1, 0.1), draw.uniform(0.02, 0.1), draw.uniform(-0.1, 0.1))
        rows.append((f"joint.{i:02d}", parent[0], head, tuple(h + s for h, s in zip(head, step, strict=True))))
    rig = stage.rig(name, rows)
    for i, bone in enumerate(rig.pose.bones):
        ball = i <= BALLS
        bone.rotation_mode = "QUATERNION" if ball else "XYZ"
        for frame in range(1, FRAMES + 1, KEY_EVERY):
            angle = draw.uniform(-0.5, 0.5)
            if ball:
                turn = Euler((angle, draw.uniform(-0.3, 0.3), draw.uniform(-0.3, 0.3)))
                bone.rotation_quaternion = turn.to_quaternion()
                bone.keyframe_insert("rotation_quaternion", frame=frame)
            else:
                bone.lock_rotation = (False, True, True)
                bone.rotation_euler.x = angle
                bone.keyframe_insert("rotation_euler", frame=frame, index=0)
    return rig


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def frame_pass(scene: bpy.types.Scene) -> None:
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)


def nla_bake(rig: bpy.types.Object) -> float:
    """Blender's own bake of the rig, taken back afterwards."""
    activate(rig)
    source = rig.animation_data.action
    taken = seconds(
        lambda: bpy.ops.nla.bake(
            frame_start=1, frame_end=FRAMES, only_selected=False, visual_keying=True, bake_types={"POSE"}
        )
    )
    baked = rig.animation_data.action
    assert baked != source, "nla.bake made no action"
    rig.animation_data.action = source
    bpy.data.actions.remove(baked)
    return taken


def activate(rig: bpy.types.Object) -> None:
    for other in bpy.context.view_layer.objects:
        other.select_set(other == rig)
    bpy.context.view_layer.objects.active = rig


def first_simulate(rig: bpy.types.Object) -> float:
    """Simulate on a rig that was never read."""
    activate(rig)
    bpy.ops.heft.add()
    rig.heft.steps_per_second = STEPS_PER_SECOND
    taken = seconds(bpy.ops.heft.simulate)
    bpy.ops.heft.remove()
    return taken


def in_turns(*works: Callable[[], float]) -> list[float]:
    """Medians of several works, measured in turns after one round of warming up."""
    rounds = [[work() for work in works] for _ in range(ROUNDS + 1)][1:]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def drag_walker() -> tuple[float, float]:
    """A walking mannequin on the ground: a pass over its shot, and a settle time dragged by a notch with Live on."""
    rig = stage.rig("Walker", mannequin.bones())
    walk.key_walk(rig, FRAMES)
    plain = plain_copy(rig)
    activate(rig)
    bpy.ops.heft.add()
    rig.heft.steps_per_second, rig.heft.root, rig.heft.ground = STEPS_PER_SECOND, "ASSISTED", True
    bpy.ops.heft.simulate()
    rig.heft.live = True
    settle_times = iter(0.1 + 0.01 * i for i in range(1000))

    def drag() -> float:
        value = next(settle_times)
        return seconds(lambda: setattr(rig.heft, "settle_time", value))

    taken = in_turns(lambda: seconds(lambda: frame_pass(plain)), drag)
    bpy.data.scenes.remove(plain)
    bpy.ops.heft.remove()
    bpy.data.objects.remove(rig)
    return taken[0], taken[1]


def plain_copy(rig: bpy.types.Object) -> bpy.types.Scene:
    """A scene of its own with the rig as it is without Heft: what Blender itself takes for a pass over the shot."""
    scene = bpy.data.scenes.new("Plain")
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.collection.objects.link(rig.copy())
    return scene


def main() -> int:
    stage.empty(FRAMES)
    stage.load_addon()
    for ob in list(bpy.context.scene.objects):
        bpy.data.objects.remove(ob)
    walk_frames, walker = drag_walker()
    rig = build_rig("Rig")
    plain = plain_copy(rig)

    simulate, bake = in_turns(lambda: first_simulate(rig), lambda: nla_bake(rig))

    activate(rig)
    bpy.ops.heft.add()
    rig.heft.steps_per_second = STEPS_PER_SECOND
    settle_times = iter(0.1 + 0.01 * i for i in range(1000))

    def drag(heaviness: float) -> float:
        """Move the settle time slider by a notch, with Live on."""
        rig.heft.live = False
        rig.heft.heaviness, value = heaviness, next(settle_times)
        rig.heft.live = True
        return seconds(lambda: setattr(rig.heft, "settle_time", value))

    def walk() -> float:
        """The same with the ground under the rig."""
        rig.heft.live = False
        rig.heft.heaviness, rig.heft.root, rig.heft.ground, value = 0.0, "ASSISTED", True, next(settle_times)
        rig.heft.live = True
        taken = seconds(lambda: setattr(rig.heft, "settle_time", value))
        rig.heft.live = False
        rig.heft.ground, rig.heft.root = False, "ANIMATED"
        return taken

    rig.heft.ground_height = 0.6  # some of its limbs go through it at any time
    bpy.ops.heft.simulate()
    frames, light, heavy, ground = in_turns(
        lambda: seconds(lambda: frame_pass(plain)), lambda: drag(0.0), lambda: drag(0.5), walk
    )

    print(f"\n{BALLS + HINGES} joints (the mannequin: {len(mannequin.bones())} bones), {FRAMES} frames, ", end="")
    print(f"{STEPS_PER_SECOND} steps a second; medians of {ROUNDS}")
    print(f"{'':46}{'Heft':>9}{'Blender':>9}{'ratio':>8}{'limit':>8}")
    rows = (
        ("slider change to keys written / frame pass", light, frames, 1.0),
        ("the same on the ground, root assisted", ground, frames, 2.0),
        ("the same, a mannequin walking", walker, walk_frames, 2.0),
        ("the same, heaviness 0.5", heavy, frames, 1.0),
        ("first simulate with reading / nla.bake", simulate, bake, 0.5),
    )
    missed = False
    for label, heft, blender, limit in rows:
        ratio = heft / blender
        verdict = f"{limit:8.2f}  {'PASS' if ratio <= limit else 'FAIL'}" if limit else f"{'–':>8}"
        missed |= bool(limit) and not ratio <= limit
        print(f"{label:46}{heft * 1000:6.0f} ms{blender * 1000:6.0f} ms{ratio:8.2f}{verdict}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
