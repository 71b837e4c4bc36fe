"""The rig's evaluated pose, frame by frame, without disturbing the user's scene.

Owns the private scene that holds only the armature (no mesh is evaluated, and the
user's frame and unkeyed pose stay). Must not know physics, bodies or results.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

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
    """frames (n,) scene frames; names of the pose bones; poses (n, bones, 4, 4) in
    armature space; placements (n, 4, 4) the object's world matrices."""

    frames: np.ndarray
    names: tuple[str, ...]
    poses: np.ndarray
    placements: np.ndarray


def sample(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray) -> Generator[int, None, Samples]:
    """Yield the number of frames done now and then; return the samples.

    Closing the generator half way leaves nothing behind.
    """
    names = tuple(bone.name for bone in rig.pose.bones)
    poses = np.empty((len(frames), len(names) * 16), dtype=np.float32)
    placements = np.empty((len(frames), 4, 4))
    hold = _main_scene if reads_scene(rig) else _private_scene
    with hold(rig, scene) as stage:
        for i, frame in enumerate(frames):
            stage.frame_set(int(frame))
            evaluated = rig.evaluated_get(_depsgraph(stage))
            evaluated.pose.bones.foreach_get("matrix", poses[i])
            placements[i] = evaluated.matrix_world
            if i % REPORT_EVERY == REPORT_EVERY - 1:
                yield i + 1
    # Blender hands matrices out column by column.
    poses = poses.reshape(len(frames), len(names), 4, 4).transpose(0, 1, 3, 2)
    return Samples(np.asarray(frames), names, poses, placements)


def rest_height(rig: bpy.types.Object) -> float:
    """The longest side of the rest pose [armature units]."""
    ends = np.array([[*bone.head_local, *bone.tail_local] for bone in rig.data.bones]).reshape(-1, 3)
    return float(max(np.ptp(ends, axis=0).max(), 1e-9)) if len(ends) else 1e-9


def finish(steps: Generator[int, None, Samples]) -> Samples:
    """Run a sampling generator to its end."""
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
    stage = bpy.data.scenes.new("Heft sampling")
    try:
        stage.render.fps = scene.render.fps
        stage.render.fps_base = scene.render.fps_base
        stage.render.frame_map_old = scene.render.frame_map_old
        stage.render.frame_map_new = scene.render.frame_map_new
        stage.frame_start, stage.frame_end = scene.frame_start, scene.frame_end
        stage.collection.objects.link(rig)
        yield stage
    finally:
        _remove_scene(stage)


def _remove_scene(scene: bpy.types.Scene) -> None:
    """Blender before 4.4 crashes in `scenes.remove` where there is no window (command line)."""
    if bpy.context.window is None:
        bpy.data.batch_remove([scene])
    else:
        bpy.data.scenes.remove(scene)


@contextmanager
def _main_scene(rig: bpy.types.Object, scene: bpy.types.Scene):
    """Play the user's own scene, then put its frame and the rig's unkeyed pose back."""
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


def _get(rig: bpy.types.Object, name: str, width: int) -> np.ndarray:
    values = np.empty(len(rig.pose.bones) * width, dtype=np.float32)
    rig.pose.bones.foreach_get(name, values)
    return values


def reads_scene(rig: bpy.types.Object) -> bool:
    """Does any driver the pose hangs on read a scene (or the context's)?"""
    return any(_driver_reads_scene(driver) for block in upstream(rig) for driver in _drivers(block))


def _drivers(block: bpy.types.ID) -> Iterable[bpy.types.FCurve]:
    data = block.animation_data
    return data.drivers if data else ()


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
    """The blocks the rig's pose hangs on: itself, its data, parents, targets and what drivers read."""
    found: list[bpy.types.ID] = []
    queue: list[bpy.types.ID] = [rig]
    while queue:
        block = queue.pop()
        if block is None or block in found:
            continue
        found.append(block)
        for curve in _drivers(block):
            for variable in curve.driver.variables:
                queue.extend(target.id for target in variable.targets)
        if isinstance(block, bpy.types.Object):
            queue += [block.parent, block.data if block.type == "ARMATURE" else None]
            queue += _targets(block)
    return found


def _targets(ob: bpy.types.Object) -> Iterable[bpy.types.ID]:
    holders = [ob, *(ob.pose.bones if ob.pose else ())]
    for holder in holders:
        for constraint in holder.constraints:
            if constraint.type == "ARMATURE":
                yield from (target.target for target in constraint.targets)
            else:
                yield getattr(constraint, "target", None)
                yield getattr(constraint, "pole_target", None)
                yield getattr(constraint, "action", None)
