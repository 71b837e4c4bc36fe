"""What touches, drawn over the 3D View: shapes, ground, limits, contacts.

Owns the draw handler and what it draws. Shapes are built outside of drawing and kept
until something changes; drawing only places them. Must not change data.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass

import bpy
import numpy as np

from ..engine import HeftError
from ..engine.model import HINGE
from . import intake, properties, reader, rotations, session, settings, shot, solids, store, units, wires
from .units import MIRROR_X, Placement

COLORS = {
    "bones": (0.25, 0.75, 1.0, 0.9),
    "colliders": (1.0, 0.6, 0.15, 0.9),
    "ground": (0.6, 0.6, 0.6, 0.4),
    "limits": (0.95, 0.9, 0.2, 0.8),
    "contacts": (1.0, 0.15, 0.15, 1.0),
}
GROUND_SIZE = 1.5  # of the rig's height
LIMIT_SIZE = 0.5  # of the bone's length
WEIGHT_SIZE = 0.5  # an arrow's length in parts of the rig's height, for a force like the character's weight


@dataclass(frozen=True, eq=False)
class _Built:
    """What is drawn of a rig, before it is placed.

    names (n,) bodies; segments (k, 2, 3) [armature units] in the frame of body owners (k,);
    limits (m, 2, 3) in the rest frames of the joints of bodies joints (m,); height of the rig [armature units]
    """

    names: tuple[str, ...]
    segments: np.ndarray
    owners: np.ndarray
    limits: np.ndarray
    joints: np.ndarray
    height: float


@dataclass(frozen=True, eq=False)
class _Thing:
    """segments (k, 2, 3) [units of the scene] of a collider, but for where it is and how it is turned."""

    name: str
    segments: np.ndarray


_rigs: dict[int, tuple[str, _Built]] = {}
_things: dict[int, list[_Thing]] = {}
# Rigs looked at since the last change, and sentences printed already.
_fresh: set[int] = set()
_told: set[str] = set()


def changed() -> None:
    """Something was edited: look at the shapes again before they are drawn."""
    _fresh.clear()


def forget() -> None:
    """Drop everything: another file, an undo."""
    changed()
    _rigs.clear()
    _things.clear()


# --- building ------------------------------------------------------------------------


def build(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Build what is stale of a rig's shapes and of its colliders'; outside of drawing only."""
    meters = units.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
    placement = Placement.from_matrices(np.array(rig.matrix_world)[None], meters)
    reading = intake.current(rig)
    mark = f"{store.structure(rig)} {placement.sizes[0]:.6g} {rig.data.name_full} {len(rig.data.bones)} {id(reading)}"
    kept = _rigs.get(rig.session_uid)
    if kept is None or kept[0] != mark:
        _rigs[rig.session_uid] = (mark, _build(rig, scene, placement, reading))
    things = []
    frame = int(settings.frame_range(rig, scene)[0])
    for ob in shot.members(rig).objects:
        stretch = rotations.stretch(np.array(ob.matrix_world, dtype=np.float64)[:3, :3])[1]
        if abs(np.linalg.det(stretch)) > 1e-12:
            shape = solids.object_shape(ob, scene, frame, stretch * meters)
            things.append(_Thing(ob.name_full, wires.of_shape(shape) / meters))
    _things[rig.session_uid] = things
    _fresh.add(rig.session_uid)


def _build(rig: bpy.types.Object, scene: bpy.types.Scene, placement: Placement, reading) -> _Built:
    skeleton = reader.skeleton_of(rig)
    frame = int(settings.frame_range(rig, scene)[0])
    model = reader.build_model(rig, skeleton, placement, scene, frame, solid=True)
    # Limits are as wide as the source needs: what was read of it last, or the rest pose.
    known = reading is not None and reading.model.names == model.names
    source = reading.motion.rotations if known else np.tile([1.0, 0.0, 0.0, 0.0], (1, len(model), 1))
    order = [skeleton.names.index(name) for name in model.names]
    model = reader.with_joints(model, rig, skeleton, order, source)
    size = placement.sizes[0]
    parts, owners = [wires.NONE], [np.zeros(0, dtype=int)]
    for body, shapes in enumerate(model.shapes):
        for shape in shapes:
            parts.append(wires.of_shape(shape) / size)
            owners.append(np.full(len(parts[-1]), body))
    bounds, joints = [wires.NONE], [np.zeros(0, dtype=int)]
    for body, limit in enumerate(model.limits):
        if model.parents[body] >= 0 and np.isfinite(limit).any():
            length = LIMIT_SIZE * rig.data.bones[model.names[body]].length
            if model.kinds[body] == HINGE:
                bounds.append(wires.fan(model.axes[body, 0], limit[0], limit[1], length))
            else:
                axes = rotations.to_matrix(model.limit_frames[body, 0])
                bounds.append(wires.cone(*limit[:3], length, limit[3], axes))
            joints.append(np.full(len(bounds[-1]), body))
    tall = float(np.ptp(skeleton.rests[:, :3, 3], axis=0).max()) or 1.0
    return _Built(model.names, *(np.concatenate(each) for each in (parts, owners, bounds, joints)), tall)


# --- placing -------------------------------------------------------------------------


def lines(rig: bpy.types.Object, scene: bpy.types.Scene, graph: bpy.types.Depsgraph) -> dict[str, np.ndarray]:
    """What is drawn now, by kind: segments (k, 2, 3) in Blender's world, as built last. Changes nothing."""
    kept = _rigs.get(rig.session_uid)
    if kept is None:
        return {}
    built = kept[1]
    evaluated = rig.evaluated_get(graph)
    world = np.array(evaluated.matrix_world, dtype=np.float64)
    bones = [evaluated.pose.bones.get(name) for name in built.names]
    if any(bone is None for bone in bones):
        return {}
    poses = world @ np.array([bone.matrix for bone in bones], dtype=np.float64)
    out = {"bones": _placed(built.segments, poses[built.owners])}
    if len(built.limits):
        rests = np.stack([_joint_frame(bone) for bone in bones])
        out["limits"] = _placed(built.limits, (world @ rests)[built.joints])
    parts = [wires.NONE]
    for thing in _things.get(rig.session_uid, ()):
        ob = bpy.data.objects.get(thing.name)
        if ob is not None:
            matrix = np.array(ob.evaluated_get(graph).matrix_world, dtype=np.float64)
            matrix[:3, :3] = rotations.stretch(matrix[:3, :3])[0]
            parts.append(_placed(thing.segments, matrix[None]))
    out["colliders"] = np.concatenate(parts)
    size = built.height * abs(np.linalg.det(world[:3, :3])) ** (1.0 / 3.0)
    if rig.heft.ground:
        out["ground"] = wires.ground(poses[0, :3, 3], rig.heft.ground_height, GROUND_SIZE * size)
    out["contacts"] = _contacts(rig, scene, size)
    return out


def _placed(segments: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Segments (k, 2, 3) taken through matrices (k or 1, 4, 4)."""
    return (
        np.einsum("kij,kpj->kpi", np.broadcast_to(matrices[:, :3, :3], (len(segments), 3, 3)), segments)
        + (matrices[:, None, :3, 3])
    )


def _joint_frame(bone: bpy.types.PoseBone) -> np.ndarray:
    """(4, 4) in armature space: the bone at rest on its parent as that is posed now, at its own head."""
    rest = np.array(bone.bone.matrix_local, dtype=np.float64)
    if bone.parent is not None:
        above = np.array(bone.parent.bone.matrix_local, dtype=np.float64)
        rest = np.array(bone.parent.matrix, dtype=np.float64) @ np.linalg.inv(above) @ rest
    rest[:3, 3] = bone.head
    return rest


def _contacts(rig: bpy.types.Object, scene: bpy.types.Scene, size: float) -> np.ndarray:
    """Crosses where things touch on this frame, with an arrow for each force."""
    shown = session.last_shown(rig)
    if shown is None or rig.heft.shown != "RESULT" or shown.result.contacts is None:
        return wires.NONE
    found, placement = shown.result.contacts, shown.reading.placement
    now = np.flatnonzero(np.asarray(found.frames) == scene.frame_current - int(shown.reading.frames[0]))
    meters = units.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
    points, forces = found.points[now] / meters, found.forces[now]
    if placement.mirrored:
        points, forces = points @ MIRROR_X, forces @ MIRROR_X
    weight = 9.81 * shown.reading.model.total_mass
    return np.concatenate(
        [wires.crosses(points, 0.01 * size), wires.arrows(points, forces * (WEIGHT_SIZE * size / weight))]
    )


# --- drawing -------------------------------------------------------------------------


def draw() -> None:
    """Blender's draw callback: whatever goes wrong is printed once, never raised."""
    try:
        _draw()
    except Exception:
        _tell(traceback.format_exc())


def _draw() -> None:
    context = bpy.context
    space = context.space_data
    if space is None or not space.overlay.show_overlays:
        return
    chosen = [ob for ob in context.view_layer.objects if properties.has_physics(ob) and ob.heft.show_shapes]
    if not chosen:
        return
    if any(rig.session_uid not in _fresh for rig in chosen) and not bpy.app.timers.is_registered(_catch_up):
        bpy.app.timers.register(_catch_up, first_interval=0.0)
    graph = context.evaluated_depsgraph_get()
    for rig in chosen:
        if rig.visible_get():
            for kind, segments in lines(rig, context.scene, graph).items():
                _draw_lines(segments, COLORS[kind], context.region)


def _draw_lines(segments: np.ndarray, color: tuple[float, ...], region: bpy.types.Region) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    if not len(segments):
        return
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": segments.reshape(-1, 3).astype(np.float32)})
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("viewportSize", (region.width, region.height))
    shader.uniform_float("lineWidth", 1.5)
    shader.uniform_float("color", color)
    batch.draw(shader)
    gpu.state.blend_set("NONE")


def _catch_up() -> None:
    """A timer's callback: build what drawing found stale, then draw again."""
    for rig in session.rigs():
        if rig.heft.show_shapes and rig.session_uid not in _fresh:
            try:
                build(rig, bpy.context.scene)
            except HeftError as error:
                _tell(f"Heft: {error}")
                _rigs.pop(rig.session_uid, None)
            _fresh.add(rig.session_uid)
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _tell(text: str) -> None:
    if text not in _told:
        _told.add(text)
        print(text)


_handle = None


def register() -> None:
    """Draw over every 3D View of a Blender with windows."""
    global _handle
    if not bpy.app.background:
        _handle = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW")


def unregister() -> None:
    """Draw no more."""
    global _handle
    if _handle is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = None
    forget()
