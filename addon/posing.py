"""A rig's own pose, pulled about: from its bones to the engine's `Posing` and back to its pose channels (S1-VII).

Owns what may be pulled, what is pinned, the writing of channels, and putting them back. Works on rigs with and without
physics; the latter are left unmarked. Must not know mouse, events or regions.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from .. import engine
from ..engine import rotations as engine_rotations
from . import (
    channels,
    constraints,
    first_settings,
    live,
    properties,
    reader,
    rig_roles,
    rotations,
    sampling,
    session,
    settings,
    solids,
    units,
)
from .errors import RigError
from .units import MIRROR_X

# Constraints that only hold a bone within limits: its channels still pose it.
LIMITS = ("LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_SCALE", "LIMIT_DISTANCE")
# A foot stands if its lowest point is no higher above the ground, in parts of the rig's height.
STANDS = 0.04
# Channels that differ less were not moved.
MOVED = 1e-6
PINNABLE = ("FOOT",)


@contextmanager
def guessed(rig: bpy.types.Object, scene: bpy.types.Scene):
    """Within this block a rig without physics has what Add Physics would guess; afterwards it is as it was."""
    if properties.has_physics(rig):
        yield
        return
    had = rig.is_property_set("heft")
    size = had and rig.heft.is_property_set("meters_per_unit")
    marked = {bone.name for bone in rig.pose.bones if bone.is_property_set("heft")}
    behaving = {name for name in marked if rig.pose.bones[name].heft.is_property_set("behaviour")}
    with live.paused():
        try:
            first_settings.choose_bodies(rig, scene)
            first_settings.guess_size(rig, scene)
            yield
        finally:
            for bone in rig.pose.bones:
                if bone.name not in marked:
                    properties.forget(bone, "heft")
                elif bone.name not in behaving:
                    bone.heft.property_unset("behaviour")
            if not had:
                properties.forget(rig, "heft")
            elif not size:
                rig.heft.property_unset("meters_per_unit")


@dataclass(frozen=True)
class Blocked:
    """Why a bone's channels do not pose it: whose, and which constraint or driver."""

    bone: str
    by: str


def blocked_bones(rig: bpy.types.Object) -> dict[str, Blocked]:
    """The bones that something else than their channels poses, and those that hang on such."""
    found: dict[str, Blocked] = {}
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            if constraint.name == constraints.CONSTRAINT or constraint.type in LIMITS:
                continue
            if not constraint.enabled or constraint.influence <= 0.0:
                continue
            why = Blocked(bone.name, f"the constraint '{constraint.name}' on '{bone.name}'")
            for each in _solved(bone, constraint):
                found.setdefault(each.name, why)
    for curve in rig.animation_data.drivers if rig.animation_data else ():
        if curve.data_path.startswith("pose.bones[") and "].rotation" in curve.data_path:
            name = curve.data_path.split('"')[1]
            found.setdefault(name, Blocked(name, f"a driver on the rotation of '{name}'"))
    for bone in rig.pose.bones:  # parents come first
        if bone.parent is not None and bone.parent.name in found:
            found.setdefault(bone.name, found[bone.parent.name])
    return found


def _solved(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> list[bpy.types.PoseBone]:
    """The bones that a constraint on one poses: itself, and a chain where it solves one."""
    if constraint.type not in constraints.SOLVERS:
        return [bone]
    chain = [bone, *bone.parent_recursive]
    if constraint.type == "IK" and not constraint.use_tail:
        chain = chain[1:]
    return chain[: constraint.chain_count] if constraint.chain_count else chain


class Pull:
    """The rig's pose on the current frame, to be pulled. Raises RigError where that cannot be."""

    def __init__(self, rig: bpy.types.Object, scene: bpy.types.Scene, graph: bpy.types.Depsgraph) -> None:
        session.check(rig)
        if rig.data.pose_position == "REST":
            raise RigError(f"'{rig.name}' shows its rest position: switch its Skeleton to Pose Position.")
        self.rig, self.scene = rig, scene
        self._before = _channels(rig)
        evaluated = rig.evaluated_get(graph)
        names = tuple(bone.name for bone in rig.pose.bones)
        self._poses = np.array([evaluated.pose.bones[name].matrix for name in names], dtype=np.float64)
        placements = np.array(evaluated.matrix_world, dtype=np.float64)[None]
        samples = sampling.Samples(np.array([scene.frame_current]), names, self._poses[None], placements)
        self.blocked = blocked_bones(rig)
        with guessed(rig, scene):
            self._meters = units.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
            self.reading = reader.read(rig, scene, samples, self._meters, solid=True)
            self._gravity = self.reading.placement.vector_to_world(settings.gravity_of(rig))
            self._floor = rig.heft.ground_height * self._meters if rig.heft.ground else None
        self._places = {name: i for i, name in enumerate(names)}
        motion = self.reading.motion
        self.posing = engine.Posing(
            self.reading.model,
            motion.rotations[0],
            motion.positions[0],
            fixed=[name for name in self.reading.names if not self._turns(rig.pose.bones[name])],
            floor=self._floor,
        )
        self._start = self.posing.placed()
        self._turned = self.posing.rotations
        self._anchors = self.posing.positions
        self.auto_pins = self._standing_feet()
        self.grabbed = ""

    def _turns(self, bone: bpy.types.PoseBone) -> bool:
        return bone.name not in self.blocked and not all(bone.lock_rotation)

    def _root_moves(self, body: int) -> bool:
        bone = self.rig.pose.bones[self.reading.names[body]]
        tied = bone.bone.use_connect and bone.parent is not None
        return not tied and not any(bone.lock_location) and bone.name not in self.blocked

    # --- pins -----------------------------------------------------------------------------

    def _standing_feet(self) -> frozenset[str]:
        """Feet that stand on the ground, or where there is none are as low as anything."""
        model, (places, turns) = self.reading.model, self._start
        lows = {}
        for body, shapes in enumerate(model.shapes):
            matrix = rotations.to_matrix(turns[body][None])
            low = [float(solids.lowest(shape, places[body][None], matrix).min()) for shape in shapes]
            lows[model.names[body]] = min(low, default=float(places[body][2]))
        ground = self._floor if self._floor is not None else min(lows.values())
        high = STANDS * self.reading.height * float(self.reading.placement.sizes[0])
        roles = rig_roles.roles_of(self.rig)
        return frozenset(name for name, low in lows.items() if roles[name].role in PINNABLE and low - ground < high)

    def is_pinned(self, bone: str) -> bool:
        """Does the bone's body stay where it is?"""
        pose_bone = self.rig.pose.bones[bone]
        word = pose_bone.heft.pin if pose_bone.is_property_set("heft") else "AUTO"
        return word == "ON" or (word == "AUTO" and bone in self.auto_pins)

    def pinned(self) -> list[str]:
        """The bodies that stay, whatever is grabbed."""
        return [name for name in self.reading.names if self.is_pinned(name)]

    def switch_pin(self, bone: str) -> bool:
        """Pin a bone or let it go; whether it is pinned now."""
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
            if name not in pinned and not self._root_moves(root):
                pins.append(engine.Pin(name, turns=False))
        self.posing.set_pins(pins)

    def _limb(self, body: str) -> frozenset[str]:
        """Whose pins are not felt by who grabs this body: its own, and of a toe its standing foot's."""
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
        """The body that is pulled with a bone; raises where its channels do not pose it."""
        body = self.body_of(bone)
        why = self.blocked.get(body)
        if why is not None:
            raise RigError(
                f"'{body}' is posed by {why.by}: pull a bone without IK or constraints, mute it, or move its control."
            )
        return body

    def grab(self, bone: str, point) -> None:
        """Take hold of a bone at a point in Blender's world."""
        self.grabbed = self.check(bone)
        b = self.reading.model.index(self.grabbed)
        places, turns = self.posing.placed()
        spot = engine_rotations.rotate(engine_rotations.conjugate(turns[b]), self._inside(point) - places[b])
        self._pin()
        self.posing.grab(self.grabbed, spot)

    def set_gravity(self, on: bool) -> None:
        """Let the bones hang, or keep the pose as far as the pull allows."""
        self.posing.set_gravity(self._gravity if on else None)

    def pull(self, target) -> bool:
        """Bring the grabbed point toward a place in Blender's world and pose the rig. Whether all is at rest."""
        turned = self.posing.pull(self._inside(target))
        self.write()
        return self.posing.at_rest(turned)

    def grabbed_at(self) -> np.ndarray:
        """(3,) the grabbed point in Blender's world."""
        return self._outside(self.posing.grabbed_at())

    def place_of(self, body: str) -> np.ndarray:
        """(3,) a body's joint in Blender's world."""
        return self._outside(self.posing.placed()[0][self.reading.model.index(body)])

    def _inside(self, point) -> np.ndarray:
        out = np.asarray(point, dtype=np.float64) * self._meters
        return out @ MIRROR_X if self.reading.placement.mirrored else out

    def _outside(self, point: np.ndarray) -> np.ndarray:
        out = np.asarray(point) / self._meters
        return out @ MIRROR_X if self.reading.placement.mirrored else out

    # --- channels -------------------------------------------------------------------------

    def moved(self) -> list[int]:
        """The bodies whose channels differ from the start's."""
        off = rotations.angle_between(self._turned, self.posing.rotations)
        shift = np.linalg.norm(self.posing.positions - self._anchors, axis=1)
        return [b for b in range(len(self.reading.names)) if off[b] > MOVED or shift[b] > MOVED]

    def write(self) -> None:
        """The pose as it is now, onto the rig's channels; those that nothing turns stay untouched."""
        chosen = {self.reading.names[b]: b for b in self.moved()}
        poses = self._new_poses()
        for bone in self.rig.pose.bones:
            body = chosen.get(bone.name)
            if body is None or bone.name in self.blocked:
                _restore(bone, self._before[bone.name])
                continue
            above = poses[self._places[bone.parent.name]][None] if bone.parent else None
            basis = channels.basis(bone, poses[self._places[bone.name]][None], above)[0]
            root = self.reading.model.parents[body] < 0
            _write_bone(bone, self._before[bone.name], basis, root and self._root_moves(body))
        self.rig.update_tag(refresh={"OBJECT", "DATA"})

    def _new_poses(self) -> np.ndarray:
        """(bones, 4, 4) in armature space: bodies where they were pulled, all others as they ride on their parents."""
        place = self.reading.placement
        spots, turns = self.posing.placed()
        spots = place.points_to_rig(spots[None])[0]
        turns = rotations.to_matrix(place.rotations_to_rig(turns[None])[0])
        before = rotations.to_matrix(place.rotations_to_rig(self._start[1][None])[0])
        bodies = {name: b for b, name in enumerate(self.reading.names)}
        out = self._poses.copy()
        for i, bone in enumerate(self.rig.pose.bones):
            b = bodies.get(bone.name)
            if b is not None:
                # rotated about its head: scale, and shear if any, stay
                out[i, :3, :3] = turns[b] @ before[b].T @ self._poses[i, :3, :3]
                out[i, :3, 3] = spots[b]
            elif bone.parent is not None:
                p = self._places[bone.parent.name]
                out[i] = out[p] @ rotations.inverse(self._poses[p]) @ self._poses[i]
        return out

    def cancel(self) -> None:
        """All channels as they were."""
        for bone in self.rig.pose.bones:
            _restore(bone, self._before[bone.name])
        self.rig.update_tag(refresh={"OBJECT", "DATA"})

    def key(self) -> int:
        """Key the moved bones on the current frame, as auto keying does; how many there were."""
        if not self.scene.tool_settings.use_keyframe_insert_auto:
            return 0
        moved = self.moved()
        for b in moved:
            bone = self.rig.pose.bones[self.reading.names[b]]
            if bone.name in self.blocked:
                continue
            paths = [channels.rotation_path(bone)]
            if self.reading.model.parents[b] < 0 and self._root_moves(b):
                paths.append("location")
            for path in paths:
                bone.keyframe_insert(path, group=bone.name)
        return len(moved)


def _channels(rig: bpy.types.Object) -> dict[str, dict[str, tuple]]:
    """What poses each bone, by its name."""
    return {
        bone.name: {name: tuple(getattr(bone, name)) for name, _width in sampling.CHANNELS} for bone in rig.pose.bones
    }


def _restore(bone: bpy.types.PoseBone, values: dict[str, tuple]) -> None:
    for name in ("location", channels.rotation_path(bone)):
        if tuple(getattr(bone, name)) != values[name]:
            setattr(bone, name, values[name])


def _write_bone(bone: bpy.types.PoseBone, before: dict[str, tuple], basis: np.ndarray, moves: bool) -> None:
    """Rotation in the bone's mode, and of a root its location; locked channels keep what they had."""
    quats = rotations.from_matrix(rotations.split(basis[None, :3, :3])[0])
    path = channels.rotation_path(bone)
    start = before[path]
    values = channels.rotation_values(bone.rotation_mode, quats, np.array(start))[0]
    if path == "rotation_euler":
        values = [a if locked else b for a, b, locked in zip(start, values, bone.lock_rotation, strict=True)]
    setattr(bone, path, values)
    if moves:
        bone.location = basis[:3, 3]
