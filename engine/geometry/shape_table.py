"""Shapes as the kernels read them: constant tables.

Owns the layout of these tables. Must not know where bodies are or what a contact is.

Every shape has a frame of its own with the centre of its bounding box at the origin: a capsule is along Z, a plane's
normal is Z, a box is axis-aligned. So the half sizes in that frame define the bounding box, and the kernels need no
offsets.

As in `tables`, a name is the index of its first column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table

# Kinds, the simpler first: for a pair the kernels use the simpler one's points. A shape is laid out as one of them; any
# other convex shape as a HULL.
KINDS = SPHERE, CAPSULE, BOX, HULL, GRID, PLANE = tuple(np.int64(k) for k in range(6))
# Columns of Shapes.shape
columns = Columns()
OWN_SPOT = columns(3)  # the shape's frame in the body's …
OWN_AXES = columns(9)  # … and its axes, a matrix row by row
ROUNDING = columns()  # radius of a sphere or capsule, 0 for the others
HALF = columns(3)  # half sizes of the bounding box in the shape's frame, without the rounding
BOUND = columns()  # radius of its bounding ball about the shape's origin
REACH = columns()  # distance of its farthest point from the body's origin
CELL = columns()  # size of a grid's cell; 0 for the others, which are convex
FRICTION = columns()
BOUNCE = columns()
THICK = columns()  # depth of its centre below its surface [m]; infinite for a plane
SHAPE_COLUMNS = columns.count
# Columns of Shapes.link; a range is its first index and the one after its last
columns = Columns()
BODY, KIND, ROOT, RESPONSE_KIND = columns.ones(4)
POINT_FIRST, POINT_END = columns.ones(2)
EDGE_FIRST, EDGE_END = columns.ones(2)
FACE_FIRST, FACE_END = columns.ones(2)
GRID_FIRST = columns()
GRID_SIZE = columns(3)  # values along X, Y, Z
GROUP = columns()  # its group in `member`
# Shapes of one family (0 and above) do not touch one another. −1: no family. Shapes of a family below −1 (`LIMP_FAMILY`
# minus a number) touch one another only if one of them is on a limp body that falls.
FAMILY = columns()
LINK_COLUMNS = columns.count
LIMP_FAMILY = np.int64(-2)
# Columns of Shapes.edges: one row for each direction of an edge, so that the rows of a face form its outline
columns = Columns()
EDGE_START, EDGE_STOP, EDGE_FACE, EDGE_OTHER = columns.ones(4)
# Columns of Shapes.rings
columns = Columns()
RING_FIRST, RING_END = columns.ones(2)
# Columns of Shapes.faces
columns = Columns()
FACE_NORMAL = columns(3)
FACE_OFFSET = columns()
# Column of Shapes.points
columns = Columns()
XYZ = columns(3)
# Columns of the table of the bodies' placements; row 0 is the world
columns = Columns()
POSITION = columns(3)
QUATERNION = columns(4)
# Columns of a table of placed shapes
columns = Columns()
SPOT = columns(3)  # the shape's origin in the world, the centre of its bounding box
AXES = columns(9)  # its axes in the world, a matrix row by row
EXTENT = columns(3)  # half sizes of its bounding box in world axes, with the rounding
PLACED_COLUMNS = columns.count


@table
class Shapes(NamedTuple):
    """Constant tables of ns shapes."""

    shape: np.ndarray  # (ns, SHAPE_COLUMNS)
    link: np.ndarray  # (ns, LINK_COLUMNS)
    points: np.ndarray  # (k, 3) corners, ends and surface points, in the shape's frame
    edges: np.ndarray  # (m, 4) start and end point of an edge, its face and the adjacent one (−1: none)
    faces: np.ndarray  # (f, 4) outward normal and offset
    rings: np.ndarray  # (f, 2) the range of `edges` that is the face's outline
    grid: np.ndarray  # flat values of all grids, Z fastest
    skip_start: np.ndarray  # (ns+1,) start of each shape's part of `skip`
    skip: np.ndarray  # shapes that it never touches
    member_start: np.ndarray  # (groups+1,) a group: the shapes of one tree, or a single plane
    member: np.ndarray  # (ns,)


def new_placed(shapes: Shapes) -> np.ndarray:
    """Allocate the table that `place_shapes` fills."""
    return np.zeros((len(shapes.shape), PLACED_COLUMNS))
