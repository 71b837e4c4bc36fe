"""Step size: retry with a smaller step where loose joints turn too far, fewer steps where springs alone move.

Owns the length of a step as the joints' turning limits it, and how many suffice. Must not know what meets, or
what a step does.

The midpoint rule holds while a joint turns by a fraction of a radian. Limp chains of
short links, at one step a frame, turn by several: by the rates they have, and by those
they gain under way, which only the step itself tells: one that turns them too far is taken
again, in parts, and so is one that opens ties or makes energy. What whirls too fast even
for the shortest of them (a crumb between heavy things) is braked.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Real, Row
from ..controllers.shared.rate_limits import hold_rates, hold_ways, most_held
from ..dynamics.articulated import solve_outwards, solve_to_root
from ..math.vectors import symmetric_solve
from ..model.model import FREE
from ..tables import aim as A, control as C, factor as F, state as S, work as W
from ..tables.classes import Aim, Control, Pose, State, Tree, Work
from ..tables.work import factor_of, pose_of
from .ragdoll import any_ragdoll

# Steps a second that are enough where nothing can touch or hang loose, of which 240 are taken else: where springs alone
# move, a step need only be short against what they settle in. A path is then as near as ever (`test_heaviness`).
SPRING_STEPS, OF_STEPS = 72.0, 240.0
SPRING_TURN = 0.28  # [rad] of the fastest spring's ω t in one of them
# Steps a second that ragdolls fall with at least. How they come to lie hangs on the moments at which they touch, so it
# would change with every other number: with this many it does not change with fewer that are asked for.
FALL_STEPS = 480.0

TURN_LIMIT = 0.3  # [rad] a loose joint may turn in one step
# [rad] a joint may turn in one step whose rate is bounded anyway: it is in contact, or its range ends soon
BOUNDED_TURN = 0.12
TOO_FAR = 2.0  # a step in which a limp joint turns by this many times as much is not taken
MOST_PARTS = 64.0  # of a step, however fast joints whirl
# [rad] any joint may turn in the shortest of these: links without weight between heavy things turn and turn while
# those hardly move, and what a straight step misses of that way (half the square of the turn) throws the heavy ones.
WHIRL = 0.1
# So often joints are braked at most: one that is slowed down sets others turning.
BRAKINGS = 4
# A degree of freedom that a push moves by less than this share of what it moves the others does not move.
IMMOVABLE = 1e-10


def steps_needed(tree: Tree, control: Control, bounded: bool, steps: float) -> float:
    """Steps a second needed where `steps` are asked for; `bounded`: things may touch, tie, push, blow."""
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
    """How far joint i may turn in one step [rad]."""
    return BOUNDED_TURN if state.behaviour[i] == C.LIMP and work.body[i, W.FASTEST] < math.inf else TURN_LIMIT


@kernel
def too_far(tree: Tree, state: State, work: Work, h: Real):
    """Whether a limp joint would turn too far between the rates it has and those it ends with."""
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
    """Keep the state as it is before a step that may have to be taken again."""
    for i in range(len(state.body)):
        for k in range(S.COLUMNS):
            work.kept[i, k] = state.body[i, k]
    for d in range(len(state.rate[S.V])):
        for k in range(2):
            work.kept_rate[k, d] = state.rate[k, d]


@kernel
def return_to(state: State, work: Work):
    """The state as it was remembered."""
    for i in range(len(state.body)):
        for k in range(S.COLUMNS):
            state.body[i, k] = work.kept[i, k]
    for d in range(len(state.rate[S.V])):
        for k in range(2):
            state.rate[k, d] = work.kept_rate[k, d]


@kernel
def forget_quickening(state):
    """A new step: joints are taken to keep their rates until it shows that they do not."""
    for i in range(len(state.body)):
        state.body[i, S.QUICKENS] = 0.0


@kernel
def note_quickening(tree: Tree, state: State, aim: Aim, work: Work, h: Real):
    """From the rates a step begins with and those it would end with, of a step that is not taken."""
    for i in range(1, len(tree.parent)):
        change = 0.0
        if aim.mode[i] == A.LOOSE and tree.kind[i] != FREE:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                change += (work.rate[W.ENDS, d] - state.rate[S.V, d]) ** 2
        state.body[i, S.QUICKENS] = math.sqrt(change) / h


@kernel
def brake_ends(tree, state, work, least):
    """Brake what would whirl in the middle of the step, so that it turns no farther in it than it can be followed."""
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
    """Joints that turn faster than steps of `least` seconds can follow, or than FASTEST, at rates base + change, give
    off speed by friction of their own: within the tree, so that its momentum stays. So do guided roots, by what guides
    them. Those of characters that met are held by `held_rates`. The main factor is that of `pose`; `change` and base
    (nv,). Returns whether any does.

    Reads: P.COM, P.MOMENT, P.ROTATION, P.TURNS, P.WORLD_INERTIA, P.axes, S.behaviour, W.BONE_TURN, W.FASTEST, W.G,
        W.MAIN, W.MOMENTUM, W.MOTION, W.OWN_RATE, W.STILL, W.X1, base, change
    Writes: W.BONE_TURN, W.G, W.MAIN, W.MOMENTUM, W.MOTION, W.X1, change
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
    """Slow joint i down from `rate` to `most` [rad/s], the axis it turns about staying as it is.

    A push along that axis alone is not enough: a ball between light bodies of uneven inertia answers it across the
    axis, many times faster than it was. So the push is that which changes all three rates as asked. It takes energy.
    """
    first, end = tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])
    g, x, share = work.rate[W.G], work.rate[W.X1], most / rate - 1.0
    for d in range(len(g)):
        g[d] = x[d] = 0.0
    for d in range(first, end):
        g[d] = 1.0
        solve_to_root(tree, pose, factor, i, g, work.rate[W.PUSHED + d - first])
        g[d] = 0.0
    push = _push_for(tree, work, factor, i, (
        share * (base[first] + change[first]),
        share * (base[first + 1] + change[first + 1]) if end > first + 1 else 0.0,
        share * (base[first + 2] + change[first + 2]) if end > first + 2 else 0.0,
    ))  # fmt: skip
    while i > 0:
        if factor.active[i]:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                for k in range(end - first):
                    x[d] += push[k] * work.rate[W.PUSHED + k, d]
        i = tree.parent[i]
    solve_outwards(tree, pose, factor, x)
    for d in range(len(x)):
        change[d] += x[d]


@kernel
def _push_for(tree, work, factor, i, wanted):
    """The push on joint i that changes its rates as `wanted` (3,). PUSHED is D⁻¹z, one row a push, and A = Σ zᵀD⁻¹z."""
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
    # so the matrix can be inverted where something cannot move
    least = IMMOVABLE * most
    xx, yy, zz = xx + least, yy + least if count > 1 else most, zz + least if count > 2 else most
    return symmetric_solve((xx, yy, zz, xy, xz, yz), wanted)
