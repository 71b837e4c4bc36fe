"""Ties, joint limits, pushes, wind.

Owns the layout of `Holds`. Must not know how they act.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table

# Columns of Holds.tie
columns = Columns()
TIE_POINT_A = columns(3)  # on a, in its frame [m]
TIE_POINT_B = columns(3)  # on b
TIE_TURN = columns(4)  # rotation of a relative to b
TIE_LENGTH = columns()
TIE_COLUMNS = columns.count

# Columns of Holds.tie_link; HOLDS: not 0 once the tie was switched on; FINDS_*: taken from the bodies' poses then;
# ACTS_AT: the body whose point a pin's force acts at
columns = Columns()
TIE_A, TIE_B, TIE_KIND, TIE_BRACED, HOLDS, FINDS_POINT, FINDS_LENGTH, ACTS_AT = columns.ones(8)
TIE_LINK_COLUMNS = columns.count
# The point of action of a pin's force
BOTH_POINTS, POINT_OF_A, POINT_OF_B = (np.int64(k) for k in range(3))
# Kinds of ties
PIN, WELD, DISTANCE = (np.int64(k) for k in range(3))

# Columns of Holds.bound, infinite without limits; hinge and universal: low and high of each angle; ball: largest swing
# of the Y axis, low and high of the twist about it, largest swing about Z if it differs
columns = Columns()
LOW, HIGH = columns.ones(2)  # of an angle; a universal joint has two pairs
columns = Columns()  # a ball's, in the same columns
SWING, TWIST_LOW, TWIST_HIGH, SWING_Z = columns.ones(4)
LIMIT_FRAME = columns(8)  # the axes of a ball's limits at rest, and in the body
NATURAL = columns()  # not 0 if only joints off their motion are limited
BOUND_COLUMNS = columns.count

# Columns of Holds.push
columns = Columns()
PUSH_FRAME, PUSH_ROW = columns.ones(2)
PUSH_IMPULSE = columns(3)
PUSH_POINT = columns(3)
PUSH_COLUMNS = columns.count


@table
class Holds(NamedTuple):
    """Ties, joint limits, pushes, wind."""

    tie: np.ndarray  # (ties, TIE_COLUMNS)
    tie_link: np.ndarray  # (ties, TIE_LINK_COLUMNS)
    tie_on: np.ndarray  # (frames, ties)
    bound: np.ndarray  # (n+1, BOUND_COLUMNS) joint limits [rad]
    push: np.ndarray  # (pushes, PUSH_COLUMNS)
    wind: np.ndarray  # (winds, 3) [m/s]
    wind_on: np.ndarray  # (frames, winds) factor of the air's drag
    area: np.ndarray  # (n+1,) cross-section for the wind [m²]
