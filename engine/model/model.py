"""The constant description of what is simulated: bodies, joints, masses.

Owns `Model` and its validation. Must not know about time, motion, controllers
or Blender.

A body's frame sits at its joint: the origin is the anchor (a bone's head), the
axes are the bone's. With R_p, x_p the parent's world pose (the world itself for
a root), the body's pose is

    x = x_p + R_p · position          position [m], in the parent's frame
    R = R_p · rest_rotation · R(q)    q the joint's rotation, identity at rest

so a joint's rotation axis and angular velocity are given in the body's own frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import ModelError
from ..geometry.shapes.base import Shape
from ..math import quaternions as rot

FIXED, HINGE, UNIVERSAL, BALL, FREE = range(5)
JOINT_KINDS = ("FIXED", "HINGE", "UNIVERSAL", "BALL", "FREE")
JOINT_DOFS = (0, 1, 2, 3, 6)

# A joint can hold this many times the weight of what it carries, with the limb stretched out: an arm of 4 kg gives 40 N
# m at the shoulder, as measured on strong people.
HOLDS = 3.0
# Tolerance of the triangle inequality of principal moments, for rounding.
INERTIA_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Model:
    """Bodies in depth-first order, parents before children. Arrays are read-only.

    names            (n,)      body names, unique
    parents          (n,)      index of the parent body, -1 for the world
    offsets          (n, 3)    anchor at rest in the parent's frame [m]
    rest_rotations   (n, 4)    body axes at rest in the parent's frame, wxyz
    kinds            (n,)      FIXED, HINGE, UNIVERSAL, BALL or FREE
    axes             (n, 2, 3) joint axes, unit, for HINGE (first) and UNIVERSAL
    masses           (n,)      [kg]
    centers          (n, 3)    centre of mass in the body's frame [m]
    inertias         (n, 3, 3) about the centre of mass, body axes [kg m²]
    order            (n,)      where each body stood in the caller's lists
    shapes           (n,)      a tuple of shapes a body, in its frame; empty: it touches nothing
    frictions        (n,)      of the shapes' surfaces
    bounces          (n,)      0 … 1
    limits           (n, 4)    [rad], infinite where there is none: hinge: low, high; universal: low and
                               high of its first, then of its second angle; ball: largest swing of the
                               Y axis, low and high of the twist about it, and, where the swing differs,
                               its largest about Z; the first is then that about X
    limit_frames     (n, 2, 4) between which axes a ball's swing and twist are measured: at rest, as the joint
                               has them, and in the body; wxyz. Both are the body's own where none are given:
                               a knee's turn by half of what it may bend, so that its limits are even
    limits_natural   (n,)      limits that hold only what is off its motion: the motion itself is always allowed
    relaxed          (n, 4)    a ball's rotation from rest when nothing pulls on it, wxyz: where tone pulls it to; NaN
                               where that is the middle of its limits
    """

    names: tuple[str, ...]
    parents: np.ndarray
    offsets: np.ndarray
    rest_rotations: np.ndarray
    kinds: np.ndarray
    axes: np.ndarray
    masses: np.ndarray
    centers: np.ndarray
    inertias: np.ndarray
    order: np.ndarray
    shapes: tuple[tuple[Shape, ...], ...]
    frictions: np.ndarray
    bounces: np.ndarray
    limits: np.ndarray
    limit_frames: np.ndarray
    limits_natural: np.ndarray
    relaxed: np.ndarray

    @classmethod
    def from_tree(
        cls,
        names: Sequence[str],
        parents: Sequence[int | str | None],
        offsets,
        rest_rotations=None,
        kinds: Sequence[str] | None = None,
        masses=None,
        centers=None,
        inertias=None,
        axes=None,
        shapes: Sequence[Shape | Sequence[Shape] | None] | None = None,
        friction=0.6,
        bounce=0.0,
        limits=None,
        limit_frames=None,
        limits_natural=False,
        relaxed=None,
    ) -> Model:
        """Build a model from lists in any order; bodies come out depth-first.

        `parents` holds names, indices into the lists, or None/-1 for the world.
        `axes` is (n, 3) for hinges or (n, 2, 3) where universals are present.
        Roots default to FREE, all others to BALL; masses default to 1 kg and
        inertias to a 5 cm sphere's. `shapes` holds a shape, several or None a body;
        friction and bounce are one number or one a body.
        """
        names = _names(names)
        n = len(names)
        parent = _parent_indices(names, parents)
        order = _depth_first(names, parent)
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        parent = np.array([-1 if parent[i] < 0 else place[parent[i]] for i in order], dtype=np.int64)
        names = tuple(names[i] for i in order)

        offsets = _numbers(offsets, (n, 3), "offset", names, order)
        if rest_rotations is None:
            rest_rotations = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))[order]
        else:
            rest_rotations = _unit_quaternions(_numbers(rest_rotations, (n, 4), "rest rotation", names, order), names)
        if kinds is None:
            kinds = ["FREE" if parent[place[i]] < 0 else "BALL" for i in range(n)]
        kind = _kinds(kinds, names, parent, order)
        axis = _axes(axes, kind, names, order)
        masses = _masses(np.ones(n) if masses is None else masses, names, order)
        centers = _numbers(np.zeros((n, 3)) if centers is None else centers, (n, 3), "centre of mass", names, order)
        if inertias is None:
            inertias = np.einsum("i,jk->ijk", masses, np.eye(3) * (0.4 * 0.05**2))
        else:
            inertias = _inertias(_numbers(inertias, (n, 3, 3), "inertia", names, order), names)
        solid = _shapes(shapes, names, order)
        frictions, bounces = _surfaces(friction, bounce, names, order)
        arrays = (parent, offsets, rest_rotations, kind, axis, masses, centers, inertias, order)
        bounds, frames = _limits(limits, kind, names, order), _limit_frames(limit_frames, names, order)
        natural = np.broadcast_to(np.asarray(limits_natural, dtype=bool), (n,))[order]
        loose = _relaxed(relaxed, names, order)
        for array in (*arrays, frictions, bounces, bounds, frames, natural, loose):
            array.setflags(write=False)
        return cls(names, *arrays, solid, frictions, bounces, bounds, frames, natural, loose)

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """The body's index in this model's order."""
        try:
            return self.names.index(name)
        except ValueError:
            raise ModelError(f"The model has no body '{name}': it has {', '.join(self.names[:8])} …") from None

    @cached_property
    def dof_starts(self) -> np.ndarray:
        """(n + 1,) first generalized velocity of each body; the last entry is nv."""
        return np.concatenate([[0], np.cumsum(np.array(JOINT_DOFS)[self.kinds])]).astype(np.int64)

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return int(self.dof_starts[-1])

    @cached_property
    def trees(self) -> np.ndarray:
        """(n,) the index of each body's root body."""
        tree = np.arange(len(self))
        for i, parent in enumerate(self.parents):
            if parent >= 0:
                tree[i] = tree[parent]
        return tree

    @cached_property
    def size(self) -> float:
        """The extent of the bodies at rest, from anchor to anchor [m]."""
        places, turns = np.zeros((len(self), 3)), rot.to_matrix(self.rest_rotations)
        for i, parent in enumerate(self.parents):
            if parent >= 0:
                places[i] = places[parent] + turns[parent] @ self.offsets[i]
                turns[i] = turns[parent] @ turns[i]
        return float(np.ptp(places, axis=0).max())

    @cached_property
    def strengths(self) -> np.ndarray:
        """(n,) [N m] the torque of a strong body's joint: it holds HOLDS times the weight of everything that it
        carries, stretched out."""
        reach = np.linalg.norm(self.centers, axis=1)
        moment, mass = self.masses * reach, self.masses.copy()
        for i in range(len(self) - 1, -1, -1):
            parent = self.parents[i]
            if parent >= 0:
                moment[parent] += moment[i] + mass[i] * np.linalg.norm(self.offsets[i])
                mass[parent] += mass[i]
        return HOLDS * 9.81 * moment

    @property
    def total_mass(self) -> float:
        """[kg]"""
        return float(self.masses.sum())


def _names(names: Sequence[str]) -> tuple[str, ...]:
    names = tuple(str(name) for name in names)
    if not names:
        raise ModelError("The model has no bodies: give at least one.")
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ModelError(f"Body '{twice[0]}' is named twice: give every body its own name.")
    return names


def _masses(masses, names: tuple[str, ...], order: np.ndarray) -> np.ndarray:
    masses = _numbers(masses, (len(names),), "mass", names, order)
    for name, mass in zip(names, masses, strict=True):
        if mass <= 0.0:
            raise ModelError(f"Body '{name}' has mass {mass:g} kg: give it a mass above zero.")
    return masses


def _surfaces(friction, bounce, names: tuple[str, ...], order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) friction and (n,) bounce."""
    n = len(names)
    frictions = _numbers(np.broadcast_to(friction, (n,)), (n,), "friction", names, order)
    bounces = _numbers(np.broadcast_to(bounce, (n,)), (n,), "bounce", names, order)
    for name, rough, springy in zip(names, frictions, bounces, strict=True):
        if rough < 0.0 or not 0.0 <= springy <= 1.0:
            raise ModelError(
                f"Body '{name}' has friction {rough:g} and bounce {springy:g}: "
                "give friction of zero or above and bounce from 0 to 1."
            )
    return frictions, bounces


def _parent_indices(names: tuple[str, ...], parents) -> list[int]:
    if len(parents) != len(names):
        raise ModelError(f"{len(names)} bodies but {len(parents)} parents: give one parent (or None) a body.")
    index = {name: i for i, name in enumerate(names)}
    found = []
    for name, parent in zip(names, parents, strict=True):
        if parent is None or (not isinstance(parent, str) and parent == -1):
            found.append(-1)
        elif isinstance(parent, str):
            if parent not in index:
                raise ModelError(f"Body '{name}' hangs on '{parent}', which is not in the model: add it or use None.")
            found.append(index[parent])
        elif 0 <= int(parent) < len(names):
            found.append(int(parent))
        else:
            raise ModelError(f"Body '{name}' has parent number {parent}, but there are {len(names)} bodies.")
    return found


def _depth_first(names: tuple[str, ...], parents: list[int]) -> np.ndarray:
    children: list[list[int]] = [[] for _ in names]
    stack = []
    for i, parent in enumerate(parents):
        (children[parent] if parent >= 0 else stack).append(i)
    stack.reverse()
    order = []
    while stack:
        i = stack.pop()
        order.append(i)
        stack.extend(reversed(children[i]))
    if len(order) != len(names):
        lost = next(i for i in range(len(names)) if i not in set(order))
        raise ModelError(f"Body '{names[lost]}' is part of a cycle of parents: make one of them a root.")
    return np.array(order, dtype=np.int64)


def _numbers(values, shape: tuple[int, ...], what: str, names: tuple[str, ...], order: np.ndarray) -> np.ndarray:
    """Check shape and finiteness and bring the caller's order into the model's."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ModelError(f"The {what}s have shape {array.shape}, wanted {shape}.")
    array = np.ascontiguousarray(array[order])
    bad = ~np.isfinite(array.reshape(len(names), -1)).all(axis=1)
    if bad.any():
        raise ModelError(f"Body '{names[int(np.argmax(bad))]}' has a {what} that is not finite: give it real numbers.")
    return array


def _unit_quaternions(quats: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    norm = np.linalg.norm(quats, axis=1)
    bad = np.abs(norm - 1.0) > 1e-3
    if bad.any():
        i = int(np.argmax(bad))
        raise ModelError(f"Body '{names[i]}' has a rotation of length {norm[i]:g}: give a unit quaternion (wxyz).")
    return quats / norm[:, None]


def _shapes(shapes, names: tuple[str, ...], order: np.ndarray) -> tuple[tuple[Shape, ...], ...]:
    if shapes is None:
        return ((),) * len(names)
    if len(shapes) != len(names):
        raise ModelError(f"{len(names)} bodies but {len(shapes)} shapes: give one, several or None a body.")
    out = []
    for source in order:
        given = shapes[source]
        if given is None:
            out.append(())
        else:
            out.append(tuple(given) if isinstance(given, list | tuple) else (given,))
    return tuple(out)


def _limits(limits, kinds: np.ndarray, names: tuple[str, ...], order: np.ndarray) -> np.ndarray:
    """Low limits −∞ and the others +∞ by default."""
    n = len(names)
    none = np.full((n, 4), np.inf)
    none[:, 0] = np.where(kinds == BALL, np.inf, -np.inf)
    none[:, 1] = np.where(kinds == BALL, -np.inf, np.inf)
    none[kinds == UNIVERSAL, 2] = -np.inf
    if limits is None:
        return none
    given = np.array(limits, dtype=np.float64)
    if given.shape != (n, 4):
        raise ModelError(f"The joint limits have shape {given.shape}, wanted ({n}, 4): NaN where there is none.")
    out = np.where(np.isnan(given[order]), none, given[order])
    low = np.stack([np.where(kinds == BALL, out[:, 1], out[:, 0]), np.where(kinds == UNIVERSAL, out[:, 2], -np.inf)], 1)
    high = np.stack([np.where(kinds == BALL, out[:, 2], out[:, 1]), np.where(kinds == UNIVERSAL, out[:, 3], np.inf)], 1)
    bad = (low > high).any(axis=1)
    if bad.any():
        raise ModelError(f"Body '{names[int(np.argmax(bad))]}' has a lower limit above its upper one: swap them.")
    oval = (kinds == BALL) & np.isfinite(out[:, 3])
    bad = oval & ((out[:, [0, 3]] <= 0.0) | np.isinf(out[:, [0, 3]])).any(axis=1)
    if bad.any():
        raise ModelError(f"Body '{names[int(np.argmax(bad))]}' has two swings: give both, above zero.")
    return out


def _limit_frames(frames, names: tuple[str, ...], order: np.ndarray) -> np.ndarray:
    n = len(names)
    if frames is None:
        return np.tile([1.0, 0.0, 0.0, 0.0], (n, 2, 1))
    given = _numbers(frames, (n, 2, 4), "limit frame", names, order)
    return np.stack([_unit_quaternions(given[:, side], names) for side in range(2)], axis=1)


def _relaxed(relaxed, names: tuple[str, ...], order: np.ndarray) -> np.ndarray:
    """NaN by default."""
    n = len(names)
    out = np.full((n, 4), np.nan)
    if relaxed is not None:
        given = np.array(relaxed, dtype=np.float64)
        if given.shape != (n, 4):
            raise ModelError(f"The relaxed pose has shape {given.shape}, wanted ({n}, 4): NaN where there is none.")
        given = given[order]
        told = np.isfinite(given).all(axis=1)
        out[told] = _unit_quaternions(given[told], tuple(names[i] for i in np.flatnonzero(told)))
    return out


def _kinds(kinds, names, parents, order) -> np.ndarray:
    if len(kinds) != len(names):
        raise ModelError(f"{len(names)} bodies but {len(kinds)} joint kinds: give one a body.")
    kind = np.empty(len(names), dtype=np.int64)
    for i, source in enumerate(order):
        word = str(kinds[source]).upper()
        if word not in JOINT_KINDS:
            raise ModelError(f"Body '{names[i]}' has joint kind '{word}': use one of {', '.join(JOINT_KINDS)}.")
        kind[i] = JOINT_KINDS.index(word)
        if kind[i] == FREE and parents[i] >= 0:
            raise ModelError(f"Body '{names[i]}' has a parent and a FREE joint: only roots can be free.")
    return kind


def _axes(axes, kinds, names, order) -> np.ndarray:
    n = len(names)
    out = np.zeros((n, 2, 3))
    out[:, 0, 0] = 1.0
    out[:, 1, 2] = 1.0
    if axes is None:
        return out
    given = np.asarray(axes, dtype=np.float64)
    if given.shape == (n, 3):
        out[:, 0] = given[order]
    elif given.shape == (n, 2, 3):
        out = given[order].copy()
    else:
        raise ModelError(f"The joint axes have shape {given.shape}, wanted ({n}, 3) or ({n}, 2, 3).")
    for i, name in enumerate(names):
        used = {HINGE: 1, UNIVERSAL: 2}.get(int(kinds[i]), 0)
        length = np.linalg.norm(out[i], axis=1)
        if used and not (np.isfinite(length[:used]).all() and (length[:used] > 1e-9).all()):
            raise ModelError(f"Body '{name}' has a joint axis without direction: give it a non-zero one.")
        for k in range(used):
            out[i, k] /= length[k]
        if used == 2 and abs(out[i, 0] @ out[i, 1]) > 1.0 - 1e-6:
            raise ModelError(f"Body '{name}' has two parallel joint axes: a universal joint needs two directions.")
    return out


def _inertias(inertias: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    for name, inertia in zip(names, inertias, strict=True):
        scale = np.abs(inertia).max()
        if scale == 0.0:
            raise ModelError(f"Body '{name}' has no inertia: give it the one of a small sphere at least.")
        if np.abs(inertia - inertia.T).max() > 1e-6 * scale:
            raise ModelError(f"Body '{name}' has an inertia that is not symmetric: give one about the centre of mass.")
        low, middle, high = np.linalg.eigvalsh(inertia)
        if low <= 0.0 or low + middle < high * (1.0 - INERTIA_SLACK):
            raise ModelError(
                f"Body '{name}' has principal moments {low:g}, {middle:g}, {high:g}: no body has them "
                "(each is positive and at most the sum of the other two)."
            )
    return 0.5 * (inertias + inertias.transpose(0, 2, 1))
