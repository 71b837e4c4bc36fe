"""What the controller wants of the step.

Owns the layout of `Aim` and the modes of a joint. Must not know how it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table
from . import sample as SA
from .tree import Tree

# What a joint is to the solve of one step.
PRESCRIBED, LOOSE, COMPLIANT = (np.int64(k) for k in range(3))

# Columns of Aim.body
columns = Columns()
GOAL = columns(4)  # where r ends
GOAL_ANCHOR = columns(3)
GOAL_DRIFT = columns(3)  # anchor rates at the end
DRIFT_SECANT = columns(3)
RESPONSE = columns(4)  # closed-form response over one step
GAINS = columns(2)  # k_p, k_v
LIMITED = columns()  # not 0 where the drive gives a fixed impulse instead of a spring's
LEANED = columns()  # not 0 where something leans on the joint that it does not brace against
ABLE = columns()  # the mode the joint has while its strength suffices
ACROSS = columns()  # what a spent drive of several axes gives across its slip, per rate
PULL_LIMIT = columns()  # of a root: the most force that guides it, in body weights
TONE = columns(2)  # k_v and k_p of the joint's tone
STIFFER = columns()  # of a guided root that was struck: the root of how many times stiffer it turns than it goes
FROM = columns(SA.COLUMNS)  # a target sample: at the step's start …
TO = columns(SA.COLUMNS)  # … and at its end
COLUMNS = columns.count

# Rows of Aim.rate: what the controller wants of the step
columns = Columns()
START, END, SECANT = columns.ones(3)  # rates at its start and end, and their secant
PUSH = columns()  # change of the rate of E over the step
SHARE = columns()  # the share of its load a degree of freedom feels (heaviness; 1 where loose)
HELD = columns()  # the fixed impulse of a limited drive
SURGE = columns()  # how far the secant of E's rate leads the mean of its start and end
ROWS = columns.count


@table
class Aim(NamedTuple):
    """What the controller wants of the step."""

    body: np.ndarray  # (n+1, COLUMNS)
    rate: np.ndarray  # (ROWS, nv)
    mode: np.ndarray  # (n+1,) PRESCRIBED, LOOSE or COMPLIANT


def new_aim(tree: Tree) -> Aim:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    return Aim(np.zeros((n1, COLUMNS)), np.zeros((ROWS, nv)), np.zeros(n1, dtype=np.int64))
