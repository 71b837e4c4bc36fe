"""A ball thrown at a character: target, object and keys.

Owns the target, the mesh and the curves of its flight. Must not know how a throw is computed (`throw_path`), nor
operators.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import bmesh
import bpy
import numpy as np

from ...engine.anatomy.role_list import LEFT, RIGHT, Part
from ..blender import actions, engine_space, sample_poses
from ..blender.engine_space import MIRROR_X
from ..errors import RigError
from ..read import read_controller, read_rig, shot
from ..result import result_armature
from ..result.added_objects import mark
from ..rig import bone_roles
from ..simulate import session
from . import first_hit, reaction_settings, throw_path

NAME = "Ball"
# Of a leather ball: it bounces, and looks round from any distance.
BOUNCE, SEGMENTS, RINGS = 0.4, 32, 16
# The contact is this long before the frame of the hit, so that the body has begun to react on that frame [frames].
LEAD = 0.6
# A contact is searched up to this long after the frame of the hit, and is moved onto it if it is at most this far off
# [frames].
AFTER, NEAR = 3, 2.0
# A ball that leaves its flight by more than this part of its way in a frame has hit something.
STRUCK = 0.03
# Bodies that a ball aimed at the chest may hit.
TRUNK = ("SPINE", "PELVIS", "COLLAR")


@dataclass(frozen=True)
class Order:
    """What to throw: direction it comes from [rad] around the character (0 its front), bone ("" for the chest), frame
    of the hit, speed [m/s], distance [m], radius [m], mass [kg], and whether a ground is added."""

    angle: float
    bone: str
    frame: int
    speed: float
    distance: float
    radius: float
    mass: float
    ground: bool = False


@dataclass(frozen=True, eq=False)
class Thrown:
    """The ball in the scene, its target, the throw, the bone that it will hit and the first frame that shows it, and
    what was added to the rig for it: a colliders collection, a ground, reaction settings."""

    rig: bpy.types.Object
    ob: bpy.types.Object
    throw: throw_path.Throw
    bone: str
    frame: int
    collected: bool
    grounded: bool
    brought: tuple[str, ...] = ()


def throw(rig: bpy.types.Object, scene: bpy.types.Scene, order: Order) -> Thrown:
    """Create a ball among the rig's colliders that hits it as ordered."""
    session.check(rig)
    leader = shot.leader(rig)
    frames = read_controller.frame_range(leader, scene)
    fps = engine_space.frames_per_second(scene.render.fps, scene.render.fps_base)
    way = throw_path.flight(order.frame, order.distance, order.speed, fps, int(frames[0]), int(frames[-1]))
    stance = Stance(rig, scene, way[1], np.arange(way[0], min(way[1] + AFTER, int(frames[-1])) + 1))
    gravity = stance.reading.placement.vector_to_world(read_controller.gravity_of(leader))
    bones = [order.bone] if order.bone else stance.chests()
    stance.check(bones[0])
    grounded = order.ground and lay_ground(rig, scene)
    try:
        flight, touch = _aimed(stance, order, bones, way, gravity, fps)
    except RigError:
        if grounded:
            lift_ground(rig)
        raise
    ob = _object(order.radius / stance.meters)
    _keys(ob, flight, stance, int(frames[-1]))
    look = ob.heft_collider
    look.shape, look.moves, look.free_from = "SPHERE", "FREE", flight.release
    look.mass, look.bounce = order.mass, BOUNCE
    brought = reaction_settings.prepare(rig)
    thrown = Thrown(rig, ob, flight, touch.body, math.ceil(touch.frame), rig.heft.colliders is None, grounded, brought)
    scene.collection.objects.link(ob)
    try:
        session.add_colliders(rig, scene, [ob])
    except RigError:
        take_back(thrown)
        raise
    mark(ob)
    return thrown


def _aimed(stance: Stance, order: Order, bones: list[str], frames: tuple[int, int], gravity, fps: float):
    """The flight and its first contact. Without a named bone the target is the chest: of the trunk's bones, best first,
    the first that no head or arm covers."""
    heading = throw_path.heading_from(stance.front(), order.angle)
    way = heading * order.speed + 0.5 * np.asarray(gravity) * (frames[1] - frames[0]) / fps
    stands_on = shot.of(stance.rig).grounded
    found = None
    for bone in bones:
        target = stance.touching(bone, way, order.radius)
        flight = throw_path.aim(target, heading, order.speed, gravity, frames, fps)
        if stands_on is not None:
            flight = throw_path.lifted(flight, stands_on.heft.ground_height * stance.meters + order.radius)
        now = _checked(flight, stance, order.radius, bone)
        found = found or now
        if order.bone or stance.is_trunk(now[1].body):
            return now
    return found


def _checked(flight: throw_path.Throw, stance: Stance, radius: float, bone: str):
    """The flight, shifted in time so that its contact is shortly before the frame of the hit, and the first contact."""
    film = stance.film
    touch = _first_touch(film, flight, radius, bone, stance.rig.name)
    for _ in range(4):
        late = touch.frame - (flight.hit - LEAD)
        if abs(late) < 0.01 or abs(late) > NEAR:
            break
        flight = throw_path.sooner(flight, late)
        touch = _first_touch(film, flight, radius, bone, stance.rig.name)
    return flight, touch


def _first_touch(film: first_hit.Film, flight: throw_path.Throw, radius: float, bone: str, rig: str) -> first_hit.Touch:
    touch = first_hit.first_touch(film, flight.place_at, radius, flight.release, float(film.frames[-1]))
    if touch is None:
        raise RigError(
            f"A ball thrown so would fly past '{bone}' of '{rig}': it was not thrown. Choose another bone, another "
            "side or a larger radius."
        )
    if touch.frame <= flight.release:
        raise RigError(
            f"A ball thrown so would start within '{touch.body}' of '{rig}': it was not thrown. Give it more distance "
            "or a smaller radius."
        )
    return touch


def landed(thrown: Thrown) -> int | None:
    """The first frame on which the simulated ball leaves its flight; None if it never does, or was not simulated."""
    shown = session.last_shown(thrown.rig)
    if shown is None or thrown.ob.name_full not in shown.result.objects:
        return None
    flight, frames = thrown.throw, shown.reading.frames
    places = shown.result.objects[thrown.ob.name_full][0]
    bends = np.diff(places, n=2, axis=0) - flight.gravity / flight.fps**2
    way = float(np.linalg.norm(flight.velocity)) / flight.fps
    off = np.linalg.norm(bends, axis=1) > STRUCK * way
    off[: max(flight.release - int(frames[0]) + 1, 0)] = False
    return int(frames[int(np.argmax(off)) + 2]) if off.any() else None


def lay_ground(rig: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Switch on a ground under a character with feet, if its shot has none and the animator never switched it off: else
    a ball that bounces off would fall for ever. Returns True if it was needed."""
    if rig.heft.is_property_set("ground") or shot.of(rig).grounded is not None:
        return False
    if not any(part.role == "FOOT" for part in bone_roles.roles_of(rig).values()):
        return False
    rig.heft.ground_height = session.lowest_point(rig, scene)
    rig.heft.ground = True
    return True


def take_back(thrown: Thrown) -> None:
    """Undo a throw."""
    rig, ob = thrown.rig, thrown.ob
    mesh, action = ob.data, ob.animation_data.action
    bpy.data.objects.remove(ob)
    bpy.data.meshes.remove(mesh)
    bpy.data.actions.remove(action)
    if thrown.collected:
        made = rig.heft.colliders
        rig.heft.colliders, rig.heft.own_colliders = None, False
        bpy.data.collections.remove(made)
    reaction_settings.take_back(rig, thrown.brought)
    if thrown.grounded:
        lift_ground(rig)


def lift_ground(rig: bpy.types.Object) -> None:
    """Undo `lay_ground`."""
    for name in ("ground", "ground_height"):
        rig.heft.property_unset(name)


class Stance:
    """The character's source on one frame and those around it, in the engine's world."""

    def __init__(self, rig: bpy.types.Object, scene: bpy.types.Scene, frame: int, around: np.ndarray = ()) -> None:
        self.rig = rig
        self.meters = engine_space.meters_in_unit(
            shot.leader(rig).heft.meters_per_unit, scene.unit_settings.scale_length
        )
        frames = np.asarray(around) if frame in around else np.array([frame])
        self._row = int(np.flatnonzero(frames == frame)[0])
        with result_armature.exposed(rig, "SOURCE"):
            self._samples = sample_poses.finish(sample_poses.sample(rig, scene, frames))
        self.reading = read_rig.read(rig, scene, self._samples, self.meters, solid=True)

    def to_blender(self, vector: np.ndarray) -> np.ndarray:
        """A point (3,) [m] in units of Blender's world."""
        return (MIRROR_X @ vector if self.reading.placement.mirrored else vector) / self.meters

    def chests(self) -> list[str]:
        """The target bones if none is named, best first: those of the spine from the top; without a spine the
        heaviest."""
        bodies = [name for name, shapes in zip(self.reading.names, self.reading.model.shapes, strict=True) if shapes]
        if not bodies:
            raise RigError(f"No bone of '{self.rig.name}' has a shape for a ball to hit: give some one.")
        parts = bone_roles.roles_of(self.rig)
        spine = [name for name in bodies if parts[name].role == "SPINE"]
        if spine:
            return sorted(spine, key=lambda name: -len(self.rig.data.bones[name].parent_recursive))
        model = self.reading.model
        weights = dict(zip(self.reading.names, model.masses, strict=True))
        # A root may be fixed to its keys; its children give way.
        hanging = [name for name in bodies if model.parents[model.index(name)] >= 0]
        return [max(hanging or bodies, key=lambda name: weights[name])]

    def is_trunk(self, body: str) -> bool:
        """True if a body is part of the trunk, or a part without a role that sits on it, such as a breast."""
        parts, model = bone_roles.roles_of(self.rig), self.reading.model
        at = self.reading.names.index(body)
        while at >= 0 and parts[self.reading.names[at]].role == "OTHER":
            at = int(model.parents[at])
        return at >= 0 and parts[self.reading.names[at]].role in TRUNK

    def front(self) -> np.ndarray:
        """(3,) the level direction that the character faces: from its left and right, else Blender's front."""
        parts = bone_roles.roles_of(self.rig)
        for role in ("THIGH", "UPPER_ARM"):
            ends = [
                next((name for name in self.reading.names if parts[name] == Part(role, side)), None)
                for side in (LEFT, RIGHT)
            ]
            if None in ends:
                continue
            left, right = (self._placed(name)[0] for name in ends)
            across = (right - left) * [1.0, 1.0, 0.0]
            if np.linalg.norm(across) > 1e-6:
                return np.cross([0.0, 0.0, 1.0], across / np.linalg.norm(across))
        return np.array([0.0, -1.0, 0.0])

    def check(self, bone: str) -> None:
        """Raise an error if no ball can hit the bone."""
        if bone not in self.reading.spots:
            raise RigError(f"'{bone}' is no simulated bone of '{self.rig.name}': choose another to throw at.")
        body = self.reading.spots[bone][0]
        if not self.reading.model.shapes[self.reading.names.index(body)]:
            raise RigError(f"Bone '{body}' has no shape for a ball to hit: give it one under Shape and Limits.")

    def touching(self, bone: str, way: np.ndarray, radius: float) -> np.ndarray:
        """(3,) [m] the centre of a ball of that radius coming along `way` (3,) when it first touches the bone's body.
        It aims at the bone's middle, or at the middle of the body's shape if the bone is outside it."""
        body, head, end = self.reading.spots[bone]
        shapes = self.reading.model.shapes[self.reading.names.index(body)]
        middle = 0.5 * (head + end)
        if min(float(shape.gaps(middle[None])[0]) for shape in shapes) > 0.0:
            middle = min((shape.inside() for shape in shapes), key=lambda spot: float(np.linalg.norm(spot - middle)))
        place, turn = self._placed(body)
        back = -(turn.T @ way) / np.linalg.norm(way)
        low, high = 0.0, 2.0 * max(shape.farthest() for shape in shapes) + 2.0 * radius
        for _ in range(60):  # halvings: the shape ends somewhere on this way
            half = 0.5 * (low + high)
            spot = (middle + half * back)[None]
            if min(float(shape.gaps(spot)[0]) for shape in shapes) < radius:
                low = half
            else:
                high = half
        return place + turn @ (middle + high * back)

    @cached_property
    def film(self) -> first_hit.Film:
        """All bodies with their shapes on the frames around the hit."""
        reading = self.reading
        placed = [reading.placed(self._samples, body) for body in range(len(reading.names))]
        places, turns = (np.stack(each, axis=1) for each in zip(*placed, strict=True))
        return first_hit.Film(reading.names, reading.model.shapes, self._samples.frames, places, turns)

    def _placed(self, body: str) -> tuple[np.ndarray, np.ndarray]:
        places, turns = self.reading.placed(self._samples, self.reading.names.index(body))
        return places[self._row], turns[self._row]


def _object(radius: float) -> bpy.types.Object:
    """A sphere mesh, not in any collection yet [units]."""
    mesh = bpy.data.meshes.new(NAME)
    build = bmesh.new()
    bmesh.ops.create_uvsphere(build, u_segments=SEGMENTS, v_segments=RINGS, radius=radius)
    for face in build.faces:
        face.smooth = True
    build.to_mesh(mesh)
    build.free()
    return bpy.data.objects.new(NAME, mesh)


def _keys(ob: bpy.types.Object, flight: throw_path.Throw, stance: Stance, last: int) -> None:
    """The flight as three keys a curve: a parabola is a Bézier curve with handles at thirds along the end tangents. It
    continues past the character as far as it came, so that the source shows a whole throw."""
    end = max(min(flight.hit + (flight.hit - flight.release), last), flight.release + 1)
    frames = (flight.release - 1, flight.release, end)
    places = [stance.to_blender(flight.place_at(frame)) for frame in frames]
    third = (end - flight.release) / 3.0
    out = places[1] + stance.to_blender(flight.velocity_at(flight.release)) * third / flight.fps
    back = places[2] - stance.to_blender(flight.velocity_at(end)) * third / flight.fps
    actions.assign(ob, actions.new_action(f"{ob.name} throw", ob))
    bag = actions.ensure_bag(ob.animation_data.action, actions.slot_of(ob))
    table = actions.curve_table(bag)
    for axis in range(3):
        points = actions.ensure_curve(bag, table, "location", axis).keyframe_points
        points.add(3)
        for point, frame, place in zip(points, frames, places, strict=True):
            point.co = frame, place[axis]
            point.handle_left_type = point.handle_right_type = "FREE"
            point.handle_left = point.handle_right = point.co
        points[0].interpolation = "LINEAR"
        points[1].handle_right = flight.release + third, out[axis]
        points[2].handle_left = end - third, back[axis]
    ob.location = places[0]
