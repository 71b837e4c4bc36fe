"""Draw pieces on the graphics card: batches, textures and its state.

Owns the cache of batches and textures, by the pieces' keys. Must not know any single overlay, nor change data.

Hidden parts are drawn too, but faintly: bones are inside of skins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ...memory import LOAD, UNDO, Memo
from . import shaders
from .primitives import CASING, Dots, Faces, Lines, Mesh, Piece, Places, Solid, Strings, Wires

# Maximum number of batches and textures; the least recently used go first.
MOST_KEPT = 1500
MOST_TABLES = 12  # all bodies on all frames: large, and Live makes many
CASING_WIDTH = 2.4  # [pixels] wider than the line


@dataclass(frozen=True)
class View:
    """A region's view: matrix (4, 4) from the world to the screen; eye (4,): the camera position and 1, or in
    orthographic views the direction to it and 0; size [pixels]."""

    matrix: np.ndarray
    eye: tuple[float, float, float, float]
    size: tuple[int, int]

    @classmethod
    def of(cls, region, space) -> View:
        """The view of a region of the 3D View."""
        back = space.view_matrix.inverted()
        eye = (*back.translation, 1.0) if space.is_perspective else (*back.col[2][:3], 0.0)
        return cls(space.perspective_matrix.copy(), tuple(eye), (region.width, region.height))

    def pixels(self, points: np.ndarray) -> np.ndarray:
        """(k, 2) positions of points (k, 3) in the region; nan behind the camera."""
        matrix = np.array(self.matrix)
        clip = np.column_stack([points, np.ones(len(points))]) @ matrix.T
        seen = clip[:, 3:] > 1e-6
        flat = np.where(seen, clip[:, :2] / np.where(seen, clip[:, 3:], 1.0), np.nan)
        return (0.5 * flat + 0.5) * self.size


_kept: Memo = Memo("batches", "content", (LOAD, UNDO), MOST_KEPT)
_tables: Memo = Memo("textures of matrices", "content", (LOAD, UNDO), MOST_TABLES)


def draw(pieces: Iterable[Piece], view: View) -> None:
    """Draw in order, over what the view shows already. Marks and legends are not drawn here."""
    gpu.state.blend_set("ALPHA")
    try:
        for piece in pieces:
            draw_one = _DRAWN.get(type(piece))
            if draw_one is not None:
                draw_one(piece, view)
    finally:
        gpu.state.face_culling_set("NONE")
        gpu.state.depth_test_set("NONE")
        gpu.state.depth_mask_set(False)
        gpu.state.color_mask_set(True, True, True, True)
        gpu.state.blend_set("NONE")


# --- what bodies carry ---------------------------------------------------------------


def _table(places: Places) -> tuple[gpu.types.GPUTexture, int]:
    """The texture with the bodies' matrices, and the number of bodies."""

    def make():
        matrices = places.make()
        return _texture(matrices.reshape(-1, 4), shaders.WIDTH), matrices.shape[1]

    return make() if places.key is None else _tables.remember(places.key, make)


def _texture(texels: np.ndarray, width: int) -> gpu.types.GPUTexture:
    """A texture of texels (k, 4)."""
    rows = -(-len(texels) // width)
    full = np.zeros((rows * width, 4), dtype=np.float32)
    full[: len(texels)] = texels
    return gpu.types.GPUTexture(
        (width, rows), format="RGBA32F", data=gpu.types.Buffer("FLOAT", full.size, full.ravel())
    )


def _set_up(shader, piece: Solid | Wires, view: View, flag: int = 0) -> gpu.types.GPUTexture:
    """Bind the piece's data. Returns the texture, which must be kept until all is drawn because a shader does not keep
    it."""
    texture, bodies = _table(piece.places)
    shader.bind()
    shader.uniform_float("viewProjection", view.matrix)
    shader.uniform_int("table", (piece.row, bodies, shaders.WIDTH, flag))
    shader.uniform_sampler("places", texture)
    return texture


def _draw_solid(piece: Solid, view: View) -> None:
    shader = shaders.solid()
    batch = _kept.remember(("solid", id(piece.mesh)), lambda: _solid_batch(piece.mesh))[0]
    table = _set_up(shader, piece, view, int(piece.tints is not None))
    if piece.tints is None:
        tints = _kept.remember("white", lambda: _texture(np.ones((1, 4), dtype=np.float32), 1))
    else:
        tints = _texture(piece.tints, len(piece.tints))
    shader.uniform_sampler("tints", tints)
    shader.uniform_float("eye", view.eye)
    gpu.state.face_culling_set("BACK")
    if piece.hidden > 0.0:
        gpu.state.depth_test_set("GREATER")
        shader.uniform_float("color", (*piece.color[:3], piece.color[3] * piece.hidden))
        batch.draw(shader)
    shader.uniform_float("color", piece.color)
    gpu.state.depth_test_set("LESS_EQUAL")
    if piece.whole:
        # A depth pass first, then only the nearest surface.
        gpu.state.depth_mask_set(True)
        gpu.state.color_mask_set(False, False, False, False)
        batch.draw(shader)
        gpu.state.color_mask_set(True, True, True, True)
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("EQUAL")
    batch.draw(shader)
    gpu.state.face_culling_set("NONE")
    del table, tints


def _solid_batch(mesh: Mesh) -> tuple:
    batch = batch_for_shader(
        shaders.solid(),
        "TRIS",
        {
            "pos": mesh.vertices.astype(np.float32),
            "normal": mesh.normals.astype(np.float32),
            "body": mesh.bodies.astype(np.float32),
        },
        indices=mesh.triangles.astype(np.int32),
    )
    return batch, mesh  # with the mesh, because its id is the key


def _draw_wires(piece: Wires, view: View) -> None:
    shader = shaders.line()
    batch = _kept.remember(("wires", id(piece.strings)), lambda: _wires_batch(piece.strings))[0]
    table = _set_up(shader, piece, view)
    shader.uniform_float("screen", (*view.size, piece.width, 0.0))
    for faint in _passes(piece.hidden):
        shader.uniform_float("color", (*piece.color[:3], piece.color[3] * faint))
        batch.draw(shader)
    del table


def _wires_batch(strings: Strings) -> tuple:
    corners = np.array([[0.0, -1.0], [0.0, 1.0], [1.0, -1.0], [1.0, 1.0]], dtype=np.float32)
    count = len(strings.segments)
    four = np.repeat(strings.segments.astype(np.float32), 4, axis=0)
    triangles = (4 * np.arange(count)[:, None, None] + np.array([[0, 1, 2], [2, 1, 3]])[None]).reshape(-1, 3)
    # At a line's far end its sides are swapped: both ends have the whole segment.
    batch = batch_for_shader(
        shaders.line(),
        "TRIS",
        {
            "start": np.ascontiguousarray(four[:, 0]),
            "end": np.ascontiguousarray(four[:, 1]),
            "corner": np.tile(corners, (count, 1)),
            "body": np.repeat(strings.bodies, 4).astype(np.float32),
        },
        indices=triangles.astype(np.int32),
    )
    return batch, strings


def _passes(hidden: float) -> Iterable[float]:
    """Opacities of the passes: hidden parts first, then visible ones."""
    if hidden > 0.0:
        gpu.state.depth_test_set("GREATER")
        yield hidden
    gpu.state.depth_test_set("LESS_EQUAL")
    yield 1.0


# --- what stands in the world --------------------------------------------------------


def _draw_lines(piece: Lines, view: View) -> None:
    batches = _kept.remember(piece.key, lambda: _line_batches(piece))
    for batch, extra, color in batches:
        shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR" if color is not None else "POLYLINE_SMOOTH_COLOR")
        shader.bind()
        shader.uniform_float("viewportSize", view.size)
        shader.uniform_float("lineWidth", piece.width + extra)
        if color is None:
            # Its colours are its vertices'; hidden parts are not dimmed.
            gpu.state.depth_test_set("NONE")
            batch.draw(shader)
            continue
        for faint in _passes(piece.hidden):
            shader.uniform_float("color", (*color[:3], color[3] * faint))
            batch.draw(shader)


def _line_batches(piece: Lines) -> list[tuple]:
    """Batches, each with its additional width, and its colour if it has a single one."""
    segments, colors = piece.make()
    if not len(segments):
        return []
    pos = segments.reshape(-1, 3).astype(np.float32)
    if colors is None:
        shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
        batch = batch_for_shader(shader, "LINES", {"pos": pos})
        casing = (*CASING[:3], CASING[3] * piece.color[3])
        return [(batch, CASING_WIDTH, casing)] * piece.cased + [(batch, 0.0, piece.color)]
    shader = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
    own = colors.reshape(-1, 4).astype(np.float32)
    dark = np.tile(np.array(CASING, dtype=np.float32), (len(own), 1))
    dark[:, 3] *= own[:, 3]
    found = [(dark, CASING_WIDTH)] * piece.cased + [(own, 0.0)]
    return [(batch_for_shader(shader, "LINES", {"pos": pos, "color": tint}), extra, None) for tint, extra in found]


def _draw_faces(piece: Faces, view: View) -> None:
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")

    def make():
        corners = piece.make().reshape(-1, 3).astype(np.float32)
        return batch_for_shader(shader, "TRIS", {"pos": corners}) if len(corners) else None

    batch = _kept.remember(piece.key, make)
    if batch is not None:
        shader.bind()
        for faint in _passes(piece.hidden):
            shader.uniform_float("color", (*piece.color[:3], piece.color[3] * faint))
            batch.draw(shader)


def _draw_dots(piece: Dots, view: View) -> None:
    shader = shaders.points()

    def make():
        points, colors = piece.make()
        return batch_for_shader(
            shader, "POINTS", {"pos": points.astype(np.float32), "color": colors.astype(np.float32)}
        )

    batch = _kept.remember(piece.key, make)
    gpu.state.depth_test_set("NONE")
    gpu.state.point_size_set(piece.size)
    shader.bind()
    batch.draw(shader)
    gpu.state.point_size_set(1.0)


_DRAWN = {Solid: _draw_solid, Wires: _draw_wires, Lines: _draw_lines, Faces: _draw_faces, Dots: _draw_dots}
