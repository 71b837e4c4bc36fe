"""The collision shapes of bodies.

Owns the list of shapes. A shape is a class in its own file that implements the interface in `base.py`.
"""

from .base import Shape
from .box import Box
from .capsule import Capsule
from .convex import Convex
from .grid import Grid
from .hull import Hull
from .plane import Plane
from .sphere import Sphere

__all__ = ("SHAPES", "Box", "Capsule", "Convex", "Grid", "Hull", "Plane", "Shape", "Sphere", "named")

SHAPES: tuple[type[Shape], ...] = (Sphere, Capsule, Box, Hull, Plane, Grid)


def named(kind: str) -> type[Shape]:
    """The shape's class by its name in the settings."""
    return next(shape for shape in SHAPES if shape.kind == kind)
