"""Drawing primitives of overlays: lines, faces, bodies and marks, as plain arrays with their colours.

Owns the interface between an overlay, which makes pieces, and `gpu_draw`, which draws them. Must not know Blender: what
an overlay shows can be tested without a window.

A piece with a key is cached: `make` is called only if nothing is cached under that key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Color = tuple[float, float, float, float]

# Distinguishable with colour blindness (Okabe and Ito), on dark and light backgrounds.
SOURCE: Color = (0.34, 0.71, 0.97, 1.0)
RESULT: Color = (0.98, 0.62, 0.10, 1.0)
BEFORE: Color = (0.70, 0.52, 1.0, 1.0)
AFTER: Color = (0.25, 0.85, 0.55, 1.0)
GOOD: Color = (0.20, 0.85, 0.55, 1.0)
BAD: Color = (1.0, 0.32, 0.18, 1.0)
FLIGHT: Color = (1.0, 0.95, 0.55, 1.0)
SHAPES: Color = (0.30, 0.86, 0.78, 1.0)
COLLIDERS: Color = (0.90, 0.55, 0.78, 1.0)
GROUND: Color = (0.62, 0.62, 0.62, 0.35)
LIMITS: Color = (0.96, 0.89, 0.30, 1.0)
CASING: Color = (0.0, 0.0, 0.0, 0.45)


def with_alpha(color: Color, alpha: float) -> Color:
    """The same colour with this opacity."""
    return (*color[:3], alpha)


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles fixed to bodies: vertices (v, 3) with unit normals (v, 3) in the frames of bodies (v,)."""

    vertices: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    bodies: np.ndarray


@dataclass(frozen=True, eq=False)
class Strings:
    """Segments (k, 2, 3) fixed to bodies, in the frames of bodies (k,)."""

    segments: np.ndarray
    bodies: np.ndarray


@dataclass(frozen=True, eq=False)
class Places:
    """Transforms of bodies: (frames, n, 3, 4) from their frames to Blender's world, float32. Without a key they are for
    this redraw only."""

    make: Callable[[], np.ndarray]
    key: tuple | None = None


@dataclass(frozen=True, eq=False)
class Solid:
    """Bodies as transparent solids.

    tints     (n, 4) a colour for each instead of one
    whole     overlapping bodies are drawn as one, which takes another pass
    hidden    opacity of hidden parts
    """

    mesh: Mesh
    places: Places
    row: int
    color: Color
    tints: np.ndarray | None = None
    hidden: float = 0.0
    whole: bool = False


@dataclass(frozen=True, eq=False)
class Wires:
    """Segments on bodies. width [pixels]; hidden: opacity of hidden parts."""

    strings: Strings
    places: Places
    row: int
    color: Color
    width: float = 1.5
    hidden: float = 0.3


@dataclass(frozen=True, eq=False)
class Lines:
    """Segments (k, 2, 3) in Blender's world. If `make` also returns colours (k, 2, 4), they are used."""

    key: tuple
    make: Callable[[], tuple[np.ndarray, np.ndarray | None]]
    color: Color
    width: float = 2.0
    hidden: float = 0.5
    cased: bool = False


@dataclass(frozen=True, eq=False)
class Faces:
    """Triangles (k, 3, 3) in Blender's world."""

    key: tuple
    make: Callable[[], np.ndarray]
    color: Color
    hidden: float = 0.5


@dataclass(frozen=True, eq=False)
class Dots:
    """Points (k, 3) in Blender's world, as small dots; with colours (k, 4)."""

    key: tuple
    make: Callable[[], tuple[np.ndarray, np.ndarray]]
    size: float = 4.0


@dataclass(frozen=True, eq=False)
class Mark:
    """A mark at a point (3,) of Blender's world, always on top. kind: MASS, DOT, CROSS; radius [pixels]."""

    point: np.ndarray
    color: Color
    kind: str = "DOT"
    radius: float = 5.0


@dataclass(frozen=True)
class Note:
    """A line of the legend: a text with a colour, or a colour scale with its two ends."""

    text: str
    color: Color | None = None
    scale: tuple[Color, ...] = ()
    end: str = ""


Piece = Solid | Wires | Lines | Faces | Dots | Mark | Note
