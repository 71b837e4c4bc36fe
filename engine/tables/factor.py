"""The articulated-body factor of the mass matrix, as kernels read it.

Owns the layout of `Factor`. Spatial vectors are (angular, linear) in world axes about the tree's root anchor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns

# Columns of Factor.scratch
columns = Columns()
FORCE = columns(6)
MOVES = columns(6)

# Columns of Factor.inertia
columns = Columns()
TURNING = columns(6)  # angular on angular, xx, yy, zz, xy, xz, yz
MIXED = columns(9)  # linear on angular, row by row
MOVING = columns(6)  # linear on linear
INERTIA_COLUMNS = columns.count

# Columns of Factor.joint
columns = Columns()
COLUMN = columns(6)  # articulated inertia × axis, eliminated within the joint
LOWER = columns(6)  # the joint block's unit lower triangle, its pivot on the diagonal
PIVOT = columns()  # 1 / pivot, 0 where nothing can move
JOINT_COLUMNS = columns.count


class Factor(NamedTuple):
    """The articulated-body factor of M + C on the active degrees of freedom."""

    active: np.ndarray  # (n+1,) the body's joint takes part
    inertia: np.ndarray  # (n+1, INERTIA_COLUMNS) articulated inertia
    joint: np.ndarray  # (nv, JOINT_COLUMNS)
    scratch: np.ndarray  # (n+1, 12) forces and motions of a solve
