"""Targets of a step: what the controller asks for.

Owns the layout of `Aim` and the modes of a joint. Must not know how it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table
from . import sample as SA
from .tree import Tree

# A joint's mode in the solve of one step.
PRESCRIBED, LOOSE, COMPLIANT = (np.int64(k) for k in range(3))

# Columns of Aim.body
columns = Columns()
GOAL = columns(4)  # where r ends
GOAL_ANCHOR = columns(3)
GOAL_DRIFT = columns(3)  # anchor rates at the end
DRIFT_SECANT = columns(3)
RESPONSE = columns(4)  # closed-form response over one step
GAINS = columns(2)  # k_p, k_v
LIMITED = columns()  # not 0 if the drive gives a fixed impulse instead of a spring's
LEANED = columns()  # not 0 if something leans on the joint that it does not brace against
ABLE = columns()  # the joint's mode while its strength suffices
ACROSS = columns()  # for a saturated drive of several axes: response across its slip, per rate
PULL_LIMIT = columns()  # of a root: the largest guiding force, in body weights
TONE = columns(2)  # k_v and k_p of the joint's tone
STIFFER = columns()  # of a struck guided root: the root of its stiffness ratio, rotation to translation
FROM = columns(SA.COLUMNS)  # a target sample: at the step's start …
TO = columns(SA.COLUMNS)  # … and at its end
COLUMNS = columns.count

# Rows of Aim.rate: rates that the controller asks for
columns = Columns()
START, END, SECANT = columns.ones(3)  # rates at its start and end, and their secant
PUSH = columns()  # change of the rate of E over the step
SHARE = columns()  # the share of its load that a degree of freedom feels (heaviness; 1 if loose)
HELD = columns()  # the fixed impulse of a limited drive
SURGE = columns()  # by how much the secant of E's rate exceeds the mean of its start and end
ROWS = columns.count


@table
class Aim(NamedTuple):
    """Targets of a step."""

    body: np.ndarray  # (n+1, COLUMNS)
    rate: np.ndarray  # (ROWS, nv)
    mode: np.ndarray  # (n+1,) PRESCRIBED, LOOSE or COMPLIANT


def new_aim(tree: Tree) -> Aim:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    return Aim(np.zeros((n1, COLUMNS)), np.zeros((ROWS, nv)), np.zeros(n1, dtype=np.int64))
