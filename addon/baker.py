"""Bake: what the rig and its free objects show, as plain new actions or NLA strips.

Owns the new keys and the check that Blender then evaluates what was simulated.
Must not know the engine: it bakes what is seen, mix included.

The source action stays as it is. Its copy keeps every channel the bake does not
replace (other bones, custom properties, keys outside the range).
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from . import actions, channels, constraints, objects, rotations, sampling, settings, showing
from .errors import RigError
from .sampling import Samples

TARGETS = (
    ("ACTION", "Action", "A new action on the rig: the source's copy with the result's keys", 0),
    ("NLA", "NLA Strip", "A new strip on top of the rig's NLA; an active action is pushed down first", 1),
)

# Deviations worth a word, in parts of the rig's height and degrees.
TELL_OFFSET, TELL_ANGLE = 1e-3, 0.1


@dataclass(frozen=True)
class Baked:
    """The new action, the largest deviation of the evaluated pose from the simulated
    one (parts of the rig's height, degrees), where, and sentences for the user."""

    action: bpy.types.Action
    offset: float
    angle: float
    bone: str
    frame: int
    notes: tuple[str, ...]


def bake(
    rig, scene, target: str = "ACTION", selected_only: bool = False, reduce: float = 0.0, mute: bool = False
) -> Baked:
    """Bake the shown result; the source is what the rig shows afterwards, with the new action on it."""
    bones = _bones(rig, selected_only)
    # A cycle stays one: its keys on one round, and the modifiers that repeat it.
    loops = target == "ACTION" and rig.heft.result_period > 0 and not constraints.mix_is_keyed(rig)
    frames = rig.heft.result_start + np.arange(rig.heft.result_period + 1) if loops else _frames(rig, scene)
    data = rig.animation_data
    if data is not None and data.use_tweak_mode:
        raise RigError(f"'{rig.name}' is in NLA tweak mode: leave it (Tab in the NLA editor) before baking.")
    wanted = _wanted(rig, scene, frames)
    flights = [] if selected_only else _flights(rig, scene, frames)
    notes = list(_constraint_notes(rig, bones, mute))
    source = data.action if data else None
    action, bag = _new_action(rig, source if target == "ACTION" else None)
    height = sampling.rest_height(rig)
    for bone in bones:
        _bake_bone(bag, bone, wanted, height, reduce, loops)
    showing.show(rig, "SOURCE")
    if target == "NLA":
        _push_down(rig)
        _add_strip(rig, action, frames)
    else:
        actions.assign(rig, action, actions.same_slot(action, actions.slot_of(rig)))
        notes += _keep_source(source, rig.heft.source_action)
    played = constraints.played_frames(rig)
    for flight in flights:
        notes += _bake_flight(flight, frames, played, target, reduce)
    notes += _flight_notes(scene, flights, frames, mute) if flights else []
    offset, angle, bone, frame = _compare(rig, scene, bones, wanted, height, selected_only)
    if offset > TELL_OFFSET or angle > TELL_ANGLE:
        notes += _still_moving(bones)
    return Baked(action, offset, angle, bone, frame, tuple(notes))


def _bones(rig: bpy.types.Object, selected_only: bool) -> list[bpy.types.PoseBone]:
    if rig.heft_result is None or not rig.heft.fingerprint:
        raise RigError(f"'{rig.name}' has no result to bake: press Simulate first.")
    names = showing.body_names(rig)
    bones = [bone for bone in rig.pose.bones if bone.name in names]
    if selected_only:
        bones = [bone for bone in bones if is_selected(bone)]
        if not bones:
            raise RigError("No simulated bone is selected: select the bones to bake in Pose Mode.")
    return bones


def is_selected(bone: bpy.types.PoseBone) -> bool:
    """Blender 5.0 moved the selection from the bone to the pose bone."""
    return bone.select if hasattr(bone, "select") else bone.bone.select


def _frames(rig: bpy.types.Object, scene: bpy.types.Scene) -> np.ndarray:
    chosen = settings.frame_range(rig, scene)
    frames = chosen[(chosen >= rig.heft.result_start) & (chosen <= rig.heft.result_end)]
    if not len(frames):
        raise RigError(
            f"The range {chosen[0]} to {chosen[-1]} lies outside the simulated frames "
            f"{rig.heft.result_start} to {rig.heft.result_end}: simulate again."
        )
    return frames


def _wanted(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray) -> Samples:
    """The poses to bake: what the rig shows.

    Where a body shows nothing but its result, its pose comes from the result
    armature itself: a constraint takes it through world space, which rounds.
    """
    with showing.exposed(rig, "RESULT"):
        shown = sampling.finish(sampling.sample(rig, scene, frames))
        pure = constraints.pure_bones(rig)
    if pure:
        own = sampling.finish(sampling.sample(rig.heft_result, scene, frames))
        here = [shown.names.index(name) for name in pure]
        there = [own.names.index(name) for name in pure]
        shown.poses[:, here] = own.poses[:, there]
    return shown


def _constraint_notes(rig, bones, mute: bool):
    """Constraints of the rig's own that will still move baked bones; muted where asked."""
    fighting = [
        (bone, constraint)
        for bone in bones
        for constraint in bone.constraints
        if constraint.name != constraints.CONSTRAINT and constraint.enabled and constraint.influence > 0.0
    ]
    ours = set(constraints.muted_solvers(rig)) - {(bone.name, constraint.name) for bone, constraint in fighting}
    fighting += [(rig.pose.bones[bone], rig.pose.bones[bone].constraints[name]) for bone, name in ours]
    for bone, constraint in fighting:
        if mute:
            constraints.keep_muted(rig, bone, constraint)
            yield f"Muted '{constraint.name}' on '{bone.name}': the baked keys take its place."
        elif (bone.name, constraint.name) in ours or constraint.type in constraints.SOLVERS:
            yield f"'{constraint.name}' on '{bone.name}' still solves baked bones: bake with Mute Constraints."


def _still_moving(bones) -> list[str]:
    """A sentence on the constraints that take baked bones away from their keys."""
    acting = [
        f"'{constraint.name}' on '{bone.name}'"
        for bone in bones
        for constraint in bone.constraints
        if constraint.enabled and constraint.influence > 0.0
    ]
    if not acting:
        return []
    more = f" and {len(acting) - 3} more" if len(acting) > 3 else ""
    return [f"Constraints still move baked bones ({', '.join(acting[:3])}{more}): bake with Mute Constraints."]


def _new_action(rig: bpy.types.Object, source: bpy.types.Action | None):
    """A copy of the source (or an empty action) and the bag that animates the rig."""
    if source is None:
        action = actions.new_action(f"{rig.name} baked", rig)
        return action, actions.ensure_bag(action)
    action = source.copy()
    action.name = f"{source.name} baked"
    slot = actions.same_slot(action, actions.slot_of(rig))
    if actions.HAS_SLOTS and slot is None:
        slot = action.slots.new(rig.id_type, rig.name)
    return action, actions.ensure_bag(action, slot)


def _bake_bone(bag, bone: bpy.types.PoseBone, wanted: Samples, height: float, reduce: float, loops: bool) -> None:
    index = wanted.names.index(bone.name)
    parent = wanted.poses[:, wanted.names.index(bone.parent.name)].astype(np.float64) if bone.parent else None
    matrices = channels.basis(bone, wanted.poses[:, index].astype(np.float64), parent)
    turns, scales = rotations.split(matrices[:, :3, :3])
    quats = rotations.from_matrix(turns)
    target = _Target(bag, bone, wanted.frames, constraints.played_frames(bone.id_data), loops)
    _write_rotation(target, quats, reduce)
    if not (bone.bone.use_connect and bone.parent):
        noise = showing.LOCATION_NOISE * height
        _write_calm(target, "location", matrices[:, :3, 3], noise, reduce * height / 100.0)
    _write_calm(target, "scale", scales, showing.SCALE_NOISE, reduce / 100.0)


class _Target:
    """What is keyed: a pose bone or an object, with its own curves, the baked frames and the played ones; `loops`:
    the baked frames are a cycle that goes on."""

    def __init__(self, bag, holder, frames: np.ndarray, played: tuple[int, int], loops: bool = False) -> None:
        self.bag, self.holder, self.frames, self.played, self.loops = bag, holder, frames, played, loops
        self.group = holder.name if isinstance(holder, bpy.types.PoseBone) else "Object Transforms"
        self.table = {}
        for name, width in sampling.CHANNELS:
            for i in range(width):
                curve = bag.fcurves.find(self.path(name), index=i)
                if curve is not None:
                    self.table[self.path(name), i] = curve

    def path(self, name: str) -> str:
        return f"{self.holder.path_from_id()}.{name}" if isinstance(self.holder, bpy.types.PoseBone) else name


def _write_rotation(target: _Target, quats: np.ndarray, reduce: float) -> None:
    """Rotation keys (frames, 4) in the holder's mode."""
    holder = target.holder
    name = channels.rotation_path(holder)
    start = _start(target.table, target.path(name), getattr(holder, name), target.frames[0])
    values = channels.rotation_values(holder.rotation_mode, quats, start)
    # Half a quaternion's component is a quarter of the angle; Euler angles and axis angles are taken as they are.
    _write(target, name, values, np.radians(reduce) * (0.5 if holder.rotation_mode == "QUATERNION" else 1.0))


def _start(table: dict, path: str, current, frame: int) -> np.ndarray:
    """The source's value of a channel on the first frame."""
    values = np.array(current, dtype=np.float64)
    for i in range(len(values)):
        if (path, i) in table:
            values[i] = table[path, i].evaluate(float(frame))
    return values


def _write_calm(target: _Target, name: str, values: np.ndarray, noise: float, slack: float) -> None:
    """Location or scale: left alone where the source's keys (or the bare channel) already make it."""
    current = getattr(target.holder, name)
    default = 1.0 if name == "scale" else 0.0
    same = True
    for i in range(values.shape[1]):
        curve = target.table.get((target.path(name), i))
        if curve is not None:
            there = np.array([curve.evaluate(float(frame)) for frame in target.frames])
            same = same and not curve.mute
        else:
            there = current[i]
            same = same and abs(current[i] - default) <= noise
        same = same and np.abs(values[:, i] - there).max() <= noise
    if same:
        return
    calm = np.ptp(values, axis=0) <= noise
    _write(target, name, np.where(calm, values[:1], values), slack)


def _write(target: _Target, name: str, values: np.ndarray, slack: float) -> None:
    """Keys of one channel on the baked frames; on all others it stays what it was."""
    frames, path = target.frames, target.path(name)
    keep = channels.thin(values, slack)
    for i in range(values.shape[1]):
        curve = actions.ensure_curve(target.bag, target.table, path, i, target.group)
        if target.loops:
            curve.mute = curve.lock = False
            travels = name == "location" and abs(values[-1, i] - values[0, i]) > actions.SAME
            actions.write_cycle(curve, frames[keep].astype(np.float32), values[keep, i].astype(np.float32), travels)
            continue
        before, after = actions.frames_around(curve, int(frames[0]), int(frames[-1]), target.played)
        bare = getattr(target.holder, name)[i]
        parts = (actions.values_at(curve, before, bare), values[keep, i], actions.values_at(curve, after, bare))
        for modifier in list(curve.modifiers):
            curve.modifiers.remove(modifier)
        curve.mute = curve.lock = False
        keyed = np.concatenate([before, frames[keep], after])
        actions.replace_span(curve, keyed.astype(np.float32), np.concatenate(parts).astype(np.float32))


# --- free objects --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Flight:
    """A free object's world matrices (frames, 4, 4) as shown, and its parent's space (frames, 4, 4)."""

    ob: bpy.types.Object
    matrices: np.ndarray
    above: np.ndarray


def _flights(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray) -> list[_Flight]:
    """What the rig's free objects show."""
    obs = objects.results_of(rig)
    if not obs:
        return []
    with showing.exposed(rig, "RESULT"):
        shown = sampling.finish(sampling.sample_objects(obs, scene, frames, shown=True))
        above = [sampling.sample_parents(ob, scene, frames) for ob in obs]
    return [_Flight(ob, matrices, space) for ob, matrices, space in zip(obs, shown, above, strict=True)]


def _bake_flight(flight: _Flight, frames, played, target: str, reduce: float) -> list[str]:
    """Plain new keys for a free object, as its parent's space has them; sentences for the user."""
    ob = flight.ob
    source = ob.animation_data.action if ob.animation_data else None
    action, bag = _new_action(ob, source if target == "ACTION" else None)
    places, quats, scales = _without_deltas(ob, np.linalg.inv(flight.above) @ flight.matrices)
    keyed = _Target(bag, ob, frames, played)
    size = max(ob.dimensions) or 1.0
    _write_rotation(keyed, quats, reduce)
    _write_calm(keyed, "location", places, showing.LOCATION_NOISE * size, reduce * size / 100.0)
    _write_calm(keyed, "scale", scales, showing.SCALE_NOISE, reduce / 100.0)
    if target == "NLA":
        _push_down(ob)
        _add_strip(ob, action, frames)
        return []
    actions.assign(ob, action, actions.same_slot(action, actions.slot_of(ob)))
    return _keep_source(source, None)


def _without_deltas(ob: bpy.types.Object, local: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Location (frames, 3), rotation (frames, 4) and scale (frames, 3) channels that make local matrices
    (frames, 4, 4) together with the object's delta transforms."""
    turns, scales = rotations.split(local[:, :3, :3])
    if ob.rotation_mode == "QUATERNION":
        delta = ob.delta_rotation_quaternion
    else:
        delta = ob.delta_rotation_euler.to_quaternion()
    before = rotations.conjugate(np.array(delta, dtype=np.float64))
    quats = rotations.continuous(rotations.multiply(before[None], rotations.from_matrix(turns)))
    return local[:, :3, 3] - np.array(ob.delta_location), quats, scales / np.array(ob.delta_scale)


def _flight_notes(scene, flights: list[_Flight], frames: np.ndarray, mute: bool):
    """Constraints of the objects' own that take them away from their keys; muted where asked."""
    for flight in flights:
        acting = [
            constraint for constraint in flight.ob.constraints if constraint.enabled and constraint.influence > 0.0
        ]
        for constraint in acting if mute else ():
            constraint.mute = True
            yield f"Muted '{constraint.name}' on '{flight.ob.name}': the baked keys take its place."
    now = sampling.finish(sampling.sample_objects([flight.ob for flight in flights], scene, frames))
    for flight, matrices in zip(flights, now, strict=True):
        off = np.abs(matrices - flight.matrices).max() / max(*flight.ob.dimensions, 1e-9)
        if off > TELL_OFFSET:
            yield f"'{flight.ob.name}' does not go where it was simulated: its constraints or drivers move it."


def _keep_source(source: bpy.types.Action | None, recorded: bpy.types.Action | None) -> list[str]:
    """The source stays in the file: it needs a user (Heft's record is none) now that it was let go of."""
    if source is None or source.use_fake_user:
        return []
    others = source.users - (1 if recorded == source else 0)
    if others > 0:
        return []
    source.use_fake_user = True
    return [f"The source action '{source.name}' is kept with a fake user."]


def _push_down(rig: bpy.types.Object) -> None:
    """An active action would play over every strip: make it one, as Push Down does."""
    data = rig.animation_data
    if data is None or data.action is None:
        return
    action, slot = data.action, actions.slot_of(rig)
    blend, extrapolation = data.action_blend_type, data.action_extrapolation
    # An action that is alone counts fully, whatever its influence says.
    influence = data.action_influence if data.use_nla and len(data.nla_tracks) else 1.0
    data.action = None
    strip = _strip(rig, action, slot, int(np.floor(action.frame_range[0])))
    strip.extrapolation, strip.blend_type = extrapolation, blend
    if influence != 1.0:
        strip.use_animated_influence = True
        strip.fcurves.find("influence").keyframe_points.insert(strip.frame_start, influence)


def _add_strip(rig: bpy.types.Object, action: bpy.types.Action, frames: np.ndarray) -> None:
    slot = action.slots[0] if actions.HAS_SLOTS else None
    action.use_frame_range = True
    action.frame_start, action.frame_end = float(frames[0]), float(max(frames[-1], frames[0] + 1))
    strip = _strip(rig, action, slot, int(frames[0]))
    strip.extrapolation, strip.blend_type = "NOTHING", "REPLACE"


def _strip(rig: bpy.types.Object, action: bpy.types.Action, slot, start: int) -> bpy.types.NlaStrip:
    data = rig.animation_data or rig.animation_data_create()
    track = data.nla_tracks.new()
    track.name = action.name
    strip = track.strips.new(action.name, start, action)
    if actions.HAS_SLOTS and slot is not None:
        strip.action_slot = slot
    return strip


def _compare(rig, scene, bones, wanted: Samples, height: float, relative: bool):
    """The largest deviation of what Blender evaluates now from what was shown.

    With only some bones baked their parents may move otherwise: then each bone is
    compared within its parent.
    """
    now = sampling.finish(sampling.sample(rig, scene, wanted.frames))
    order = [wanted.names.index(bone.name) for bone in bones]
    sides = []
    for samples in (wanted, now):
        poses = samples.poses.astype(np.float64)
        own = poses[:, order]
        if relative:
            above = [wanted.names.index(bone.parent.name) if bone.parent else -1 for bone in bones]
            frame = np.stack([poses[:, a] if a >= 0 else np.tile(np.eye(4), (len(poses), 1, 1)) for a in above], axis=1)
            own = np.linalg.pinv(frame) @ own
        quats = rotations.from_matrix(rotations.split(own[..., :3, :3])[0])
        sides.append((own[..., :3, 3], quats))
    offsets = np.linalg.norm(sides[0][0] - sides[1][0], axis=-1) / height
    angles = np.degrees(rotations.angle_between(sides[0][1], sides[1][1]))
    frame, bone = np.unravel_index(int(np.argmax(angles + 1e3 * offsets)), angles.shape)
    return float(offsets.max()), float(angles.max()), bones[bone].name, int(wanted.frames[frame])
