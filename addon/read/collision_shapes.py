"""From points and meshes to the engine's shapes: of bones, and of objects.

Owns the choice of a shape and the cache of what takes time (grids, hulls). Must not know positions or motion. Metres
throughout.
"""

from __future__ import annotations

import zlib

import bpy
import numpy as np

from ...engine.geometry import fit_points, mass_properties
from ...engine.geometry.shapes import Hull, Shape, named
from .. import settings
from ..blender import sample_poses
from ..errors import RigError
from ..memory import LOAD, REREAD, UNDO, Memo
from ..rig import skin

# A mesh counts as a sphere or box if no vertex is farther off than this part of its size.
ROUND, STRAIGHT = 0.02, 1e-3
# It counts as convex if it fills at least this part of its hull.
CONVEX = 0.98
# What Auto chooses from for a bone: the first for one without skin.
BONE_KINDS = {"AUTO": ("CAPSULE", "BOX")}
# Skin points of a bone beyond these are thinned out; fewer than the least say nothing.
MOST_POINTS, LEAST_POINTS = 600, 8
WATER = 1000.0  # [kg/m³]
KEPT = 256  # meshes, and shapes of objects
KEPT_BONES = 4096
# A shape must be closer to the skin by more than these parts (of the distance, of the skin's size) to count as better.
# Among equally good ones the smallest is taken, so that rounding does not decide.
ALIKE, NO_MISFIT = 0.02, 1e-4

_meshes: Memo[tuple, tuple[np.ndarray, np.ndarray, tuple]] = Memo("meshes", "object", (LOAD, UNDO, REREAD), KEPT)
# Cache of grids, which may take seconds to build.
_shapes: Memo[tuple, Shape] = Memo("shapes of objects", "content", most=KEPT)
# A separate cache, so that many bones do not evict a grid.
_bones: Memo[tuple, Shape] = Memo("shapes of bones", "content", most=KEPT_BONES)


# --- bones -----------------------------------------------------------------------


def bone_shape(kind: str, points: np.ndarray | None, radius: float, vector: np.ndarray) -> Shape | None:
    """The shape of a bone: around the skin's points (k, 3) in its frame, or around the bone itself as a rod of that
    radius along the vector (3,) [m]."""
    if kind == "NONE":
        return None
    if points is None or len(points) < LEAST_POINTS:
        return named(BONE_KINDS.get(kind, (kind,))[0]).rod(radius, vector)
    points = points[:: -(-len(points) // MOST_POINTS)]
    key = (kind, zlib.crc32(np.ascontiguousarray(points)), zlib.crc32(vector), len(points))
    return _bones.remember(key, lambda: _around(kind, points, vector))


def _around(kind: str, points: np.ndarray, vector: np.ndarray) -> Shape:
    found = [shape for each in BONE_KINDS.get(kind, (kind,)) for shape in named(each).fits(points, vector)]
    if len(found) == 1:
        return found[0]
    misfits = [_misfit(shape, points) for shape in found]
    near = (1.0 + ALIKE) * min(misfits) + NO_MISFIT * float(np.ptp(points, axis=0).max())
    close = [shape for misfit, shape in zip(misfits, found, strict=True) if misfit <= near]
    return fit_points.smallest(close, mass_properties.volume)


def _misfit(shape: Shape, points: np.ndarray) -> float:
    """How far points of a skin lie from a shape's surface, on average [m]."""
    return float(np.abs(shape.gaps(points)).mean())


# --- objects ---------------------------------------------------------------------


def object_shape(ob: bpy.types.Object, scene: bpy.types.Scene, frame: int, stretch, turn=None, shift=None) -> Shape:
    """The shape of a mesh object in the frame of a body [m].

    stretch    (3, 3) the effect of its scale on its points
    turn       (3, 3), shift (3,): its pose in the body that carries it; Auto then takes a hull for a concave mesh too
    """
    vertices, triangles, content = _mesh(ob, scene, frame)
    if len(vertices) == 0:
        raise RigError(f"Collider '{ob.name}' has no vertices: give it a mesh or take it out of the colliders.")
    stretch = _rounded(stretch)
    kind = settings.collider_of(ob).shape
    if turn is not None and kind == "AUTO":
        kind = "PART"
    turn = np.eye(3) if turn is None else turn
    shift = np.zeros(3) if shift is None else shift
    key = (kind, content, stretch.tobytes(), turn.tobytes(), shift.tobytes())
    return _shapes.remember(key, lambda: _placed_shape(kind, vertices @ stretch.T, triangles, ob.name, turn, shift))


def _rounded(stretch: np.ndarray) -> np.ndarray:
    """The stretch rounded, so that float noise of a turning object does not rebuild its grid."""
    size = float(np.abs(stretch).max())
    step = 10.0 ** (np.floor(np.log10(size)) - 5.0)
    return np.round(stretch / step) * step + 0.0


def _placed_shape(kind: str, points, triangles, name: str, turn: np.ndarray, shift: np.ndarray) -> Shape:
    if kind == "AUTO":
        kind = guess(points, triangles)
    elif kind == "PART":
        kind = guess(points, triangles[:0])
    shape = named(kind)
    if shape.needs_triangles and len(triangles) == 0:
        raise RigError(f"Collider '{name}' has no faces: a Mesh shape needs some; choose Hull or Box.")
    return shape.around_placed(points, triangles, turn, shift)


def guess(points: np.ndarray, triangles: np.ndarray) -> str:
    """The simplest kind of shape that matches the mesh; without triangles it counts as convex."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    size = float(half.max())
    if size <= 0.0:
        return "HULL"
    beside = half - np.abs(points - middle)
    if (beside <= STRAIGHT * size).all():
        return "BOX"
    away = np.linalg.norm(points - middle, axis=1)
    if len(points) >= 12 and away.min() > (1.0 - ROUND) * away.max():
        return "SPHERE"
    if len(triangles) == 0:
        return "HULL"
    corners = points[triangles] - middle
    inside = abs(float(np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum()) / 6.0)
    return "HULL" if inside >= CONVEX * mass_properties.volume(Hull(points)) else "MESH"


def mass_of(ob: bpy.types.Object, shape: Shape) -> float:
    """[kg] as set, or that of water in the shape."""
    given = settings.collider_of(ob).mass
    return float(given) if given > 0.0 else max(WATER * mass_properties.volume(shape), 1e-6)


def lowest(shape: Shape, positions: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """(frames,) the height of a shape's lowest point on a body at positions (frames, 3), turned (frames, 3, 3) [m]."""
    return positions[:, 2] + shape.lowest(turns[:, 2, :])  # the world's Z in the body's frame


def fingerprint(ob: bpy.types.Object) -> tuple:
    """The inputs of an object's shape, without its position."""
    stack = [(modifier.type, modifier.name, modifier.show_viewport) for modifier in ob.modifiers]
    return (skin.mesh_sum(ob.data), tuple(stack))


def _mesh(ob: bpy.types.Object, scene: bpy.types.Scene, frame: int) -> tuple[np.ndarray, np.ndarray, tuple]:
    """Vertices (k, 3), triangles (t, 3) and a hashable key for them."""

    def read() -> tuple[np.ndarray, np.ndarray, tuple]:
        vertices, triangles = sample_poses.mesh_at(ob, scene, frame)
        return vertices, triangles, (len(vertices), zlib.crc32(vertices), zlib.crc32(triangles))

    return _meshes.remember((ob.session_uid, frame, fingerprint(ob)), read)
