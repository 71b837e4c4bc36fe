"""The characters at one instant: all that one step hands to the next.

Owns the layout of `State`. Must not know how it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table
from .tree import Tree

# Columns of State.body. `reference` is r of METHODS §1c: it never sees a load.
columns = Columns()
COORDS = columns(4)
ANCHOR = columns(3)  # in the parent's frame; of roots in the world [m]
DRIFT = columns(3)  # its rate
SPIN = columns(3)  # angular momentum about the body's own centre, world axes
LINEAR = columns(3)  # linear momentum
REFERENCE = columns(4)  # r's coordinates
REFERENCE_ANCHOR = columns(3)  # r's position (free roots)
ERROR = columns(12)  # r against target: e, ė, then position and its rate (free roots)
DEFLECTION = columns(6)  # q against r: rotation vector or angles, then position (free roots)
SLIPPED = columns()  # not 0 where the drive was spent and r has not come back to its target since
QUICKENS = columns()  # how fast a limp joint's rates change, where a step turned it too far [rad/s²]
DUE = columns()  # when the body's appointment is [frames]; infinite where it has none
DUE_VALUE = columns(4)  # its coordinates then …
DUE_RATE = columns(3)  # … and their rates
DUE_PLACE = columns(3)  # of a free root …
DUE_DRIFT = columns(3)  # … and its rate
DUE_KEY = columns()  # which key it is, −1 for none: then it is with the source motion (see `recovery`)
DUE_BLOW = columns()  # how hard a blow made the appointment [rad/s]
PRESSED = columns()  # of a root: how long its tree has stood in something it is forced into [s] (see `forced`)
STRUCK = columns()  # not 0 where a blow deflects the joint of a guided tree, until that has died away
RETURNS = columns()  # not 0 where a body that was limp is on its way back to where it is animated
QUIET = columns()  # seconds of rest of the world's row (`sleeping`), of calm of a ragdoll's root (`settling`)
MET = columns()  # of a root: how long its tree has rested against another; 0 where it met none, or is back since
STOOD = columns()  # not 0 of a body that has stood on something in the source: a foot (see `footfall`)
APART = columns()  # of a root whose tree met another: how long they have not touched since [s]
COLUMNS = columns.count

# Rows of State.rate
columns = Columns()
V, REFERENCE_V = columns.ones(2)


@table
class State(NamedTuple):
    """The characters at one instant."""

    body: np.ndarray  # (n+1, COLUMNS)
    rate: np.ndarray  # (2, nv)
    behaviour: np.ndarray  # (n+1,) the control table's, of the current frame; −1 before the first
    off: np.ndarray  # (k, 6) how far a joint was off its key at the key's time: [rad] and [rad/s]; NaN before it


def new_state(tree: Tree, keys: int = 0) -> State:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    body = np.zeros((n1, COLUMNS))
    body[:, DUE_KEY] = -1.0
    return State(body, np.zeros((2, nv)), np.full(n1, -1, dtype=np.int64), np.full((keys, 6), np.nan))
