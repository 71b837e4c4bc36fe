"""The characters at one instant: everything that one step passes to the next.

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
SLIPPED = columns()  # 1 from torque saturation until the reference is back on its target
QUICKENS = columns()  # change of a limp joint's rates, after a step turned it too far [rad/s²]
DUE = columns()  # time of the body's arrival [frames]; infinite without one
DUE_VALUE = columns(4)  # its coordinates then …
DUE_RATE = columns(3)  # … and their rates
DUE_PLACE = columns(3)  # of a free root …
DUE_DRIFT = columns(3)  # … and its rate
DUE_KEY = columns()  # index of the key, −1 for none: then it arrives at the source motion (see `recovery`)
DUE_BLOW = columns()  # strength of the blow that set the arrival [rad/s]
PRESSED = columns()  # of a root: time its tree has stood in what it is forced into [s] (`unmet_contacts`)
STRUCK = columns()  # not 0 while a blow deflects the joint of a guided tree
RETURNS = columns()  # not 0 while a body that was limp returns to where it is animated
QUIET = columns()  # seconds of rest of the world's row (`sleeping`), of calm of a ragdoll's root (`settling`)
MET = columns()  # of a root: time for which its tree has rested against another; 0 if it met none, or is back since
STOOD = columns()  # not 0 for a body that has stood on something in the source: a foot (see `footfall`)
APART = columns()  # of a root whose tree met another: time since they touched last [s]
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
    off: np.ndarray  # (k, 6) error of a joint at its key's time: [rad] and [rad/s]; NaN before it


def new_state(tree: Tree, keys: int = 0) -> State:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    body = np.zeros((n1, COLUMNS))
    body[:, DUE_KEY] = -1.0
    return State(body, np.zeros((2, nv)), np.full(n1, -1, dtype=np.int64), np.full((keys, 6), np.nan))
