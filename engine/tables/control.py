"""The control table: a controller's values for each body at each frame.

Owns its layout and the behaviours. Must not know how they are used.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table
from .axes import Axes

# Behaviours of a body; ASSIST is for free roots only.
ANIMATED, SIMULATED, LIMP, ASSIST = (np.int64(k) for k in range(4))

# Columns of Control.setting
columns = Columns()
OMEGA, ZETA, HEAVINESS, STRENGTH = columns.ones(4)
ARRIVAL = columns()  # the share of its keys' velocities with which a body arrives; below 0 it meets no keys
SHAPE = columns()  # n of METHODS §2: how late in its time a body moves
LAW = columns()  # not 0 for S2's own torques instead of the closed form
RECOVERY = columns()  # [s] recovery time of a struck body; 0: none
TONE_DAMPING, TONE_PULL = columns.ones(2)  # k_v [1/s], k_p [1/s²] of joints without drive (`tone`)
QUICKER = columns()  # factor of the spring's frequency, relative to its settle time (see `even_weight`)
COLUMNS = columns.count


@table
class Control(NamedTuple):
    """The controller's values, one row for each frame or one row for all; bodies from column 1."""

    behaviour: Annotated[np.ndarray, Axes("frame", "body")]  # (rows, n+1)
    setting: Annotated[np.ndarray, Axes("frame", "body", "column")]  # (rows, n+1, columns of `CONTROL`)
    assist: Annotated[
        np.ndarray, Axes("frame", "body")
    ]  # (rows or 1, n+1) limit of a root's guiding force in body weights
