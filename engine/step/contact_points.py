"""Move the points of contact rows from the start of a step to its middle pose.

Owns the common world point at which two free trees push each other; with two points a pair of forces would also be a
couple. Must not know how rows are solved.
"""

from __future__ import annotations

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Real, Vector
from ..contact.joint_space import row_rate
from ..contact.tie_rows import aim_tie
from ..dynamics.kinematics import place_bodies, tree_momentum, velocities
from ..math.vectors import add, axpy, cross, load3, scale, store3, sub
from ..model.model import FREE
from ..tables import aim as A, contacts as CT, control as C, pose as P, rows as R, state as S, tree as T, work as W
from ..tables.classes import Aim, State, Touch, Tree, Work
from ..tables.work import pose_of
from .free_roots import half_way, is_free


@separate
def carry_rows(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real, gravity: Vector):
    """Move the points of action of rows with their bodies to the middle of the step; those of two free trees meet
    there.

    Reads: A.GOAL_ANCHOR, A.mode, CT.AHEAD, CT.BOUNCE_SPEED, H.ACTS_AT, H.TIE_KIND, H.TIE_POINT_A, H.TIE_POINT_B,
        R.BLOCKS, R.BODY_A, R.BODY_B, R.ON_A, R.ON_B, R.OWN, R.SOURCE, R.SPEED_NOW, R.TURNING, R.WHAT, R.block, R.root,
        S.ANCHOR, S.DRIFT, S.SPIN, S.V, S.behaviour, W.MIDDLE, W.MOTION, W.NEW_ANCHOR, W.NOW, W.WAY
    Writes: CT.AHEAD, R.BEND, R.ON_A, R.ON_B, R.PARTING, R.TURNED, R.block, W.MOTION, W.NEW_ANCHOR, W.WAY
    """
    if touch is None:
        return
    rows = touch.rows
    if rows.count[R.BLOCKS] == 0:
        return
    if len(touch.holds.tie) > 0:
        half_way(tree, state, aim, work, h, gravity)
        _carry_ties(tree, state, work, touch)
    for root in tree.roots:
        store3(work.body, root, W.WAY, _way_of_root(tree, state, aim, work, root, h))
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.TIE:
            continue
        i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
        on_a, on_b = _way_of_body(work, rows.root, i), _way_of_body(work, rows.root, j)
        if rows.link[b, R.WHAT] == R.CONTACT and _both_free(tree, aim, rows.root[i], rows.root[j]):
            # the lighter body's point, as against the ground
            share = tree.body[i, T.MASS] / (tree.body[i, T.MASS] + tree.body[j, T.MASS])
            on_a = on_b = axpy(share, sub(on_b, on_a), on_a)
        _move_point(rows.block, b, R.ON_A, i, sub(on_a, load3(work.body, rows.root[i], W.WAY)))
        _move_point(rows.block, b, R.ON_B, j, sub(on_b, load3(work.body, rows.root[j], W.WAY)))
    _note_turning(tree, state, work, touch)


@kernel
def _carry_ties(tree, state, work, touch):
    """Move ties by their bodies' rotation. BEND: its contribution to rates that stay constant."""
    rows, where, middle = touch.rows, touch.found.where[CT.AHEAD], pose_of(work, W.MIDDLE)
    place_bodies(tree, middle, work.body, W.NEW_ANCHOR, where)
    velocities(tree, middle, state.rate[S.V], state.body, S.DRIFT, work.body, W.MOTION)
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.TIE:
            aim_tie(touch.holds, rows, where, b)
            for r in range(3):
                rate = row_rate(tree.dof, rows.block, rows.link, b, r, work.body, W.MOTION, state.rate[S.V])
                rows.block[b, R.BEND + r] = rate - rows.block[b, R.SPEED_NOW + r]


@kernel
def _note_turning(tree, state, work, touch):
    """PARTING and TURNED of contacts between limp bodies.

    Seen from the middle pose, the rates at the start of a step differ from the real ones, and those at its end by the
    same amount in the opposite sense: the midpoint rule uses their mean. For light bodies that spin this is metres a
    second.
    """
    rows = touch.rows
    velocities(tree, pose_of(work, W.MIDDLE), state.rate[S.V], state.body, S.DRIFT, work.body, W.MOTION)
    for b in range(rows.count[R.BLOCKS]):
        i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
        rows.block[b, R.PARTING] = rows.block[b, R.TURNED] = 0.0
        limp = (i == 0 or state.behaviour[i] == C.LIMP) and (j == 0 or state.behaviour[j] == C.LIMP)
        if limp and rows.link[b, R.WHAT] == R.CONTACT:
            speed = rows.block[b, R.SPEED_NOW]
            seen = row_rate(tree.dof, rows.block, rows.link, b, 0, work.body, W.MOTION, state.rate[S.V])
            rows.block[b, R.TURNED] = seen - speed
            if speed > touch.limit[CT.BOUNCE_SPEED]:
                rows.block[b, R.PARTING] = speed


@kernel
def _move_point(block, b, column, body, way):
    """Move the point of three wrenches by `way` relative to the root anchor."""
    if body > 0:
        for r in range(3):
            c = column + 6 * r
            store3(block, b, c, add(load3(block, b, c), cross(way, load3(block, b, c + 3))))


@kernel
def _way_of_root(tree, state, aim, work, root, h):
    """The displacement of a root's anchor in half a step. That of a free tree follows from its centre of mass, which
    without pushes moves straight: the step sums up its angular momentum about that very point."""
    if is_free(tree, aim, root):
        mass, before, linear, _ = tree_momentum(tree, pose_of(work, W.NOW), root, state.body, S.SPIN)
        _, middle, _, _ = tree_momentum(tree, pose_of(work, W.MIDDLE), root, state.body, S.SPIN)
        return axpy(0.5 * h / mass, linear, sub(before, middle))
    if tree.kind[root] != FREE or aim.mode[root] == A.PRESCRIBED:
        return scale(0.5, sub(load3(aim.body, root, A.GOAL_ANCHOR), load3(state.body, root, S.ANCHOR)))
    return scale(0.5 * h, load3(state.rate, S.V, tree.dof[root] + 3))


@kernel
def _way_of_body(work, roots, i):
    """The displacement of a body's own frame in half a step."""
    now, middle = pose_of(work, W.NOW), pose_of(work, W.MIDDLE)
    way = sub(load3(middle.body, i, P.PLACE), load3(now.body, i, P.PLACE))
    return add(way, load3(work.body, roots[i], W.WAY))


@kernel
def _both_free(tree, aim, a, b):
    """True if two trees conserve a common momentum; otherwise each one's own point is more accurate."""
    return a > 0 and b > 0 and is_free(tree, aim, a) and is_free(tree, aim, b)
