"""What changes while a shot runs, and the scratch space of a step.

Owns the layout of `State`, `Aim`, `Work` and `Plan`. Must not know how they are used.
As in `tree`, names are first columns of a body's row, or rows of rate vectors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .jit import kernel
from .tree import FACTOR_COLUMNS, POSE_COLUMNS, ROTATION, Factor, Pose, Tree

# What a joint is to the solve of one step.
PRESCRIBED, LOOSE, COMPLIANT = range(3)
# What a plan asks of a body; ASSIST is for free roots only.
ANIMATED, SIMULATED, LIMP, ASSIST = range(4)

# Columns of Plan.setting
OMEGA, ZETA, HEAVINESS = range(3)

# Columns of State.body. `reference` is r of METHODS §1c: it never sees a load.
COORDS = 0  # 4
ANCHOR = 4  # 3: in the parent's frame; of roots in the world [m]
DRIFT = 7  # 3: its rate
SPIN = 10  # 3: angular momentum about the body's own centre, world axes
LINEAR = 13  # 3: linear momentum
REFERENCE = 16  # 4: r's coordinates
REFERENCE_ANCHOR = 20  # 3: r's position (free roots)
ERROR = 23  # 12: r against target: e, ė, then position and its rate (free roots)
DEFLECTION = 35  # 6: q against r: rotation vector or angles, then position (free roots)
STATE_COLUMNS = 41
# Rows of State.rate
V, REFERENCE_V = range(2)

# Columns of a target sample (see `target.evaluate`)
VALUE = 0  # 4
RATE = 4  # 3
TARGET_ANCHOR = 7  # 3
TARGET_ANCHOR_RATE = 10  # 3
SAMPLE_COLUMNS = 13

# Columns of Aim.body
GOAL = 0  # 4: where r ends
GOAL_ANCHOR = 4  # 3
GOAL_DRIFT = 7  # 3: anchor rates at the end
DRIFT_SECANT = 10  # 3
RESPONSE = 13  # 4: closed-form response over one step
GAINS = 17  # 2: k_p, k_v
LIMITED = 19  # 1: not 0 where the drive gives a fixed impulse instead of a spring's
FROM = 20  # a target sample: at the step's start …
TO = FROM + SAMPLE_COLUMNS  # … and at its end
AIM_COLUMNS = TO + SAMPLE_COLUMNS
# Rows of Aim.rate: what the controller wants of the step
START, END, SECANT = range(3)  # rates at its start and end, and their secant
PUSH = 3  # change of the rate of E over the step
SHARE = 4  # the share of its load a degree of freedom feels (heaviness; 1 where loose)
HELD = 5  # the fixed impulse of a limited drive
AIM_ROWS = 6

# Columns of Work.body
NEW = 0  # 4: coordinates
NEW_ANCHOR = 4  # 3
COMPOSITE = 7  # 10: composite inertia
COMPLIANCE = 17  # 1: c of C = c·D
MOTION = 18  # 6: velocities
LOAD = 24  # 6
MOMENTUM = 30  # 6: spin and linear momentum
MOMENTUM2 = 36  # 6
CARRIED = 42  # 6: momenta brought over from another pose
DRIFT_CHANGE = 48  # 3
STILL = 51  # 3: zeros
WORK_COLUMNS = 54
# Rows of Work.rate
U, DELTA = 0, 1  # rate of the deflection, and the deflection
CHANGE = 2  # change of the rates to follow over the step
EXCESS = 3  # their secant less the mean of start and end
SEEN_PUSH = 4  # aim's PUSH seen from the deflected body
TURN = 5  # impulse of the bodies' turning over half a step
G, FELT = 6, 7  # a generalized impulse, and the share of it that is felt
TRACKED = 8  # what loose joints do while compliant ones hold
X1, X2 = 9, 10  # rate changes of the two stages
STAGE_RATE, STAGE_PLACE = 11, 12
ENDS, MEAN = 13, 14  # rates at the end of the step, and mean rates over it
PULL = 15  # impulse of the compliant joints' springs
TORQUE = 16  # what the drives gave, mean over the step [N m, N]
FEED = 17  # 3 rows: what an undisturbed root's motion takes, part by part
WORK_ROWS = 20
# Poses of Work
NOW, MIDDLE, FINAL, UNDISTURBED, UNDISTURBED_BEFORE = range(5)
# Factors of Work: the joints' own, and with compliant joints held
MAIN, TRACKING = range(2)


class Plan(NamedTuple):
    """What the controller asks, a row a frame or one row for all frames; bodies from column 1."""

    behaviour: np.ndarray  # (rows, n+1)
    setting: np.ndarray  # (rows, n+1, 3) √k_p [rad/s], damping ratio, heaviness
    assist: np.ndarray  # (n+1,) limit of a root's guiding force in body weights


class State(NamedTuple):
    """The characters at one instant."""

    body: np.ndarray  # (n+1, STATE_COLUMNS)
    rate: np.ndarray  # (2, nv)
    behaviour: np.ndarray  # (n+1,) the plan's, of the current frame; −1 before the first


class Aim(NamedTuple):
    """What the controller wants of the step."""

    body: np.ndarray  # (n+1, AIM_COLUMNS)
    rate: np.ndarray  # (AIM_ROWS, nv)
    mode: np.ndarray  # (n+1,) PRESCRIBED, LOOSE or COMPLIANT


class Work(NamedTuple):
    """Scratch of a step."""

    body: np.ndarray  # (n+1, WORK_COLUMNS)
    rate: np.ndarray  # (WORK_ROWS, nv)
    block: np.ndarray  # (nv, 6) rows of the compliant joints' blocks D of M
    poses: np.ndarray  # (5, n+1, POSE_COLUMNS)
    axes: np.ndarray  # (5, nv, 6)
    active: np.ndarray  # (2, n+1)
    inertia: np.ndarray  # (2, n+1, 6, 6)
    joint: np.ndarray  # (2, nv, FACTOR_COLUMNS)
    scratch: np.ndarray  # (n+1, 12)


@kernel
def pose_of(work, which):
    return Pose(work.poses[which], work.axes[which])


@kernel
def factor_of(work, which):
    return Factor(work.active[which], work.inertia[which], work.joint[which], work.scratch)


def new_state(tree: Tree) -> State:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    return State(np.zeros((n1, STATE_COLUMNS)), np.zeros((2, nv)), np.full(n1, -1, dtype=np.int64))


def new_aim(tree: Tree) -> Aim:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    return Aim(np.zeros((n1, AIM_COLUMNS)), np.zeros((AIM_ROWS, nv)), np.zeros(n1, dtype=np.int64))


def new_work(tree: Tree) -> Work:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    poses = np.zeros((5, n1, POSE_COLUMNS))
    poses[:, 0, ROTATION] = 1.0
    return Work(
        np.zeros((n1, WORK_COLUMNS)),
        np.zeros((WORK_ROWS, nv)),
        np.zeros((nv, 6)),
        poses,
        np.zeros((5, nv, 6)),
        np.zeros((2, n1), dtype=np.bool_),
        np.zeros((2, n1, 6, 6)),
        np.zeros((2, nv, FACTOR_COLUMNS)),
        np.zeros((n1, 12)),
    )
