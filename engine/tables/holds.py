"""What holds and strikes besides contacts: ties, joint limits, pushes, wind.

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
TIE_TURN = columns(4)  # rotation of a as b sees it
TIE_LENGTH = columns()
TIE_COLUMNS = columns.count

# Columns of Holds.tie_link; HOLDS: whether the tie has taken hold; FINDS_*: takes it from where bodies are then;
# ACTS_AT: where a pin's force acts
columns = Columns()
TIE_A, TIE_B, TIE_KIND, TIE_BRACED, HOLDS, FINDS_POINT, FINDS_LENGTH, ACTS_AT = columns.ones(8)
TIE_LINK_COLUMNS = columns.count
# Where a pin's force acts
BOTH_POINTS, POINT_OF_A, POINT_OF_B = (np.int64(k) for k in range(3))
# Kinds of ties
PIN, WELD, DISTANCE = (np.int64(k) for k in range(3))

# Columns of Holds.bound, infinite where there is none: hinge and universal: low and high of each angle;
# ball: largest swing of the Y axis, low and high of the twist about it, largest swing about Z where it differs
columns = Columns()
LOW, HIGH = columns.ones(2)  # of an angle; a universal joint has two pairs
columns = Columns()  # a ball's, in the same places
SWING, TWIST_LOW, TWIST_HIGH, SWING_Z = columns.ones(4)
LIMIT_FRAME = columns(8)  # what a ball's limits are measured from at rest, and in the body
NATURAL = columns()  # not 0 where only what is off its motion is held
BOUND_COLUMNS = columns.count

# Columns of Holds.push
columns = Columns()
PUSH_FRAME, PUSH_ROW = columns.ones(2)
PUSH_IMPULSE = columns(3)
PUSH_POINT = columns(3)
PUSH_COLUMNS = columns.count


@table
class Holds(NamedTuple):
    """What holds and strikes besides contacts: ties, joint limits, pushes, wind."""

    tie: np.ndarray  # (ties, TIE_COLUMNS)
    tie_link: np.ndarray  # (ties, TIE_LINK_COLUMNS)
    tie_on: np.ndarray  # (frames, ties)
    bound: np.ndarray  # (n+1, BOUND_COLUMNS) joint limits [rad]
    push: np.ndarray  # (pushes, PUSH_COLUMNS)
    wind: np.ndarray  # (winds, 3) [m/s]
    wind_on: np.ndarray  # (frames, winds) times the drag of air
    area: np.ndarray  # (n+1,) that a body offers the wind [m²]
