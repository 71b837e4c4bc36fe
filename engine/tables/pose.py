"""A pose as kernels read it: the bodies' poses, and the motion of each degree of freedom.

Owns the layout of `Pose`. Spatial vectors are (angular, linear) in world axes about the tree's root anchor, so inertias
and momenta of a tree add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns

# Columns of Pose.body
columns = Columns()
ROTATION = columns(4)  # body axes in the world
PLACE = columns(3)  # joint anchor from the tree's root anchor [m]
COM = columns(3)  # centre of mass from the tree's root anchor [m]
MOMENT = columns(3)  # mass × COM
WORLD_INERTIA = columns(6)  # about the tree's root anchor, world axes
COLUMNS = columns.count

# Columns of Pose.axes
columns = Columns()
TURNS = columns(3)
SHIFTS = columns(3)


class Pose(NamedTuple):
    """Quantities that depend only on the bodies' poses."""

    body: np.ndarray  # (n+1, COLUMNS)
    axes: np.ndarray  # (nv, 6) motion of one unit of each degree of freedom
