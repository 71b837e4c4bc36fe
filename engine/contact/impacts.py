"""Impacts: restitution at velocity level for contacts that close fast and ties that tear (METHODS §1d, A).

Owns bounce, and which joints respond to an impact. Must not know how contacts are found, or what happens within a step.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Index, Real
from ..controllers.follow.spring import peak_time, response
from ..controllers.shared.recovery import stays_stiff
from ..dynamics.articulated import composite_inertia, factorise, mass_block
from ..dynamics.joints import joint_rates, measure_error
from ..math.vectors import add, axpy, dot, load3, load4, scale, sub
from ..tables import aim as A, contacts as CT, control as C, factor as F, rows as R, sample as SA, state as S, work as W
from ..tables.classes import Aim, Control, State, Touch, Tree, Work
from ..tables.work import factor_of, pose_of
from .island_solver import eliminate_ties, solve_island
from .joint_space import fill_matrix, find_islands, forget_paths, give, lay_paths, loosen_locked, solved_end, take
from .ragdoll import is_met_anywhere, resist_blow, solves_roughly
from .ragdoll_candidates import solve_candidates
from .ragdoll_sweeps import MOST_SWEEPS
from .settling import note_disturbed
from .step_size import brake_whirls

# Duration of an impact [s]: it bounds the friction of a foot that bears weight meanwhile.
BLOW = 0.02
# The largest swing of a driven joint off its target by an impact [rad], and the tolerance as a share of the change.
SWING, NEAR = 1.0, 0.05
# The same under a guided root, where an impact passes into the whole body and each joint is moved by its neighbours.
GUIDED_SWING = 0.35
# Most iterations that add inertia to joints.
STIFFENINGS = 6
# Most iterations in which joints of ragdolls take part. Joints that are still too fast after them are braked.
RESISTS = 2
# Sweeps that suffice to find the joints that would be too fast.
SWEEPS_ASKED = 6
# One iteration reduces the change of a joint's rate at most to this share.
LEAST_SHARE = 0.02
# A limp joint that reaches its limit faster than this [rad/s] is stopped by an impact, from this distance on [rad].
STOP_FAST, STOP_NEAR = 5.0, 5e-3
# How a joint takes part in an impact: it only braces, or it gives way.
BRACING, GIVING = 1, 2
# Rounding: the energy that an impact may seem to add, relative to the energy of its impulses.
EXCESS = 1e-9


@separate
def collide_now(
    tree: Tree, control: Control, state: State, aim: Aim, work: Work, touch: Touch | None, frame: Index, least: Real
):
    """Solve the impacts (METHODS §1d, A): blocks that touch and close fast. Driven joints are passive, except those
    that only brace against the contact, and those that recover and are not on the path of the impact. Animated joints
    keep their motion. `least`: the shortest step [s]. Returns 0 if nothing changed, BRACING if joints only braced,
    else GIVING.

    Reads: A.FROM, A.GAINS, C.RECOVERY, C.SHAPE, CT.BOUNCE_SPEED, CT.LEAST, CT.SLOP, R.ALLOWED, R.BEARS, R.BLOCKS,
        R.BODY_A, R.BODY_B, R.BRACED, R.ERROR_NOW, R.FORCE, R.FREE_RATE, R.GIVEN_UP, R.IMPULSE, R.MORE, R.ON_A, R.ON_B,
        R.OWN, R.REBOUND, R.SPEED_NOW, R.WHAT, R.carry, R.island, R.mass, R.matrix, R.order, R.pick, R.picked, R.pool,
        R.pool_dof, R.ragdoll, R.root, R.row, R.spread, R.tally, R.upper, S.COORDS, S.DUE_KEY, S.QUIET, S.STRUCK, S.V,
        S.behaviour, W.ANSWER, W.COMPLIANCE, W.COMPOSITE, W.FASTEST, W.LOAD, W.LOADED_RATE, W.MAIN, W.MOTION, W.NOW,
        W.block
    Writes: R.FORCE, R.FREE_RATE, R.IMPULSE, R.MORE, R.POOL, R.POOL_FROM, R.POOL_TO, R.ROWS, R.SHIFT, R.carry, R.island,
        R.matrix, R.order, R.pick, R.picked, R.pool, R.pool_dof, R.row, R.spread, R.tally, R.upper, S.QUIET, S.V,
        W.ANSWER, W.COMPLIANCE, W.COMPOSITE, W.LOAD, W.LOADED_RATE, W.MAIN, W.block
    """
    any_fast, gives_way = _find_blows(tree, state, touch)
    if not any_fast:
        return 0
    _hand_on(tree, touch.rows)
    pose, factor = pose_of(work, W.NOW), factor_of(work, W.MAIN)
    for i in range(1, len(tree.parent)):
        behaviour = state.behaviour[i]
        carries = touch.rows.tally[i]
        stiff = carries != GIVING and stays_stiff(control, state, touch.rows.root[i], i, frame)
        struck = state.body[touch.rows.root[i], S.STRUCK] != 0.0
        passive = struck or (gives_way and carries != BRACING and not stiff)
        factor.active[i] = behaviour == C.LIMP or behaviour == C.ASSIST or (behaviour == C.SIMULATED and passive)
        work.body[i, W.COMPLIANCE] = 0.0
    composite_inertia(tree, pose, work.body, W.COMPOSITE)
    for b in range(touch.rows.count[R.BLOCKS]):
        for r in range(3):
            touch.rows.block[b, R.IMPULSE + r] = 0.0
    sweeps = SWEEPS_ASKED
    for turn in range(STIFFENINGS):
        unfinished = _share_blow(tree, work, touch, pose, factor, sweeps)
        resists = turn < RESISTS and resist_blow(tree, state, work, touch.rows, pose, factor)
        resists = stiffen(tree, control, state, aim, work, touch.rows.root, pose, factor, frame) or resists
        if not (resists or unfinished):
            break
        if turn + 1 == RESISTS or not resists:
            sweeps = MOST_SWEEPS
    brake_whirls(tree, state, work, pose, state.rate[S.V], work.rate[W.ANSWER], least)
    for d in range(len(work.rate[W.ANSWER])):
        state.rate[S.V, d] += work.rate[W.ANSWER, d]
    note_disturbed(state, work, touch.rows, R.IMPULSE)
    for b in range(touch.rows.count[R.BLOCKS]):
        for r in range(3):
            touch.rows.block[b, R.IMPULSE + r] = 0.0
    return GIVING if gives_way else BRACING


@kernel
def _find_blows(tree, state, touch):
    """Select the rows that take part in an impact. Returns True if there is an impact, and True if joints give way to
    it. tally becomes each joint's part: 0, BRACING or GIVING."""
    rows, slop, fast = touch.rows, touch.limit[CT.SLOP], -touch.limit[CT.BOUNCE_SPEED]
    any_fast = gives_way = False
    for i in range(len(tree.parent)):
        rows.tally[i] = 0
    for b in range(rows.count[R.BLOCKS]):
        if rows.block[b, R.GIVEN_UP] >= 1.0:
            rows.link[b, R.ROWS] = 0
            continue
        near = rows.block[b, R.ERROR_NOW] <= (STOP_NEAR if rows.link[b, R.WHAT] == R.LIMIT else slop)
        rows.link[b, R.ROWS] = 1 if near or rows.link[b, R.WHAT] == R.TIE or rows.block[b, R.BEARS] > 0.0 else 0
        closes = near and rows.block[b, R.SPEED_NOW] - rows.block[b, R.ALLOWED] < fast
        if (closes and rows.link[b, R.WHAT] == R.CONTACT and not _is_within(rows, b)) or _tears(state, rows, b, -fast):
            any_fast = True
            gives_way = gives_way or rows.link[b, R.BRACED] == 0
            carries = GIVING if rows.link[b, R.BRACED] == 0 else BRACING
            for side in range(2):
                i = rows.link[b, R.BODY_A] if side == 0 else rows.link[b, R.BODY_B]
                while i > 0:
                    rows.tally[i] = max(rows.tally[i], carries)
                    i = tree.parent[i]
        any_fast = any_fast or (near and stops_hard(state, rows, b) and not is_met_anywhere(rows, b))
    return any_fast, gives_way


@kernel
def stops_hard(state, rows, b):
    """True if a limp joint reaches its limit so fast that it would be far beyond before a step could stop it."""
    return (
        rows.link[b, R.WHAT] == R.LIMIT
        and rows.block[b, R.SPEED_NOW] < -STOP_FAST
        and state.behaviour[rows.link[b, R.BODY_A]] == C.LIMP
    )


@kernel
def _is_within(rows, b):
    """True for a contact of a ragdoll with itself. Fingers that rattle are no impact: the step stops them."""
    same = rows.root[rows.link[b, R.BODY_A]] == rows.root[rows.link[b, R.BODY_B]]
    return same and is_met_anywhere(rows, b)


@kernel
def _hand_on(tree, rows):
    """Pass GIVING on across ties: an impact on one of two tied bodies is also one on the other."""
    again = True
    while again:
        again = False
        for b in range(rows.count[R.BLOCKS]):
            if rows.link[b, R.WHAT] == R.TIE:
                i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
                if rows.tally[i] != GIVING:
                    i, j = j, i
                while rows.tally[i] == GIVING and j > 0 and rows.tally[j] == 0:
                    rows.tally[j] = GIVING
                    j = tree.parent[j]
                    again = True


@kernel
def _tears(state, rows, b, fast):
    """True if the limp bodies of a tie move apart: it has just become active, or could not hold in the previous step.
    Driven bodies are left to the step, which limits their change of rate."""
    i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
    limp = (i == 0 or state.behaviour[i] == C.LIMP) and (j == 0 or state.behaviour[j] == C.LIMP)
    if rows.link[b, R.WHAT] != R.TIE or not limp:
        return False
    for r in range(3):
        if abs(rows.block[b, R.SPEED_NOW + r] - rows.block[b, R.ALLOWED + r]) > fast:
            return True
    return False


@kernel
def stiffen(tree, control, state, aim, work, roots, pose, factor, frame):
    """Add inertia to driven joints that an impact would swing farther than SWING (such as a finger whose hand is
    stopped), enough to keep them within it. Returns True if any joint was changed."""
    again = False
    for i in range(1, len(tree.parent)):
        if factor.active[i] and state.behaviour[i] == C.SIMULATED:
            share = _share_within(tree, control, state, aim, work, roots[i], i, frame)
            if share < 1.0 - NEAR:
                own = whole = 0.0
                first = tree.dof[i]
                mass_block(tree, pose, work.body, W.COMPOSITE, i, work.block)
                for d in range(first, tree.dof[i + 1]):
                    own += factor.joint[d, F.LOWER + d - first]
                    whole += work.block[d, d - first]
                work.body[i, W.COMPLIANCE] += own / whole * (1.0 / max(share, LEAST_SHARE) - 1.0)
                again = True
    return again


@kernel
def _share_within(tree, control, state, aim, work, root, i, frame):
    """The share of an impact's change of a joint's rates that swings it no farther than SWING, or than it swings
    without the impact."""
    kind, d = tree.kind[i], tree.dof[i]
    omega = math.sqrt(aim.body[i, A.GAINS])
    zeta = 0.5 * aim.body[i, A.GAINS + 1] / omega
    if stays_stiff(control, state, root, i, frame) and state.body[i, S.DUE_KEY] < 0.0:
        row = min(frame, len(control.behaviour) - 1)
        omega, zeta = control.setting[row, i, C.SHAPE] / control.setting[row, i, C.RECOVERY], 1.0
    u, g, _, _ = response(omega, zeta, peak_time(omega, zeta))
    value, rate = load4(aim.body, i, A.FROM + SA.VALUE), load3(aim.body, i, A.FROM + SA.RATE)
    c, w = load4(state.body, i, S.COORDS), joint_rates(kind, state.rate, S.V, d)
    e, before = measure_error(kind, c, w, value, rate)
    _, after = measure_error(kind, c, add(w, joint_rates(kind, work.rate, W.ANSWER, d)), value, rate)
    # the error at the peak of the swing: |out + share · more| = most
    out, more = axpy(u, e, scale(g, before)), scale(g, sub(after, before))
    swing = GUIDED_SWING if state.behaviour[root] == C.ASSIST else SWING
    most = max(swing * swing, dot(out, out))
    one, two = dot(out, more), dot(more, more)
    if dot(out, out) + 2.0 * one + two <= most:
        return 1.0
    return (math.sqrt(max(0.0, one * one + two * (most - dot(out, out)))) - one) / two


@kernel
def _share_blow(tree, work, touch, pose, factor, sweeps):
    """ANSWER: the change of rates by an impact, with the active joints of the factor free to respond. Returns True if
    islands of ragdolls would take more than this number of `sweeps`."""
    rows = touch.rows
    factorise(tree, pose, work.body, W.COMPLIANCE, work.block, factor)
    find_islands(tree, factor, rows)
    forget_paths(rows)
    least, unfinished = touch.limit[CT.LEAST], False
    first = 0
    for head in tree.roots:
        end = rows.tally[head]
        if end <= first:
            continue
        rough = solves_roughly(rows, first, end) and not _bounces(rows, first, end)
        last = end if rough else solved_end(rows, first, end)
        _ask_back(touch, first, last, 1.0)
        if rough:
            _start_from_impulses(rows, first, last)
            taken = solve_candidates(tree, pose, factor, rows, work, first, last, least, BLOW, 0.0, sweeps)
            unfinished = unfinished or taken == sweeps < MOST_SWEEPS
            take(rows, first, last, R.IMPULSE, 1.0)
            first = end
            continue
        lay_paths(tree, pose, factor, rows, first, end)
        fill_matrix(factor, rows, first, last)
        ties = eliminate_ties(rows, first, last, least)
        loosen_locked(tree, factor, rows, first, last, ties, least)
        solve_island(rows, first, last, ties, least, BLOW)
        if _gain(touch, first, last, ties) > EXCESS * _given(rows, first, last, ties, R.FORCE):
            _bounce_less(touch, first, last, ties)
        take(rows, first, last, R.IMPULSE, 1.0)
        first = end
    give(tree, pose, factor, rows, work, R.IMPULSE, work.rate[W.ANSWER])
    return unfinished


@kernel
def _start_from_impulses(rows, first, last):
    """Warm start: FORCE from the impulses of the previous iteration."""
    for x in range(first, last):
        for k in range(3):
            rows.row[R.FORCE, 3 * (x - first) + k] = rows.block[rows.order[x], R.IMPULSE + k]


@kernel
def _bounces(rows, first, last):
    """True if a contact of the island bounces."""
    for x in range(first, last):
        if rows.block[rows.order[x], R.REBOUND] > 0.0:
            return True
    return False


@kernel
def _kick(touch, b, speed):
    """The rate that restitution adds to a contact that closes at `speed` (below 0)."""
    if speed < -touch.limit[CT.BOUNCE_SPEED] and touch.rows.link[b, R.WHAT] == R.CONTACT:
        return touch.rows.block[b, R.REBOUND] * speed
    return 0.0


@kernel
def _closing(touch, b):
    """The rate of a block's first row before the impact, above 0 if it separates."""
    rows = touch.rows
    speed = rows.block[b, R.SPEED_NOW] - rows.block[b, R.ALLOWED]
    if rows.block[b, R.BEARS] > 0.0 and rows.block[b, R.ERROR_NOW] > touch.limit[CT.SLOP]:
        # a foot that stands without touching: it may come down, but not slide
        speed = max(0.0, speed) + rows.block[b, R.ERROR_NOW] / BLOW
    return speed


@kernel
def _ask_back(touch, first, last, bounce):
    """FREE_RATE of an island's rows, with the share `bounce` of the restitution. FORCE becomes 0."""
    rows = touch.rows
    for x in range(first, last):
        b = rows.order[x]
        r = 3 * (x - first)
        speed = _closing(touch, b)
        rows.row[R.FREE_RATE, r] = speed + bounce * _kick(touch, b, speed)
        rows.row[R.FORCE, r] = 0.0
        for k in range(1, 3):
            rows.row[R.FREE_RATE, r + k] = rows.block[b, R.SPEED_NOW + k] - rows.block[b, R.ALLOWED + k]
            rows.row[R.FORCE, r + k] = 0.0


@kernel
def _given(rows, first, last, ties, column):
    """½ pᵀGp of the impulses p in row `column`: the energy they would give to bodies at rest, with the ties' response
    included."""
    matrix, p = rows.matrix, rows.row[column]
    energy = 0.0
    for i in range(ties, 3 * (last - first)):
        if p[i] != 0.0:
            for j in range(ties, i):
                energy += p[i] * matrix[i, j] * p[j]
            energy += 0.5 * matrix[i, i] * p[i] * p[i]
    return energy


@kernel
def _gain(touch, first, last, ties):
    """The energy that bodies gain by the impact just solved with full restitution: pᵀu₁ − ½ pᵀGp, u₁ the rows' rates
    after it. Without restitution it is never above zero."""
    rows = touch.rows
    p = rows.row[R.FORCE]
    gain = -_given(rows, first, last, ties, R.FORCE)
    for r in range(ties, 3 * (last - first)):
        gain += p[r] * rows.row[R.FREE_RATE, r]
        if r % 3 == 0:
            b = rows.order[first + r // 3]
            gain -= p[r] * _kick(touch, b, _closing(touch, b))
    return gain


@kernel
def _bounce_less(touch, first, last, ties):
    """Reduce the bounce until it adds no energy. Restitution of each contact by itself can add energy if there is
    friction or several contacts. So the impact is also solved without bounce, and the largest share of the difference
    is added that leaves the energy unchanged.

    The result is feasible: it lies between two sets of impulses that press and stay within the friction cone.
    """
    rows, size = touch.rows, 3 * (last - first)
    p, more, u = rows.row[R.FORCE], rows.row[R.MORE], rows.row[R.FREE_RATE]
    for r in range(size):
        more[r] = p[r]
    _ask_back(touch, first, last, 0.0)
    solve_island(rows, first, last, ties, touch.limit[CT.LEAST], BLOW)
    none = -_given(rows, first, last, ties, R.FORCE)
    one = 0.0
    for r in range(size):
        more[r] -= p[r]
        if r >= ties:
            none += p[r] * u[r]
            one += more[r] * u[r]
    two = _given(rows, first, last, ties, R.MORE)
    # energy gained: none + one·s + two·s²
    share = 0.0
    if two > 0.0:
        share = min(1.0, (math.sqrt(max(0.0, one * one - 4.0 * two * none)) - one) / (2.0 * two))
    for r in range(size):
        p[r] += max(0.0, share) * more[r]
