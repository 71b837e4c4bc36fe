"""Random rigs, as bad as Blender lets them be, and what must hold for each of them.

Owns the drawing of a rig, its motion and its settings from one seed, and the trial it goes through.
"""

from __future__ import annotations

import math
import random
import warnings

import bpy
import numpy as np

import rigs
import state

NAMES = (
    'quo"ted', "it's", "brack]et[s", '"]', "Käse", "骨", "🦴", "back\\slash", "a.b.c", "Arm.L", "Arm.R", "x" * 50,
    " space ", "tab\there", "heft", "Heft riders", "%s{0}", "constraints", "pose.bones", "DEF-spine.001",
)  # fmt: skip
INHERIT = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
CONSTRAINTS = (
    "IK", "IK", "COPY_ROTATION", "COPY_LOCATION", "COPY_TRANSFORMS", "COPY_SCALE", "LIMIT_ROTATION", "LIMIT_LOCATION",
    "LIMIT_SCALE", "STRETCH_TO", "DAMPED_TRACK", "TRACK_TO", "CHILD_OF", "MAINTAIN_VOLUME",
)  # fmt: skip
INTERPOLATIONS = ("CONSTANT", "BEZIER", "LINEAR", "ELASTIC", "BOUNCE")
MOST_FRAMES = 14
# Of the height, and degrees: identity where nothing disturbs. What float32 loses far from the origin comes on top.
OFFSET, ANGLE = 1e-4, 0.05
ROUNDING = 2e-6
# A bone that fills less of its own box than this is flat.
FLAT = 1e-2


def maybe(draw: random.Random, share: float) -> bool:
    return draw.random() < share


def magnitude(draw: random.Random, low: float, high: float) -> float:
    """A number whose size, not whose value, is drawn evenly."""
    return 10.0 ** draw.uniform(math.log10(low), math.log10(high))


def direction(draw: random.Random) -> np.ndarray:
    v = np.array([draw.gauss(0.0, 1.0) for _ in range(3)])
    return v / max(np.linalg.norm(v), 1e-6)


def build(draw: random.Random, calm: bool) -> bpy.types.Object:
    """A random armature with its motion in an empty file; not yet with physics. `calm`: no key is held constant, which
    a joint reaches only by and by."""
    rigs.new_file()
    size = magnitude(draw, 1e-4, 1e4) if maybe(draw, 0.4) else 1.0
    rig = _armature(draw, size)
    scene = bpy.context.scene
    scene.render.fps = draw.choice((1, 12, 24, 30, 60, 120, 240))
    scene.render.fps_base = draw.choice((1.0, 1.0, 1.001))
    scene.frame_start = (
        draw.randint(-30, 100) if bpy.app.version >= (4, 2) and maybe(draw, 0.3) else draw.randint(0, 30)
    )
    scene.frame_end = scene.frame_start + draw.randint(0, MOST_FRAMES)
    scene.unit_settings.scale_length = draw.choice((1.0, 1.0, 0.01, 0.001))
    goal = bpy.data.objects.new("goal", None)
    scene.collection.objects.link(goal)
    goal.location = direction(draw) * size
    _place(draw, rig, size)
    for bone in rig.pose.bones:
        _pose(draw, bone, size)
    if maybe(draw, 0.8):
        _keys(draw, rig, size, INTERPOLATIONS[calm:])
    if maybe(draw, 0.5):
        _constrain(draw, rig, goal)
    if maybe(draw, 0.3):
        _drive(draw, rig, goal)
    scene.frame_set(draw.randint(scene.frame_start, scene.frame_end))
    return rig


def _armature(draw: random.Random, size: float) -> bpy.types.Object:
    data = bpy.data.armatures.new(draw.choice(("Armature", 'Ar"m', "骨組み")))
    rig = bpy.data.objects.new(draw.choice(("Rig", "Ri'g", "リグ")), data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    made: list[bpy.types.EditBone] = []
    for i in range(draw.choice((1, 2, 3, draw.randint(4, 12), draw.randint(4, 40)))):
        bone = data.edit_bones.new(draw.choice(NAMES) if maybe(draw, 0.3) else f"bone {i}")
        parent = draw.choice(made[-4:]) if made and not maybe(draw, 0.08) else None
        head = np.array(parent.tail) if parent else direction(draw) * size * draw.choice((0.0, 1.0))
        bone.parent = parent
        bone.use_connect = parent is not None and maybe(draw, 0.5)
        if parent and not bone.use_connect:
            head = head + direction(draw) * size * draw.choice((0.0, 0.1, 1.0))
        long = size * draw.choice((0.3, 0.3, 0.3, 1e-3, 2e-5, 20.0) if size > 0.1 else (0.3, 1.0))
        bone.head, bone.tail = head, head + direction(draw) * long
        bone.roll = draw.uniform(-7.0, 7.0)
        made.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in data.bones:
        bone.inherit_scale = draw.choice(INHERIT) if maybe(draw, 0.3) else "FULL"
        bone.use_inherit_rotation = not maybe(draw, 0.1)
        bone.use_local_location = not maybe(draw, 0.1)
        bone.use_deform = not maybe(draw, 0.15)
        bone.bbone_segments = draw.choice((1, 1, 1, 8))
    return rig


def _place(draw: random.Random, rig: bpy.types.Object, size: float) -> None:
    rig.rotation_euler = [draw.uniform(-4.0, 4.0) for _ in range(3)]
    rig.location = direction(draw) * size * draw.choice((0.0, 1.0, 10.0))
    rig.scale = draw.choice(
        (
            (1, 1, 1),
            (1, 1, 1),
            (0.01,) * 3,
            (100,) * 3,
            (-1, 1, 1),
            (-2, -2, -2),
            (0.5, 2, 1),
            (1, -3, 0.2),
            (1, 1, 1e-3),
        )
    )
    if maybe(draw, 0.2):
        holder = bpy.data.objects.new("holder", None)
        bpy.context.scene.collection.objects.link(holder)
        holder.rotation_euler, holder.scale = direction(draw) * 3.0, (1.0, draw.choice((1.0, 2.0)), 1.0)
        rig.parent = holder
    if maybe(draw, 0.2):
        for frame in (0, 10):
            rig.location = direction(draw) * size
            rig.keyframe_insert("location", frame=frame)


def _pose(draw: random.Random, bone: bpy.types.PoseBone, size: float) -> None:
    bone.rotation_mode = draw.choice(rigs.MODES) if maybe(draw, 0.5) else "QUATERNION"
    bone.lock_rotation = [maybe(draw, 0.15) for _ in range(3)]
    bone.lock_location = [maybe(draw, 0.1) for _ in range(3)]
    if maybe(draw, 0.3):
        bone.rotation_quaternion = draw.choice(((1, 0, 0, 0), (2, 1, -1, 0.5), (-0.1, 0.9, 0.0, 0.0), (0, 0, 0, 0)))
        bone.rotation_euler = [draw.uniform(-4.0, 4.0) for _ in range(3)]
        bone.rotation_axis_angle = (draw.uniform(-9.0, 9.0), *direction(draw))
        bone.location = direction(draw) * size * 0.3
    if maybe(draw, 0.15):
        bone.scale = draw.choice(((1.5,) * 3, (1, 2, 0.5), (-1, 1, 1), (-1, -1, -1), (1e-3,) * 3, (0, 0, 0), (1, 0, 1)))


def _keys(draw: random.Random, rig: bpy.types.Object, size: float, kinds: tuple[str, ...]) -> None:
    from heft.addon.blender import actions

    scene = bpy.context.scene
    for bone in rig.pose.bones:
        if maybe(draw, 0.3):
            continue
        path = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
            bone.rotation_mode, "rotation_euler"
        )
        reach = draw.choice((0.3, 1.0, 20.0))
        for frame in sorted(
            draw.randint(scene.frame_start - 3, scene.frame_end + 3) for _ in range(draw.randint(1, 6))
        ):
            values = [draw.uniform(-reach, reach) for _ in getattr(bone, path)]
            setattr(bone, path, [1.0 + values[0], *values[1:]] if path == "rotation_quaternion" else values)
            bone.keyframe_insert(path, frame=frame)
            if maybe(draw, 0.3):
                bone.location = direction(draw) * size * draw.choice((0.1, 1.0))
                bone.keyframe_insert("location", frame=frame)
            if maybe(draw, 0.15):
                bone.scale = (
                    [draw.uniform(-0.5, 2.0) for _ in range(3)] if maybe(draw, 0.3) else (draw.uniform(0.1, 2),) * 3
                )
                bone.keyframe_insert("scale", frame=frame)
    for curve in actions.active_curves(rig):
        for point in curve.keyframe_points:
            point.interpolation = draw.choice(kinds) if maybe(draw, 0.3) else "BEZIER"
        if maybe(draw, 0.1):
            curve.modifiers.new(draw.choice(("CYCLES", "NOISE")))
        if maybe(draw, 0.1):
            curve.extrapolation = "LINEAR"


def _constrain(draw: random.Random, rig: bpy.types.Object, goal: bpy.types.Object) -> None:
    for bone in rig.pose.bones:
        if not maybe(draw, 0.2):
            continue
        each = bone.constraints.new(draw.choice(CONSTRAINTS))
        if hasattr(each, "target") and not maybe(draw, 0.1):
            each.target = goal
        if each.type == "IK":
            each.chain_count = draw.choice((0, 1, 2, 3, 4))
            each.use_tail = not maybe(draw, 0.2)
        for axis in "xyz":
            for name in (f"use_min_{axis}", f"use_max_{axis}", f"use_limit_{axis}"):
                if hasattr(each, name):
                    setattr(each, name, maybe(draw, 0.5))
        each.influence = draw.choice((1.0, 1.0, 0.4))
        each.mute = maybe(draw, 0.1)


def _drive(draw: random.Random, rig: bpy.types.Object, goal: bpy.types.Object) -> None:
    for bone in rig.pose.bones:
        if not maybe(draw, 0.15):
            continue
        path, index = draw.choice((("location", 1), ("scale", 0), ("rotation_euler", 2)))
        driver = bone.driver_add(path, index).driver
        driver.expression = draw.choice(("frame * 0.05", "sin(frame)", "x * 0.5", "1.0"))
        variable = driver.variables.new()
        variable.name = "x"
        variable.targets[0].id = goal
        variable.targets[0].data_path = "location[0]"


def settle(draw: random.Random, rig: bpy.types.Object, calm: bool) -> None:
    """Physics with random settings; `calm`: nothing that could disturb the motion."""
    heft = rig.heft
    heft.steps_per_second = draw.choice((24, 60, 120))
    heft.range = draw.choice(("SCENE", "SCENE", "SCENE", "ACTION", "PREVIEW", "CUSTOM"))
    scene = bpy.context.scene
    heft.frame_start = scene.frame_start + draw.randint(-2, 2)
    heft.frame_end = scene.frame_end + draw.randint(-2, 2)
    heft.bad_frames = "KEEP" if calm else draw.choice(("KEEP", "SMOOTH", "SKIP"))
    heft.total_mass = magnitude(draw, 1e-3, 1e4)
    heft.settle_time, heft.damping_ratio = magnitude(draw, 0.01, 3.0), draw.uniform(0.1, 2.0)
    if maybe(draw, 0.3):
        heft.meters_per_unit = magnitude(draw, 1e-3, 1e3)
    for bone in rig.pose.bones:
        if maybe(draw, 0.25):
            bone.heft.behaviour = draw.choice(("IGNORED", "IGNORED", "ANIMATED") + (() if calm else ("LIMP", "LIMP")))
        if maybe(draw, 0.1):
            bone.heft.mass = magnitude(draw, 1e-4, 1e3)
    if calm:
        return
    heft.controller = draw.choice(("FOLLOW", "FOLLOW", "ON_TIME", "LIMP"))
    heft.root = draw.choice(("ANIMATED", "ASSISTED", "FREE"))
    heft.assist, heft.heaviness = magnitude(draw, 0.01, 100.0), draw.choice((0.0, 0.3, 1.0))
    heft.gravity = draw.choice(((0, 0, -9.81), (0, 0, 0), (3, 0, 5), (0, 0, -500)))
    heft.ground, heft.ground_height = maybe(draw, 0.4), draw.uniform(-1.0, 1.0)
    heft.touch_self = maybe(draw, 0.15)
    heft.use_strength, heft.strength = maybe(draw, 0.3), draw.uniform(0.0, 2.0)
    heft.mix = draw.choice((1.0, 1.0, 0.5))
    heft.wind = draw.choice(((0, 0, 0), (0, 0, 0), (30, 0, 0)))
    for bone in rig.pose.bones:
        if maybe(draw, 0.2):
            bone.heft.use_limits = True
            bone.heft.limit_swing = draw.uniform(0.0, 3.0)
        bone.heft.shape = draw.choice(("AUTO", "AUTO", "NONE"))
    if maybe(draw, 0.2):
        push = heft.pushes.add()
        push.bone, push.impulse = (
            draw.choice([bone.name for bone in rig.pose.bones] + ["nobody"]),
            magnitude(draw, 1, 1e4),
        )
        push.frame = scene.frame_start + 1


# --- the trial ---------------------------------------------------------------------


class Failure(AssertionError):
    """What must hold did not."""


def trial(seed: int) -> str:
    """Put one rig through add, simulate, show, bake and remove; how it ended in a word, or a Failure."""
    draw = random.Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        calm = maybe(draw, 0.4)
        rig = build(draw, calm)
        before, source = state.snapshot(rig), _poses(rig)
        # Blender's own IK is not always the same twice, where one chain lies on another.
        steady = _moves_so(rig, source, 2)
        counted = _counted()
        _call(bpy.ops.heft.add)
        settle(draw, rig, calm)
        refusal = _call(bpy.ops.heft.simulate)
        if not refusal:
            _check_result(rig, source, calm and steady)
            _call(bpy.ops.heft.show, which="SOURCE")
        _same(before, state.snapshot(rig), "the source changed")
        if steady and not _moves_so(rig, source, 1) and not _moves_so(rig, source, 1) and not _is_lost(rig):
            raise Failure("the source moves otherwise than before")
        baked = not refusal and maybe(draw, 0.3)
        if baked:
            _call(bpy.ops.heft.show, which="RESULT")
            _call(bpy.ops.heft.bake, target=draw.choice(("ACTION", "NLA")))
            _check_finite(rig)
        _call(bpy.ops.heft.remove)
        if not baked:
            _same(before, state.snapshot(rig), "remove left a trace")
            if _counted() != counted:
                raise Failure(f"remove left data blocks: {counted} -> {_counted()}")
    return f"refused: {refusal}" if refusal else "calm" if calm else "simulated"


def _call(command, **options) -> str:
    """Run an operator; the words of its refusal, if it has any."""
    try:
        command(**options)
    except RuntimeError as error:
        words = str(error).strip()
        if "Traceback" in words or not words.startswith("Error: "):
            raise Failure(f"{command.idname_py()}: {words}") from None
        return words.removeprefix("Error: ")
    return ""


def _poses(rig: bpy.types.Object) -> np.ndarray:
    """Evaluated in the main scene; the frame of the moment and unkeyed channels stay."""
    scene = bpy.context.scene
    now = scene.frame_current
    found = rigs.poses(rig, rigs.scene_frames())
    scene.frame_set(now)
    return found


def _moves_so(rig: bpy.types.Object, source: np.ndarray, times: int) -> bool:
    """Does the rig move as it did, so many times?"""
    return all(np.array_equal(source, _poses(rig), equal_nan=True) for _ in range(times))


def _is_lost(rig: bpy.types.Object) -> bool:
    """Does Blender's IK give numbers that are not finite? It does so now and then, for one rig on one frame."""
    solved = any(each.type == "IK" for bone in rig.pose.bones for each in bone.constraints)
    return solved and not np.isfinite(_poses(rig)).all()


def _counted() -> dict[str, int]:
    kinds = ("objects", "armatures", "actions", "scenes", "collections", "meshes")
    return {kind: len(getattr(bpy.data, kind)) for kind in kinds}


def _same(a: dict, b: dict, what: str) -> None:
    found = state.difference(a, b)
    if found:
        raise Failure(f"{what}: {'; '.join(found[:3])}")


def _check_result(rig: bpy.types.Object, source: np.ndarray, calm: bool) -> None:
    _check_finite(rig.heft_result)
    shown = _poses(rig)
    if np.isfinite(source).all() and not np.isfinite(shown).all():
        raise Failure("the rig shows numbers that are not finite")
    if calm:
        _check_identity(rig, source, shown)


def _check_finite(holder: bpy.types.Object) -> None:
    from heft.addon.blender import actions

    for curve in actions.active_curves(holder):
        co = np.empty(len(curve.keyframe_points) * 2, dtype=np.float32)
        curve.keyframe_points.foreach_get("co", co)
        if not np.isfinite(co).all():
            raise Failure(f"a key of {curve.data_path} is not finite")


def _check_identity(rig: bpy.types.Object, source: np.ndarray, shown: np.ndarray) -> None:
    """Heads and the way the bones point: a sheared bone keeps these. Bones scaled to nothing point nowhere."""
    tall = rigs.height(rig)
    columns = np.linalg.norm(source[..., :3, :3], axis=-2)
    if (np.abs(np.linalg.det(source[..., :3, :3])) < FLAT * np.maximum(columns.prod(axis=-1), 1e-9)).any():
        return  # flattened to nothing: what is left says not where its bones point
    with np.errstate(all="ignore"):
        world = np.array(rig.matrix_world)
        far = np.abs(source[..., :3, 3]).max() + np.abs(np.linalg.inv(world)[:3, 3]).max()
        slack = OFFSET + ROUNDING * far / tall * np.linalg.cond(world[:3, :3])
        offset = np.linalg.norm(source[..., :3, 3] - shown[..., :3, 3], axis=-1) / tall
        y = [poses[..., :3, 1] for poses in (source, shown)]
        long = [np.linalg.norm(each, axis=-1) for each in y]
        chord = np.linalg.norm(y[0] / long[0][..., None] - y[1] / long[1][..., None], axis=-1)
    angle = np.degrees(2.0 * np.arcsin(np.clip(chord / 2.0, 0.0, 1.0)))
    angle[(long[0] < 1e-2) | ~np.isfinite(angle)] = 0.0
    for what, values, limit in (("offset", offset, slack), ("angle", angle, ANGLE + math.degrees(slack))):
        if values.max() > limit:
            frame, bone = np.unravel_index(int(np.argmax(values)), values.shape)
            raise Failure(
                f"{what} {values.max():.3g} > {limit:.3g}: bone {bone} '{rig.pose.bones[bone].name}' at index {frame}"
            )
