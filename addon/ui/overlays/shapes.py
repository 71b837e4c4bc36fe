"""Overlay: the collision shapes of bones and colliders, and the ground.

Shapes are built outside of drawing and cached until something changes; drawing only places them.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ....engine import HINGE, Model
from ....engine.anatomy.skeleton import Joint, Skeleton
from ....engine.math import rotations
from ...blender import engine_space
from ...blender.engine_space import Placement
from ...memory import LOAD, REMOVE, UNDO, Memo
from ...read import collision_shapes, read_controller, read_rig, source_cache
from ...read.inputs import RigInputs
from . import shape_meshes, shape_wires
from .overlay_input import Sight
from .primitives import COLLIDERS, GROUND, SHAPES, Lines, Mesh, Piece, Places, Solid, Strings, Wires, with_alpha

GROUND_SIZE = 1.5  # of the rig's height
LIMIT_SIZE = 0.5  # of the bone's length


@dataclass(frozen=True, eq=False)
class Built:
    """A rig's shapes before they are placed, in the frames of its bodies [armature units].

    names, parents (n,) of bodies; joints: by body, those that do not turn about their bones' heads; limits in the rest
    frames of the bodies' joints; height of the rig [armature units]
    """

    names: tuple[str, ...]
    parents: np.ndarray
    joints: dict[int, Joint]
    mesh: Mesh
    edges: Strings
    limits: Strings
    height: float


@dataclass(frozen=True, eq=False)
class Thing:
    """A collider without its transform [units of the scene]. name: for a linked object with its file."""

    name: tuple[str, str | None]
    mesh: Mesh
    edges: Strings


_rigs: Memo[int, tuple[str, Built]] = Memo("drawn shapes", "rig", (LOAD, UNDO, REMOVE))
_things: Memo[int, list[Thing]] = Memo("drawn colliders", "rig", (LOAD, UNDO, REMOVE))


def forget(rig: bpy.types.Object) -> None:
    """Drop the shapes of a rig until they are built again."""
    _rigs.pop(rig.session_uid, None)
    _things.pop(rig.session_uid, None)


def built(rig: bpy.types.Object) -> Built | None:
    """The shapes of a rig as built last."""
    kept = _rigs.get(rig.session_uid)
    return kept[1] if kept is not None else None


def build(now: RigInputs) -> None:
    """Build stale shapes of a rig and of its colliders; outside of drawing only."""
    rig, scene = now.rig, now.inputs.scene
    meters = engine_space.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
    placement = Placement.from_matrices(np.array(rig.matrix_world)[None], meters)
    reading = source_cache.current(now)
    bones = f"{rig.data.name_full} {len(rig.data.bones)}"
    mark = f"{now.structure} {placement.sizes[0]:.6g} {bones} {id(reading)}"
    kept = _rigs.get(rig.session_uid)
    if kept is None or kept[0] != mark:
        _rigs[rig.session_uid] = (mark, _build(rig, scene, placement, reading))
    frame = int(read_controller.frame_range(rig, scene)[0])
    _things[rig.session_uid] = [
        thing for ob in now.inputs.shot.objects if (thing := _thing(ob, scene, frame, meters)) is not None
    ]


def _thing(ob: bpy.types.Object, scene: bpy.types.Scene, frame: int, meters: float) -> Thing | None:
    stretch = rotations.stretch(np.array(ob.matrix_world, dtype=np.float64)[:3, :3])[1]
    if abs(np.linalg.det(stretch)) <= 1e-12:
        return None
    shape = collision_shapes.object_shape(ob, scene, frame, stretch * meters)
    edges = shape_wires.of_shape(shape) / meters
    mesh = shape.surface()
    parts = [(0, mesh)] if mesh is not None else []
    name = (ob.name, ob.library.filepath if ob.library is not None else None)
    return Thing(name, shape_meshes.joined(parts, 1.0 / meters), Strings(edges, np.zeros(len(edges), dtype=int)))


def _build(rig: bpy.types.Object, scene: bpy.types.Scene, placement: Placement, reading) -> Built:
    skeleton = read_rig.skeleton_of(rig, scene)
    frame = int(read_controller.frame_range(rig, scene)[0])
    model = read_rig.build_model(rig, skeleton, placement, scene, frame, solid=True)
    # Limits are widened to what the source needs: its last reading, or the rest pose.
    known = reading is not None and reading.model.names == model.names
    source = reading.motion.rotations if known else np.tile([1.0, 0.0, 0.0, 0.0], (1, len(model), 1))
    order = [skeleton.names.index(name) for name in model.names]
    model = read_rig.with_joints(model, rig, skeleton, order, source)
    each = [(body, shape) for body, shapes in enumerate(model.shapes) for shape in shapes]
    solid = [(body, mesh) for body, shape in each if (mesh := shape.surface()) is not None]
    size = placement.sizes[0]
    edges = _strings([(body, shape_wires.of_shape(shape) / size) for body, shape in each])
    joints = {body: skeleton.joints[bone] for body, bone in enumerate(order) if bone in skeleton.joints}
    mesh = shape_meshes.joined(solid, 1.0 / size)
    return Built(model.names, model.parents, joints, mesh, edges, _bounds(skeleton, model), skeleton.ends.size)


def _bounds(skeleton: Skeleton, model: Model) -> Strings:
    """The limits of all joints that have any, in the joints' frames at rest [armature units]."""
    parts = []
    for body, limit in enumerate(model.limits):
        if model.parents[body] >= 0 and np.isfinite(limit).any():
            length = LIMIT_SIZE * float(skeleton.body_ends.reach[skeleton.names.index(model.names[body])])
            if model.kinds[body] == HINGE:
                parts.append((body, shape_wires.fan(model.axes[body, 0], limit[0], limit[1], length)))
            else:
                axes = rotations.to_matrix(model.limit_frames[body, 0])
                parts.append((body, shape_wires.cone(*limit[:3], length, limit[3], axes)))
    return _strings(parts)


def _strings(parts: list[tuple[int, np.ndarray]]) -> Strings:
    segments = np.concatenate([shape_wires.NO_WIRES, *(part for _, part in parts)])
    return Strings(segments, np.repeat([body for body, _ in parts], [len(part) for _, part in parts]).astype(int))


# --- placing -------------------------------------------------------------------------


def posed(sight: Sight, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, list[int]] | None:
    """The object's matrix (4, 4), the pose's (bones, 4, 4) in armature space, and the indices of the named bones; None
    if one no longer exists."""
    evaluated = sight.rig.evaluated_get(sight.graph)
    bones = evaluated.pose.bones
    if sight.scratch.get("bodies") != names:
        place = {name: i for i, name in enumerate(bones.keys())}
        if any(name not in place for name in names):
            return None
        sight.scratch["bodies"], sight.scratch["order"] = names, [place[name] for name in names]
    flat = np.empty(len(bones) * 16, dtype=np.float32)
    bones.foreach_get("matrix", flat)
    world = np.array(evaluated.matrix_world, dtype=np.float64)
    return world, flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64), sight.scratch["order"]


def frames_of(found: Built, poses: np.ndarray, order: list[int]) -> np.ndarray:
    """(n, 4, 4) the bodies' frames in a pose (bones, 4, 4): those of their bones, at their joints."""
    frames = poses[order]
    for body, joint in found.joints.items():
        frames[body, :3, 3] = poses[joint.bone, :3, :3] @ joint.point + poses[joint.bone, :3, 3]
    return frames


def pieces(sight: Sight) -> list[Piece]:
    """The pieces for the current frame, from the shapes as built last."""
    found = built(sight.rig)
    pose = posed(sight, found.names) if found is not None else None
    if pose is None:
        return []
    world, poses, order = pose
    now = (world @ frames_of(found, poses, order))[None, :, :3].astype(np.float32)
    out = _solid(found.mesh, found.edges, Places(lambda: now), SHAPES)
    for thing in _things.get(sight.rig.session_uid, ()):
        ob = bpy.data.objects.get(thing.name)
        if ob is not None and ob.visible_get():
            out += _solid(thing.mesh, thing.edges, _place_of(ob, sight.graph), COLLIDERS)
    if sight.settings.ground:
        size = GROUND_SIZE * found.height * abs(np.linalg.det(world[:3, :3])) ** (1.0 / 3.0)
        height = sight.ground_height
        middle = now[0, 0, :2, 3].astype(float)
        key = ("ground", *shape_wires.ground_middle(middle, size), height, size)
        out.append(
            Lines(key, lambda: (shape_wires.ground(middle, height, size), None), GROUND, width=1.0, hidden=0.0)
        )  # fmt: skip
    return out


def _solid(mesh: Mesh, edges: Strings, places: Places, color) -> list[Piece]:
    out: list[Piece] = []
    if len(mesh.triangles):
        out.append(Solid(mesh, places, 0, with_alpha(color, 0.12), hidden=0.6))
    if len(edges.segments):
        out.append(Wires(edges, places, 0, with_alpha(color, 0.85), width=1.3, hidden=0.0))
    return out


def _place_of(ob: bpy.types.Object, graph: bpy.types.Depsgraph) -> Places:
    matrix = np.array(ob.evaluated_get(graph).matrix_world, dtype=np.float64)
    matrix[:3, :3] = rotations.stretch(matrix[:3, :3])[0]
    return Places(lambda: matrix[None, None, :3].astype(np.float32))
