"""Step size: retry with a smaller step if loose joints turn too far, fewer steps if only springs act.

Owns the length of a step as limited by the joints' turns, and the number of steps. Must not know contacts, or what a
step does.

The midpoint rule is accurate while a joint turns by a fraction of a radian. Limp chains of short links, at one step a
frame, turn by several: by their present rates, and by those they gain within the step, which only the step itself
shows. A step that turns them too far is retried in parts, and so is one that opens ties or adds energy. A joint that is
too fast even for the shortest part (a light body between heavy ones) is braked.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Real, Row
from ..controllers.shared.rate_limits import hold_rates, hold_ways, most_held
from ..dynamics.articulated import solve, solve_to_root
from ..math.vectors import symmetric_solve
from ..model.model import FREE
from ..tables import aim as A, control as C, factor as F, state as S, work as W
from ..tables.classes import Aim, Control, Pose, State, Tree, Work
from ..tables.work import factor_of, pose_of
from .ragdoll import any_ragdoll

# Steps a second that suffice where nothing can touch or is loose, instead of 240: with springs alone a step need only
# be short against their settle time, and paths are equally accurate (`test_heaviness`).
SPRING_STEPS, OF_STEPS = 72.0, 240.0
SPRING_TURN = 0.28  # [rad] ω t of the fastest spring in one step
# Least steps a second for ragdolls. How they come to lie depends on the times of contact, so it would change with the
# number of steps: with this minimum it does not depend on lower settings.
FALL_STEPS = 480.0

TURN_LIMIT = 0.3  # [rad] largest turn of a loose joint in one step
# [rad] largest turn of a joint whose rate is bounded: it is in contact, or its range ends soon
BOUNDED_TURN = 0.12
TOO_FAR = 2.0  # a step in which a limp joint turns by more than this many times the limit is retried
MOST_PARTS = 64.0  # of a step, however fast joints are
# [rad] largest turn of any joint in the shortest part: light links between heavy bodies turn fast while those hardly
# move, and the error of a straight step (half the square of the turn) would throw the heavy ones.
WHIRL = 0.1
# Most rounds of braking: slowing one joint accelerates others.
BRAKINGS = 4
# Share of a joint's largest response that is added to its diagonal, so that immovable degrees of freedom stay at rest.
IMMOVABLE = 1e-10


def steps_needed(tree: Tree, control: Control, bounded: bool, steps: float) -> float:
    """Steps a second needed if `steps` are asked for; bounded: things may touch, tie, push, blow."""
    setting = control.setting[:, 1:]
    if bounded and any_ragdoll(tree, control):
        return max(steps, FALL_STEPS)
    loose = ~np.isin(control.behaviour[:, 1:], (C.ANIMATED, C.SIMULATED)).all()
    forced = np.isfinite(setting[..., C.STRENGTH]).any() or (setting[..., C.LAW] != 0.0).any()
    if bounded or loose or forced or (setting[..., C.ARRIVAL] >= 0.0).any():
        return steps
    fastest = (setting[..., C.OMEGA] / setting[..., C.QUICKER]).max()
    return min(steps, max(SPRING_STEPS, fastest / SPRING_TURN) * steps / OF_STEPS)


@kernel
def even_part(tree: Tree, state: State, aim: Aim, work: Work, rest: Real, longest: Real, least: Real):
    """The next of equal parts of `rest` seconds, of at most `longest`, in which no joint turns too far; none shorter
    than `least`."""
    for i in range(1, len(tree.parent)):
        limp = state.behaviour[i] == C.LIMP
        if limp or aim.mode[i] != A.PRESCRIBED:
            turn = 0.0
            for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
                turn += state.rate[S.V, d] * state.rate[S.V, d]
            gain = state.body[i, S.QUICKENS] if limp else 0.0
            most = turn_limit(state, work, i)
            # turn·t + gain·t²/2 = most
            fast = math.sqrt(turn) + math.sqrt(turn + 2.0 * gain * most)
            if fast * longest > 2.0 * most:
                longest = 2.0 * most / fast
    if longest >= rest * (1.0 - 1e-9):
        return rest
    return rest / math.ceil(rest / max(longest, min(least, rest)) - 1e-9)


@kernel
def turn_limit(state, work, i):
    """The largest turn of joint i in one step [rad]."""
    return BOUNDED_TURN if state.behaviour[i] == C.LIMP and work.body[i, W.FASTEST] < math.inf else TURN_LIMIT


@kernel
def too_far(tree: Tree, state: State, work: Work, h: Real):
    """True if a limp joint would turn too far with its present rates and those at the step's end."""
    for i in range(1, len(tree.parent)):
        if state.behaviour[i] == C.LIMP and tree.kind[i] != FREE:
            turn = 0.0
            for d in range(tree.dof[i], tree.dof[i + 1]):
                turn += (state.rate[S.V, d] + work.rate[W.ENDS, d]) ** 2
            if h * math.sqrt(turn) > 2.0 * TOO_FAR * turn_limit(state, work, i):
                return True
    return False


@kernel
def any_limp(state):
    for i in range(1, len(state.behaviour)):
        if state.behaviour[i] == C.LIMP:
            return True
    return False


@kernel
def remember(state: State, work: Work):
    """Save the state before a step that may be retried."""
    for i in range(len(state.body)):
        for k in range(S.COLUMNS):
            work.kept[i, k] = state.body[i, k]
    for d in range(len(state.rate[S.V])):
        for k in range(2):
            work.kept_rate[k, d] = state.rate[k, d]


@kernel
def return_to(state: State, work: Work):
    """Restore the saved state."""
    for i in range(len(state.body)):
        for k in range(S.COLUMNS):
            state.body[i, k] = work.kept[i, k]
    for d in range(len(state.rate[S.V])):
        for k in range(2):
            state.rate[k, d] = work.kept_rate[k, d]


@kernel
def forget_quickening(state):
    """A new step: assume that joints keep their rates, until a retry shows otherwise."""
    for i in range(len(state.body)):
        state.body[i, S.QUICKENS] = 0.0


@kernel
def note_quickening(tree: Tree, state: State, aim: Aim, work: Work, h: Real):
    """Store the gain of rates within a step that is not taken."""
    for i in range(1, len(tree.parent)):
        change = 0.0
        if aim.mode[i] == A.LOOSE and tree.kind[i] != FREE:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                change += (work.rate[W.ENDS, d] - state.rate[S.V, d]) ** 2
        state.body[i, S.QUICKENS] = math.sqrt(change) / h


@kernel
def brake_ends(tree, state, work, least):
    """Brake joints in the middle of the step that would turn farther than the step can follow."""
    change, rate = work.rate[W.X2], work.rate
    for d in range(len(change)):
        change[d] = rate[W.ENDS, d] - state.rate[S.V, d]
    if brake_whirls(tree, state, work, pose_of(work, W.MIDDLE), state.rate[S.V], change, least):
        for d in range(len(change)):
            less = state.rate[S.V, d] + change[d] - rate[W.ENDS, d]
            rate[W.ENDS, d] += less
            rate[W.MEAN, d] += 0.5 * less
    hold_ways(tree, state, work)


@separate
def brake_whirls(tree: Tree, state: State, work: Work, pose: Pose, base: Row, change: Row, least: Real):
    """Brake joints that turn faster than steps of `least` seconds can follow, or than FASTEST, at rates base + change,
    by internal friction: within the tree, so its momentum is conserved. Guided roots are braked by their guidance.
    Joints of characters that met are limited by `rate_limits`. The main factor is that of `pose`; `change` and base
    (nv,). Returns True if any joint was braked.

    Reads: P.COM, P.MOMENT, P.ROTATION, P.TURNS, P.WORLD_INERTIA, P.axes, S.behaviour, W.BONE_TURN, W.FASTEST, W.G,
        W.MAIN, W.MOMENTUM, W.MOTION, W.OWN_RATE, W.PUSHED, W.STILL, W.X1, base, change
    Writes: W.BONE_TURN, W.G, W.MAIN, W.MOMENTUM, W.MOTION, W.PUSHED, W.X1, change
    """
    factor = factor_of(work, W.MAIN)
    braked = hold_rates(tree, state, work, pose, factor, base, change)
    for turn in range(BRAKINGS):
        again = False
        for i in range(1, len(tree.parent)):
            if not factor.active[i] or (state.behaviour[i] == C.LIMP and tree.kind[i] == FREE):
                continue
            held = most_held(tree, state, work, i)
            most = min(held, WHIRL / least)
            rate = 0.0
            for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
                rate += (base[d] + change[d]) ** 2
            if rate > most * most and (turn == 0 or rate > 1.1 * held * held):
                _brake(tree, work, pose, factor, base, change, i, math.sqrt(rate), most)
                again = True
        braked = braked or again
        if not again:
            break
    return braked


@kernel
def _brake(tree, work, pose, factor, base, change, i, rate, most):
    """Brake joint i from `rate` to `most` [rad/s], with its axis of rotation unchanged.

    An impulse along that axis alone is not enough: a ball joint between light bodies of uneven inertia responds across
    the axis, many times faster than before. So the impulse is the one that changes all three rates as wanted. It
    removes energy.
    """
    first, end = tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])
    g, x, share = work.rate[W.G], work.rate[W.X1], most / rate - 1.0
    for d in range(len(g)):
        g[d] = 0.0
    for d in range(first, end):
        g[d] = 1.0
        solve_to_root(tree, pose, factor, i, g, work.rate[W.PUSHED + d - first])
        g[d] = 0.0
    push = _push_for(tree, work, factor, i, (
        share * (base[first] + change[first]),
        share * (base[first + 1] + change[first + 1]) if end > first + 1 else 0.0,
        share * (base[first + 2] + change[first + 2]) if end > first + 2 else 0.0,
    ))  # fmt: skip
    for d in range(first, end):
        g[d] = push[d - first]
    solve(tree, pose, factor, g, x)
    for d in range(len(x)):
        change[d] += x[d]


@kernel
def _push_for(tree, work, factor, i, wanted):
    """Impulse on joint i that changes its rates as `wanted` (3,), from rows PUSHED = D⁻¹z of unit impulses: the joint's
    response is A = Σ zᵀD⁻¹z over its path to the root."""
    count, joint, pushed = min(3, tree.dof[i + 1] - tree.dof[i]), factor.joint, work.rate
    xx = yy = zz = xy = xz = yz = 0.0
    while i > 0:
        if factor.active[i]:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                if joint[d, F.PIVOT] > 0.0:
                    inertia = 1.0 / joint[d, F.PIVOT]
                    x = pushed[W.PUSHED, d]
                    y = pushed[W.PUSHED + 1, d] if count > 1 else 0.0
                    z = pushed[W.PUSHED + 2, d] if count > 2 else 0.0
                    xx += inertia * x * x
                    yy += inertia * y * y
                    zz += inertia * z * z
                    xy += inertia * x * y
                    xz += inertia * x * z
                    yz += inertia * y * z
        i = tree.parent[i]
    most = max(xx, yy, zz)
    if not most > 0.0:
        return (0.0, 0.0, 0.0)
    # keeps the matrix invertible if a degree of freedom is immovable
    least = IMMOVABLE * most
    xx, yy, zz = xx + least, yy + least if count > 1 else most, zz + least if count > 2 else most
    return symmetric_solve((xx, yy, zz, xy, xz, yz), wanted)
