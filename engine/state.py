"""What changes while a shot runs, and the scratch space of a step.

Owns the layout of `State`, `Aim`, `Work` and `Plan`. Must not know how they are used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .tree import Factor, Pose, Tree, new_factor, new_pose

# What a joint is to the solve of one step.
PRESCRIBED, LOOSE, COMPLIANT = range(3)
# What a plan asks of a body; ASSIST is for free roots only.
ANIMATED, SIMULATED, LIMP, ASSIST = range(4)


class Plan(NamedTuple):
    """What the controller asks, a row a frame or one row for all frames; bodies from column 1."""

    behaviour: np.ndarray  # (rows, n+1)
    omega: np.ndarray  # (rows, n+1) √k_p [rad/s]
    zeta: np.ndarray  # (rows, n+1) damping ratio
    heaviness: np.ndarray  # (rows, n+1)
    assist: np.ndarray  # (n+1,) limit of a root's guiding force in body weights


class State(NamedTuple):
    """The characters at one instant. `reference` is r of METHODS §1c: it never sees a load."""

    coords: np.ndarray  # (n+1, 4)
    anchors: np.ndarray  # (n+1, 3) in the parent's frame; of roots in the world [m]
    drift: np.ndarray  # (n+1, 3) anchor rates, same frames [m/s]
    v: np.ndarray  # (nv,)
    spin: np.ndarray  # (n+1, 3) angular momentum about the body's own centre
    linear: np.ndarray  # (n+1, 3) linear momentum
    reference: np.ndarray  # (n+1, 4) r's coordinates
    reference_v: np.ndarray  # (nv,)
    reference_anchor: np.ndarray  # (n+1, 3) r's position of free roots
    error: np.ndarray  # (n+1, 12) r against target: e, ė, then position and its rate (free roots)
    deflection: np.ndarray  # (n+1, 6) q against r: rotation vector or angles, then position
    behaviour: np.ndarray  # (n+1,) the plan's, of the current frame


class Aim(NamedTuple):
    """What the controller wants of the step: rates at its start, its end, and its secant."""

    start: np.ndarray  # (nv,)
    end: np.ndarray  # (nv,)
    secant: np.ndarray  # (nv,)
    push: np.ndarray  # (nv,) change of the rate of E over the step
    coords: np.ndarray  # (n+1, 4) where r ends
    anchors: np.ndarray  # (n+1, 3)
    drift: np.ndarray  # (n+1, 3) anchor rates at the end
    drift_secant: np.ndarray  # (n+1, 3)
    mode: np.ndarray  # (n+1,) PRESCRIBED, LOOSE or COMPLIANT
    share: np.ndarray  # (nv,) the share of its load a degree of freedom feels (heaviness; 1 where loose)
    limited: np.ndarray  # (n+1,) the drive gives a fixed impulse, not a spring's
    held: np.ndarray  # (nv,) that impulse
    response: np.ndarray  # (n+1, 4) closed-form response over one step
    gains: np.ndarray  # (n+1, 2) k_p, k_v
    value0: np.ndarray  # (n+1, 4) the target at the step's start …
    rate0: np.ndarray  # (n+1, 3)
    anchor0: np.ndarray  # (n+1, 3)
    anchor_rate0: np.ndarray  # (n+1, 3)
    value1: np.ndarray  # … and at its end
    rate1: np.ndarray
    anchor1: np.ndarray
    anchor_rate1: np.ndarray


class Work(NamedTuple):
    """Scratch of a step."""

    now: Pose  # at the step's start
    middle: Pose
    end: Pose
    factor: Factor
    tracking: Factor  # compliant joints held: what the free ones do while r is followed
    coords: np.ndarray  # (n+1, 4)
    anchors: np.ndarray  # (n+1, 3)
    composite: np.ndarray  # (n+1, 10)
    block: np.ndarray  # (nv, 6) rows of the joints' blocks D of M
    compliance: np.ndarray  # (n+1,)
    motion: np.ndarray  # (n+1, 6)
    load: np.ndarray  # (n+1, 6)
    spin: np.ndarray  # (n+1, 3)
    linear: np.ndarray  # (n+1, 3)
    spin2: np.ndarray
    linear2: np.ndarray
    drift: np.ndarray  # (n+1, 3)
    u: np.ndarray  # (nv,) rate of the deflection
    delta: np.ndarray  # (nv,) deflection
    change: np.ndarray  # (nv,) change of the rates to follow
    push: np.ndarray  # (nv,) change of the rate of E, seen from the deflected body
    pull: np.ndarray  # (nv,) impulse of the compliant joints' springs
    excess: np.ndarray  # (nv,) their secant less the mean of start and end
    turn: np.ndarray  # (nv,) generalized impulse of the bodies' turning, half a step
    y: np.ndarray  # (nv,) what it does
    g: np.ndarray  # (nv,) a generalized impulse
    felt: np.ndarray  # (nv,) the share of it that is felt
    tracked: np.ndarray  # (nv,) what loose joints do while compliant ones hold
    x1: np.ndarray  # (nv,) rate changes of the two stages
    x2: np.ndarray  # (nv,)
    rate: np.ndarray  # (nv,) a stage's rate of the deflection …
    place: np.ndarray  # (nv,) … and the deflection itself
    ends: np.ndarray  # (nv,) rates at the end of the step, seen at the middle pose
    mean: np.ndarray  # (nv,) mean rates over the step
    still: np.ndarray  # (n+1, 3) zeros
    ff: np.ndarray  # (3, nv) the undisturbed root's share of turn, load and second turn
    reference: Pose
    torque: np.ndarray  # (nv,) of the step [N m, N]


def new_state(tree: Tree) -> State:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    shapes = ((n1, 4), (n1, 3), (n1, 3), (nv,), (n1, 3), (n1, 3), (n1, 4), (nv,), (n1, 3), (n1, 12), (n1, 6))
    return State(*(np.zeros(shape) for shape in shapes), np.full(n1, -1, dtype=np.int64))


def new_aim(tree: Tree) -> Aim:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    sample = ((n1, 4), (n1, 3), (n1, 3), (n1, 3))
    first = ((nv,), (nv,), (nv,), (nv,), (n1, 4), (n1, 3), (n1, 3), (n1, 3))
    return Aim(
        *(np.zeros(shape) for shape in first),
        np.zeros(n1, dtype=np.int64),
        np.zeros(nv),
        np.zeros(n1, dtype=np.bool_),
        *(np.zeros(shape) for shape in ((nv,), (n1, 4), (n1, 2), *sample, *sample)),
    )


def new_work(tree: Tree) -> Work:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    arrays = ((n1, 4), (n1, 3), (n1, 10), (nv, 6), (n1,), (n1, 6), (n1, 6), *((n1, 3),) * 5)
    return Work(
        new_pose(tree),
        new_pose(tree),
        new_pose(tree),
        new_factor(tree),
        new_factor(tree),
        *(np.zeros(shape) for shape in arrays),
        *(np.zeros(nv) for _ in range(17)),
        np.zeros((n1, 3)),
        np.zeros((3, nv)),
        new_pose(tree),
        np.zeros(nv),
    )
