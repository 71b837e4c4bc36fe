"""State, aim, scratch space and control table of a shot, and their columns.

Owns the layout of `State`, `Aim`, `Work` and `Plan`. Must not know how they are used.
As in `tree`, names are first columns of a body's row, or rows of rate vectors.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ..compile.decorators import kernel, table
from .axes import Axes
from .model_table import FACTOR_COLUMNS, INERTIA_COLUMNS, POSE_COLUMNS, ROTATION, Factor, Pose, Tree

# What a joint is to the solve of one step.
PRESCRIBED, LOOSE, COMPLIANT = (np.int64(k) for k in range(3))
# What a plan asks of a body; ASSIST is for free roots only.
ANIMATED, SIMULATED, LIMP, ASSIST = (np.int64(k) for k in range(4))

# Columns of Plan.setting
OMEGA, ZETA, HEAVINESS, STRENGTH = (np.int64(k) for k in range(4))
ARRIVAL = np.int64(4)  # the share of its keys' velocities a body arrives with; below 0 it keeps no keys
SHAPE = np.int64(5)  # n of METHODS §2: how late in its time a body moves
LAW = np.int64(6)  # not 0: by S2's own torques instead of in closed form
RECOVERY = np.int64(7)  # [s] in which a struck body is back on its motion; 0: it follows as ever
TONE_DAMPING, TONE_PULL = np.int64(8), np.int64(9)  # k_v [1/s], k_p [1/s²] of joints that nothing drives (`tone`)
QUICKER = np.int64(10)  # times: how much faster a joint's spring is than its settle time says (see `even_weight`)
SETTING_COLUMNS = np.int64(11)

# Columns of State.body. `reference` is r of METHODS §1c: it never sees a load.
COORDS = np.int64(0)  # 4
ANCHOR = np.int64(4)  # 3: in the parent's frame; of roots in the world [m]
DRIFT = np.int64(7)  # 3: its rate
SPIN = np.int64(10)  # 3: angular momentum about the body's own centre, world axes
LINEAR = np.int64(13)  # 3: linear momentum
REFERENCE = np.int64(16)  # 4: r's coordinates
REFERENCE_ANCHOR = np.int64(20)  # 3: r's position (free roots)
ERROR = np.int64(23)  # 12: r against target: e, ė, then position and its rate (free roots)
DEFLECTION = np.int64(35)  # 6: q against r: rotation vector or angles, then position (free roots)
SLIPPED = np.int64(41)  # 1: not 0 where the drive was spent and r has not come back to its target since
QUICKENS = np.int64(42)  # 1: how fast a limp joint's rates change, where a step turned it too far [rad/s²]
DUE = np.int64(43)  # 1: when the body's appointment is [frames]; infinite where it has none
DUE_VALUE = np.int64(44)  # 4: its coordinates then …
DUE_RATE = np.int64(48)  # 3: … and their rates
DUE_PLACE = np.int64(51)  # 3: of a free root …
DUE_DRIFT = np.int64(54)  # 3: … and its rate
DUE_KEY = np.int64(57)  # 1: which key it is, −1 for none: then it is with the source motion (see `recovery`)
DUE_BLOW = np.int64(58)  # 1: how hard a blow made the appointment [rad/s]
PRESSED = np.int64(59)  # 1: of a root: how long its tree has stood in something it is forced into [s] (see `forced`)
STRUCK = np.int64(60)  # 1: not 0 where a blow deflects the joint of a guided tree, until that has died away
RETURNS = np.int64(61)  # 1: not 0 where a body that was limp is on its way back to where it is animated
QUIET = np.int64(62)  # 1: seconds of rest of the world's row (`sleeping`), of calm of a ragdoll's root (`settling`)
MET = np.int64(63)  # 1: of a root: how long its tree has rested against another; 0 where it met none, or is back since
STOOD = np.int64(64)  # 1: not 0 of a body that has stood on something in the source: a foot (see `footfall`)
STATE_COLUMNS = np.int64(65)
# Rows of State.rate
V, REFERENCE_V = (np.int64(k) for k in range(2))

# Columns of a target sample (see `target.evaluate`)
VALUE = np.int64(0)  # 4
RATE = np.int64(4)  # 3
TARGET_ANCHOR = np.int64(7)  # 3
TARGET_ANCHOR_RATE = np.int64(10)  # 3
SAMPLE_COLUMNS = np.int64(13)

# Columns of Aim.body
GOAL = np.int64(0)  # 4: where r ends
GOAL_ANCHOR = np.int64(4)  # 3
GOAL_DRIFT = np.int64(7)  # 3: anchor rates at the end
DRIFT_SECANT = np.int64(10)  # 3
RESPONSE = np.int64(13)  # 4: closed-form response over one step
GAINS = np.int64(17)  # 2: k_p, k_v
LIMITED = np.int64(19)  # 1: not 0 where the drive gives a fixed impulse instead of a spring's
LEANED = np.int64(20)  # 1: not 0 where something leans on the joint that it does not brace against
ABLE = np.int64(21)  # 1: the mode the joint has while its strength suffices
ACROSS = np.int64(22)  # 1: what a spent drive of several axes gives across its slip, per rate
PULL_LIMIT = np.int64(23)  # 1: of a root: the most force that guides it, in body weights
TONE = np.int64(24)  # 2: k_v and k_p of the joint's tone
STIFFER = np.int64(26)  # 1: of a guided root that was struck: the root of how many times stiffer it turns than it goes
FROM = np.int64(27)  # a target sample: at the step's start …
TO = FROM + SAMPLE_COLUMNS  # … and at its end
AIM_COLUMNS = TO + SAMPLE_COLUMNS
# Rows of Aim.rate: what the controller wants of the step
START, END, SECANT = (np.int64(k) for k in range(3))  # rates at its start and end, and their secant
PUSH = np.int64(3)  # change of the rate of E over the step
SHARE = np.int64(4)  # the share of its load a degree of freedom feels (heaviness; 1 where loose)
HELD = np.int64(5)  # the fixed impulse of a limited drive
SURGE = np.int64(6)  # how far the secant of E's rate leads the mean of its start and end
AIM_ROWS = np.int64(7)

# Columns of Work.body
NEW = np.int64(0)  # 4: coordinates
NEW_ANCHOR = np.int64(4)  # 3
COMPOSITE = np.int64(7)  # 10: composite inertia
COMPLIANCE = np.int64(17)  # 1: c of C = c·B
MOTION = np.int64(18)  # 6: velocities
LOAD = np.int64(24)  # 6
MOMENTUM = np.int64(30)  # 6: spin and linear momentum
MOMENTUM2 = np.int64(36)  # 6
CARRIED = np.int64(42)  # 6: momenta brought over from another pose
OTHER_DRIFT = np.int64(48)  # 3: anchor rates to put with rates that are sums or changes
STILL = np.int64(51)  # 3: zeros
WAY = np.int64(54)  # 3: how far a root's anchor goes in the first half of the step
GIVEN = np.int64(57)  # 1: what a limp tree's contacts, ties and limits do on it in the step [J], at its root
WELDED = np.int64(58)  # 10: composite inertia of what is welded to it
GROUP = np.int64(68)  # 1: of a root: the first root of the trees it is seen together with, 0 for none
FIXED = np.int64(69)  # 1: of a group's first root: what holds it (see `energy`)
FASTEST = np.int64(70)  # 1: the fastest a joint may turn off its motion: of ragdolls, and where characters met [rad/s]
OWN_RATE = np.int64(71)  # 3: the rates its motion has by itself, there
BONE_TURN = np.int64(74)  # 3: how fast its bone turns, world axes
FRAME_COORDS = np.int64(77)  # 4: coordinates as the frame began
FRAME_ANCHOR = np.int64(81)  # 3
# 1: of a ragdoll's root: how much faster its bodies may come than their rates say, since others of it meet something
# in the same step [m/s]
SWERVE = np.int64(84)
WORK_COLUMNS = np.int64(85)
# Rows of Work.rate
U, DELTA = np.int64(0), np.int64(1)  # rate of the deflection, and the deflection
CHANGE = np.int64(2)  # change of the rates to follow over the step
EXCESS = np.int64(3)  # their secant less the mean of start and end
SEEN_PUSH = np.int64(4)  # aim's PUSH seen from the deflected body …
G, FELT = np.int64(5), np.int64(6)  # a generalized impulse, and the share of it that is felt
TRACKED = np.int64(7)  # what loose joints do while compliant ones hold
X1, X2 = np.int64(8), np.int64(9)  # rate changes of the two stages
STAGE_RATE, STAGE_PLACE = np.int64(10), np.int64(11)
ENDS, MEAN = np.int64(12), np.int64(13)  # rates at the end of the step, and mean rates over it
PULL = np.int64(14)  # impulse of the guided roots' springs
TORQUE = np.int64(15)  # what the drives gave, mean over the step [N m, N]
FEED = np.int64(16)  # 3 rows: what an undisturbed root's motion takes, part by part
SEEN_SURGE = np.int64(19)  # … and its SURGE
# what contacts take: rates at a stage's end, a load, what it changes; and their shift of places
TOTAL_RATE, LOADED_RATE, ANSWER, SHIFTED = (np.int64(k) for k in range(20, 24))
WHOLE = np.int64(24)  # the load of the whole step
STOPS = np.int64(25)  # impulses of joint limits
TONED, SLOWED = np.int64(26), np.int64(27)  # impulses of the tone's pull to the middle, and of its damping
WORK_ROWS = np.int64(28)
# Poses of Work
NOW, MIDDLE, FINAL, UNDISTURBED, UNDISTURBED_BEFORE = (np.int64(k) for k in range(5))
# Factors of Work: the joints' own, and with compliant joints held
MAIN, TRACKING = (np.int64(k) for k in range(2))


@table
class Plan(NamedTuple):
    """What the controller asks, a row a frame or one row for all frames; bodies from column 1."""

    behaviour: Annotated[np.ndarray, Axes("frame", "body")]  # (rows, n+1)
    setting: Annotated[np.ndarray, Axes("frame", "body", "column")]  # (rows, n+1, columns of `CONTROL`)
    assist: Annotated[
        np.ndarray, Axes("frame", "body")
    ]  # (rows or 1, n+1) limit of a root's guiding force in body weights


@table
class State(NamedTuple):
    """The characters at one instant."""

    body: np.ndarray  # (n+1, STATE_COLUMNS)
    rate: np.ndarray  # (2, nv)
    behaviour: np.ndarray  # (n+1,) the plan's, of the current frame; −1 before the first
    off: np.ndarray  # (k, 6) how far a joint was off its key at the key's time: [rad] and [rad/s]; NaN before it


@table
class Aim(NamedTuple):
    """What the controller wants of the step."""

    body: np.ndarray  # (n+1, AIM_COLUMNS)
    rate: np.ndarray  # (AIM_ROWS, nv)
    mode: np.ndarray  # (n+1,) PRESCRIBED, LOOSE or COMPLIANT


@table
class Work(NamedTuple):
    """Scratch of a step."""

    body: np.ndarray  # (n+1, WORK_COLUMNS)
    rate: np.ndarray  # (WORK_ROWS, nv)
    block: np.ndarray  # (nv, 6) rows of the joints' blocks B: of M where compliant, across the slip where spent
    poses: np.ndarray  # (5, n+1, POSE_COLUMNS)
    axes: np.ndarray  # (5, nv, 6)
    slot: np.ndarray  # (5,) where each of the poses stands: NOW and FINAL change places every step
    active: np.ndarray  # (2, n+1)
    inertia: np.ndarray  # (2, n+1, INERTIA_COLUMNS)
    joint: np.ndarray  # (2, nv, FACTOR_COLUMNS)
    scratch: np.ndarray  # (n+1, 12)
    kept: np.ndarray  # (n+1, STATE_COLUMNS) the state before a step that may be taken again …
    kept_rate: np.ndarray  # (2, nv) … and its rates


@kernel
def pose_of(work, which):
    slot = work.slot[which]
    return Pose(work.poses[slot], work.axes[slot])


@kernel
def factor_of(work, which):
    return Factor(work.active[which], work.inertia[which], work.joint[which], work.scratch)


def new_state(tree: Tree, keys: int = 0) -> State:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    body = np.zeros((n1, STATE_COLUMNS))
    body[:, DUE_KEY] = -1.0
    return State(body, np.zeros((2, nv)), np.full(n1, -1, dtype=np.int64), np.full((keys, 6), np.nan))


def new_aim(tree: Tree) -> Aim:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    return Aim(np.zeros((n1, AIM_COLUMNS)), np.zeros((AIM_ROWS, nv)), np.zeros(n1, dtype=np.int64))


def new_work(tree: Tree) -> Work:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    poses = np.zeros((5, n1, POSE_COLUMNS))
    poses[:, 0, ROTATION] = 1.0
    body = np.zeros((n1, WORK_COLUMNS))
    body[:, FASTEST] = np.inf
    return Work(
        body,
        np.zeros((WORK_ROWS, nv)),
        np.zeros((nv, 6)),
        poses,
        np.zeros((5, nv, 6)),
        np.arange(5),
        np.zeros((2, n1), dtype=np.bool_),
        np.zeros((2, n1, INERTIA_COLUMNS)),
        np.zeros((2, nv, FACTOR_COLUMNS)),
        np.zeros((n1, 12)),
        np.zeros((n1, STATE_COLUMNS)),
        np.zeros((2, nv)),
    )
