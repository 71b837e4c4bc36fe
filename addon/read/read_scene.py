"""Convert the panel's settings to the engine's `Scene`: ground, colliders, ties, pushes, and pairs that never touch.

Owns the conversion of objects' transforms to the engine's world and back. Must not know how the engine solves, nor how
results are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ... import engine
from ...engine.geometry.build_shapes import build_shapes
from ...engine.geometry.shapes import Shape
from ...engine.math import rotations
from .. import settings
from ..blender.engine_space import MIRROR_X
from ..errors import RigError
from . import collision_shapes, read_controller, shot
from .read_rig import Reading

# A change of size by more than this part counts as resizing.
SAME_SIZE = 1e-3


@dataclass(frozen=True, eq=False)
class Track:
    """An object's sampled transforms in the engine's world.

    matrices    (frames, 4, 4) in Blender's world, mirrored if the engine's is
    turns       (frames, 4) rotations, wxyz
    stretch     (3, 3) the effect of its scale on its points on the first frame [m a unit]
    resized     index of the first frame on which its size differs; None if it never does
    """

    ob: bpy.types.Object
    matrices: np.ndarray
    turns: np.ndarray
    stretch: np.ndarray
    resized: int | None
    meters: float
    mirrored: bool

    @classmethod
    def build(cls, ob: bpy.types.Object, matrices: np.ndarray, meters: float, mirrored: bool) -> Track:
        """From sampled world matrices (frames, 4, 4) and the metres in one Blender unit."""
        if not np.isfinite(matrices).all():
            raise RigError(f"'{ob.name}' has a transform that is not finite: look for a broken key or constraint.")
        if mirrored:
            matrices = matrices.copy()
            matrices[:, :3] = MIRROR_X @ matrices[:, :3]
        linear = matrices[:, :3, :3]
        if np.abs(np.linalg.det(linear)).min() < 1e-12:
            raise RigError(f"'{ob.name}' is scaled to nothing on some frame: a collider needs a size.")
        turn, rest = rotations.stretch(linear)
        other = np.flatnonzero(np.abs(rest - rest[0]).max(axis=(1, 2)) > SAME_SIZE * np.abs(rest[0]).max())
        return cls(
            ob,
            matrices,
            rotations.continuous(rotations.from_matrix(turn)),
            rest[0] * meters,
            int(other[0]) if len(other) else None,
            meters,
            mirrored,
        )

    @property
    def positions(self) -> np.ndarray:
        """(frames, 3) [m]"""
        return self.matrices[:, :3, 3] * self.meters

    def shown(self, positions: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """(frames, 4, 4) simulated transforms in Blender's world; the object keeps its scale."""
        out = np.tile(np.eye(4), (len(positions), 1, 1))
        change = rotations.to_matrix(rotations.multiply(turns, rotations.conjugate(self.turns)))
        out[:, :3, :3] = change @ self.matrices[:, :3, :3]
        out[:, :3, 3] = positions / self.meters
        if self.mirrored:
            out[:, :3] = MIRROR_X @ out[:, :3]
        return out


# A tail as drawn is used if it is this near to where the bone ends [parts of the bone].
DRAWN_NEAR = 0.1


def build(
    scene: bpy.types.Scene,
    group: shot.Shot,
    readings: Sequence[Reading],
    objects: Sequence[Track],
    anchors: Sequence[Track],
    meters: float,
) -> engine.Scene:
    """The world around the characters. The leader's settings give gravity and wind."""
    rigs, first, frames = group.rigs, group.leader, readings[0].frames
    mirrored = readings[0].placement.mirrored
    for rig, reading in zip(rigs, readings, strict=True):
        if reading.placement.mirrored != mirrored:
            raise RigError(f"'{rig.name}' and '{first.name}' are mirrored differently: apply the scale of one.")
    colliders = [_collider(track, scene, frames) for track in objects] + [_anchor(track) for track in anchors]
    ground = None
    if group.grounded is not None:
        heft = group.grounded.heft
        ground = engine.Ground(heft.ground_height * meters, heft.ground_friction, heft.ground_bounce)
    cast = list(zip(rigs, readings, strict=True))
    names = {track.ob: track.ob.name_full for track in (*objects, *anchors)}
    return engine.Scene(
        gravity=readings[0].placement.vector_to_world(read_controller.gravity_of(first)),
        ground=ground,
        colliders=colliders,
        ties=[tie for k in range(len(cast)) for tie in _ties(k, cast, names)],
        winds=_winds(first, readings[0]),
        pushes=[push for k, (rig, reading) in enumerate(cast) for push in _pushes(k, rig, reading)],
        apart=[*_apart(cast), *_let_go(cast, objects)],
        touch_self=[_touches_itself(rig) for rig in rigs],
    )


# --- colliders -------------------------------------------------------------------


def _collider(track: Track, scene: bpy.types.Scene, frames: np.ndarray) -> engine.Collider:
    ob = track.ob
    look = settings.collider_of(ob)
    shape = shape_of(track, scene, frames)
    positions, turns = track.positions, track.turns
    start = 0
    if look.moves == "FREE":
        start = int(np.clip(look.free_from - frames[0], 0, len(frames) - 1))
        positions, turns = thrown(positions, turns, start)
    return engine.Collider(
        name=ob.name_full,
        shapes=[shape],
        positions=positions,
        rotations=turns,
        moves=look.moves,
        mass=collision_shapes.mass_of(ob, shape),
        friction=look.friction,
        bounce=look.bounce,
        response=look.response,
        free_from=start,
    )


def shape_of(track: Track, scene: bpy.types.Scene, frames: np.ndarray) -> Shape:
    """The collision shape of an object. A grid is built here on first use, which may take seconds."""
    if track.resized is not None:
        raise RigError(
            f"Collider '{track.ob.name}' changes its size on frame {frames[track.resized]}: a solid keeps one. Remove "
            "the scale keys of it or its parent, or collide a copy without them."
        )
    return collision_shapes.object_shape(track.ob, scene, int(frames[0]), track.stretch)


def thrown(positions: np.ndarray, turns: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Sampled transforms that continue straight from index `start` with the velocity of the frame before.

    Later keys (a held last one, for example) must not slow it down.
    """
    positions, turns = positions.copy(), turns.copy()
    count = len(positions)
    if count > 1:
        a, b = (start - 1, start) if start > 0 else (0, 1)
        step = positions[b] - positions[a]
        turn = rotations.to_vector(rotations.multiply(turns[b], rotations.conjugate(turns[a])))
        after = np.arange(1, count - start)[:, None]
        positions[start + 1 :] = positions[start] + after * step
        turns[start + 1 :] = rotations.multiply(rotations.from_vector(after * turn), turns[start][None])
    return positions, rotations.continuous(turns)


def _anchor(track: Track) -> engine.Collider:
    """A collider that ties attach to and nothing touches."""
    return engine.Collider(track.ob.name_full, (), track.positions, track.turns)


# --- ties and pushes ---------------------------------------------------------------


def _ties(k: int, cast: list[tuple[bpy.types.Object, Reading]], names: dict) -> list[engine.Tie]:
    rig, reading = cast[k]
    found = []
    for i, tie in enumerate(rig.heft.ties):
        body, head, end = _spot(rig, reading, tie.bone, f"Tie {i + 1}")
        b, point_b = _tied_to(tie, rig, cast, names, i)
        active = read_controller.switched(rig, f"heft.ties[{i}].on", tie.on, reading.frames)
        if active.any():
            found.append(
                engine.Tie(
                    kind=tie.kind,
                    a=(k, body),
                    b=b,
                    point_a=head if tie.end == "HEAD" else _drawn_tail(rig, reading, tie.bone, head, end),
                    point_b=point_b if tie.kind == "DISTANCE" else None,
                    active=None if active.all() else active,
                    response=tie.response,
                )
            )
    return found


def _tied_to(tie, rig, cast, names: dict, i: int):
    """The engine's name of the tie's target, and the target's origin in its own frame."""
    target = tie.target
    if target is None:
        if tie.kind == "DISTANCE":
            raise RigError(f"Tie {i + 1} of '{rig.name}' is a Distance to nothing: choose a target.")
        return None, None
    for j, (other, reading) in enumerate(cast):
        if other == target:
            body, head, _tail = _spot(other, reading, tie.target_bone, f"The target of tie {i + 1} of '{rig.name}'")
            return (j, body), head
    if target.type == "ARMATURE" and tie.target_bone:
        raise RigError(
            f"Tie {i + 1} of '{rig.name}' holds on to a bone of '{target.name}', which is not in the shot: "
            "give it physics and add it to the colliders."
        )
    return names[target], np.zeros(3)


def _drawn_tail(rig: bpy.types.Object, reading: Reading, bone: str, head: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(3,) the tail that a tie holds, in the body's frame [m]: as drawn, unless that is far from the bone's end."""
    own = rig.pose.bones[bone].bone
    body = rig.pose.bones[reading.spots[bone][0]].bone
    way = np.array(body.matrix_local.to_3x3().inverted() @ (own.tail_local - own.head_local), dtype=np.float64)
    drawn = head + float(reading.placement.sizes[0]) * way
    return drawn if np.linalg.norm(drawn - end) < DRAWN_NEAR * np.linalg.norm(end - head) else end


def _spot(rig: bpy.types.Object, reading: Reading, bone: str, who: str) -> tuple[str, np.ndarray, np.ndarray]:
    if not bone:
        raise RigError(f"{who} names no bone of '{rig.name}': choose one.")
    if bone not in reading.spots:
        raise RigError(f"{who} names '{bone}', which is no simulated bone of '{rig.name}': choose another.")
    return reading.spots[bone]


def _winds(rig: bpy.types.Object, reading: Reading) -> list[engine.Wind]:
    if not any(rig.heft.wind):
        return []
    strength = read_controller.keyed_number(rig, "heft.wind_strength", rig.heft.wind_strength, reading.frames)
    velocity = reading.placement.vector_to_world(tuple(float(value) for value in rig.heft.wind))
    return [engine.Wind(velocity, np.maximum(strength, 0.0))]


def _pushes(k: int, rig: bpy.types.Object, reading: Reading) -> list[engine.Push]:
    found = []
    for i, push in enumerate(rig.heft.pushes):
        body, head, tail = _spot(rig, reading, push.bone, f"Push {i + 1}")
        way = np.array(push.direction, dtype=np.float64)
        length = float(np.linalg.norm(way))
        if length < 1e-9:
            raise RigError(f"Push {i + 1} of '{rig.name}' has no direction: give it one.")
        index = push.frame - int(reading.frames[0])
        if 0 <= index < len(reading.frames) and push.impulse > 0.0:
            impulse = reading.placement.vector_to_world(way * (push.impulse / length))
            point = head + push.place * (tail - head) if push.use_place else None
            found.append(engine.Push((k, body), impulse, index, point))
    return found


# --- what never touches ------------------------------------------------------------


def _apart(cast: list[tuple[bpy.types.Object, Reading]]) -> list[tuple]:
    """Pairs of bones in one overlap group, and for characters that touch themselves pairs that overlap at rest or at
    the start."""
    out = []
    for k, (rig, reading) in enumerate(cast):
        names = reading.names
        groups = [rig.pose.bones[name].heft.overlap_group for name in names]
        for a in range(len(names)):
            for b in range(a + 1, len(names)):
                if groups[a] and groups[a] == groups[b]:
                    out.append(((k, names[a]), (k, names[b])))
        if rig.heft.touch_self:
            out += [((k, names[a]), (k, names[b])) for a, b in sorted(overlapping(reading))]
    return out


def _touches_itself(rig: bpy.types.Object) -> bool | str:
    """Whether the rig's bones touch one another: always, only while limp, or never."""
    return True if rig.heft.touch_self else "LIMP" if rig.heft.touch_self_limp else False


def overlapping(reading: Reading) -> set[tuple[int, int]]:
    """Pairs of bodies whose shapes overlap in the rest pose or on the first frame: contacts would push them apart."""
    return engine.derived(reading, "overlapping", lambda: _find_overlapping(reading))


def _find_overlapping(reading: Reading) -> set[tuple[int, int]]:
    model, out = reading.model, set()
    rows = [(body + 1, shape) for body, shapes in enumerate(model.shapes) for shape in shapes]
    bodies, shapes = [row for row, _ in rows], [shape for _, shape in rows]
    count = len(rows)
    # One root for all: bodies of another tree of the rig overlap as well, as in `engine/simulation/self_touch.py`.
    table = build_shapes(bodies, shapes, [0.0] * count, [0.0] * count, [0] * count, [1] * count)
    for places, turns in (reading.at_rest(), reading.at_start()):
        where = np.zeros((len(model) + 1, 7))
        where[0, 3] = 1.0
        where[1:, :3], where[1:, 3:] = places, turns
        found = engine.overlapping_at_rest(table, where) if count > 1 else []
        out |= {(bodies[a] - 1, bodies[b] - 1) for a, b in found}
    return out


def _let_go(cast, objects: Sequence[Track]) -> list[tuple]:
    """Pairs of a free object and the bone it is parented to: they never touch, because the object starts inside the
    bone."""
    out = []
    for track in objects:
        above = track.ob
        while above is not None and above.parent_type != "BONE":
            above = above.parent
        for k, (rig, reading) in enumerate(cast):
            if above is not None and above.parent == rig and above.parent_bone in reading.spots:
                out.append((track.ob.name_full, (k, reading.spots[above.parent_bone][0])))
    return out
