"""Physical keys read from the source's F-curves: when each bone has them, its pose and speed there.

Owns the choice of keys and their poses. Must not know how a body reaches them.

A bone's keys are the union of those of its rotation channels, in its rotation mode. Roots add those of their location
and of the object. Every body adds those of the ignored bones between it and its parent body. Bones that are led by
something else (a constraint with a target, IK) and bones that move without keys of their own (drivers) have the keys of
the whole pose: all keys that the pose depends on, controls and other objects included. A bone that never moves and has
no keys has none here.

Keys between frames stay there: the pose is sampled at those times, and next to them for the speed. Keys nearer to one
another than `SAME` are one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ... import engine
from ...engine.math import rotations
from .. import controllers, settings
from ..blender import actions, bone_channels, ik_solvers, nla_layers, own_marks, sample_poses, setting_paths
from ..blender.engine_space import Placement
from ..blender.sample_poses import Samples
from . import mend_frames, read_rig

SAME = 0.01  # [frames]
# Distance from a key at which the pose is sampled for its speed, twice on either side [frames].
BESIDE = 0.04
LOOKS = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) * BESIDE
# A joint that turns by less in the whole shot does not move [rad], nor a root that moves by less [m].
STILL_TURN, STILL_WAY = 1e-3, 1e-4
# Rounding of the sampled poses [rad, m].
ROUNDING = 3e-6


@dataclass(frozen=True)
class Moments:
    """Times of physical keys, in scene frames, fractions included.

    own     by bone, those of its own channels; "" for the object
    whole   those of everything that the pose depends on
    led     bones that something other than their own keys moves
    """

    own: dict[str, tuple[float, ...]]
    whole: tuple[float, ...]
    led: tuple[str, ...]


def wanted(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray) -> Moments | None:
    """The times of the rig's physical keys, or None if its controller does not use them."""
    return moments_of(rig, scene, frames) if controllers.entry(rig.heft.controller).meets_keys else None


def moments_of(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray) -> Moments:
    """The keys of the chosen type, after the first and up to the last of the frames."""
    names = dict.fromkeys(("location", bone_channels.rotation_path(rig)), "")
    for bone in rig.pose.bones:
        base = bone.path_from_id()
        names[f"{base}.{bone_channels.rotation_path(bone)}"] = bone.name
        if all(above.heft.behaviour == "IGNORED" for above in _ancestors(bone)):
            names[f"{base}.location"] = bone.name
    kind = None if rig.heft.key_type == "ALL" else _number_of(rig.heft.key_type)
    # Time remapping of the scene applies to keys too.
    stretch = scene.render.frame_map_new / scene.render.frame_map_old
    own: dict[str, list[float]] = {}
    whole: list[float] = []
    for block in sample_poses.upstream(rig):
        for path, times in _keys(block, kind, stretch):
            whole += times
            if block == rig and path in names:
                own.setdefault(names[path], []).extend(times)
    first, last = float(frames[0]), float(frames[-1])
    kept = {name: _apart(times, first, last) for name, times in own.items()}
    return Moments(kept, _apart(whole, first, last), _led(rig))


def _ancestors(bone: bpy.types.PoseBone) -> Iterator[bpy.types.PoseBone]:
    while bone.parent is not None:
        bone = bone.parent
        yield bone


def _keys(block: bpy.types.ID, kind: int | None, stretch: float) -> Iterator[tuple[str, list[float]]]:
    """Data path and scene frames of the keys of every effective curve of the block."""
    at_work = nla_layers.layers_of(block)
    for depth, layer in enumerate(at_work):
        for key, curve in layer.curves.items():
            if curve.mute or setting_paths.is_setting(key[0]):
                continue
            times = [time for frame in actions.key_frames(curve, kind) for time in layer.times_of(frame)]
            above = at_work[depth + 1 :]
            yield key[0], [time * stretch for time in times if not nla_layers.covered(above, key, time)]


def _number_of(key_type: str) -> int:
    return bpy.types.Keyframe.bl_rna.properties["type"].enum_items[key_type].value


def _apart(times: Iterable[float], first: float, last: float) -> tuple[float, ...]:
    """The times sorted, within the frames, without duplicates."""
    found: list[float] = []
    for time in sorted(times):
        # Rounded as Blender rounds the scene's time, so that the sampled times match.
        time = float(np.float32(round(time, 4)))
        if first < time <= last and (not found or time - found[-1] > SAME):
            found.append(time)
    return tuple(found)


def _led(rig: bpy.types.Object) -> tuple[str, ...]:
    """Bones with a constraint that has a target, and those that IK solves, without permanently muted ones."""
    found: set[str] = set()
    ours = own_marks.muted_solvers(rig) if settings.has_physics(rig) else ()
    moved = {path for layer in nla_layers.layers_of(rig) for path, _ in layer.curves}
    for bone in rig.pose.bones:
        for each in bone.constraints:
            awake = not each.mute or (bone.name, each.name) in ours or f"{each.path_from_id()}.mute" in moved
            if each.name == own_marks.CONSTRAINT or not awake:
                continue
            targets = [target.target for target in each.targets] if each.type == "ARMATURE" else [_target(each)]
            if not any(targets):
                continue
            found.add(bone.name)
            if each.type in ik_solvers.SOLVERS:
                found.update(above.name for above in ik_solvers.solved_by(bone, each))
    return tuple(sorted(found))


def _target(constraint: bpy.types.Constraint):
    return getattr(constraint, "target", None) or getattr(constraint, "action", None)


def looks(moments: Moments) -> np.ndarray:
    """(times · 5,) the scene frames at which the pose must be sampled, as Blender rounds them."""
    return (np.array(moments.whole)[:, None] + LOOKS).astype(np.float32).astype(np.float64).ravel()


def with_keys(
    rig: bpy.types.Object, reading: read_rig.Reading, moments: Moments, samples: Samples, meters: float
) -> read_rig.Reading:
    """The reading with the physical keys in its motion. samples: the poses at `looks`."""
    chosen = [
        (b, time)
        for b in range(len(reading.names))
        for time in _times(rig, reading, moments, b)
        if not mend_frames.is_bad(reading, b, time)
    ]
    if not chosen:
        return reading
    turns, places = read_rig.joints_of(reading, samples, Placement.from_matrices(samples.placements, meters))
    turns, places = (each.reshape(-1, len(LOOKS), *each.shape[1:]) for each in (turns, places))
    beside = (samples.frames.reshape(-1, len(LOOKS)) - np.array(moments.whole)[:, None]) / reading.motion.fps
    bodies = np.array([b for b, _ in chosen])
    # A bone's own time may have merged with a nearby one of the whole pose.
    rows = np.array([int(np.argmin(np.abs(np.array(moments.whole) - time))) for _, time in chosen])
    at = turns[rows, 2, bodies]
    around = rotations.to_vector(rotations.multiply(rotations.conjugate(at)[:, None], turns[rows, :, bodies]))
    ways = places[rows, :, bodies]
    keys = engine.Keys(
        bodies=[reading.names[b] for b in bodies],
        frames=np.array(moments.whole)[rows],
        rotations=at,
        velocities=_speeds(around, beside[rows]),
        positions=ways[:, 2],
        drifts=_speeds(ways - ways[:, 2:3], beside[rows]),
    )
    return dataclasses.replace(reading, motion=dataclasses.replace(reading.motion, keys=keys))


def _times(rig: bpy.types.Object, reading: read_rig.Reading, moments: Moments, body: int) -> tuple[float, ...]:
    """The times of a body's keys."""
    bone = rig.data.bones[reading.names[body]]
    times = [*moments.own.get(bone.name, ())]
    led = bone.name in moments.led
    above = bone.parent
    while above is not None and above.name not in reading.names:
        times += moments.own.get(above.name, ())
        led = led or above.name in moments.led
        above = above.parent
    if above is None:
        times += moments.own.get("", ())
    # The joint of a turned body moves by keys of the bones nearer to the trunk, too.
    if led or body in reading.joints or (not times and _moves(reading, body)):
        return moments.whole
    return _apart(times, float(reading.frames[0]), float(reading.frames[-1]))


def _moves(reading: read_rig.Reading, body: int) -> bool:
    turns, places = reading.motion.rotations[:, body], reading.motion.positions[:, body]
    way = np.ptp(places, axis=0).max() if reading.model.parents[body] < 0 else 0.0
    return bool(rotations.angle_between(turns[:1], turns).max() > STILL_TURN or way > STILL_WAY)


def _speeds(values: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """(k, 3) rates at the middle of (k, 5, 3) values that are zero there, sampled (k, 5) seconds from it.

    The mean of the tangents on both sides. Where the value jumps, the tangent after it.
    """
    before, after = (_tangent(values[:, [2 - s, 2 - 2 * s]], beside[:, [2 - s, 2 - 2 * s]]) for s in (1, -1))
    near, far = values[:, 1], values[:, 0]
    bend, last = (np.linalg.norm(each, axis=1) for each in (far - 2.0 * near, near - far))
    jumps = (bend > last + ROUNDING)[:, None]
    return np.where(jumps, after, 0.5 * (before + after))


def _tangent(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The slope at zero of the parabola through zero and (k, 2, 3) values at (k, 2) times."""
    a, b = times[:, 0, None], times[:, 1, None]
    return (values[:, 0] * b / a - values[:, 1] * a / b) / (b - a)


def notes(rig: bpy.types.Object, reading: read_rig.Reading) -> list[str]:
    """Sentences on keys that cannot be met, or on a lack of keys."""
    found: list[str] = []
    if not controllers.entry(rig.heft.controller).meets_keys:
        return found
    for block in sample_poses.upstream(rig):
        for strip in nla_layers.unread_strips(block):
            kind = "is a meta strip" if strip.type == "META" else "has animated time"
            found.append(
                f"The NLA strip '{strip.name}' {kind}: its keys are no physical keys. Ungroup it, switch Animated Time "
                "off, or bake the action."
            )
    if reading.motion.keys is None:
        kind = "" if rig.heft.key_type == "ALL" else f" of type {rig.heft.key_type.replace('_', ' ').title()}"
        found.append(
            f"'{rig.name}' has no keys{kind} in frames {reading.frames[0]} to {reading.frames[-1]}: key poses there, "
            "or choose other keys. Without them On Time follows the motion."
        )
    return found
