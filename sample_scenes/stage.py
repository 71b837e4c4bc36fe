"""What the scenes share: an empty stage, rigs from a table, keys, camera, and the add-on itself.

Must not know any single scene.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import bpy
from mathutils import Euler, Matrix, Vector

ROOT = Path(__file__).resolve().parents[1]

# name: colour as sRGB bytes
COLORS = {
    "backdrop": (226, 229, 233),
    "floor": (224, 227, 232),
    "clay": (232, 133, 72),
    "joint": (74, 82, 99),
    "steel": (138, 148, 163),
    "cream": (246, 236, 222),
    "ghost": (74, 124, 190),
    "wood": (193, 154, 107),
    "moss": (118, 160, 104),
}
GHOST_ALPHA = 0.28


def empty(frames: int, fps: int = 24) -> bpy.types.Scene:
    """A new file with a floor, a sun and `frames` frames."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = fps, 1, frames
    scene.world = bpy.data.worlds.new("Backdrop")
    scene.world.color = linear("backdrop")
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy = 2.0
    sun.rotation_euler = (math.radians(40), math.radians(-12), math.radians(30))
    scene.collection.objects.link(sun)
    floor = bpy.data.objects.new("Floor", floor_mesh())
    floor.display.show_shadows = floor.visible_shadow = False  # it catches shadows; its wall shall cast none
    scene.collection.objects.link(floor)
    return scene


def floor_mesh(flat: float = 6.0, bend: float = 5.0, wall: float = 12.0) -> bpy.types.Mesh:
    """A round floor that bends up into a wall: a photographer's backdrop, without a horizon. Radii and height [m]."""
    profile = [(0.05, 0.0), (flat, 0.0)]
    profile += [(flat + bend * math.sin(a), bend * (1 - math.cos(a))) for a in (math.pi / 32 * i for i in range(1, 17))]
    profile.append((flat + bend, wall))
    sides = 64
    angles = [2 * math.pi * s / sides for s in range(sides)]
    points = [(r * math.cos(a), r * math.sin(a), z) for r, z in profile for a in angles]
    faces = [tuple(range(sides))]
    for ring in range(len(profile) - 1):
        for s in range(sides):
            a, b = ring * sides + s, ring * sides + (s + 1) % sides
            faces.append((a, a + sides, b + sides, b))
    mesh = bpy.data.meshes.new("Floor")
    mesh.from_pydata(points, [], faces)
    mesh.polygons.foreach_set("use_smooth", [True] * len(faces))
    mesh.materials.append(material("floor"))
    return mesh


def linear(name: str) -> tuple[float, float, float]:
    """The colour in scene-linear light."""
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in COLORS[name]))


def material(name: str, alpha: float = 1.0) -> bpy.types.Material:
    """The material of a named colour, the same in Workbench (diffuse_color) and Cycles (nodes)."""
    found = bpy.data.materials.get(name)
    if found is None:
        found = bpy.data.materials.new(name)
        found.diffuse_color = (*linear(name), alpha)
        found.roughness = 0.55
        found.use_nodes = True
        shader = found.node_tree.nodes["Principled BSDF"]
        shader.inputs["Base Color"].default_value = (*linear(name), 1.0)
        shader.inputs["Alpha"].default_value = alpha
        shader.inputs["Roughness"].default_value = 0.55
    return found


def rig(name: str, bones: Iterable[tuple[str, str | None, Vector, Vector]]) -> bpy.types.Object:
    """An armature from rows of (bone, parent, head, tail), selected and active."""
    armature = bpy.data.armatures.new(name)
    ob = bpy.data.objects.new(name, armature)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, parent, head, tail in bones:
        bone = armature.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        if parent:
            bone.parent = armature.edit_bones[parent]
            bone.use_connect = (bone.head - bone.parent.tail).length < 1e-6
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.display_type = "STICK"
    ob.show_in_front = True
    return ob


def key_pose(
    ob: bpy.types.Object,
    frame: int,
    turns: Mapping[str, tuple[float, float, float]] = {},
    moves: Mapping[str, tuple[float, float, float]] = {},
) -> None:
    """Key bones at a frame. Turns (degrees) and moves (m) are about the armature's axes, relative to rest."""
    for name, degrees in turns.items():
        bone = ob.pose.bones[name]
        turn(bone, degrees)
        is_quaternion = bone.rotation_mode == "QUATERNION"
        bone.keyframe_insert("rotation_quaternion" if is_quaternion else "rotation_euler", frame=frame)
    for name, move in moves.items():
        bone = ob.pose.bones[name]
        bone.location = bone.bone.matrix_local.to_quaternion().inverted() @ Vector(move)
        bone.keyframe_insert("location", frame=frame)


def turn(bone: bpy.types.PoseBone, degrees: tuple[float, float, float]) -> None:
    """Turn a bone about the armature's axes, relative to rest."""
    rest = bone.bone.matrix_local.to_quaternion()
    local = rest.inverted() @ Euler([math.radians(d) for d in degrees]).to_quaternion() @ rest
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = local
    else:
        bone.rotation_euler = local.to_euler(bone.rotation_mode, bone.rotation_euler)


def name_action(ob: bpy.types.Object, name: str, interpolation: str = "BEZIER") -> None:
    """Name the keyed action and set how all its keys interpolate."""
    action = ob.animation_data.action
    action.name = name
    action.use_fake_user = True
    for curve in curves_of(action):
        for key in curve.keyframe_points:
            key.interpolation = interpolation


def curves_of(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """All F-curves, in legacy (to 4.3) and in slotted actions."""
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return [curve for bag in bags for curve in bag.fcurves]


def camera(eye: tuple[float, float, float], at: tuple[float, float, float], lens: float, size: tuple[int, int]) -> None:
    """The scene's camera, and the size of its picture [pixels]."""
    scene = bpy.context.scene
    ob = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    ob.data.lens = lens
    back = (Vector(eye) - Vector(at)).to_track_quat("Z", "Y")
    ob.matrix_world = Matrix.Translation(eye) @ back.to_matrix().to_4x4()
    scene.collection.objects.link(ob)
    scene.camera = ob
    scene.render.resolution_x, scene.render.resolution_y = size


def load_addon() -> None:
    """Register the add-on of this folder as `heft`, as an installed extension would be."""
    if hasattr(bpy.types.Object, "heft"):
        return
    if "heft" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "heft", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        sys.modules["heft"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["heft"])
    sys.modules["heft"].register()


def add_physics(ob: bpy.types.Object, behaviours: Mapping[str, str] = {}, **settings) -> None:
    """Add Physics with these settings, where the add-on is registered."""
    if not hasattr(bpy.types.Object, "heft"):
        return
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.heft.add()
    for name, value in settings.items():
        setattr(ob.heft, name, value)
    for bone, behaviour in behaviours.items():
        ob.pose.bones[bone].heft.behaviour = behaviour


def box(
    name: str, size: tuple[float, float, float], at: tuple[float, float, float], color: str = "steel"
) -> bpy.types.Object:
    """A box with its centre at a place."""
    x, y, z = (side / 2 for side in size)
    points = [(i, j, k) for i in (-x, x) for j in (-y, y) for k in (-z, z)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return _solid(name, points, faces, at, color, smooth=False)


def ball(name: str, radius: float, at: tuple[float, float, float], color: str = "moss") -> bpy.types.Object:
    """A round ball."""
    sides, rings = 24, 12
    points = [(0.0, 0.0, -radius), (0.0, 0.0, radius)]
    for i in range(1, rings):
        up, out = -radius * math.cos(math.pi * i / rings), radius * math.sin(math.pi * i / rings)
        points += [(out * math.cos(a), out * math.sin(a), up) for a in (math.tau * s / sides for s in range(sides))]
    faces: list[tuple[int, ...]] = []
    for s in range(sides):
        t = (s + 1) % sides
        faces.append((0, 2 + t, 2 + s))
        for low in range(2, 2 + (rings - 2) * sides, sides):
            faces.append((low + s, low + t, low + sides + t, low + sides + s))
        top = 2 + (rings - 2) * sides
        faces.append((1, top + s, top + t))
    ob = _solid(name, points, faces, at, color, smooth=True)
    collider(ob, shape="SPHERE")
    return ob


def _solid(
    name: str, points: list, faces: list, at: tuple[float, float, float], color: str, smooth: bool
) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    mesh.polygons.foreach_set("use_smooth", [smooth] * len(faces))
    mesh.materials.append(material(color))
    ob = bpy.data.objects.new(name, mesh)
    ob.location = at
    bpy.context.scene.collection.objects.link(ob)
    return ob


def key_places(ob: bpy.types.Object, places: Mapping[int, tuple[float, float, float]], name: str) -> None:
    """Key an object's way in straight, even lines."""
    for frame, place in places.items():
        ob.location = place
        ob.keyframe_insert("location", frame=frame)
    name_action(ob, name, interpolation="LINEAR")


def collide(ob: bpy.types.Object, *others: bpy.types.Object) -> None:
    """Put objects into the colliders of a rig with physics."""
    if not hasattr(bpy.types.Object, "heft"):
        return
    group = ob.heft.colliders or bpy.data.collections.new("Colliders")
    for other in others:
        group.objects.link(other)
    ob.heft.colliders = group


def collider(ob: bpy.types.Object, **settings) -> None:
    """How an object meets characters, where the add-on is registered."""
    if hasattr(bpy.types.Object, "heft"):
        for name, value in settings.items():
            setattr(ob.heft_collider, name, value)


def tie(ob: bpy.types.Object, on: Mapping[int, bool] = {}, **settings) -> None:
    """Tie a bone of a rig with physics; `on` keys when it holds."""
    if not hasattr(bpy.types.Object, "heft"):
        return
    new = ob.heft.ties.add()
    for name, value in settings.items():
        setattr(new, name, value)
    for frame, held in on.items():
        new.on = held
        ob.keyframe_insert(f"heft.ties[{len(ob.heft.ties) - 1}].on", frame=frame)


def limit(ob: bpy.types.Object, swings: Mapping[str, float]) -> None:
    """Joint limits of a rig with physics: how far each bone may lean from its rest direction [°]."""
    if hasattr(bpy.types.Object, "heft"):
        for bone, degrees in swings.items():
            own = ob.pose.bones[bone].heft
            own.use_limits, own.limits_from, own.limit_swing = True, "OWN", math.radians(degrees)
