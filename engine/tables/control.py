"""The control table: what a controller asks of each body at each frame.

Owns its layout and the behaviours. Must not know how they are reached.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table
from .axes import Axes

# What a controller asks of a body; ASSIST is for free roots only.
ANIMATED, SIMULATED, LIMP, ASSIST = (np.int64(k) for k in range(4))

# Columns of Control.setting
columns = Columns()
OMEGA, ZETA, HEAVINESS, STRENGTH = columns.ones(4)
ARRIVAL = columns()  # the share of its keys' velocities a body arrives with; below 0 it keeps no keys
SHAPE = columns()  # n of METHODS §2: how late in its time a body moves
LAW = columns()  # not 0: by S2's own torques instead of in closed form
RECOVERY = columns()  # [s] in which a struck body is back on its motion; 0: it follows as ever
TONE_DAMPING, TONE_PULL = columns.ones(2)  # k_v [1/s], k_p [1/s²] of joints that nothing drives (`tone`)
QUICKER = columns()  # times: how much faster a joint's spring is than its settle time says (see `even_weight`)
COLUMNS = columns.count


@table
class Control(NamedTuple):
    """What the controller asks, a row a frame or one row for all frames; bodies from column 1."""

    behaviour: Annotated[np.ndarray, Axes("frame", "body")]  # (rows, n+1)
    setting: Annotated[np.ndarray, Axes("frame", "body", "column")]  # (rows, n+1, columns of `CONTROL`)
    assist: Annotated[
        np.ndarray, Axes("frame", "body")
    ]  # (rows or 1, n+1) limit of a root's guiding force in body weights
