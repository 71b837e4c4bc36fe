"""From a rig to the engine's types `Model` and `Motion`, with the map back to bones.

Owns the choice of bodies, their joints, anchors, shapes and loads. Must not know how results are shown or baked, nor
any controller.

Bones with the behaviour Ignored are no bodies: they ride on the nearest ancestor that is one, with their own keys, and
add their mass to it (`engine.anatomy.rest_body`, `rig.riding_bones`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Generator, Mapping
from typing import NamedTuple

import bpy
import numpy as np

from ...engine import HINGE, Model, Motion, MotionError
from ...engine.analysis import recording_flaws
from ...engine.anatomy import body_parents, bone_ends, capsule_masses, masses, natural_joint_limits
from ...engine.anatomy.rest_body import RestBones
from ...engine.anatomy.skeleton import Joint, Skeleton
from ...engine.geometry import mass_properties
from ...engine.geometry.shapes import Shape
from ...engine.math import rotations
from .. import settings
from ..blender import engine_space
from ..blender.engine_space import Placement
from ..blender.sample_poses import Samples
from ..errors import RigError
from ..rig import bone_roles, joint_limits, physical_ends, riding_bones, skin
from . import collision_shapes, held_keys, mend_frames, result_channels, shot
from .reading import Reading, body_channels

# Tolerance (half the angle) for sampled rotations off a hinge's axis: rounding of float32 poses [rad].
HINGE_SLACK = 1e-5


def skeleton_of(rig: bpy.types.Object, scene: bpy.types.Scene | None = None) -> Skeleton:
    """Rest geometry, and the bodies chosen by the bones' behaviours. scene: the one that its skin is read in."""
    pose_bones = list(rig.pose.bones)
    if not pose_bones:
        raise RigError(f"Armature '{rig.name}' has no bones: add some in Edit Mode.")
    index = {bone.name: i for i, bone in enumerate(pose_bones)}
    parents = [index[bone.parent.name] if bone.parent else -1 for bone in pose_bones]
    rests = np.array([bone.bone.matrix_local for bone in pose_bones], dtype=np.float64)
    heads, tails = physical_ends.drawn_posed(rig)
    connected = np.array([bone.bone.use_connect and bone.parent is not None for bone in pose_bones])
    carriers: list[int] = []
    for i, bone in enumerate(pose_bones):
        ignored = bone.heft.behaviour == "IGNORED"
        carriers.append(i if not ignored else carriers[parents[i]] if parents[i] >= 0 else -1)
    if all(carrier < 0 for carrier in carriers):
        raise RigError(f"All bones of '{rig.name}' are Ignored: set at least one to Simulated.")
    is_body = [carrier == i for i, carrier in enumerate(carriers)]
    holders = body_parents.holders(parents, rests[:, :3, 3], tails, is_body)
    turned = body_parents.turned(parents, rests[:, :3, 3], tails, is_body, holders)
    _turn_round(parents, connected, is_body, holders, turned)
    riders = riding_bones.riders(rig, parents, connected, is_body, holders)
    for bone, is_shown in riders.items():
        carriers[bone] = holders[bone] if is_shown else carriers[bone]
    names = tuple(bone.name for bone in pose_bones)
    skins = {index[name]: spots for name, spots in skin.points(rig, scene or bpy.context.scene).items()}
    ends = bone_ends.find(parents, heads, tails, skins)
    joints = {bone: Joint(found.bone, _inside(rests[found.bone], found.point)) for bone, found in turned.items()}
    return Skeleton(names, parents, rests, ends, connected, carriers, holders, riders, joints)


def _turn_round(parents, connected, is_body, holders: list[int], turned: Mapping[int, body_parents.Turned]) -> None:
    """Let turned bodies hang on their new holders, and what they are connected to on them: a body's head cannot leave
    that bone's tail."""
    for bone, found in turned.items():
        holders[bone] = found.holder
        above = bone
        while connected[above] and not is_body[parents[above]]:
            above = parents[above]
            if holders[above] not in turned:
                holders[above] = bone


def _inside(frame: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A point (3,) in a frame (4, 4)."""
    return np.linalg.solve(frame[:3, :3], point - frame[:3, 3])


def read(
    rig: bpy.types.Object, scene: bpy.types.Scene, samples: Samples, meters: float | None = None, solid: bool = False
) -> Reading:
    """The rig's model and its sampled motion.

    meters    engine metres in one unit of Blender's world; None for the rig's own setting
    solid     True if bones need collision shapes
    """
    steps, given = read_steps(rig, scene, samples, meters, solid), None
    while True:
        try:
            given = steps.send(given)()
        except StopIteration as stop:
            return stop.value


def read_steps(
    rig: bpy.types.Object, scene: bpy.types.Scene, samples: Samples, meters: float | None, solid: bool
) -> Generator[Callable[[], object], object, Reading]:
    """The same as a generator. It yields functions for long computations without bpy, to be run on the background
    thread, and receives their results."""
    skeleton = skeleton_of(rig, scene)
    if meters is None:
        meters = engine_space.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
    placement = Placement.from_matrices(samples.placements, meters)
    kept = skeleton.body_bones
    model = build_model(rig, skeleton, placement, scene, int(samples.frames[0]), solid)
    order = [kept[i] for i in model.order]
    _check_finite(samples, order)

    height = skeleton.ends.size
    fps = engine_space.frames_per_second(scene.render.fps, scene.render.fps_base)
    stepped = stepped_flags(rig, model, skeleton, order, samples.frames)
    pivots = {b: skeleton.joints[bone] for b, bone in enumerate(order) if bone in skeleton.joints}
    bad_frames = rig.heft.bad_frames

    def pose() -> tuple:
        taken, cuts = samples, stepped
        channels = body_channels(taken.poses, order, pivots)
        joints = _joints(model, placement, channels[0])
        heads = placement.points_to_world(channels[2])
        found = recording_flaws.find(joints, heads, model.parents, stepped, fps, height * placement.sizes[0])
        if found.jumps:
            taken, jumps = mend_frames.mended(bad_frames, found, skeleton, order, model, samples)
            cuts = stepped | jumps
            channels = body_channels(taken.poses, order, pivots)
            joints = _joints(model, placement, channels[0])
        return taken, cuts, channels, joints, found

    samples, stepped, channels, joints, found = yield pose
    model = with_joints(model, rig, skeleton, order, joints)

    def finish() -> Reading:
        quats, _, heads = channels
        positions = _anchors(model, quats, heads) * placement.sizes[:, None, None]
        roots = np.flatnonzero(model.parents < 0)
        positions[:, roots] = placement.points_to_world(heads[:, roots])
        return Reading(
            model=model,
            motion=Motion.build(model, fps, joints, positions, stepped, frame_start=int(samples.frames[0])),
            names=tuple(skeleton.names[i] for i in order),
            frames=samples.frames,
            placement=placement,
            rests=skeleton.frames[order],
            joints=pivots,
            keyed=result_channels.keyed_bones(model, skeleton, order, samples.poses, channels),
            height=height,
            spots=_spots(skeleton, placement.sizes[0]),
            flaws=found,
            bad_frames=bad_frames,
        )

    return (yield finish)


def build_model(
    rig: bpy.types.Object,
    skeleton: Skeleton,
    placement: Placement,
    scene: bpy.types.Scene,
    frame: int,
    solid: bool = False,
) -> Model:
    """Bodies and joints in metres, at the object's size on the first frame."""
    size = placement.sizes[0]
    kept = skeleton.body_bones
    rests = skeleton.frames.copy()
    rests[:, :3, 3] *= size
    overrides = [bone.heft.mass for bone in rig.pose.bones]
    guess = capsule_masses.measure(rests, skeleton.body_ends.scaled(size), rig.heft.total_mass, overrides)
    parts = bone_roles.parts_of(rig, skeleton.names, skeleton.parents)
    found = skin.read(rig, scene)
    weighed = masses.weigh(guess, skeleton, rests, parts, found, size, rig.heft.total_mass, overrides)
    merged = capsule_masses.merge(weighed, rests, skeleton.carriers, kept)
    skins = _skins(skeleton, found, size)
    place = {bone: k for k, bone in enumerate(kept)}
    tails = {bone for bone, part in enumerate(parts) if part is not None and part.role == "TAIL"}
    shapes = bone_shapes(rig, skeleton, skins, guess, tails, size) if solid else [[] for _ in kept]
    loads = _loads(rig, skeleton, scene, frame, size)
    merged, weights = capsule_masses.made_of(merged, [(load.mass, load.given) for load in loads], rig.heft.total_mass)
    for load, mass in zip(loads, weights, strict=True):
        center, inertia = mass_properties.center_of_mass(load.shape), mass_properties.inertia(load.shape, mass)
        merged = capsule_masses.with_load(merged, place[load.carrier], mass, center, inertia)
        if solid:
            shapes[place[load.carrier]].append(load.shape)
    carriers = [skeleton.holders[bone] for bone in kept]
    frames = np.stack([rests[carrier] if carrier >= 0 else np.eye(4) for carrier in carriers])
    locals_ = rotations.inverse(frames) @ rests[kept]
    return Model.from_tree(
        names=[skeleton.names[bone] for bone in kept],
        parents=[place.get(carrier) for carrier in carriers],
        offsets=locals_[:, :3, 3],
        rest_rotations=rotations.from_matrix(rotations.split(locals_[:, :3, :3])[0]),
        masses=merged.masses,
        centers=merged.centers,
        inertias=mass_properties.plausible(merged.inertias),
        shapes=shapes,
        friction=rig.heft.friction,
        bounce=rig.heft.bounce,
    )


class _Load(NamedTuple):
    """An object carried by a bone: the body's bone, its shape there, its mass [kg], and True if the user set that
    mass."""

    carrier: int
    shape: Shape
    mass: float
    given: bool


def _loads(rig: bpy.types.Object, skeleton: Skeleton, scene: bpy.types.Scene, frame: int, size: float) -> list[_Load]:
    """The objects parented to bones that belong to a body."""
    found = []
    for load in shot.loads(rig):
        bone = skeleton.names.index(load.bone)
        carrier = skeleton.carriers[bone]
        if carrier >= 0:
            matrix = rotations.inverse(skeleton.frames[carrier]) @ skeleton.rests[bone] @ load.matrix
            turn, stretch = rotations.stretch(matrix[:3, :3])
            shape = collision_shapes.object_shape(load.ob, scene, frame, stretch * size, turn, matrix[:3, 3] * size)
            given = settings.collider_of(load.ob).mass > 0.0
            found.append(_Load(carrier, shape, collision_shapes.mass_of(load.ob, shape), given))
    return found


def _skins(skeleton: Skeleton, found: skin.Skin, size: float) -> dict[int, np.ndarray]:
    """By body, the skin points (k, 3) that it and its ignored bones deform, in its frame [m]."""
    out: dict[int, list[np.ndarray]] = {}
    for name, points in found.points.items():
        carrier = skeleton.carriers[skeleton.names.index(name)]
        if carrier >= 0:
            rest = skeleton.frames[carrier]
            out.setdefault(carrier, []).append((points - rest[:3, 3]) @ rest[:3, :3] * size)
    return {bone: np.concatenate(parts) for bone, parts in out.items()}


def bone_shapes(
    rig, skeleton: Skeleton, skins: dict, guess: capsule_masses.Bodies, tails: Collection[int], size: float
) -> list[list]:
    """The collision shapes of each body, in its frame [m]: around its skin, or around the bone itself.

    In a rig with skin, a bone without any has no shape unless the user set one. The same holds for a far-away helper.
    """
    radii = capsule_masses.touching_radii(skeleton.names, tails, guess.radii, skeleton.ends.size * size)
    found = []
    for bone in skeleton.body_bones:
        kind = rig.pose.bones[bone].heft.shape
        if kind == "AUTO" and ((skins and bone not in skins) or bone in skeleton.ends.helpers):
            kind = "NONE"
        shape = collision_shapes.bone_shape(kind, skins.get(bone), float(radii[bone]), 2.0 * guess.centers[bone])
        found.append([shape] if shape is not None else [])
    return found


def _spots(skeleton: Skeleton, size: float) -> dict[str, tuple[str, np.ndarray, np.ndarray]]:
    """For each bone its body, and its ends at rest in that body's frame [m]."""
    out = {}
    backs = rotations.inverse(skeleton.frames)
    for bone, carrier in enumerate(skeleton.carriers):
        if carrier >= 0:
            back = backs[carrier]
            head, end = (back[:3, :3] @ spot[bone] + back[:3, 3] for spot in (skeleton.ends.heads, skeleton.ends.ends))
            out[skeleton.names[bone]] = (skeleton.names[carrier], head * size, end * size)
    return out


def _check_finite(samples: Samples, order: list[int]) -> None:
    if np.isfinite(samples.poses.sum()):
        return
    bad = ~np.isfinite(samples.poses[:, order].reshape(len(samples.frames), len(order), 16)).all(axis=2)
    if bad.any():
        frame, body = np.argwhere(bad)[0]
        raise MotionError(
            f"Bone '{samples.names[order[body]]}' has a pose that is not finite at frame {samples.frames[frame]}: "
            "look for a broken key, driver or constraint there."
        )


def _anchors(model: Model, quats: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """(frames, n, 3) heads in the parent body's frame [armature units]; roots keep armature space."""
    anchors = heads.copy()
    held = np.flatnonzero(model.parents >= 0)
    parents = model.parents[held]
    anchors[:, held] = rotations.rotate(rotations.conjugate(quats[:, parents]), heads[:, held] - heads[:, parents])
    return anchors


def _joints(model: Model, placement: Placement, quats: np.ndarray) -> np.ndarray:
    """(frames, n, 4) joint rotations relative to rest, with continuous signs, from rotations in armature space."""
    roots = np.flatnonzero(model.parents < 0)
    held = np.flatnonzero(model.parents >= 0)
    relative = np.empty_like(quats)
    relative[:, held] = rotations.multiply(rotations.conjugate(quats[:, model.parents[held]]), quats[:, held])
    relative[:, roots] = placement.rotations_to_world(quats[:, roots])
    return rotations.continuous(rotations.multiply(rotations.conjugate(model.rest_rotations)[None], relative))


def joints_of(reading: Reading, samples: Samples, placement: Placement) -> tuple[np.ndarray, np.ndarray]:
    """(frames, n, 4) joint rotations and (frames, n, 3) joints in the world [m], from other samples of the same rig."""
    _check_finite(samples, [samples.names.index(name) for name in reading.names])
    quats, _, heads = reading.channels(samples, range(len(reading.names)))
    return _joints(reading.model, placement, quats), placement.points_to_world(heads)


def with_joints(model: Model, rig: bpy.types.Object, skeleton: Skeleton, order: list[int], joints: np.ndarray) -> Model:
    """The model with its joints' limits, and with a hinge for each bone whose rotation is locked on two axes and whose
    motion stays on the third. order: the bodies' bones; joints (frames, n, 4): of the source."""
    bones = [rig.pose.bones[bone] for bone in order]
    kinds, axes = model.kinds.copy(), model.axes.copy()
    for b, bone in enumerate(bones):
        if model.parents[b] >= 0 and sum(bone.lock_rotation) == 2 and order[b] not in skeleton.joints:
            axis = list(bone.lock_rotation).index(False)
            others = [1 + i for i in range(3) if i != axis]
            if np.abs(joints[:, b][:, others]).max() < HINGE_SLACK:
                kinds[b] = HINGE
                axes[b, 0] = np.eye(3)[axis]
    natural = rig.heft.natural_limits
    ranges = natural_joint_limits.ranges(rest_bones(rig, skeleton, order, model.parents), joints) if natural else {}
    own = [order[b] not in skeleton.joints for b in range(len(order))]
    bounds, frames, yields, relaxed = joint_limits.lay_down(model, bones, own, joints, kinds, axes, ranges, natural)
    return dataclasses.replace(
        model,
        kinds=kinds,
        axes=axes,
        limits=bounds,
        limit_frames=frames,
        limits_natural=yields,
        relaxed=relaxed,
    )


def rest_bones(rig: bpy.types.Object, skeleton: Skeleton, order: list[int], parents: np.ndarray) -> RestBones:
    """The bodies at rest, as joint ranges are derived from them. order: the bodies' bones; parents: as in `Model`."""
    parts = bone_roles.roles_of(rig)
    turns = rotations.split(skeleton.rests[:, :3, :3])[0]
    heads, ways = skeleton.body_ends.heads[order], skeleton.body_ends.ways[order]
    names = [skeleton.names[bone] for bone in order]
    return RestBones([parts[name] for name in names], parents.tolist(), heads, turns[order], ways, names)


def stepped_flags(rig, model: Model, skeleton: Skeleton, order: list[int], frames: np.ndarray) -> np.ndarray:
    """(frames, n) True where a body's target jumps: keys with constant interpolation end at that frame.

    The body's own curves count, those of ignored bones between it and its parent body, and for roots the object's.
    """
    flags = np.zeros((len(frames), len(order)), dtype=bool)
    jumps = held_keys.jumps_of(rig)
    if not jumps:
        return flags
    first, last = int(frames[0]), int(frames[-1])
    for b, bone in enumerate(order):
        parent = int(model.parents[b])
        stop = order[parent] if parent >= 0 else -1
        if bone in skeleton.joints and skeleton.joints[bone].bone == stop:
            bone, stop = stop, bone  # turned round: of the two bones the rig has this one above
        found = set(jumps.get("", ())) if parent < 0 else set()
        while bone != stop and bone >= 0:
            found |= jumps.get(skeleton.names[bone], set())
            bone = skeleton.parents[bone]
        for frame in found:
            if first < frame <= last:
                flags[frame - first, b] = True
    return flags
