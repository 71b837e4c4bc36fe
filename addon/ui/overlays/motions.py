"""Motions for overlays: source and result of a rig's bodies, on every frame.

Owns their origin: the last simulation of this session, or, after a file was opened or something undone, the keys,
sampled outside of drawing. Must not know what is drawn.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np

from ....engine import Model, Result, derived
from ....engine.analysis.support_polygon import Soles
from ....engine.analysis.whole_body import WholeBody, world_poses
from ....engine.math import rotations
from ...blender import engine_space, sample_poses
from ...blender.engine_space import MIRROR_X
from ...memory import LOAD, REMOVE, UNDO, Memo
from ...read import read_controller, read_rig, read_scene
from ...read.inputs import RigInputs
from ...result import result_armature
from ...simulate import session
from .. import answers

# A body this near to the ground stands on it [parts of the rig's height].
REACH = 0.012
# Radius around the ends of bones without shapes, so that ankles stand [parts of the rig's height].
BARE = 0.04
# Longer shots are not sampled for overlays alone [frames].
LONGEST = 5000


@dataclass(frozen=True, eq=False)
class Film:
    """One motion of a rig's bodies in the engine's world: places (frames, n, 3) [m], turns (frames, n, 4)."""

    model: Model
    fps: float
    places: np.ndarray
    turns: np.ndarray
    meters: float
    mirrored: bool
    soles: Soles

    @cached_property
    def key(self) -> object:
        """A unique object, as a cache key for what is derived from this film."""
        return object()

    def __len__(self) -> int:
        return len(self.places)

    def shown(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) [m] in Blender's world."""
        return (points @ MIRROR_X if self.mirrored else points) / self.meters

    def spots(self, body: int, point: np.ndarray) -> np.ndarray:
        """(frames, 3) in Blender's world: the path of a point (3,) of a body [m]."""

        def way() -> np.ndarray:
            return self.shown(self.places[:, body] + rotations.rotate(self.turns[:, body], point[None]))

        return derived(self, ("way", body, point.tobytes()), way)

    @cached_property
    def matrices(self) -> np.ndarray:
        """(frames, n, 3, 4) float32, from the bodies' frames [m] to Blender's world."""
        out = np.empty((*self.places.shape[:2], 3, 4), dtype=np.float32)
        out[..., :3] = rotations.to_matrix(self.turns) / self.meters
        out[..., 3] = self.places / self.meters
        if self.mirrored:
            out[..., 0, :] *= -1.0
        return out

    @cached_property
    def whole(self) -> WholeBody:
        """Centre of mass and momentum."""
        return WholeBody.of(self.model, self.places, self.turns, self.fps)

    def flying(self, height: float, reach: float) -> np.ndarray:
        """(frames,) True while the body is off the ground. Height of the ground and reach [m]."""

        def is_above() -> np.ndarray:
            above = self.soles.clearance(self.places, self.turns, height)
            return np.isfinite(above) & (above > reach)

        return derived(self, "flying", is_above, (height, reach))


@dataclass(frozen=True, eq=False)
class Footage:
    """A rig's motions. forces: the result of this session's simulation, None if there was none; tracks: of its
    objects."""

    reading: read_rig.Reading
    source: Film
    result: Film | None
    forces: Result | None
    tracks: tuple[read_scene.Track, ...] = ()

    @property
    def first(self) -> int:
        """The first frame of the films."""
        return int(self.reading.frames[0])


@dataclass(eq=False)
class _Kept:
    footage: Footage
    shown: session.Shown | None
    # Digests of source and result when they were last checked.
    source_mark: str = ""
    result_mark: str = ""
    # The source was edited after the simulation.
    edited: bool = False


_kept: Memo[int, _Kept] = Memo("drawn motions", "rig", (LOAD, UNDO, REMOVE))
# Soles of rigs whose simulation had no collision shapes, with what they were made from.
_stands: Memo[int, tuple[str, tuple[str, ...], Soles]] = Memo("soles", "rig", (LOAD, UNDO, REMOVE))


def current(rig: bpy.types.Object, scene: bpy.types.Scene) -> Footage | None:
    """The known motions of a rig; changes nothing, so it may be called while drawing."""
    kept = _kept.get(rig.session_uid)
    shown = session.last_shown(rig)
    if shown is not None and (kept is None or kept.shown is not shown):
        kept = _kept[rig.session_uid] = _Kept(_of_shown(rig, shown, _meters(rig, scene), kept), shown)
    return kept.footage if kept is not None else None


def refresh(now: RigInputs) -> None:
    """Sample motions that are unknown or stale; outside of drawing only."""
    rig, scene = now.rig, now.inputs.scene
    current(rig, scene)
    kept = _kept.get(rig.session_uid)
    frames = read_controller.frame_range(rig, scene)
    if len(frames) > LONGEST:
        return
    source = now.source + now.structure
    result = rig.heft.written if rig.heft_result is not None else ""
    if kept is not None and kept.shown is not None:
        _find_soles(now, kept)
        if not kept.source_mark:
            kept.source_mark = source
        elif kept.source_mark != source and rig.heft.shown == "SOURCE":
            # Edited after the simulation: show the source as it is now.
            sampled = _sampled(rig, scene, kept.footage.reading.frames, False)
            same = sampled.reading.names == kept.footage.reading.names
            kept.footage = dataclasses.replace(kept.footage, source=sampled.source) if same else sampled
            kept.source_mark, kept.edited = source, True
        return
    if kept is None or (kept.source_mark, kept.result_mark) != (source, result):
        _kept[rig.session_uid] = _Kept(_sampled(rig, scene, frames, bool(result)), None, source, result)


def _meters(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Engine metres in one of Blender's units, by the settings of the rig's shot."""
    leader = answers.shot_of(rig).leader
    return engine_space.meters_in_unit(leader.heft.meters_per_unit, scene.unit_settings.scale_length)


def _find_soles(now: RigInputs, kept: _Kept) -> None:
    """Find the soles of a rig whose simulation had no collision shapes; the shapes are built only for this."""
    rig, scene, mark = now.rig, now.inputs.scene, now.structure
    reading = kept.footage.reading
    known = _stands.get(rig.session_uid)
    if any(reading.model.shapes) or (known is not None and known[0] == mark):
        return
    skeleton = read_rig.skeleton_of(rig, scene)
    model = read_rig.build_model(rig, skeleton, reading.placement, scene, int(reading.frames[0]), solid=True)
    _stands[rig.session_uid] = (mark, model.names, Soles.of(model))
    kept.footage = _of_shown(rig, kept.shown, kept.footage.source.meters)


def _of_shown(rig: bpy.types.Object, shown: session.Shown, meters: float, before: _Kept | None = None) -> Footage:
    """before: the previous motions, whose source may be reused: Live reads a source once and simulates it many
    times."""
    reading, soles = shown.reading, _soles(shown.reading)
    known = _stands.get(rig.session_uid)
    if known is not None and not any(reading.model.shapes) and known[1] == reading.model.names and len(known[2].bodies):
        soles = known[2]
    source = None
    if before is not None and before.shown is not None and before.shown.reading is reading and not before.edited:
        source = before.footage.source
    if source is None or source.meters != meters or source.soles is not soles:
        source = _film(reading, *world_poses(reading.model, reading.motion), meters, soles)
    result = _film(reading, *world_poses(reading.model, shown.result.motion), meters, soles)
    return Footage(reading, source, result, shown.result, shown.tracks)


def _film(reading: read_rig.Reading, places: np.ndarray, turns: np.ndarray, meters: float, soles: Soles) -> Film:
    return Film(reading.model, reading.motion.fps, places, turns, meters, reading.placement.mirrored, soles)


def _soles(reading: read_rig.Reading) -> Soles:
    """The points on which the bodies can stand: of their shapes, or, if these are unknown, of the bones' ends."""

    def find() -> Soles:
        found = Soles.of(reading.model)
        return found if len(found.bodies) else _bare(reading)

    return derived(reading, "soles", find)


def _bare(reading: read_rig.Reading) -> Soles:
    """The ends of all bones, with a small radius."""
    place = {name: body for body, name in enumerate(reading.names)}
    ends = [(place[body], point) for body, *both in reading.spots.values() for point in both]
    points = np.array([point for _, point in ends])
    return Soles(
        np.array([body for body, _ in ends]),
        points,
        np.full(len(ends), BARE * reading.height * reading.placement.sizes[0]),
    )


def _sampled(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray, with_result: bool) -> Footage:
    """Motions of the source and the result, sampled from their keys."""
    meters = _meters(rig, scene)
    with result_armature.exposed(rig, "SOURCE"):
        samples = sample_poses.finish(sample_poses.sample(rig, scene, frames))
    reading = read_rig.read(rig, scene, samples, meters, solid=True)
    soles = _soles(reading)
    source = _film(reading, *world_poses(reading.model, reading.motion), meters, soles)
    result = None
    if with_result:
        samples = sample_poses.finish(sample_poses.sample(rig.heft_result, scene, frames))
        result = _film(reading, *_placed(reading, samples), meters, soles)
    return Footage(reading, source, result, None)


def _placed(reading: read_rig.Reading, samples: sample_poses.Samples) -> tuple[np.ndarray, np.ndarray]:
    """Places (frames, n, 3) [m] and rotations (frames, n, 4) in the engine's world of a sampled armature."""
    quats, _, joints = reading.channels(samples, range(len(reading.names)))
    return reading.placement.points_to_world(joints), reading.placement.rotations_to_world(quats)
