"""Shapes as the kernels read them: constant tables.

Owns their layout. Must not know where bodies are or what a contact is.

Every shape gets a frame of its own with the middle of its bounding box at the origin: a
capsule lies along Z, a plane's normal is Z, a box is straight. So a bounding box is the
half sizes in that frame, and the kernels need no offsets.

As in `tables`, names are first columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table

# Kinds, the simpler first: of a pair the kernels take the simpler one's points. A shape is laid out as one of them; any
# convex one as a HULL.
KINDS = SPHERE, CAPSULE, BOX, HULL, GRID, PLANE = tuple(np.int64(k) for k in range(6))
# Columns of Shapes.shape
columns = Columns()
OWN_SPOT = columns(3)  # the shape's frame in the body's …
OWN_AXES = columns(9)  # … and its axes, a matrix row by row
ROUNDING = columns()  # radius of a sphere or capsule, 0 for the others
HALF = columns(3)  # half sizes of the bounding box in the shape's frame, without the rounding
BOUND = columns()  # radius of the ball about the shape's origin that holds it all
REACH = columns()  # distance of its farthest point from the body's origin
CELL = columns()  # a grid's cell; 0 for the others, which are convex
FRICTION = columns()
BOUNCE = columns()
THICK = columns()  # how deep its middle lies; infinite for a plane, which has no end [m]
SHAPE_COLUMNS = columns.count
# Columns of Shapes.link; ranges are first and behind the last
columns = Columns()
BODY, KIND, ROOT, RESPONSE_KIND = columns.ones(4)
POINT_FIRST, POINT_END = columns.ones(2)
EDGE_FIRST, EDGE_END = columns.ones(2)
FACE_FIRST, FACE_END = columns.ones(2)
GRID_FIRST = columns()
GRID_SIZE = columns(3)  # values along X, Y, Z
GROUP = columns()  # which group of `member` it is in
# Shapes of one family (0 and above) do not touch one another; −1: in none; those of one below that touch one another
# where one of them is on a limp body that falls (`LIMP_FAMILY` minus a number)
FAMILY = columns()
LINK_COLUMNS = columns.count
LIMP_FAMILY = np.int64(-2)
# Columns of Shapes.edges: one row for each side of an edge, so a face's rows go round it
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
# Columns of the table of where bodies are, row 0 the world
columns = Columns()
POSITION = columns(3)
QUATERNION = columns(4)
# Columns of a table of placed shapes
columns = Columns()
SPOT = columns(3)  # the shape's origin in the world, the middle of its bounding box
AXES = columns(9)  # its axes in the world, a matrix row by row
EXTENT = columns(3)  # half sizes of its bounding box in world axes, with the rounding
PLACED_COLUMNS = columns.count


@table
class Shapes(NamedTuple):
    """Constant tables of ns shapes."""

    shape: np.ndarray  # (ns, SHAPE_COLUMNS)
    link: np.ndarray  # (ns, LINK_COLUMNS)
    points: np.ndarray  # (k, 3) corners, ends and surface points, in the shape's frame
    edges: np.ndarray  # (m, 4) points of each side of an edge, its face and the one behind it (−1: none)
    faces: np.ndarray  # (f, 4) outward normal and offset
    rings: np.ndarray  # (f, 2) the rows of `edges` that go round the face
    grid: np.ndarray  # flat values, Z fastest
    skip_start: np.ndarray  # (ns+1,) where each shape's part of `skip` begins
    skip: np.ndarray  # shapes it never touches
    member_start: np.ndarray  # (groups+1,) a group: the shapes of one tree, or a single plane
    member: np.ndarray  # (ns,)


def new_placed(shapes: Shapes) -> np.ndarray:
    """The table `place_shapes` fills."""
    return np.zeros((len(shapes.shape), PLACED_COLUMNS))
