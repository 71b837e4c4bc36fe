"""Rigs and measurements the add-on's tests share."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import bmesh
import bpy
import numpy as np

# Real material beside the project, not part of it.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
# Those in which the post is looked at.
FRAMES = range(1, 41)


def new_file() -> None:
    """An empty file, Blender's preferences left alone: to set those back is to take its own add-ons down and up
    again, and some hundred times of that end 4.2 in a crash of its own."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def open_skin(path: Path, folder: Path) -> None:
    """Open a glTF file, read by another process: after some three hundred files 4.2 crashes in its importer, where
    that sets the window's scene."""
    there = folder / f"{path.stem}.blend"
    lines = (
        "import bpy",
        "bpy.ops.wm.read_factory_settings(use_empty=True)",
        f"bpy.ops.import_scene.gltf(filepath={str(path)!r})",
        f"bpy.ops.wm.save_as_mainfile(filepath={str(there)!r})",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, stdout=subprocess.DEVNULL)
    bpy.ops.wm.open_mainfile(filepath=str(there))


def chain(bones: int = 5, connected: bool = True, name: str = "Rig", length: float = 0.3) -> bpy.types.Object:
    """A bent chain, alternately rolled, active and in Object Mode."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    above, head = None, np.zeros(3)
    for i in range(bones):
        bone = data.edit_bones.new(f"bone.{i:03d}")
        step = np.array([0.2 * math.sin(i), length, 0.3 * length * math.cos(2.0 * i)])
        bone.head, bone.tail = head, head + step
        bone.roll = 0.7 * i
        bone.parent = above
        bone.use_connect = connected and i > 0
        above, head = bone, head + step + (0.0 if connected else 0.05)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")


def wave(rig: bpy.types.Object, end: int = 40, step: int = 4, modes: tuple[str, ...] = ("QUATERNION",)) -> None:
    """Key every bone's rotation in its mode, and the first bone's location."""
    from mathutils import Euler

    for i, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = modes[i % len(modes)]
        for frame in range(1, end + 1, step):
            t = 0.15 * frame + i
            turn = Euler((0.5 * math.sin(t), 0.3 * math.cos(0.7 * t), 0.4 * math.sin(1.3 * t)))
            if bone.rotation_mode == "QUATERNION":
                bone.rotation_quaternion = turn.to_quaternion()
                path = "rotation_quaternion"
            elif bone.rotation_mode == "AXIS_ANGLE":
                axis, angle = turn.to_quaternion().to_axis_angle()
                bone.rotation_axis_angle = (angle, *axis)
                path = "rotation_axis_angle"
            else:
                bone.rotation_euler = turn.to_quaternion().to_euler(bone.rotation_mode)
                path = "rotation_euler"
            bone.keyframe_insert(path, frame=frame)
            if i == 0:
                bone.location = (0.1 * math.sin(t), 0.0, 0.05 * frame)
                bone.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, end


def post(bones: int = 3, name: str = "Rig", length: float = 0.5, at=(0.0, 0.0, 0.0)) -> bpy.types.Object:
    """A straight chain upwards, active and in Object Mode."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.location = at
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for i in range(bones):
        bone = data.edit_bones.new(f"bone.{i:03d}")
        bone.head, bone.tail = (0.0, 0.0, i * length), (0.0, 0.0, (i + 1) * length)
        bone.parent, bone.use_connect = above, i > 0
        above = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def mesh_object(name: str, build, location=(0.0, 0.0, 0.0)) -> bpy.types.Object:
    """A mesh object of what `build` does to a bmesh."""
    mesh = bpy.data.meshes.new(name)
    form = bmesh.new()
    build(form)
    form.to_mesh(mesh)
    form.free()
    ob = bpy.data.objects.new(name, mesh)
    ob.location = location
    bpy.context.scene.collection.objects.link(ob)
    return ob


def ball(name: str = "Ball", radius: float = 0.1, location=(0.0, 0.0, 0.0)) -> bpy.types.Object:
    """A round mesh object."""
    return mesh_object(
        name, lambda form: bmesh.ops.create_icosphere(form, subdivisions=3, radius=radius), location=location
    )


def block(name: str = "Block", size: float = 1.0, location=(0.0, 0.0, 0.0)) -> bpy.types.Object:
    """A cube."""
    return mesh_object(name, lambda form: bmesh.ops.create_cube(form, size=size), location=location)


def collide(rig: bpy.types.Object, *objects: bpy.types.Object) -> bpy.types.Collection:
    """Put objects into the rig's colliders."""
    group = rig.heft.colliders or bpy.data.collections.new("Colliders")
    for ob in objects:
        group.objects.link(ob)
    rig.heft.colliders = group
    return group


def throw(ob: bpy.types.Object, start, end, first: int = 1, last: int = 10) -> None:
    """Key a straight flight."""
    for frame, spot in ((first, start), (last, end)):
        ob.location = spot
        ob.keyframe_insert("location", frame=frame)
    bag = actions_of(ob)
    for curve in bag.fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def actions_of(ob: bpy.types.Object):
    """What holds the object's curves."""
    from heft.addon.blender import actions

    return actions.active_bag(ob)


def places(ob: bpy.types.Object, frames) -> np.ndarray:
    """(frames, 4, 4) world matrices evaluated in the main scene."""
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        out.append(np.array(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world))
    return np.array(out)


def poses(rig: bpy.types.Object, frames) -> np.ndarray:
    """(frames, bones, 4, 4) evaluated in the main scene, frame by frame, as a user would see them."""
    scene = bpy.context.scene
    out = np.empty((len(frames), len(rig.pose.bones) * 16), dtype=np.float32)
    for i, frame in enumerate(frames):
        scene.frame_set(int(frame))
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        evaluated.pose.bones.foreach_get("matrix", out[i])
    # Blender hands matrices out column by column.
    return out.reshape(len(frames), -1, 4, 4).transpose(0, 1, 3, 2).astype(np.float64)


def scene_frames() -> range:
    scene = bpy.context.scene
    return range(scene.frame_start, scene.frame_end + 1)


def height(rig: bpy.types.Object) -> float:
    ends = np.array([[*bone.head_local, *bone.tail_local] for bone in rig.data.bones]).reshape(-1, 3)
    return float(np.ptp(ends, axis=0).max())


def deviation(a: np.ndarray, b: np.ndarray, tall: float) -> tuple[float, float]:
    """Largest head offset (parts of the height) and largest angle [degrees] between two sets of poses."""
    offset = np.linalg.norm(a[..., :3, 3] - b[..., :3, 3], axis=-1).max() / tall
    return float(offset), float(np.degrees(angles(a[..., :3, :3], b[..., :3, :3]).max()))


def stretch(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference of the bones' scales between two sets of poses, in parts of them."""
    long = [np.linalg.norm(side[..., :3, :3], axis=-2) for side in (a, b)]
    return float((np.abs(long[1] - long[0]) / np.maximum(long[0], 1e-9)).max())


def angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles [rad] (...) between the axes of bones (..., 3, 3), the largest of the three."""
    # From the chord between unit columns, which stays accurate near zero.
    a = a / np.linalg.norm(a, axis=-2, keepdims=True)
    b = b / np.linalg.norm(b, axis=-2, keepdims=True)
    chord = np.linalg.norm(a - b, axis=-2).max(axis=-1)
    return 2.0 * np.arcsin(np.minimum(chord / 2.0, 1.0))


def bend(rig: bpy.types.Object, frames=FRAMES) -> np.ndarray:
    """(frames,) degrees by which the last bone leans from upright."""
    axis = poses(rig, frames)[:, -1, :3, 1]
    return np.degrees(np.arccos(np.clip(axis[:, 2], -1.0, 1.0)))


def passing_ball(rig: bpy.types.Object, moves: str = "ANIMATED") -> bpy.types.Object:
    """A ball that flies through the top of the post between frames 10 and 20."""
    thrown = ball(radius=0.1)
    throw(thrown, (-1.2, 0.0, 1.3), (1.2, 0.0, 1.3), 5, 25)
    collide(rig, thrown)
    thrown.heft_collider.moves = moves
    return thrown


def bowl(radius: float = 0.5, location=(3.0, 0.0, 0.5)) -> bpy.types.Object:
    """Half a hollow ball, open to the top, with a wall that a Solidify modifier makes."""

    def build(form):
        bmesh.ops.create_icosphere(form, subdivisions=3, radius=radius)
        bmesh.ops.delete(form, geom=[v for v in form.verts if v.co.z > 0.01], context="VERTS")

    ob = mesh_object("Bowl", build, location)
    solid = ob.modifiers.new("Wall", "SOLIDIFY")
    solid.thickness, solid.offset = 0.08, 1.0
    return ob
