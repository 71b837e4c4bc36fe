"""Contact rows in joint space: the Delassus matrix through the articulated factor.

Owns the mapping from forces on bodies to joint rates (G = J(M+C)⁻¹Jᵀ), island by island. Must not know what the rows
mean.

With the factor M + C = L D Lᵀ of `articulated`, G = Zᵀ D⁻¹ Z, Z = L⁻¹Jᵀ. A column of Z is computed along the path from
its bodies to the root and is zero everywhere else. So the cost of the matrix is about proportional to its entries.
"""

from __future__ import annotations

import numpy as np

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Index
from ..dynamics.articulated import generalized, solve, solve_outwards
from ..math.vectors import axpy6, dot6, load6, put6
from ..tables import factor as F, pose as P, rows as R, work as W
from ..tables.classes import Factor, Pose, Rows, Tree

# The effective mass of a contact of a chain below a keyed body is at most this many times the chain's mass. A contact
# whose line of action passes close to the joint would otherwise need an enormous impulse to stop a slow approach, and
# spin the chain.
HEAVIEST = 30.0


@kernel
def forget_paths(rows):
    """Clear the paths of all blocks."""
    rows.count[R.POOL] = 0
    for b in range(rows.count[R.BLOCKS]):
        rows.link[b, R.POOL_FROM] = rows.link[b, R.POOL_TO] = 0


@separate
def lay_paths(tree: Tree, pose: Pose, factor: Factor, rows: Rows, first: Index, last: Index):
    """Compute Z of the blocks order[first:last] that have none yet, along the paths from their two bodies to the roots.

    Reads: F.COLUMN, F.LOWER, F.PIVOT, F.active, P.TURNS, R.BODY_A, R.BODY_B, R.ON_A, R.ON_B, R.OWN, R.POOL,
        R.POOL_FROM, R.POOL_TO, R.WHAT, R.carry, R.order, R.pool
    Writes: R.PIVOT, R.POOL, R.POOL_FROM, R.POOL_TO, R.carry, R.pool, R.pool_dof
    """
    for x in range(first, last):
        b = rows.order[x]
        if rows.link[b, R.POOL_FROM] == rows.link[b, R.POOL_TO]:
            _lay_path(tree, pose, factor, rows, b)


@kernel
def _lay_path(tree, pose, factor, rows, b):
    """Z of one block: joints in order from the bodies to the root, degrees of freedom of a joint in their own order."""
    carry = rows.carry
    for r in range(3):
        for k in range(6):
            carry[r, k] = -rows.block[b, R.ON_A + 6 * r + k]
            carry[r, 6 + k] = -rows.block[b, R.ON_B + 6 * r + k]
    i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
    own = i
    end = rows.count[R.POOL]
    rows.link[b, R.POOL_FROM] = end
    while i > 0 or j > 0:
        if i == j:
            # the paths meet: one force from here on
            for r in range(3):
                for k in range(6):
                    carry[r, k] += carry[r, 6 + k]
            j = 0
        # parents come before children: the larger index is the deeper body
        side = 0
        body = i
        if j > i:
            side = 6
            body = j
        if factor.active[body]:
            end = _pass_joint(tree, pose, factor, rows, b, body, side, body == own, end)
        if side == 0:
            i = tree.parent[i]
        else:
            j = tree.parent[j]
    rows.link[b, R.POOL_TO] = end
    rows.count[R.POOL] = end


@kernel
def _pass_joint(tree, pose, factor, rows, b, body, side, own, end):
    """Append one joint's entries of Z, and pass the force on to the joint's parent without the part that the joint
    absorbs."""
    first, last = tree.dof[body], tree.dof[body + 1]
    joint, carry, pool = factor.joint, rows.carry, rows.pool
    count = 1 if rows.link[b, R.WHAT] == R.LIMIT else 3  # a limit has only its first row
    for d in range(first, last):
        e = end + d - first
        rows.pool_dof[e] = d
        pool[e, 1] = pool[e, 2] = 0.0
        pool[e, R.PIVOT] = joint[d, F.PIVOT]
        axis = load6(pose.axes, d, P.TURNS)
        for r in range(count):
            w = -dot6(axis, load6(carry, r, side))
            if own and d - first < 3:
                w += rows.block[b, R.OWN + 3 * r + d - first]
            for k in range(d - first):
                w -= joint[d, F.LOWER + k] * pool[end + k, r]
            pool[e, r] = w
    if tree.parent[body] == 0:
        return end + last - first
    for d in range(first, last):
        column = load6(joint, d, F.COLUMN)
        for r in range(count):
            put6(carry, r, side, axpy6(pool[end + d - first, r] * joint[d, F.PIVOT], column, load6(carry, r, side)))
    return end + last - first


@separate
def fill_matrix(factor: Factor, rows: Rows, first: Index, last: Index):
    """Compute G of the blocks order[first:last], an island.

    Reads: F.PIVOT, R.POOL_FROM, R.POOL_TO, R.order, R.pool, R.pool_dof, R.spread
    Writes: R.FACTORED, R.matrix, R.spread
    """
    rows.count[R.FACTORED] = 0
    spread, pool, matrix = rows.spread, rows.pool, rows.matrix
    for x in range(first, last):
        b = rows.order[x]
        path = range(np.uint64(rows.link[b, R.POOL_FROM]), np.uint64(rows.link[b, R.POOL_TO]))
        for e in path:
            d = rows.pool_dof[e]
            pivot = factor.joint[d, F.PIVOT]
            for r in range(3):
                spread[r, d] = pool[e, r] * pivot
        for y in range(first, x + 1):
            other = rows.order[y]
            g00 = g01 = g02 = g10 = g11 = g12 = g20 = g21 = g22 = 0.0
            for e in range(np.uint64(rows.link[other, R.POOL_FROM]), np.uint64(rows.link[other, R.POOL_TO])):
                d = rows.pool_dof[e]
                s0, s1, s2 = spread[0, d], spread[1, d], spread[2, d]
                p0, p1, p2 = pool[e, 0], pool[e, 1], pool[e, 2]
                g00 += s0 * p0
                g01 += s0 * p1
                g02 += s0 * p2
                g10 += s1 * p0
                g11 += s1 * p1
                g12 += s1 * p2
                g20 += s2 * p0
                g21 += s2 * p1
                g22 += s2 * p2
            i, j = 3 * (x - first), 3 * (y - first)
            matrix[i, j], matrix[i, j + 1], matrix[i, j + 2] = g00, g01, g02
            matrix[i + 1, j], matrix[i + 1, j + 1], matrix[i + 1, j + 2] = g10, g11, g12
            matrix[i + 2, j], matrix[i + 2, j + 1], matrix[i + 2, j + 2] = g20, g21, g22
            matrix[j, i], matrix[j + 1, i], matrix[j + 2, i] = g00, g01, g02
            matrix[j, i + 1], matrix[j + 1, i + 1], matrix[j + 2, i + 1] = g10, g11, g12
            matrix[j, i + 2], matrix[j + 1, i + 2], matrix[j + 2, i + 2] = g20, g21, g22
        for e in path:
            d = rows.pool_dof[e]
            spread[0, d] = spread[1, d] = spread[2, d] = 0.0


@kernel
def loosen_locked(tree, factor, rows, first, last, ties, least):
    """Raise the diagonals of an island's contacts, ties eliminated, so that none is practically immovable (HEAVIEST).

    Trees that are free to move are not affected: the effective mass is at most their whole mass. Rows with a diagonal
    below `least` move nothing and are left as they are.
    """
    for r in range(ties, 3 * (last - first), 3):
        b = rows.order[first + r // 3]
        if rows.link[b, R.WHAT] == R.CONTACT:
            mass = max(
                _hanging(tree, factor, rows, rows.link[b, R.BODY_A]),
                _hanging(tree, factor, rows, rows.link[b, R.BODY_B]),
            )
            for k in range(3):
                if rows.matrix[r + k, r + k] > least:
                    rows.matrix[r + k, r + k] = max(rows.matrix[r + k, r + k], 1.0 / (HEAVIEST * mass))


@kernel
def _hanging(tree, factor, rows, i):
    """The mass carried by the active joint nearest to the root on the path of body i [kg]; 0 if there is none."""
    mass = 0.0
    while i > 0:
        if factor.active[i]:
            mass = rows.mass[i]
        i = tree.parent[i]
    return mass


@kernel
def row_rate(dof, block, link, b, r, table, motion, rates):
    """The rate at which a row's bodies separate, from body velocities in column `motion` of `table` and joint rates
    (nv,)."""
    i, j = link[b, R.BODY_A], link[b, R.BODY_B]
    rate = dot6(load6(block, b, R.ON_A + 6 * r), load6(table, i, motion))
    rate += dot6(load6(block, b, R.ON_B + 6 * r), load6(table, j, motion))
    first = dof[i]
    for k in range(min(3, dof[i + 1] - first)):
        rate += block[b, R.OWN + 3 * r + k] * rates[first + k]
    return rate


@kernel
def give(tree, pose, factor, rows, work, column, x):
    """x = (M+C)⁻¹Jᵀλ with λ the blocks' values in `column`, three a block; x (nv,)."""
    load_bodies(tree, rows, work, column)
    g = work.rate[W.LOADED_RATE]
    generalized(tree, pose, work.body, W.LOAD, g)
    load_joints(tree, rows, column, g)
    solve(tree, pose, factor, g, x)


@kernel
def answer(tree, pose, factor, rows, column, x):
    """x as in `give`, from the paths computed with this factor: they replace the pass to the roots."""
    for d in range(len(x)):
        x[d] = 0.0
    pool = rows.pool
    for b in range(rows.count[R.BLOCKS]):
        one, two, three = rows.block[b, column], rows.block[b, column + 1], rows.block[b, column + 2]
        if one != 0.0 or two != 0.0 or three != 0.0:
            for e in range(np.uint64(rows.link[b, R.POOL_FROM]), np.uint64(rows.link[b, R.POOL_TO])):
                d = rows.pool_dof[e]
                x[d] += factor.joint[d, F.PIVOT] * (one * pool[e, 0] + two * pool[e, 1] + three * pool[e, 2])
    solve_outwards(tree, pose, factor, x)


@kernel
def load_joints(tree, rows, column, g):
    """Add to g the generalized forces of rows that act on joints (limits)."""
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.LIMIT:
            i = rows.link[b, R.BODY_A]
            first = tree.dof[i]
            for k in range(min(3, tree.dof[i + 1] - first)):
                g[first + k] += rows.block[b, R.OWN + k] * rows.block[b, column]


@kernel
def load_bodies(tree, rows, work, column):
    """LOAD: the wrenches on the bodies, about their root anchors."""
    for i in range(len(tree.parent)):
        for k in range(6):
            work.body[i, W.LOAD + k] = 0.0
    for b in range(rows.count[R.BLOCKS]):
        i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
        for r in range(3):
            s = rows.block[b, column + r]
            if s != 0.0:
                for k in range(6):
                    work.body[i, W.LOAD + k] += s * rows.block[b, R.ON_A + 6 * r + k]
                    work.body[j, W.LOAD + k] += s * rows.block[b, R.ON_B + 6 * r + k]


@separate
def find_islands(tree: Tree, factor: Factor, rows: Rows):
    """Order the blocks by island, ties first. An island is a group of trees that push one another: they are solved
    together.

    Returns the number of blocks that move anything. tally[head] becomes the end of the island's blocks in `order`.

    Reads: F.active, R.BLOCKS, R.BODY_A, R.BODY_B, R.ROWS, R.WHAT, R.island, R.root, R.tally
    Writes: R.island, R.order, R.tally
    """
    island, tally, count = rows.island, rows.tally, rows.count[R.BLOCKS]
    for i in range(len(island)):
        island[i] = tally[i] = 0
    for i in range(1, len(island)):
        if factor.active[i]:
            island[rows.root[i]] = rows.root[i]
    for b in range(count):
        i = island_of(rows.island, rows.root[rows.link[b, R.BODY_A]])
        j = island_of(rows.island, rows.root[rows.link[b, R.BODY_B]])
        if i != j and i > 0 and j > 0:
            island[max(i, j)] = min(i, j)
    # counting sort, ties before the rest
    for b in range(count):
        tally[block_island(rows.link, rows.root, island, b)] += 1
    total = 0
    for head in tree.roots:
        here = tally[head]
        tally[head] = total
        total += here
    for ties in range(2):
        for b in range(count):
            head = block_island(rows.link, rows.root, island, b)
            if head > 0 and (rows.link[b, R.WHAT] == R.TIE) == (ties == 0):
                rows.order[tally[head]] = b
                tally[head] += 1
    return total


@kernel
def solved_end(rows, first, end):
    """The end of the blocks of an island for which the matrix has room. Further blocks have no impulse and no shift."""
    last = min(end, first + len(rows.matrix) // 3)
    for x in range(last, end):
        for r in range(3):
            rows.block[rows.order[x], R.IMPULSE + r] = rows.block[rows.order[x], R.SHIFT + r] = 0.0
    return last


@kernel
def island_of(island, root):
    """The island of a tree; 0 if nothing can move the tree."""
    i = island[root]
    while i > 0 and island[i] != i:
        i = island[i]
    return i


@kernel
def block_island(link, root, island, b):
    """The island in which a block is solved; 0 if it is left out or moves nothing."""
    if link[b, R.ROWS] == 0:
        return np.int64(0)
    return max(island_of(island, root[link[b, R.BODY_A]]), island_of(island, root[link[b, R.BODY_B]]))


@kernel
def take(rows, first, last, column, times):
    """Copy the island's FORCE, multiplied by `times`, to its blocks' `column`."""
    for x in range(first, last):
        for k in range(3):
            rows.block[rows.order[x], column + k] = times * rows.row[R.FORCE, 3 * (x - first) + k]
