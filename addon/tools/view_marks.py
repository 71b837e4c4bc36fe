"""Small marks over the 3D View while a bone is dragged with the mouse: pins, lines, arrows.

Owns a draw handler while an operator runs. Must not know what the marks mean, nor change data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ..blender.safe_draw import guarded

COLORS = {
    "pin": (1.0, 0.55, 0.1, 1.0),
    "pull": (0.3, 0.85, 1.0, 1.0),
    "push": (1.0, 0.25, 0.2, 1.0),
    "old push": (1.0, 0.55, 0.5, 0.8),
}
# Half the side of a pin, of a grip, and the length of an arrow head [pixels at normal size].
PIN, GRIP, HEAD = 6.0, 4.0, 12.0


class Line(NamedTuple):
    """kind: one of COLORS; start and end (3,) in Blender's world."""

    kind: str
    start: np.ndarray
    end: np.ndarray


class Marks:
    """Draws what `lines` returns in every 3D View of a scene until removed."""

    def __init__(self, lines: Callable[[], list[Line]], scene: bpy.types.Scene) -> None:
        self._lines, self._scene = lines, scene.session_uid
        self._handle = bpy.types.SpaceView3D.draw_handler_add(guarded(self._draw), (), "WINDOW", "POST_PIXEL")

    def remove(self) -> None:
        bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")

    def _draw(self) -> None:
        """Blender's draw callback."""
        if bpy.context.scene.session_uid != self._scene:
            return
        region, data = bpy.context.region, bpy.context.region_data
        for line in self._lines():
            ends = [view3d_utils.location_3d_to_region_2d(region, data, Vector(end)) for end in line[1:]]
            if None not in ends:
                scale = bpy.context.preferences.system.ui_scale
                _draw_lines(segments(line.kind, *(np.array(end) for end in ends), scale), COLORS[line.kind], region)


def segments(kind: str, a: np.ndarray, b: np.ndarray, scale: float) -> list:
    """Pairs of screen points (2,) [pixels]: a pin is a square with a cross, a pull a line with a grip, a push an
    arrow."""
    if kind == "pin":
        return _square(a, PIN * scale) + _cross(a, PIN * scale)
    out = [[a, b], *_square(a, GRIP * scale)]
    way = b - a
    size = float(np.linalg.norm(way))
    if kind in ("push", "old push") and size > 1e-6:
        way = way / size * HEAD * scale
        side = np.array([-way[1], way[0]]) * 0.5
        out += [[b, b - way + side], [b, b - way - side]]
    return out


def _square(p: np.ndarray, half: float) -> list:
    corners = [p + half * np.array(sign) for sign in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return [[corners[k], corners[(k + 1) % 4]] for k in range(4)]


def _cross(p: np.ndarray, half: float) -> list:
    return [[p - half * np.array(way), p + half * np.array(way)] for way in ((1, 1), (1, -1))]


def _draw_lines(found, color: tuple[float, ...], region: bpy.types.Region) -> None:
    import gpu  # noqa: PLC0415 - only where there is a window to draw into
    from gpu_extras.batch import batch_for_shader  # noqa: PLC0415 - imports gpu

    points = np.asarray(found, dtype=np.float32).reshape(-1, 2)
    points = np.concatenate([points, np.zeros((len(points), 1), np.float32)], axis=1)
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": points})
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("viewportSize", (region.width, region.height))
    shader.uniform_float("lineWidth", 2.0)
    shader.uniform_float("color", color)
    batch.draw(shader)
    gpu.state.blend_set("NONE")
