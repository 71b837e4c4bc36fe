"""The rig's evaluated pose, frame by frame, without disturbing the user's scene.

Owns the private scene that holds only the armature: no mesh is evaluated, and the user's frame and unkeyed pose stay.
Also samples transforms of colliders and shapes of meshes there. Must not know physics, bodies or results.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from .own_marks import CONSTRAINT

STAGE = "Heft sampling"  # name of the private scene and of what is created for it
# Frames between two progress reports.
REPORT_EVERY = 16
CHANNELS = (
    ("location", 3),
    ("rotation_quaternion", 4),
    ("rotation_euler", 3),
    ("rotation_axis_angle", 4),
    ("scale", 3),
)


@dataclass(frozen=True, eq=False)
class Samples:
    """Sampled poses.

    frames        (n,) scene frames
    names         of the pose bones
    poses         (n, bones, 4, 4) in armature space
    placements    (n, 4, 4) the object's world matrices
    bases         (n, bones, 4, 4) the transforms of the bones' own channels, where asked for
    """

    frames: np.ndarray
    names: tuple[str, ...]
    poses: np.ndarray
    placements: np.ndarray
    bases: np.ndarray | None = None


def sample(
    rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray, bases: bool = False
) -> Generator[int, None, Samples]:
    """Yields the number of sampled frames now and then, returns the samples. Frames may be fractional.

    If the generator is closed early, everything temporary is removed.
    """
    names = tuple(bone.name for bone in rig.pose.bones)
    poses = np.empty((len(frames), len(names) * 16), dtype=np.float32)
    own = np.empty_like(poses) if bases else None
    placements = np.empty((len(frames), 4, 4))
    with stage_of(rig, scene) as stage:
        for i, frame in enumerate(frames):
            evaluated = _played(rig, stage, frame)
            evaluated.pose.bones.foreach_get("matrix", poses[i])
            if bases:
                evaluated.pose.bones.foreach_get("matrix_basis", own[i])
            placements[i] = evaluated.matrix_world
            if i % REPORT_EVERY == REPORT_EVERY - 1:
                yield i + 1
    return Samples(np.asarray(frames), names, _upright(poses), placements, _upright(own) if bases else None)


def _played(rig: bpy.types.Object, stage: bpy.types.Scene, frame: float) -> bpy.types.Object:
    """The rig as evaluated on a frame."""
    whole = math.floor(frame)
    stage.frame_set(whole, subframe=float(frame) - whole)
    return rig.evaluated_get(_depsgraph(stage))


def pose_at(rig: bpy.types.Object, stage: bpy.types.Scene, frame: float) -> np.ndarray:
    """(bones, 4, 4) the pose that results from the rig's present channel values."""
    rig.update_tag()
    flat = np.empty((1, len(rig.pose.bones) * 16), dtype=np.float32)
    _played(rig, stage, frame).pose.bones.foreach_get("matrix", flat[0])
    return _upright(flat)[0].astype(np.float64)


def _upright(flat: np.ndarray) -> np.ndarray:
    """(frames, bones, 4, 4) from the column-major values that Blender returns."""
    return flat.reshape(len(flat), flat.shape[1] // 16, 4, 4).transpose(0, 1, 3, 2)


def stage_of(rig: bpy.types.Object, scene: bpy.types.Scene):
    """Context manager: the scene to evaluate the rig in, a private one wherever possible."""
    return (_main_scene if reads_scene(rig) else _private_scene)(rig, scene)


def sample_objects(
    objects: Sequence[bpy.types.Object], scene: bpy.types.Scene, frames: np.ndarray, shown: bool = False
) -> Generator[int, None, np.ndarray]:
    """Yields the number of sampled frames now and then, returns world matrices (objects, frames, 4, 4).

    Empties that copy the objects' transforms are evaluated, so that no mesh is. Objects that nothing moves are sampled
    once. shown: count what Heft's results move as moving.
    """
    out = np.empty((len(objects), len(frames), 4, 4))
    if not len(objects):
        return out
    still = not shown and not any(_is_moved(block) for ob in objects for block in upstream(ob))
    played = frames[:1] if still else frames
    read_scene = any(reads_scene(ob) for ob in objects)
    with _main_frame(scene) if read_scene else _stand_ins(objects, scene) as (stage, watched):
        for i, frame in enumerate(played):
            stage.frame_set(int(frame))
            graph = _depsgraph(stage)
            for k, ob in enumerate(watched or objects):
                out[k, i] = ob.evaluated_get(graph).matrix_world
            if i % REPORT_EVERY == REPORT_EVERY - 1:
                yield i + 1
    if still:
        out[:, 1:] = out[:, :1]
    return out


def _is_moved(block: bpy.types.ID) -> bool:
    if isinstance(block, bpy.types.Object) and any(each.name != CONSTRAINT for each in block.constraints):
        return True
    data = block.animation_data
    return data is not None and bool(data.action or len(data.nla_tracks) or drivers(block))


@contextmanager
def _stand_ins(objects: Sequence[bpy.types.Object], scene: bpy.types.Scene):
    """Context manager: a private scene with an empty for each object that copies the object's transform."""
    made: list[bpy.types.Object] = []
    with private_scene(scene) as stage:
        try:
            for ob in objects:
                empty = bpy.data.objects.new(STAGE, None)
                made.append(empty)
                copy = empty.constraints.new("COPY_TRANSFORMS")
                copy.target = ob
                stage.collection.objects.link(empty)
            yield stage, made
        finally:
            for empty in made:
                bpy.data.objects.remove(empty)


def sample_parents(ob: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray) -> np.ndarray:
    """(frames, 4, 4) the object's parent space: the matrix that its own transform channels are multiplied with."""
    out = np.tile(np.eye(4), (len(frames), 1, 1))
    if ob.parent is None:
        return out
    with private_scene(scene) as stage:
        empty = bpy.data.objects.new(STAGE, None)
        try:
            empty.parent, empty.parent_type, empty.parent_bone = ob.parent, ob.parent_type, ob.parent_bone
            if ob.parent_type in {"VERTEX", "VERTEX_3"}:
                empty.parent_vertices = ob.parent_vertices
            empty.matrix_parent_inverse = ob.matrix_parent_inverse
            stage.collection.objects.link(empty)
            for i, frame in enumerate(frames):
                stage.frame_set(int(frame))
                out[i] = empty.evaluated_get(_depsgraph(stage)).matrix_world
        finally:
            bpy.data.objects.remove(empty)
    return out


def mesh_at(ob: bpy.types.Object, scene: bpy.types.Scene, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (k, 3) and triangles (t, 3) of a mesh object in its own space, modifiers included."""
    with private_scene(scene) as stage:
        stage.collection.objects.link(ob)
        stage.frame_set(int(frame))
        evaluated = ob.evaluated_get(_depsgraph(stage))
        mesh = evaluated.to_mesh()
        try:
            return vertices_of(mesh), triangles_of(mesh)
        finally:
            evaluated.to_mesh_clear()


@contextmanager
def undeformed_mesh(ob: bpy.types.Object, scene: bpy.types.Scene, whole: bool):
    """A skin's mesh before its armature modifier deforms it. whole: no other modifier has an effect."""
    if whole:
        yield ob.data
        return
    copy = ob.copy()
    try:
        copy.animation_data_clear()
        behind = False
        for modifier in list(copy.modifiers):
            behind = behind or modifier.type == "ARMATURE"
            if behind:
                copy.modifiers.remove(modifier)
        with private_scene(scene) as stage:
            stage.collection.objects.link(copy)
            stage.frame_set(scene.frame_current)
            evaluated = copy.evaluated_get(_depsgraph(stage))
            try:
                yield evaluated.to_mesh()
            finally:
                evaluated.to_mesh_clear()
    finally:
        bpy.data.objects.remove(copy)


def vertices_of(mesh: bpy.types.Mesh) -> np.ndarray:
    co = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", co)
    return co.reshape(-1, 3).astype(np.float64)


def triangles_of(mesh: bpy.types.Mesh) -> np.ndarray:
    mesh.calc_loop_triangles()
    corners = np.empty(len(mesh.loop_triangles) * 3, dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    return corners.reshape(-1, 3)


def finish(steps: Generator[int, None, Samples]) -> Samples:
    """Run a sampling generator to its end and return the samples."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value


def _depsgraph(scene: bpy.types.Scene) -> bpy.types.Depsgraph:
    if scene == bpy.context.scene:
        return bpy.context.evaluated_depsgraph_get()
    return scene.view_layers[0].depsgraph


@contextmanager
def _private_scene(rig: bpy.types.Object, scene: bpy.types.Scene):
    with private_scene(scene) as stage:
        stage.collection.objects.link(rig)
        yield stage


@contextmanager
def private_scene(scene: bpy.types.Scene):
    """Context manager: an empty scene with the frame rate and time of the given one."""
    stage = bpy.data.scenes.new(STAGE)
    try:
        stage.render.fps = scene.render.fps
        stage.render.fps_base = scene.render.fps_base
        stage.render.frame_map_old = scene.render.frame_map_old
        stage.render.frame_map_new = scene.render.frame_map_new
        stage.frame_start, stage.frame_end = scene.frame_start, scene.frame_end
        yield stage
    finally:
        _remove_scene(stage)


def sweep() -> None:
    """Remove private scenes that an undo step or a file restored, because it was recorded while they existed."""
    left = [block for kind in (bpy.data.scenes, bpy.data.objects) for block in kind if block.name.startswith(STAGE)]
    if left and bpy.context.scene not in left:
        bpy.data.batch_remove(left)


def _remove_scene(scene: bpy.types.Scene) -> None:
    """Remove a scene. Blender before 4.4 crashes in `scenes.remove` without a window (command line)."""
    if bpy.context.window is None:
        bpy.data.batch_remove([scene])
    else:
        bpy.data.scenes.remove(scene)


@contextmanager
def _main_scene(rig: bpy.types.Object, scene: bpy.types.Scene):
    """Context manager: evaluate in the user's own scene, then restore its frame and the rig's unkeyed pose."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    kept = {name: _get(rig, name, width) for name, width in CHANNELS}
    basis = rig.matrix_basis.copy()
    try:
        yield scene
    finally:
        scene.frame_set(frame, subframe=subframe)
        for name, values in kept.items():
            rig.pose.bones.foreach_set(name, values)
        if rig.matrix_basis != basis:
            rig.matrix_basis = basis
        rig.update_tag()


@contextmanager
def _main_frame(scene: bpy.types.Scene):
    """Context manager: evaluate in the user's own scene, then restore its frame."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield scene, None
    finally:
        scene.frame_set(frame, subframe=subframe)


def _get(rig: bpy.types.Object, name: str, width: int) -> np.ndarray:
    values = np.empty(len(rig.pose.bones) * width, dtype=np.float32)
    rig.pose.bones.foreach_get(name, values)
    return values


def reads_scene(rig: bpy.types.Object) -> bool:
    """True if a driver that the pose depends on reads a scene, or the context's scene."""
    return any(_driver_reads_scene(driver) for block in upstream(rig) for driver in drivers(block))


def drivers(block: bpy.types.ID) -> Iterable[bpy.types.FCurve]:
    """The user's drivers, without Heft's own, which are not part of the source."""
    data = block.animation_data
    return [curve for curve in data.drivers if f'["{CONSTRAINT}"]' not in curve.data_path] if data else ()


def _driver_reads_scene(curve: bpy.types.FCurve) -> bool:
    if "bpy" in curve.driver.expression:
        return True
    for variable in curve.driver.variables:
        if variable.type == "CONTEXT_PROP":
            return True
        for target in variable.targets:
            if isinstance(target.id, (bpy.types.Scene, bpy.types.World)):
                return True
    return False


def upstream(rig: bpy.types.Object) -> list[bpy.types.ID]:
    """The blocks that the rig's pose depends on: itself, its data, parents, targets, and what drivers read."""
    found: list[bpy.types.ID] = []
    queue: list[bpy.types.ID] = [rig]
    while queue:
        block = queue.pop()
        if block is None or block in found:
            continue
        found.append(block)
        for curve in drivers(block):
            for variable in curve.driver.variables:
                queue.extend(target.id for target in variable.targets)
        if isinstance(block, bpy.types.Object):
            queue += [block.parent, block.data if block.type in {"ARMATURE", "CURVE"} else None]
            queue += _targets(block)
            if block.type == "CURVE":
                queue += [each.object for each in block.modifiers if each.type == "HOOK"]
    return found


def _targets(ob: bpy.types.Object) -> Iterable[bpy.types.ID]:
    holders = [ob, *(ob.pose.bones if ob.pose else ())]
    for holder in holders:
        for constraint in holder.constraints:
            if constraint.name == CONSTRAINT:
                continue
            if constraint.type == "ARMATURE":
                yield from (target.target for target in constraint.targets)
            else:
                yield getattr(constraint, "target", None)
                yield getattr(constraint, "pole_target", None)
                yield getattr(constraint, "action", None)
