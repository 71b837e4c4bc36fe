"""The kernels of Pull Pose that are compiled by themselves.

Owns the suite `posing`. It calls kernels of the suite `alone`, which is compiled before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile.precompile import Suite, register
from ..model.model import Model
from ..tables import pose as P, pull as PU
from ..tables.classes import Pose, Pull, Tree
from ..tables.pull import new_pull
from ..tables.tree import build_tree
from .metric import assemble, factor_along, feel_weights, gather_forces, look_back, measure
from .round import begin, note_slack, openness, part_way, place, pull_round, take_step, worth
from .rows import add_floor, add_joint_limits, add_pins, add_pull, answer_rows, choose_rows

# The suites that Pull Pose waits for.
WAITED_SUITES = ("alone", "posing")
# In order: the first one whose dependencies are compiled is next.
POSING = (
    assemble, look_back, choose_rows, add_joint_limits, add_pins, measure, add_floor, add_pull, gather_forces,
    answer_rows, factor_along, feel_weights, take_step, part_way, worth, pull_round, openness, begin, place, note_slack,
)  # fmt: skip


def _samples() -> dict[type, Any]:
    """A table of each class."""
    model = Model.from_tree(["root", "tip"], [None, "root"], np.zeros((2, 3)))
    tree, n1 = build_tree(model), len(model) + 1
    return {
        Tree: tree,
        Pose: Pose(np.zeros((n1, P.COLUMNS)), np.zeros((model.nv, 6))),
        Pull: new_pull(tree, 1, np.zeros((0, int(PU.SPOT_COLUMNS)))),
    }


register(Suite("posing", ".posing.kernel_suites", POSING, _samples, {}, 1.0, waited=False))
