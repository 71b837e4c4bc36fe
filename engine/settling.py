"""Settling: a ragdoll that lies on something and hardly moves any more comes to rest.

Owns how long each tree has been calm and how fast calm trees lose their motion. Must not know contacts or sleep.

A body of flesh on the ground does not creep, roll and sway on for seconds as rigid bodies do: skin sticks, flesh
deforms. So a ragdoll that lies on something, and in which nothing was faster than CALM for SETTLE_AFTER seconds, loses
speed at a rate that grows with the time it is calm. Whatever still falls gets faster than CALM all the same while the
rate is low, which ends it. What creeps on comes to a stop, as dry friction would have it.

Fingers, toes and ends of hair do not keep a body from being calm: bodies with less than CRUMB of the mass.
"""

from __future__ import annotations

import math

from .jit import kernel
from .kinematics import velocities
from .model import FREE
from .ragdoll import RAGDOLL
from .spatial import add, cross, dot, load3
from .state import DRIFT, GROUP, MOTION, NOW, QUIET, pose_of
from .tree import COM

# Of a body's centre of mass [m/s], and of a joint [rad/s].
CALM, CALM_TURN = 0.3, 3.0
# Of the tree's mass: a body that has no more, with all that hangs on it.
CRUMB = 0.004
# [s] calm until motion is taken, and from there until the rate is SETTLE_RATE.
SETTLE_AFTER, SETTLE_RAMP = 0.1, 0.3
# [1/s] of rates. What falls freely reaches g / SETTLE_RATE, which is faster than CALM.
SETTLE_RATE = 30.0


@kernel
def note_calm(tree, state, work, rows, rate, dt):
    """QUIET of the roots of ragdolls: the seconds in which the tree was calm; `rate` (nv,): the mean rates of
    the frame that ends."""
    pose = pose_of(work, NOW)
    velocities(tree, pose, rate, state.body, DRIFT, work.body, MOTION)
    for root in tree.roots:
        calm = rows.ragdoll[root] == RAGDOLL and _is_calm(tree, work, rows, pose, rate, root)
        state.body[root, QUIET] = state.body[root, QUIET] + dt if calm else 0.0


@kernel
def _is_calm(tree, work, rows, pose, rate, root):
    for i in range(root, tree.last[root] + 1):
        if rows.mass[i] < CRUMB * rows.mass[root]:
            continue
        v = add(load3(work.body, i, MOTION + 3), cross(load3(work.body, i, MOTION), load3(pose.body, i, COM)))
        if dot(v, v) > CALM * CALM:
            return False
        turn = 0.0
        for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
            turn += rate[d] * rate[d]
        if tree.kind[i] != FREE and turn > CALM_TURN * CALM_TURN:
            return False
    return True


@kernel
def energy_kept(tree, state, work, head, h):
    """The share of its kinetic energy that a group of trees keeps over h seconds."""
    calm = math.inf
    for root in tree.roots:
        if work.body[root, GROUP] == head:
            calm = min(calm, state.body[root, QUIET])
    if calm <= SETTLE_AFTER:
        return 1.0
    return math.exp(-2.0 * h * SETTLE_RATE * (calm - SETTLE_AFTER) / SETTLE_RAMP)
