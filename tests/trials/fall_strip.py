"""A picture of a fall: the body's shapes at eight moments, side by side.

Owns the picture's scene and its rendering. Must not simulate.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import bmesh
import bpy
import numpy as np
from falling import DROP, Fallen, lowest
from mathutils import Euler, Vector

MOMENTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 4.0)  # [s]
WIDTH, HEIGHT, COLUMNS = 390, 330, 4  # pixels of a moment, moments in a row
TILT, SLANT = math.radians(18.0), math.radians(55.0)  # of the camera
SPREAD = 80  # points on a ball
PALETTE = ((0.25, 0.5, 0.8), (0.75, 0.35, 0.3), (0.35, 0.65, 0.35), (0.8, 0.6, 0.25), (0.6, 0.45, 0.75))


def render_strip(fallen: Fallen, path: Path) -> None:
    """Write the picture of a fall."""
    from PIL import Image, ImageDraw

    bpy.ops.wm.read_factory_settings(use_empty=True)
    floor = lowest(fallen.fall) - DROP
    bodies = {}
    for body in range(len(fallen.fall.model)):
        mesh = _mesh(fallen, body)
        if mesh is not None:
            bodies[body] = bpy.data.objects.new("body", mesh)
            bodies[body].rotation_mode = "QUATERNION"
            bpy.context.scene.collection.objects.link(bodies[body])
    _add_floor(10.0 * fallen.fall.height + 10.0 * DROP)
    rows = -(-len(MOMENTS) // COLUMNS)
    sheet = Image.new("RGB", (WIDTH * COLUMNS, HEIGHT * rows))
    for k, moment in enumerate(MOMENTS):
        frame = min(round(moment * fallen.fps), len(fallen.places) - 1)
        shift = np.array([-fallen.center[frame, 0], -fallen.center[frame, 1], -floor])
        for body, ob in bodies.items():
            ob.location, ob.rotation_quaternion = fallen.places[frame, body] + shift, fallen.turns[frame, body]
        _look(*_box(bodies.values()))
        tile = path.with_suffix(".tile.png")
        _render(tile)
        sheet.paste(Image.open(tile).convert("RGB"), (k % COLUMNS * WIDTH, k // COLUMNS * HEIGHT))
        ImageDraw.Draw(sheet).text(
            (k % COLUMNS * WIDTH + 8, k // COLUMNS * HEIGHT + 6), f"{moment:g} s", fill=(0, 0, 0)
        )
        tile.unlink()
    sheet.save(path)


def _box(objects) -> tuple[np.ndarray, float]:
    """Middle and largest reach of what is seen, the ground below it included."""
    bpy.context.view_layer.update()
    corners = np.array([ob.matrix_world @ Vector(corner) for ob in objects for corner in ob.bound_box])
    low, high = corners.min(axis=0), corners.max(axis=0)
    low[2] = min(low[2], 0.0)
    return 0.5 * (low + high), float(np.linalg.norm(high - low))


def _mesh(fallen: Fallen, body: int) -> bpy.types.Mesh | None:
    """The convex hulls of a body's shapes."""
    shapes = fallen.fall.model.shapes[body]
    if not shapes:
        return None
    form = bmesh.new()
    for shape in shapes:
        points = [form.verts.new(point) for point in _surface(shape.bearing())]
        if len(points) > 3:
            made = bmesh.ops.convex_hull(form, input=points)
            inner = {v for v in (*made["geom_interior"], *made["geom_unused"]) if isinstance(v, bmesh.types.BMVert)}
            bmesh.ops.delete(form, geom=list(inner), context="VERTS")
    mesh = bpy.data.meshes.new("body")
    form.to_mesh(mesh)
    form.free()
    mesh.materials.append(_paint(PALETTE[body % len(PALETTE)]))
    return mesh


def _surface(balls: np.ndarray) -> np.ndarray:
    """Points (k, 3) on balls (n, 4), well spread."""
    turn = np.arange(SPREAD) * math.pi * (3.0 - math.sqrt(5.0))
    z = 1.0 - (2.0 * np.arange(SPREAD) + 1.0) / SPREAD
    across = np.sqrt(1.0 - z * z)
    unit = np.stack([across * np.cos(turn), across * np.sin(turn), z], axis=1)
    round_ones = balls[balls[:, 3] > 0.0]
    dots = balls[balls[:, 3] == 0.0, :3]
    return np.concatenate([dots, (round_ones[:, None, :3] + round_ones[:, None, 3:] * unit).reshape(-1, 3)])


def _paint(color: tuple[float, float, float]) -> bpy.types.Material:
    material = bpy.data.materials.new("paint")
    material.diffuse_color = (*color, 1.0)
    return material


def _add_floor(side: float) -> None:
    mesh = bpy.data.meshes.new("floor")
    mesh.from_pydata([(-side, -side, 0), (side, -side, 0), (side, side, 0), (-side, side, 0)], [], [(0, 1, 2, 3)])
    mesh.materials.append(_paint((0.8, 0.8, 0.78)))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("floor", mesh))


def _look(middle: np.ndarray, reach: float) -> None:
    """A camera without perspective, a little from above, at a slant to the way the body falls."""
    scene = bpy.context.scene
    if scene.camera is None:
        scene.camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
        scene.collection.objects.link(scene.camera)
    data = scene.camera.data
    data.type, data.ortho_scale = "ORTHO", 0.9 * reach * WIDTH / HEIGHT
    data.clip_start, data.clip_end = 0.01 * reach, 20.0 * reach
    turn = Euler((0.5 * math.pi - TILT, 0.0, SLANT))
    scene.camera.rotation_euler = turn
    scene.camera.location = Vector(middle) + turn.to_matrix() @ Vector((0.0, 0.0, 5.0 * reach))


def _render(path: Path) -> None:
    scene = bpy.context.scene
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = WIDTH, HEIGHT
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_shadows, shading.show_cavity = True, True
    scene.display.light_direction = (-0.3, 0.35, 0.9)
    scene.display.render_aa = "8"
    scene.render.image_settings.file_format = "PNG"
    path.parent.mkdir(parents=True, exist_ok=True)
    scene.render.filepath = str(path)
    sys.stdout.flush()
    kept = os.dup(1)  # Blender tells of each picture
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        bpy.ops.render.render(write_still=True)
        os.dup2(kept, 1)
    os.close(kept)
