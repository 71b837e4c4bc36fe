"""The scratch space of a step, shared by its stages.

Owns the layout of `Work`. Must not know how it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import kernel, table
from . import factor as F, pose as P, state as S
from .factor import Factor
from .pose import Pose
from .tree import Tree

# Columns of Work.body
columns = Columns()
NEW = columns(4)  # coordinates
NEW_ANCHOR = columns(3)
COMPOSITE = columns(10)  # composite inertia
COMPLIANCE = columns()  # c of C = c·B
MOTION = columns(6)  # velocities
LOAD = columns(6)
MOMENTUM = columns(6)  # spin and linear momentum
MOMENTUM2 = columns(6)
CARRIED = columns(6)  # momenta transported from another pose
OTHER_DRIFT = columns(3)  # anchor rates that belong to rates which are sums or changes
STILL = columns(3)  # zeros
WAY = columns(3)  # displacement of a root's anchor in the first half of the step
GIVEN = columns()  # work of a limp tree's contacts, ties and limits in the step [J], at its root
WELDED = columns(10)  # composite inertia of what is welded to it
GROUP = columns()  # of a root: the first root of its group of trees, 0 for none
FIXED = columns()  # of a group's first root: what connects it to the world (see `energy_guard`)
FASTEST = columns()  # the largest rate of a joint off its motion: of ragdolls, and of characters that met [rad/s]
OWN_RATE = columns(3)  # the rates of its own motion, there
BONE_TURN = columns(3)  # angular velocity of its bone, world axes
FRAME_COORDS = columns(4)  # coordinates at the start of the frame
FRAME_ANCHOR = columns(3)
# of a ragdoll's root: how much faster its bodies may approach than their rates say, because others of it meet something
# in the same step [m/s]
SWERVE = columns()
COLUMNS = columns.count

# Rows of Work.rate
columns = Columns()
U, DELTA = columns.ones(2)  # rate of the deflection, and the deflection
CHANGE = columns()  # change of the rates to follow over the step
EXCESS = columns()  # their secant minus the mean of start and end
SEEN_PUSH = columns()  # aim's PUSH in the frame of the deflected body …
G, FELT = columns.ones(2)  # a generalized impulse, and the share of it that is felt
TRACKED = columns()  # rates of loose joints while compliant ones are held
X1, X2 = columns.ones(2)  # rate changes of the two stages
STAGE_RATE, STAGE_PLACE = columns.ones(2)
ENDS, MEAN = columns.ones(2)  # rates at the end of the step, and mean rates over it
PULL = columns()  # impulse of the guided roots' springs
TORQUE = columns()  # torques of the drives, mean over the step [N m, N]
FEED = columns(3)  # 3 rows: impulses of an undisturbed root's motion, part by part
SEEN_SURGE = columns()  # … and its SURGE
# of contacts: rates at a stage's end, a load, its effect; and their displacements
TOTAL_RATE, LOADED_RATE, ANSWER, SHIFTED = columns.ones(4)
WHOLE = columns()  # the load of the whole step
STOPS = columns()  # impulses of joint limits
TONED, SLOWED = columns.ones(2)  # impulses of the tone's pull to the middle, and of its damping
BRACING = columns()  # impulses with which joints brace against contacts, so that these do not load them
PUSHED = columns(3)  # 3 rows: D⁻¹ L⁻¹ of unit impulses on a joint that is braked, along its path to the root
ROWS = columns.count

# Poses of Work
NOW, MIDDLE, FINAL, UNDISTURBED, UNDISTURBED_BEFORE = (np.int64(k) for k in range(5))

# Factors of Work: the joints' own, and with compliant joints held
MAIN, TRACKING = (np.int64(k) for k in range(2))


@table
class Work(NamedTuple):
    """Scratch of a step."""

    body: np.ndarray  # (n+1, COLUMNS)
    rate: np.ndarray  # (ROWS, nv)
    block: np.ndarray  # (nv, 6) rows of the joints' blocks B: of M if compliant, across the slip if saturated
    poses: np.ndarray  # (5, n+1, POSE_COLUMNS)
    axes: np.ndarray  # (5, nv, 6)
    slot: np.ndarray  # (5,) index of each pose: NOW and FINAL swap every step
    active: np.ndarray  # (2, n+1)
    inertia: np.ndarray  # (2, n+1, INERTIA_COLUMNS)
    joint: np.ndarray  # (2, nv, FACTOR_COLUMNS)
    scratch: np.ndarray  # (n+1, 12)
    kept: np.ndarray  # (n+1, STATE_COLUMNS) the state before a step that may be retried …
    kept_rate: np.ndarray  # (2, nv) … and its rates


@kernel
def pose_of(work, which):
    slot = work.slot[which]
    return Pose(work.poses[slot], work.axes[slot])


@kernel
def factor_of(work, which):
    return Factor(work.active[which], work.inertia[which], work.joint[which], work.scratch)


def new_work(tree: Tree) -> Work:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    poses = np.zeros((5, n1, P.COLUMNS))
    poses[:, 0, P.ROTATION] = 1.0
    body = np.zeros((n1, COLUMNS))
    body[:, FASTEST] = np.inf
    return Work(
        body,
        np.zeros((ROWS, nv)),
        np.zeros((nv, 6)),
        poses,
        np.zeros((5, nv, 6)),
        np.arange(5),
        np.zeros((2, n1), dtype=np.bool_),
        np.zeros((2, n1, F.INERTIA_COLUMNS)),
        np.zeros((2, nv, F.JOINT_COLUMNS)),
        np.zeros((n1, 12)),
        np.zeros((n1, S.COLUMNS)),
        np.zeros((2, nv)),
    )
