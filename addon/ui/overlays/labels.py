"""Marks and the legend, drawn in pixels on top of the view.

Owns their look. Must not know any single overlay, nor change data.
"""

from __future__ import annotations

from collections.abc import Sequence

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from .gpu_draw import View
from .primitives import Color, Mark, Note

DARK: Color = (0.05, 0.05, 0.06, 0.95)
WHITE: Color = (0.97, 0.97, 0.97, 1.0)
ROUND = 24
TEXT, LINE, MARGIN = 11, 17, 14  # [pixels at normal size]
SWATCH, SCALE_WIDTH = 10, 90


def _pie(start: float, end: float) -> np.ndarray:
    """(t, 3, 2) triangles of a sector of the unit disc."""
    turn = np.linspace(start, end, max(int(ROUND * (end - start) / (2.0 * np.pi)), 2) + 1)
    rim = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.stack([np.zeros_like(rim[1:]), rim[:-1], rim[1:]], axis=1)


_DISC = _pie(0.0, 2.0 * np.pi)
_QUARTERS = [_pie(0.5 * np.pi * k, 0.5 * np.pi * (k + 1)) for k in range(4)]
_RING = _DISC[:, 1:]


def _parts(mark: Mark) -> tuple[list[tuple[np.ndarray, Color]], list[tuple[np.ndarray, Color, float]]]:
    """Triangles (t, 3, 2) and lines (k, 2, 2) of a mark of radius one, with their colours and widths."""
    if mark.kind == "MASS":
        fills = [(part, WHITE if k % 2 else DARK) for k, part in enumerate(_QUARTERS)]
        return fills, [(_RING, DARK, 4.0), (_RING, mark.color, 2.2)]
    if mark.kind == "CROSS":
        arms = np.array([[[-1.7, 0.0], [1.7, 0.0]], [[0.0, -1.7], [0.0, 1.7]]])
        return [(_DISC * 0.6, mark.color)], [
            (arms, DARK, 3.6),
            (_RING, DARK, 4.0),
            (arms, WHITE, 1.6),
            (_RING, WHITE, 1.8),
        ]
    if mark.kind == "RING":
        return [], [(_RING, (*DARK[:3], 0.5 * mark.color[3]), 5.0), (_RING, mark.color, 2.6)]
    return [(_DISC, mark.color)], [(_RING, DARK, 1.6)]


def draw_marks(marks: Sequence[Mark], view: View, scale: float) -> None:
    """Draw every mark. scale: of the user interface."""
    if not marks:
        return
    spots = view.pixels(np.array([mark.point for mark in marks]))
    fills, colors, lines = [], [], {}
    for mark, spot in zip(marks, spots, strict=True):
        if not np.isfinite(spot).all():
            continue
        size = mark.radius * scale
        faces, rings = _parts(mark)
        for part, color in faces:
            fills.append((part * size + spot).reshape(-1, 2))
            colors.append(np.tile(color, (part.shape[0] * 3, 1)))
        for layer, (part, color, width) in enumerate(rings):
            lines.setdefault((layer, width, color), []).append((part * size + spot).reshape(-1, 2))
    if fills:
        _draw("SMOOTH_COLOR", "TRIS", np.concatenate(fills), np.concatenate(colors))
    for (_, width, color), parts in sorted(lines.items(), key=lambda item: item[0][0]):
        _draw_line(np.concatenate(parts), color, width * scale, view)


def _deep(points: np.ndarray) -> np.ndarray:
    return np.column_stack([points, np.zeros(len(points))]).astype(np.float32)


def _draw(name: str, kind: str, points: np.ndarray, colors: np.ndarray) -> None:
    shader = gpu.shader.from_builtin(name)
    gpu.state.blend_set("ALPHA")
    shader.bind()
    batch_for_shader(shader, kind, {"pos": _deep(points), "color": np.asarray(colors, dtype=np.float32)}).draw(shader)
    gpu.state.blend_set("NONE")


def _draw_line(points: np.ndarray, color: Color, width: float, view: View) -> None:
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("viewportSize", view.size)
    shader.uniform_float("lineWidth", width)
    shader.uniform_float("color", color)
    batch_for_shader(shader, "LINES", {"pos": _deep(points)}).draw(shader)
    gpu.state.blend_set("NONE")


# --- the legend ----------------------------------------------------------------------


def draw_notes(notes: Sequence[Note], area: bpy.types.Area, region: bpy.types.Region, scale: float) -> None:
    """The lines of the legend, without repetitions, at the bottom left, next to a toolbar that overlaps the region."""
    lines = list(dict.fromkeys(notes))
    tools = [each for each in area.regions if each.type == "TOOLS" and each.width > 1]
    left = MARGIN * scale + max((each.x + each.width - region.x for each in tools if each.x <= region.x), default=0)
    for k, note in enumerate(reversed(lines)):
        _draw_note(note, left, (MARGIN + k * LINE) * scale, scale)


def _draw_note(note: Note, x: float, y: float, scale: float) -> None:
    size = SWATCH * scale
    if note.color is not None:
        _rectangle(x, y, size, size, (note.color,))
        x += 1.6 * size
    x += _text(note.text, x, y, scale)
    if note.scale:
        x += 0.6 * size
        _rectangle(x, y, SCALE_WIDTH * scale, size, note.scale)
        x += SCALE_WIDTH * scale + 0.6 * size
    _text(note.end, x, y, scale)


def _rectangle(x: float, y: float, width: float, height: float, colors: Sequence[Color]) -> None:
    """A rectangle filled with one colour or a gradient."""
    each = colors if len(colors) > 1 else (*colors, *colors)
    edges = np.linspace(x, x + width, len(each))
    points, tints = [], []
    for k in range(len(each) - 1):
        a, b = edges[k : k + 2]
        points += [(a, y), (b, y), (b, y + height), (a, y), (b, y + height), (a, y + height)]
        left, right = ((*each[i][:3], 1.0) for i in (k, k + 1))
        tints += [left, right, right, left, right, left]
    _draw("SMOOTH_COLOR", "TRIS", np.array(points), np.array(tints))


def _text(text: str, x: float, y: float, scale: float) -> float:
    """Draw a text; returns its width."""
    if not text:
        return 0.0
    blf.size(0, TEXT * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.9)
    blf.color(0, *WHITE)
    blf.position(0, x, y, 0.0)
    blf.draw(0, text)
    blf.disable(0, blf.SHADOW)
    return blf.dimensions(0, text)[0]
