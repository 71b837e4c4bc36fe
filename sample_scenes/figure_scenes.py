"""Small scenes that only the manual's figures need: variations of the sample scenes, or a thing or two by themselves.

Must not know how they are pictured.
"""

from __future__ import annotations

import math

import bpy
from mathutils import Vector

from . import ball_hits_chain, ball_hits_walker, mannequin, performer, stage, straight_and_bent, walk, ymca
from .performer import both

STEP_DOWN, STEP_DEEP, STEPS = 0.17, 0.34, 5  # [m], [m]
# The frame for which the ball of `thrown` is aimed, and the last one before it touches the chest.
THROWN, TOUCHES = 26, 25


def ymca_struck() -> bpy.types.Object:
    """The four letters as stepped keys, with a blow from the side between the second and the third."""
    rig = ymca.build()
    stage.name_action(rig, "YMCA stepped", interpolation="CONSTANT")
    push(rig, "forearm.R", (1, 0.4, -0.3), 9.0, 33)
    return rig


def push(rig: bpy.types.Object, bone: str, direction: tuple[float, float, float], impulse: float, frame: int) -> None:
    new = rig.heft.pushes.add()
    new.bone, new.direction, new.impulse, new.frame = bone, direction, impulse, frame


def fall() -> bpy.types.Object:
    """A walker who goes limp at the top of some steps."""
    stage.empty(72)
    rig = stage.rig("Walker", mannequin.bones())
    mannequin.add_body(rig)
    walk.key_walk(rig, 72)
    top = STEPS * STEP_DOWN
    rig.location = (0, 0.95, top)
    stage.add_physics(rig, controller="LIMP", root="FREE", ground=True, touch_self=True, friction=0.5)
    steps = []
    for i in range(STEPS):
        height = top - i * STEP_DOWN
        deep = 1.6 if i == 0 else STEP_DEEP
        y = 0.8 + 0.8 if i == 0 else 0.8 - (i - 0.5) * STEP_DEEP
        steps.append(stage.box(f"Step {i}", (1.5, deep, height), (0, y, height / 2), "wood" if i % 2 else "steel"))
    stage.collide(rig, *steps)
    stage.camera(eye=(5.2, -3.2, 2.3), at=(0.0, 0.1, 1.08), lens=52, size=(420, 360))
    return rig


def thrown() -> bpy.types.Object:
    """A walker at whom a ball is thrown as the panel does it, with nothing set."""
    stage.empty(72)
    rig = stage.rig("Walker", mannequin.bones())
    mannequin.add_body(rig)
    rig.location = (0, 1.1, 0)
    walk.key_walk(rig, 72)
    stage.add_physics(rig)
    bpy.ops.heft.throw(frame=THROWN)
    for ball in rig.heft.colliders.objects:
        ball.data.materials.clear()
        ball.data.materials.append(stage.material("moss"))
    bpy.ops.heft.show(which="SOURCE")  # so that ghosts are made of it
    starts, ends = rig.location.y, rig.location.y - 71 * walk.STEP / walk.BEAT
    stage.camera(eye=(6.5, starts, 1.3), at=(0.0, starts, 0.9), lens=104, size=(300, 480))
    stage.key_places(bpy.context.scene.camera, {1: (6.5, starts, 1.3), 72: (6.5, ends, 1.3)}, "Camera")
    return rig


def hold_pose() -> bpy.types.Object:
    """A performer that holds its arms out, all the time."""
    stage.empty(48)
    rig = performer.add()
    performer.pose(rig, **{"arms": both((1.0, -0.1, 0.12), (1.0, -0.15, 0.12))})
    performer.key(rig, 1)
    stage.name_action(rig, "Arms out")
    stage.add_physics(rig, {"neck": "IGNORED"}, settle_time=0.3)
    stage.camera(eye=(0.8, -5.6, 1.5), at=(0.0, 0.0, 0.95), lens=74, size=(400, 480))
    return rig


def passing() -> bpy.types.Object:
    """The two arms, with a key half way up."""
    rig = straight_and_bent.build()
    for name in straight_and_bent.ARMS:
        bone = rig.pose.bones[f"upper.{name}"]
        bone.rotation_euler.x = math.radians(45.0)
        bone.keyframe_insert("rotation_euler", index=0, frame=12)
    return rig


def hug() -> bpy.types.Object:
    """A performer whose keys put a forearm into its own belly."""
    stage.empty(40)
    rig = performer.add()
    for frame, arms in (
        (1, both((0.3, -0.2, -1), (0.2, -0.5, -0.85))),
        (16, both((0.35, -0.25, -1), (-0.9, -0.02, -0.05))),
    ):
        performer.pose(rig, arms)
        performer.key(rig, frame)
    stage.name_action(rig, "Hug")
    stage.add_physics(rig, {"neck": "IGNORED"}, settle_time=0.3)
    stage.camera(eye=(1.6, -4.4, 1.7), at=(0.0, 0.0, 1.12), lens=95, size=(400, 480))
    return rig


def post_with(thing: bpy.types.Object) -> bpy.types.Object:
    """A post, as the character that a shot needs, out of the way of the thing."""
    rig = stage.rig("Post", [("post", None, Vector((0, 2.2, 0)), Vector((0, 2.2, 0.1)))])
    stage.key_pose(rig, 1, turns={"post": (0, 0, 0)})
    stage.add_physics(rig, ground=True)
    stage.collide(rig, thing)
    return rig


def drop() -> bpy.types.Object:
    """A ball thrown in an arc onto the ground."""
    stage.empty(48)
    ball = stage.ball("Ball", 0.14, (0, 0, 0), "clay")
    stage.key_places(ball, {1: (-1.15, 0, 1.3), 3: (-1.03, 0, 1.32)}, "Throw")
    rig = post_with(ball)
    stage.collider(ball, moves="FREE", free_from=3, mass=1.0, bounce=0.7)
    stage.camera(eye=(0.0, -6.0, 1.6), at=(0.05, 0.0, 0.72), lens=64, size=(400, 370))
    return rig


def slide() -> bpy.types.Object:
    """A box that comes sliding over the ground."""
    stage.empty(48)
    box = stage.box("Box", (0.3, 0.3, 0.3), (0, 0, 0), "clay")
    stage.key_places(box, {1: (-1.2, 0, 0.1501), 3: (-1.03, 0, 0.1501)}, "Shove")
    rig = post_with(box)
    stage.collider(box, moves="FREE", free_from=3, mass=5.0)
    stage.camera(eye=(1.2, -6.0, 2.4), at=(-0.05, 0.0, 0.25), lens=60, size=(400, 370))
    return rig


def windy_chain() -> bpy.types.Object:
    """The hanging chain without its ball, limp."""
    rig = ball_hits_chain.build()
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    for bone in rig.pose.bones[1:]:
        bone.heft.behaviour = "LIMP"
    rig.heft.total_mass = 3.0
    return rig


def struck_by_push() -> bpy.types.Object:
    """The walker with a push at its chest in place of the ball."""
    rig = ball_hits_walker.build()
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    push(rig, "chest", (-1, 0.1, 0), 0.0, 10)
    return rig


def held() -> bpy.types.Object:
    """A limp chain whose end is tied to a handle that moves aside and turns."""
    rig = windy_chain()
    end = rig.data.bones[-1].tail_local
    handle = stage.box("Handle", (0.1, 0.16, 0.22), tuple(end - Vector((0, 0, 0.11))), "moss")
    away = end + Vector((0.6, 0, 0.3))
    stage.key_places(handle, {1: tuple(end - Vector((0, 0, 0.11))), 26: tuple(away)}, "Aside")
    for frame, turn in ((1, 0.0), (26, 70.0)):
        handle.rotation_euler.y = math.radians(turn)
        handle.keyframe_insert("rotation_euler", frame=frame)
    stage.tie(rig, bone=rig.data.bones[-1].name, kind="PIN", target=handle)
    return rig
