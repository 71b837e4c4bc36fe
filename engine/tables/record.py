"""The record of every frame.

Owns the layout of `Record`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table

# Columns of Record.body
columns = Columns()
TURN = columns(4)  # the joint's rotation, with a sign continuous with the frame before
SPOT = columns(3)  # anchor
SECOND = columns()  # a universal joint's second angle
COLUMNS = columns.count

# Columns of Record.touch
columns = Columns()
MARK_A, MARK_B = columns.ones(2)  # rows of the bodies; a is −1 where there is no contact
MARK_POINT = columns(3)
MARK_NORMAL = columns(3)  # from b to a
MARK_FORCE = columns(3)  # on a [N], the mean over the step before the frame
MARK_COLUMNS = columns.count

MARKS = 48  # contacts recorded for a frame


@table
class Record(NamedTuple):
    """The record of every frame."""

    body: np.ndarray  # (frames, n+1, COLUMNS)
    rate: np.ndarray  # (frames, 2, nv) velocity, and torque: the mean of the steps before and after
    touch: np.ndarray  # (frames, contacts, MARK_COLUMNS) the contacts at the frame with the largest forces
    forced: np.ndarray  # (frames, n+1) the row of the body that keys force each through at the frame; −1: none
    channel: np.ndarray  # (frames, n+1, channels) values of controllers' channels (`CHANNELS`)
