"""Compare detected roles with labels made by hand, for skeletons without Blender and for rigs that the add-on has read.

Imports the engine of the test's environment: in Blender `heft.engine`, else `engine`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or "heft" not in sys.modules:
    from engine.anatomy import roles
else:
    from heft.engine.anatomy import roles

RIGHT_WITH_NAMES, RIGHT_BY_SHAPE = 95.0, 80.0


def compare(skeleton, truth, names=None, deform=None) -> tuple[float, list, list]:
    """Percentage of labelled bones with the right role, the bones with a wrong role, and those on the wrong side."""
    assert set(truth) <= set(skeleton.names), sorted(set(truth) - set(skeleton.names))
    found = roles.find(
        names or skeleton.names,
        skeleton.parents,
        skeleton.heads,
        skeleton.tails,
        deform or [True] * len(skeleton.names),
    )
    wrong, swapped = [], []
    for name, part in zip(skeleton.names, found, strict=True):
        right, side = truth.get(name, ((part.role,), part.side))
        if part.role not in right:
            wrong.append((name, part.role))
        if {part.side, side} == {"LEFT", "RIGHT"}:
            swapped.append((name, part.side))
    return 100.0 * (1.0 - len(wrong) / len(truth)), wrong, swapped


def scrambled(skeleton) -> list[str]:
    return [f"bone_{i:03d}" for i in range(len(skeleton.names))]


def check(what: str, skeleton, truth, deform=None) -> None:
    share, wrong, swapped = compare(skeleton, truth, deform=deform)
    print(f"{what}: {share:.1f} % of {len(truth)} right {wrong or ''}")
    assert share >= RIGHT_WITH_NAMES and not swapped, (wrong, swapped)


def check_by_shape(what: str, skeleton, truth, deform=None) -> None:
    share, wrong, swapped = compare(skeleton, truth, scrambled(skeleton), deform)
    print(f"{what}, names scrambled: {share:.1f} % of {len(truth)} right {wrong or ''}")
    assert share >= RIGHT_BY_SHAPE and not swapped, (wrong, swapped)
