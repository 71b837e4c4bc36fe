"""The model as kernels read it: constant tables, row 0 the world, bodies from row 1.

Owns the layout of `Tree`. Must not know about time or controllers.

A body's numbers are in one row; names such as REST are the first column of a group. (One array for each group would be
a little more readable, but a body's numbers are mostly used together, and fewer arrays compile faster.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table
from ..model.model import Model
from ..model.relaxed_pose import relaxed_coordinates

# Columns of Tree.body
columns = Columns()
REST = columns(4)  # body axes at rest in the parent's frame
AXIS = columns(3)  # hinge axis, universal's first
AXIS2 = columns(3)  # universal's second
CENTER = columns(3)  # centre of mass in the body's frame
INERTIA = columns(6)  # xx, yy, zz, xy, xz, yz about the centre of mass
MASS = columns()
SUBTREE_MASS = columns()  # of the body and its descendants; of all trees for the world
INVERSE = columns(6)  # the inverse of INERTIA
RELAXED = columns(4)  # the joint's coordinates in the middle of its range (see `tone`)
COLUMNS = columns.count


@table
class Tree(NamedTuple):
    """Constant tables of a model; n bodies in rows 1 … n."""

    parent: np.ndarray  # (n+1,) row of the parent
    kind: np.ndarray  # (n+1,)
    dof: np.ndarray  # (n+2,) first degree of freedom of each row
    last: np.ndarray  # (n+1,) last row of the body's subtree (rows are depth-first)
    roots: np.ndarray  # (trees,) rows of the root bodies
    body: np.ndarray  # (n+1, COLUMNS)


def build_tree(model: Model) -> Tree:
    """Build the tables of a model."""
    n = len(model)
    parent = np.zeros(n + 1, dtype=np.int64)
    parent[1:] = model.parents + 1
    kind = np.zeros(n + 1, dtype=np.int64)
    kind[1:] = model.kinds
    dof = np.zeros(n + 2, dtype=np.int64)
    dof[1:] = model.dof_starts
    body = np.zeros((n + 1, COLUMNS))
    body[0, REST] = 1.0
    body[1:, REST : REST + 4] = model.rest_rotations
    body[1:, AXIS : AXIS + 3] = model.axes[:, 0]
    body[1:, AXIS2 : AXIS2 + 3] = model.axes[:, 1]
    body[1:, CENTER : CENTER + 3] = model.centers
    entries = (slice(None), (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2))
    body[1:, INERTIA : INERTIA + 6] = model.inertias[entries]
    body[1:, INVERSE : INVERSE + 6] = _inverses(model.inertias)[entries]
    body[1:, MASS] = model.masses
    body[:, SUBTREE_MASS] = _subtree_masses(parent, model.masses)
    body[1:, RELAXED : RELAXED + 4] = relaxed_coordinates(model)
    roots = np.flatnonzero(model.parents < 0) + 1
    return Tree(parent, kind, dof, last_rows(parent), roots, body)


def last_rows(parent: np.ndarray) -> np.ndarray:
    """The last row of each body's subtree, with rows in depth-first order."""
    last = np.arange(len(parent))
    for row in range(len(parent) - 1, 0, -1):
        last[parent[row]] = max(last[parent[row]], last[row])
    return last


def _subtree_masses(parent: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """(n+1,) the mass of each body and its descendants, row 0 the world [kg]."""
    total = np.concatenate([[0.0], masses])
    for row in range(len(total) - 1, 0, -1):
        total[parent[row]] += total[row]
    return total


def _inverses(inertias: np.ndarray) -> np.ndarray:
    """Inverses (n, 3, 3) by cross products: for matrices this small the overhead of LAPACK's threads is a hundred times
    the work."""
    x, y, z = np.moveaxis(inertias, 1, 0)
    rows = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=1)
    return rows / np.einsum("ni,ni->n", rows[:, 0], x)[:, None, None]
