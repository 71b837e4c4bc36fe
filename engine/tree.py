"""A model as the kernels see it: flat arrays, row 0 the world, bodies from row 1.

Owns the layout of the constant arrays and of the scratch space. Must not know
about time or controllers.

Spatial vectors are (angular, linear) in world axes about the tree's root anchor,
so inertias and momenta of a tree simply add.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .model import Model

# numba drops its negative-index check for unsigned index arrays.
INDEX = np.uint32


class Tree(NamedTuple):
    """Constant arrays of a model; n bodies in rows 1 … n."""

    parent: np.ndarray  # (n+1,) row of the parent
    root: np.ndarray  # (n+1,) row of the tree's root body
    roots: np.ndarray  # (trees,) rows of the root bodies
    last: np.ndarray  # (n+1,) last row of the body's subtree (rows are depth-first)
    kind: np.ndarray  # (n+1,)
    dof: np.ndarray  # (n+2,) first degree of freedom of each row
    rest: np.ndarray  # (n+1, 4)
    axis: np.ndarray  # (n+1, 3) hinge axis, universal's first
    axis2: np.ndarray  # (n+1, 3) universal's second
    mass: np.ndarray  # (n+1,)
    center: np.ndarray  # (n+1, 3)
    inertia: np.ndarray  # (n+1, 6) xx, yy, zz, xy, xz, yz about the centre of mass


class Pose(NamedTuple):
    """Everything that follows from where the bodies are."""

    rotation: np.ndarray  # (n+1, 4) body axes in the world
    anchor: np.ndarray  # (n+1, 3) joint anchor from the tree's root anchor [m]
    center: np.ndarray  # (n+1, 3) centre of mass from the tree's root anchor [m]
    axes: np.ndarray  # (nv, 6) motion of one unit of each degree of freedom
    moment: np.ndarray  # (n+1, 3) mass × center
    inertia: np.ndarray  # (n+1, 6) about the tree's root anchor, world axes


class Factor(NamedTuple):
    """The articulated-body factor of M + C on the active degrees of freedom."""

    active: np.ndarray  # (n+1,) the body's joint takes part
    inertia: np.ndarray  # (n+1, 6, 6) articulated inertia
    column: np.ndarray  # (nv, 6) inertia × axis, eliminated within the joint
    lower: np.ndarray  # (nv, 6) the joint block's unit lower triangle
    inverse: np.ndarray  # (nv,) 1 / pivot, 0 where nothing can move
    force: np.ndarray  # (n+1, 6) scratch of the solve
    motion: np.ndarray  # (n+1, 6) scratch of the solve


def build_tree(model: Model) -> Tree:
    """Lay the model out for the kernels."""
    n = len(model)

    def rows(values, width=()) -> np.ndarray:
        out = np.zeros((n + 1, *width))
        out[1:] = values
        return out

    parent = np.zeros(n + 1, dtype=INDEX)
    parent[1:] = model.parents + 1
    root = np.zeros(n + 1, dtype=INDEX)
    root[1:] = model.trees + 1
    last = np.arange(n + 1)
    for row in range(n, 0, -1):
        last[parent[row]] = max(last[parent[row]], last[row])
    kind = np.zeros(n + 1, dtype=np.int64)
    kind[1:] = model.kinds
    dof = np.zeros(n + 2, dtype=np.int64)
    dof[1:] = model.dof_starts
    rest = rows(model.rest_rotations, (4,))
    rest[0, 0] = 1.0
    inertia = model.inertias[:, (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
    return Tree(
        parent,
        root,
        np.unique(root[1:]).astype(np.int64),
        last,
        kind,
        dof,
        rest,
        rows(model.axes[:, 0], (3,)),
        rows(model.axes[:, 1], (3,)),
        rows(model.masses),
        rows(model.centers, (3,)),
        rows(inertia, (6,)),
    )


def new_pose(tree: Tree) -> Pose:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    pose = Pose(*(np.zeros(shape) for shape in ((n1, 4), (n1, 3), (n1, 3), (nv, 6), (n1, 3), (n1, 6))))
    pose.rotation[0, 0] = 1.0
    return pose


def new_factor(tree: Tree) -> Factor:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    return Factor(
        np.zeros(n1, dtype=np.bool_),
        np.zeros((n1, 6, 6)),
        np.zeros((nv, 6)),
        np.zeros((nv, 6)),
        np.zeros(nv),
        np.zeros((n1, 6)),
        np.zeros((n1, 6)),
    )
