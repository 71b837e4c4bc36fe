"""Pull Pose: conversion between the rig's pose channels and the engine's `Posing` (METHODS §1d, S1-VII).

Owns which bones can be pulled, which are pinned, writing channels, and restoring them. Works on rigs with and without
physics; the latter keep no settings. Must not know mouse, events or regions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import bpy
import numpy as np
from mathutils import Euler, Quaternion

from ... import engine
from ...engine import BALL, Lock
from ...engine.math import quaternions as engine_rotations, rotations
from .. import events, settings
from ..blender import actions, bone_channels, engine_space, ik_solvers, own_marks, sample_poses
from ..errors import RigError
from ..read import collision_shapes, read_controller, read_rig, shot
from ..rig import bone_roles, first_guess
from ..simulate import session

# Constraints that only limit a bone: its channels still pose it.
LIMITS = ("LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_SCALE", "LIMIT_DISTANCE")
# A foot stands if its lowest point is within this distance of the ground [parts of the rig's height].
STANDS = 0.04
# Channels that differ by less did not move.
MOVED = 1e-6
# A bone that its parent does not carry is moved if it is off by more than this [parts of the rig's height].
DRIFTED = 1e-5
PINNABLE = ("FOOT",)


@contextmanager
def guessed(rig: bpy.types.Object, scene: bpy.types.Scene):
    """Context manager: a rig without physics has the settings that Add Physics would guess; removed afterwards."""
    if settings.has_physics(rig):
        yield
        return
    had = rig.is_property_set("heft")
    size = had and rig.heft.is_property_set("meters_per_unit")
    marked = {bone.name for bone in rig.pose.bones if bone.is_property_set("heft")}
    behaving = {name for name in marked if rig.pose.bones[name].heft.is_property_set("behaviour")}
    with events.paused():
        try:
            first_guess.choose_bodies(rig, scene)
            first_guess.guess_size(rig, scene)
            yield
        finally:
            for bone in rig.pose.bones:
                if bone.name not in marked:
                    settings.forget(bone, "heft")
                elif bone.name not in behaving:
                    bone.heft.property_unset("behaviour")
            if not had:
                settings.forget(rig, "heft")
            elif not size:
                rig.heft.property_unset("meters_per_unit")


@dataclass(frozen=True)
class Blocked:
    """Why a bone's channels do not pose it: the bone, and the constraint or driver that overrides them."""

    bone: str
    by: str


def blocked_bones(rig: bpy.types.Object) -> dict[str, Blocked]:
    """The bones that constraints or drivers pose instead of their channels, and their descendants."""
    found: dict[str, Blocked] = {}
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            if constraint.name == own_marks.CONSTRAINT or constraint.type in LIMITS:
                continue
            if not constraint.enabled or constraint.influence <= 0.0:
                continue
            why = Blocked(bone.name, f"the constraint '{constraint.name}' on '{bone.name}'")
            for each in _solved(bone, constraint):
                found.setdefault(each.name, why)
    for name in _driven(rig, "rotation"):
        found.setdefault(name, Blocked(name, f"a driver on the rotation of '{name}'"))
    for bone in rig.pose.bones:  # parents first
        if bone.parent is not None and bone.parent.name in found:
            found.setdefault(bone.name, found[bone.parent.name])
    return found


def _driven(rig: bpy.types.Object, channel: str) -> set[str]:
    """The bones with a driver on a channel whose name begins with `channel`."""
    paths = [curve.data_path for curve in rig.animation_data.drivers] if rig.animation_data else []
    begun = {f"{bone.path_from_id()}.{channel}": bone.name for bone in rig.pose.bones} if paths else {}
    return {name for begin, name in begun.items() if any(path.startswith(begin) for path in paths)}


def _solved(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> list[bpy.types.PoseBone]:
    """The bones that a constraint poses: its own bone, or the chain that it solves."""
    if constraint.type not in ik_solvers.SOLVERS:
        return [bone]
    chain = [bone, *bone.parent_recursive]
    if constraint.type == "IK" and not constraint.use_tail:
        chain = chain[1:]
    return chain[: constraint.chain_count] if constraint.chain_count else chain


class Pull:
    """The rig's pose on the current frame, to be pulled. Raises RigError if it cannot be."""

    def __init__(self, rig: bpy.types.Object, scene: bpy.types.Scene, graph: bpy.types.Depsgraph) -> None:
        session.check(rig)
        if rig.data.pose_position == "REST":
            raise RigError(f"'{rig.name}' shows its rest position: switch its Skeleton to Pose Position.")
        self.rig, self.scene = rig, scene
        self._before = _channels(rig)
        evaluated = rig.evaluated_get(graph)
        names = tuple(bone.name for bone in rig.pose.bones)
        self._poses = np.array([evaluated.pose.bones[name].matrix for name in names], dtype=np.float64)
        self._world = np.array(evaluated.matrix_world, dtype=np.float64)
        samples = sample_poses.Samples(np.array([scene.frame_current]), names, self._poses[None], self._world[None])
        self.blocked, self._placed_by_drivers = blocked_bones(rig), _driven(rig, "location")
        with guessed(rig, scene):
            meters = engine_space.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
            self.reading = read_rig.read(rig, scene, samples, meters, solid=True)
            self._gravity = self.reading.placement.vector_to_world(read_controller.gravity_of(rig))
            grounded = shot.of(rig).grounded if settings.has_physics(rig) else None
            self._floor = grounded.heft.ground_height * meters if grounded is not None else None
        self._places = {name: i for i, name in enumerate(names)}
        self._bases = {name: self._basis(rig.pose.bones[name], self._poses) for name in self.reading.names}
        self._hangs, self._upright = False, ""
        self.posing = self._posing(self.reading.motion.rotations[0], self.reading.motion.positions[0], [])
        self._start = self.posing.placed()
        self._turned = self.posing.rotations
        self._anchors = self.posing.positions
        self.auto_pins = self._standing_feet()
        self.grabbed = ""

    def _posing(self, turns: np.ndarray, places: np.ndarray, more: list[Lock]) -> engine.Posing:
        """The engine's pose, with the rig's own locks and additional ones."""
        model = self.reading.model
        # bones posed by constraints or drivers are not where their parents would carry them
        shapes = [
            () if name in self.blocked else own for name, own in zip(self.reading.names, model.shapes, strict=True)
        ]
        return engine.Posing(
            replace(model, shapes=tuple(shapes)),
            turns,
            places,
            fixed=[name for name in self.reading.names if not self._turns(self.rig.pose.bones[name])],
            gravity=self._gravity if self._hangs else None,
            floor=self._floor,
            locks=[*self._locks(), *more],
        )

    def _turns(self, bone: bpy.types.PoseBone) -> bool:
        return bone.name not in self.blocked and not all(bone.lock_rotation)

    def _moves(self, bone: bpy.types.PoseBone) -> bool:
        """True if a bone's location channel moves it."""
        tied = bone.bone.use_connect and bone.parent is not None
        held = any(bone.lock_location) or bone.name in self._placed_by_drivers
        return not tied and not held and bone.name not in self.blocked

    def _basis(self, bone: bpy.types.PoseBone, poses: np.ndarray) -> np.ndarray:
        """(4, 4) the transform of a bone's channels, for poses (bones, 4, 4)."""
        above = poses[self._places[bone.parent.name]][None] if bone.parent else None
        return bone_channels.basis(bone, poses[self._places[bone.name]][None], above)[0]

    def _locks(self) -> Iterator[Lock]:
        """Locks for joints with locked channels. A bone that is locked completely does not turn at all."""
        model, joints = self.reading.model, self.reading.motion.rotations[0]
        for b, name in enumerate(self.reading.names):
            bone = self.rig.pose.bones[name]
            carried = bone.parent is None or bone.bone.use_inherit_rotation
            if not any(bone.lock_rotation) or not self._turns(bone) or not carried or model.kinds[b] < BALL:
                continue
            quats = _turns_of([bone], [self._bases[name]])[0]
            order = _order(bone)
            angles = bone_channels.rotation_values(order, quats[None], np.array(_angles(bone, self._before[name])))[0]
            frame = engine_rotations.multiply(joints[b], engine_rotations.conjugate(quats))
            for above, own in _shut(order, angles, bone.lock_rotation):
                yield Lock(name, tuple(engine_rotations.rotate(frame, above)), tuple(own))

    # --- pins -----------------------------------------------------------------------------

    def _standing_feet(self) -> frozenset[str]:
        """Feet that stand on the ground; without a ground, feet that are as low as the lowest point."""
        model, (places, turns) = self.reading.model, self._start
        lows = {}
        for body, shapes in enumerate(model.shapes):
            matrix = rotations.to_matrix(turns[body][None])
            low = [float(collision_shapes.lowest(shape, places[body][None], matrix).min()) for shape in shapes]
            lows[model.names[body]] = min(low, default=float(places[body][2]))
        ground = self._floor if self._floor is not None else min(lows.values())
        high = STANDS * self.reading.height * float(self.reading.placement.sizes[0])
        roles = bone_roles.roles_of(self.rig)
        return frozenset(name for name, low in lows.items() if roles[name].role in PINNABLE and low - ground < high)

    def is_pinned(self, bone: str) -> bool:
        """True if the bone's body is pinned."""
        pose_bone = self.rig.pose.bones[bone]
        word = pose_bone.heft.pin if pose_bone.is_property_set("heft") else "AUTO"
        return word == "ON" or (word == "AUTO" and bone in self.auto_pins)

    def pinned(self) -> list[str]:
        """The bodies that are pinned, whichever one is grabbed."""
        return [name for name in self.reading.names if self.is_pinned(name)]

    def switch_pin(self, bone: str) -> bool:
        """Pin a bone or unpin it; returns True if it is pinned now."""
        body = self.body_of(bone)
        wanted = not self.is_pinned(body)
        automatic = body in self.auto_pins
        self.rig.pose.bones[body].heft.pin = "AUTO" if wanted == automatic else "ON" if wanted else "OFF"
        self._pin()
        return wanted

    def _pin(self) -> None:
        model, bodies = self.reading.model, self.reading.names
        limb = self._limb(self.grabbed) if self.grabbed else frozenset()
        pins = [engine.Pin(name) for name in self.pinned() if name not in self.blocked and name not in limb]
        pinned = {pin.body for pin in pins}
        for root in np.flatnonzero(model.parents < 0):
            name = bodies[root]
            if name not in pinned and not self._moves(self.rig.pose.bones[name]):
                pins.append(engine.Pin(name, turns=False))
        self.posing.set_pins(pins)

    def _limb(self, body: str) -> frozenset[str]:
        """The bodies whose pins are ignored while this body is grabbed: itself, and for a toe its foot."""
        model = self.reading.model
        parent = int(model.parents[model.index(body)])
        above = {model.names[parent]} & self.auto_pins if parent >= 0 else set()
        return frozenset({body, *above})

    # --- pulling --------------------------------------------------------------------------

    def body_of(self, bone: str) -> str:
        """The body a bone belongs to."""
        if bone not in self.reading.spots:
            raise RigError(f"'{bone}' hangs on no body: pull another bone, or set its Behaviour to Simulated.")
        return self.reading.spots[bone][0]

    def check(self, bone: str) -> str:
        """The body that is pulled with a bone. Raises an error if its channels do not pose it."""
        body = self.body_of(bone)
        why = self.blocked.get(body)
        if why is not None:
            raise RigError(
                f"'{body}' is posed by {why.by}: pull a bone without IK or constraints, mute it, or move its control."
            )
        return body

    def grab(self, bone: str, point) -> None:
        """Grab a bone at a point in Blender's world."""
        self.grabbed = self.check(bone)
        b = self.reading.model.index(self.grabbed)
        self._keep_upright(b)
        places, turns = self.posing.placed()
        spot = engine_rotations.rotate(engine_rotations.conjugate(turns[b]), self._inside(point) - places[b])
        self._pin()
        self.posing.grab(self.grabbed, spot)

    def _keep_upright(self, b: int) -> None:
        """A root whose legs stand keeps its tilt while it is pulled, otherwise the trunk would topple, which needs less
        rotation than bending both legs. It may still turn about the vertical."""
        model = self.reading.model
        root = model.parents[b] < 0 and any(name != self.grabbed for name in self.pinned())
        name = self.grabbed if root and self._turns(self.rig.pose.bones[self.grabbed]) else ""
        if name == self._upright:
            return
        self._upright, locks, turns = name, [], self.posing.rotations
        if name:
            rest = engine_rotations.conjugate(model.rest_rotations[b])
            up, *sides = (engine_rotations.rotate(rest, way) for way in np.eye(3)[[2, 0, 1]])
            own = engine_rotations.rotate(engine_rotations.conjugate(turns[b]), up)
            locks = [Lock(name, tuple(side), tuple(own)) for side in sides]
        self.posing = self._posing(turns, self.posing.positions, locks)

    def set_gravity(self, on: bool) -> None:
        """Switch gravity: bones hang, or keep the pose as far as the pull allows."""
        self._hangs = on
        self.posing.set_gravity(self._gravity if on else None)

    def pull(self, target) -> bool:
        """Move the grabbed point toward a point in Blender's world and pose the rig. Returns True if everything is at
        rest."""
        turned = self.posing.pull(self._inside(target))
        self.write()
        return self.posing.at_rest(turned)

    def grabbed_at(self) -> np.ndarray:
        """(3,) the grabbed point in Blender's world."""
        return self._outside(self.posing.grabbed_at())

    def place_of(self, body: str) -> np.ndarray:
        """(3,) a body's joint in Blender's world."""
        return self._outside(self.posing.placed()[0][self.reading.model.index(body)])

    # Through armature space, because an object may have non-uniform scale and a placement may not.

    def _inside(self, point) -> np.ndarray:
        back = rotations.inverse_or_nearest(self._world[None])[0]
        local = back[:3, :3] @ np.asarray(point, dtype=np.float64) + back[:3, 3]
        return self.reading.placement.points_to_world(local[None, None])[0, 0]

    def _outside(self, point: np.ndarray) -> np.ndarray:
        local = self.reading.placement.points_to_rig(np.asarray(point)[None, None])[0, 0]
        return self._world[:3, :3] @ local + self._world[:3, 3]

    # --- channels -------------------------------------------------------------------------

    def moved(self) -> list[int]:
        """The bodies whose channels differ from the start's."""
        off = rotations.angle_between(self._turned, self.posing.rotations)
        shift = np.linalg.norm(self.posing.positions - self._anchors, axis=1)
        return [b for b in range(len(self.reading.names)) if off[b] > MOVED or shift[b] > MOVED]

    def write(self) -> None:
        """Write the pose to the rig's channels; channels that did not change are not written."""
        chosen = {self.reading.names[b]: b for b in self.moved()}
        poses = self._new_poses()
        bones, bases = [], []
        for bone in self.rig.pose.bones:
            if bone.name in chosen and bone.name not in self.blocked:
                bones.append(bone)
                bases.append(self._basis(bone, poses))
            else:
                _restore(bone, self._before[bone.name])
        for bone, basis, turn in zip(bones, bases, _turns_of(bones, bases), strict=True):
            _write_bone(bone, self._before[bone.name], turn, basis, self._shifts(chosen[bone.name], basis))
        self.rig.update_tag(refresh={"OBJECT", "DATA"})

    def _shifts(self, body: int, basis: np.ndarray) -> bool:
        """True if a body's bone is moved by its location: a root, or a bone that its parent does not carry."""
        bone = self.rig.pose.bones[self.reading.names[body]]
        off = np.linalg.norm(basis[:3, 3] - self._bases[bone.name][:3, 3])
        root = self.reading.model.parents[body] < 0
        return bool(root or off > DRIFTED * self.reading.height) and self._moves(bone)

    def _new_poses(self) -> np.ndarray:
        """(bones, 4, 4) in armature space: bodies as pulled, all other bones as their parents carry them."""
        place = self.reading.placement
        spots, turns = self.posing.placed()
        spots = place.points_to_rig(spots[None])[0]
        turns = rotations.to_matrix(place.rotations_to_rig(turns[None])[0])
        before = rotations.to_matrix(place.rotations_to_rig(self._start[1][None])[0])
        starts = place.points_to_rig(self._start[0][None])[0]
        bodies = {name: b for b, name in enumerate(self.reading.names)}
        out = self._poses.copy()
        for i, bone in enumerate(self.rig.pose.bones):
            b = bodies.get(bone.name)
            if b is not None:
                # rotated about its joint: scale and shear stay
                out[i, :3, :3] = turns[b] @ before[b].T @ self._poses[i, :3, :3]
                out[i, :3, 3] = spots[b]
                if b in self.reading.joints:
                    out[i, :3, 3] += turns[b] @ before[b].T @ (self._poses[i, :3, 3] - starts[b])
            elif bone.parent is not None:
                p = self._places[bone.parent.name]
                out[i] = out[p] @ rotations.inverse(self._poses[p]) @ self._poses[i]
        return out

    def cancel(self) -> None:
        """Restore all channels."""
        for bone in self.rig.pose.bones:
            _restore(bone, self._before[bone.name])
        self.rig.update_tag(refresh={"OBJECT", "DATA"})

    def key(self) -> int:
        """Key the moved bones on the current frame, as auto keying does; returns their number."""
        if not self.scene.tool_settings.use_keyframe_insert_auto:
            return 0
        tools = self.scene.tool_settings
        options = _key_options(tools)
        there = None
        if "INSERTKEY_REPLACE" in options:  # no new curves: even requesting one would leave an empty action
            there = {curve.data_path for curve in actions.active_curves(self.rig)}
        moved, poses = self.moved(), self._new_poses()
        for b in moved:
            bone = self.rig.pose.bones[self.reading.names[b]]
            if bone.name in self.blocked:
                continue
            paths = [bone_channels.rotation_path(bone)]
            if self._shifts(b, self._basis(bone, poses)):
                paths.append("location")
            for path in paths:
                if there is None or f"{bone.path_from_id()}.{path}" in there:
                    bone.keyframe_insert(path, group=bone.name, options=options, keytype=tools.keyframe_type)
        return len(moved)


def _key_options(tools: bpy.types.ToolSettings) -> set[str]:
    """The settings of auto keying, as `keyframe_insert` needs them.

    Only Insert Available, which is Blender's default, is left out: a pose with keys on some of its bones is incomplete.
    """
    chosen = {
        "INSERTKEY_REPLACE": tools.auto_keying_mode == "REPLACE_KEYS",
        "INSERTKEY_CYCLE_AWARE": tools.use_keyframe_cycle_aware,
    }
    return {option for option, on in chosen.items() if on}


def _channels(rig: bpy.types.Object) -> dict[str, dict[str, tuple]]:
    """The pose channels of each bone, by its name."""
    return {
        bone.name: {name: tuple(getattr(bone, name)) for name, _width in sample_poses.CHANNELS}
        for bone in rig.pose.bones
    }


def _restore(bone: bpy.types.PoseBone, values: dict[str, tuple]) -> None:
    for name in ("location", bone_channels.rotation_path(bone)):
        if tuple(getattr(bone, name)) != values[name]:
            setattr(bone, name, values[name])


def _turns_of(bones: list[bpy.types.PoseBone], bases: list[np.ndarray]) -> np.ndarray:
    """(n, 4) the rotations in the bones' channel transforms; a bone's own scale may mirror it."""
    if not bones:
        return np.zeros((0, 4))
    mirrors = np.where(np.array([bone.scale for bone in bones]) < 0.0, -1.0, 1.0)
    return rotations.from_matrix(rotations.split(np.stack(bases)[:, :3, :3] * mirrors[:, None, :])[0])


def _write_bone(
    bone: bpy.types.PoseBone, before: dict[str, tuple], quats: np.ndarray, basis: np.ndarray, moves: bool
) -> None:
    """Write the rotation (4,) in the bone's mode, and the location if it moves; locked channels keep their values."""
    path = bone_channels.rotation_path(bone)
    if any(bone.lock_rotation) and path != "rotation_euler":
        quats = _unlocked(bone, before, quats)
    start = before[path]
    values = bone_channels.rotation_values(bone.rotation_mode, quats[None], np.array(start))[0]
    if path == "rotation_euler":
        values = [a if locked else b for a, b, locked in zip(start, values, bone.lock_rotation, strict=True)]
    setattr(bone, path, values)
    if moves:
        bone.location = basis[:3, 3]


# --- locks --------------------------------------------------------------------------------


def _order(bone: bpy.types.PoseBone) -> str:
    """The Euler order that a bone's locks refer to: as in Blender's own tools, XYZ if it has none."""
    return "XYZ" if bone.rotation_mode in bone_channels.ROTATION_PATH else bone.rotation_mode


def _angles(bone: bpy.types.PoseBone, before: dict[str, tuple]) -> tuple[float, ...]:
    """(3,) a bone's rotation as Euler angles [rad]."""
    if bone.rotation_mode == "QUATERNION":
        return tuple(Quaternion(before["rotation_quaternion"]).normalized().to_euler("XYZ"))
    if bone.rotation_mode == "AXIS_ANGLE":
        angle, *axis = before["rotation_axis_angle"]
        return tuple(Quaternion(axis, angle).to_euler("XYZ"))
    return before["rotation_euler"]


def _unlocked(bone: bpy.types.PoseBone, before: dict[str, tuple], quats: np.ndarray) -> np.ndarray:
    """(4,) a rotation with its locked angles restored."""
    start = _angles(bone, before)
    angles = bone_channels.rotation_values("XYZ", quats[None], np.array(start))[0]
    kept = [a if locked else b for a, b, locked in zip(start, angles, bone.lock_rotation, strict=True)]
    return np.array(Euler(kept, "XYZ").to_quaternion())


def _shut(order: str, angles: np.ndarray, locked) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of directions, before and after the turn, whose angle stays constant while the locked angles do.

    Angles of the order XYZ turn about X first: the matrix is Z · Y · X.
    """
    axes = ["XYZ".index(letter) for letter in reversed(order)]
    turns = [np.array(Quaternion(np.eye(3)[axis], angles[axis]).to_matrix()) for axis in axes]
    ways = [np.eye(3)[axis] for axis in axes]
    shut = [k for k, axis in enumerate(axes) if locked[axis]]
    if len(shut) == 2:
        free = 3 - sum(shut)
        before, after = np.eye(3), np.eye(3)
        for turn in turns[:free]:
            before = before @ turn
        for turn in turns[free + 1 :]:
            after = after @ turn
        return [(before @ ways[k], after.T @ ways[free]) for k in shut]
    if shut == [0]:
        return [(turns[0] @ ways[1], ways[2])]
    return [(ways[0], ways[2] if shut == [1] else turns[2].T @ ways[1])]
