"""Write keys of a bone's or an object's channels over a span of frames, in a new action.

Owns which channels are keyed and which are left alone, and how the curve around the span is kept. Keys are reduced
where asked for (`reduce_keys`). Must not know where the poses come from.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..blender import actions, bone_channels, key_spans, sample_poses
from ..blender.key_spans import Span
from ..result.result_armature import LOCATION_NOISE, SCALE_NOISE
from . import reduce_keys


@dataclass
class Tally:
    """The number of keys written, and the number that one on every frame would have been."""

    written: int = 0
    full: int = 0


class Target:
    """What is keyed: a pose bone or an object, with its own curves, the baked frames and the played ones.

    size      the length of which location errors are a percentage
    reduce    the largest error of reduced keys [degrees], 0 for a key on every frame
    loops     True if the baked frames are a cycle that repeats
    """

    def __init__(
        self,
        bag,
        holder,
        frames: np.ndarray,
        played: tuple[int, int],
        size: float,
        reduce: float,
        tally: Tally,
        loops: bool = False,
    ) -> None:
        self.bag, self.holder, self.frames, self.played, self.loops = bag, holder, frames, played, loops
        self.size, self.reduce, self.tally = size, reduce, tally
        self.group = holder.name if isinstance(holder, bpy.types.PoseBone) else "Object Transforms"
        self.table = {}
        for name, width in sample_poses.CHANNELS:
            for i in range(width):
                curve = bag.fcurves.find(self.path(name), index=i)
                if curve is not None:
                    self.table[self.path(name), i] = curve

    def path(self, name: str) -> str:
        """The data path of a channel."""
        return f"{self.holder.path_from_id()}.{name}" if isinstance(self.holder, bpy.types.PoseBone) else name


def new_action(rig: bpy.types.Object, source: bpy.types.Action | None):
    """A copy of the source (or an empty action), and the bag in it that animates the rig."""
    if source is None:
        action = actions.new_action(f"{rig.name} baked", rig)
        return action, actions.ensure_bag(action)
    action = source.copy()
    action.name = f"{source.name} baked"
    slot = actions.same_slot(action, actions.slot_of(rig))
    if actions.HAS_SLOTS and slot is None:
        slot = action.slots.new(rig.id_type, rig.name)
    return action, actions.ensure_bag(action, slot)


def keep_source(source: bpy.types.Action | None, recorded: bpy.types.Action | None) -> list[str]:
    """Keep an unassigned source in the file by a fake user, if it has no other user (Heft's pointer does not count)."""
    if source is None or source.use_fake_user:
        return []
    others = source.users - (1 if recorded == source else 0)
    if others > 0:
        return []
    source.use_fake_user = True
    return [f"The source action '{source.name}' is kept with a fake user."]


def write(target: Target, quats: np.ndarray | None, places=None, scales=None) -> None:
    """Key rotations (frames, 4), places and scales (frames, 3) in the holder's own channels. None leaves a channel
    alone.

    Reduced keys of all channels are on the same frames, so that they can be edited together.
    """
    tracks = []
    if quats is not None:
        tracks.append(_rotation(target, quats))
    for name, values, noise, slack in (
        ("location", places, LOCATION_NOISE * target.size, target.reduce * target.size / 100.0),
        ("scale", scales, SCALE_NOISE, target.reduce / 100.0),
    ):
        if values is not None and (_is_crowded(target, name) or not _is_made(target, name, values, noise)):
            calm = np.ptp(values, axis=0) <= noise
            tracks.append(reduce_keys.Track(name, np.where(calm, values[:1], values), "", slack))
    tracks = [track for track in tracks if track is not None]
    if not tracks:
        return
    keys = reduce_keys.fit(target.frames, tracks) if target.reduce > 0.0 else None
    for track in tracks:
        _write(target, track, keys)


def _rotation(target: Target, quats: np.ndarray) -> reduce_keys.Track:
    holder = target.holder
    name = bone_channels.rotation_path(holder)
    start = _start(target.table, target.path(name), getattr(holder, name), target.frames[0])
    values = bone_channels.rotation_values(holder.rotation_mode, quats, start)
    return reduce_keys.Track(name, values, holder.rotation_mode, np.radians(target.reduce))


def _start(table: dict, path: str, current, frame: int) -> np.ndarray:
    """The source's value of a channel on the first frame."""
    values = np.array(current, dtype=np.float64)
    for i in range(len(values)):
        if (path, i) in table:
            values[i] = table[path, i].evaluate(float(frame))
    return values


def _is_made(target: Target, name: str, values: np.ndarray, noise: float) -> bool:
    """True if the source's keys already make these values, or the unkeyed channel at its default does."""
    current = getattr(target.holder, name)
    default = 1.0 if name == "scale" else 0.0
    for i in range(values.shape[1]):
        curve = target.table.get((target.path(name), i))
        if curve is not None:
            if curve.mute:
                return False
            there = np.array([curve.evaluate(float(frame)) for frame in target.frames])
        elif abs(current[i] - default) > noise:
            return False
        else:
            there = current[i]
        if np.abs(values[:, i] - there).max() > noise:
            return False
    return True


def _is_crowded(target: Target, name: str) -> bool:
    """True if the source has superfluous keys here and keys are to be reduced."""
    if target.reduce <= 0.0:
        return False
    first, last = target.frames[0], target.frames[-1]
    curves = [curve for (path, _), curve in target.table.items() if path == target.path(name)]
    return any(sum(first <= frame <= last for frame in actions.key_frames(curve)) > 2 for curve in curves)


def _write(target: Target, track: reduce_keys.Track, keys: reduce_keys.Keys | None) -> None:
    """Key one channel on the baked frames; on all other frames its values stay."""
    for i in range(track.values.shape[1]):
        curve = actions.ensure_curve(target.bag, target.table, target.path(track.name), i, target.group)
        bare = getattr(target.holder, track.name)[i]
        values = track.values[:, i]
        still = np.ptp(values) <= actions.SAME
        target.tally.full += 1 if still else len(values)
        span = Span.plain(target.frames, values)
        if keys is not None and not still:
            span = keys.span(track.name, i)
        target.tally.written += 1 if still else len(span)
        if target.loops:
            travels = track.name == "location" and abs(values[-1] - values[0]) > actions.SAME
            write_cycle(curve, span, travels)
        else:
            write_curve(curve, span, bare, target.played)


def write_cycle(curve: bpy.types.FCurve, span: Span, travels: bool) -> None:
    """Make the curve hold one cycle and repeat it for ever. travels: each repetition starts where the last one
    ended."""
    _clear(curve)
    curve.keyframe_points.clear()
    key_spans.replace(curve, span)
    if len(curve.keyframe_points) > 1:
        cycles = curve.modifiers.new("CYCLES")
        cycles.mode_before = cycles.mode_after = "REPEAT_OFFSET" if travels else "REPEAT"
        curve.update()


def write_curve(curve: bpy.types.FCurve, span: Span, bare: float, played: tuple[int, int]) -> None:
    """Replace a curve's keys over a span; on all other played frames its values stay."""
    first, last = int(span.co[0, 0]), int(span.co[-1, 0])
    before, after = actions.frames_around(curve, first, last, played)
    sides = [Span.plain(side, actions.values_at(curve, side, bare)) for side in (before, after)]
    _clear(curve)
    key_spans.replace(curve, Span.joined(sides[0], span, sides[1]))


def _clear(curve: bpy.types.FCurve) -> None:
    """Remove the curve's modifiers, unmute and unlock it."""
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    curve.mute = curve.lock = False
