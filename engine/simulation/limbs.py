"""Simulate the subtrees of an animated root in parallel: its motion is prescribed, so they cannot affect one another.

Owns which parts of a character are simulated separately, in parallel on threads, and how they are combined. Must not
know what happens inside a step.

A prescribed root needs no factor and transmits nothing between its limbs. So each limb together with the root moves as
in the whole, except that its steps are finer only if it turns fast itself. The root's own drive is the sum over its
limbs; its mass is counted in the first. The number of limbs does not depend on the machine, so neither does a byte.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from ..compile.decorators import is_compiled
from ..memo import derived
from ..step.run_frames import new_record
from ..tables import control as C, tree as T
from ..tables.aim import new_aim
from ..tables.axes import take_bodies
from ..tables.classes import Aim, Control, Holds, Record, State, Target, Touch, Tree, Work
from ..tables.contacts import new_touch
from ..tables.state import new_state
from ..tables.tree import last_rows
from ..tables.work import new_work
from .shot_interface import ShotInterface, Tables

MOST = 4  # groups of limbs
FEWEST_BODIES = 8  # in the smallest group that is worth a thread
STRETCH = 16  # [frames] that a limb is simulated at a time


@dataclass(frozen=True, eq=False)
class Limb:
    """A group of limbs with their root, in tables of their own.

    rows    (m+1,) of the shot's tables: the world, the root, the limbs' bodies
    dofs    (k,) the shot's degrees of freedom; `own` of them, the first, are the root's
    """

    rows: np.ndarray
    dofs: np.ndarray
    own: int
    tree: Tree
    target: Target
    control: Control
    state: State
    aim: Aim
    work: Work
    touch: Touch | None
    record: Record


def split(shot: ShotInterface) -> tuple[Limb, ...]:
    """The shot's limbs, in groups of about the same size; empty if they are too small or connected."""
    tree, target, control, touch = shot.tree, shot.target, shot.control, shot.touch
    if not is_compiled() or len(tree.roots) != 1 or len(target.key) or shot.frames < 2:
        return ()
    if touch is not None and not limits_alone(touch):
        return ()
    root = int(tree.roots[0])
    if not (control.behaviour[:, root] == C.ANIMATED).all():
        return ()
    return tuple(_limb(shot, np.array([0, root, *rows]), k == 0) for k, rows in enumerate(_groups(tree, root)))


def limits_alone(touch: Touch) -> bool:
    """True if the tables of contact hold only joint limits."""
    holds = touch.holds
    return not any(map(len, (touch.shapes.shape, holds.tie, holds.push, holds.wind)))


def _groups(tree: Tree, root: int) -> list[list[int]]:
    """Rows of the root's subtrees, assigned by falling size to the smallest group; as many groups as are worth it."""
    limbs = [list(range(i, tree.last[i] + 1)) for i in range(root + 1, len(tree.parent)) if tree.parent[i] == root]
    for count in range(min(MOST, len(limbs)), 1, -1):
        groups: list[list[int]] = [[] for _ in range(count)]
        for limb in sorted(limbs, key=len, reverse=True):
            min(groups, key=len).extend(limb)
        if min(map(len, groups)) >= FEWEST_BODIES:
            return [sorted(group) for group in groups]
    return []


def _limb(shot: ShotInterface, rows: np.ndarray, first: bool) -> Limb:
    tree = _tree(shot.tree, rows, first)
    dofs = np.concatenate([np.arange(*shot.tree.dof[[i, i + 1]]) for i in rows])
    target, control = shot.target, shot.control
    touch = None
    if shot.touch is not None:
        holds = shot.touch.holds
        holds = Holds(*holds[:3], holds.bound[rows], *holds[4:7], holds.area[rows])
        touch = new_touch(tree, shot.touch.shapes, holds, shot.touch.found.moves[rows], 1.0)
        touch = touch._replace(limit=shot.touch.limit)
    return Limb(
        rows, dofs, int(tree.dof[2]), tree,
        _target(target, rows),
        Control(**take_bodies(control, rows)),
        new_state(tree), new_aim(tree), new_work(tree), touch, new_record(tree, shot.frames, touch is not None),
    )  # fmt: skip


def _target(target: Target, rows: np.ndarray) -> Target:
    """The target of these rows; cached, because settings change more often than keys."""

    def cut() -> Target:
        return Target(**take_bodies(target, rows), key=target.key, key_first=np.zeros(len(rows) + 1, dtype=np.int64))

    return derived(target, f"rows {rows.tobytes().hex()}", cut)


def _tree(tree: Tree, rows: np.ndarray, first: bool) -> Tree:
    parent = np.searchsorted(rows, tree.parent[rows])
    dof = np.concatenate([[0], np.cumsum(np.diff(tree.dof)[rows])])
    body = tree.body[rows]
    if not first:
        body[1, T.MASS] = 0.0
        body[1, T.INERTIA : T.INERTIA + 6] = 0.0
    return Tree(parent, tree.kind[rows], dof, last_rows(parent), np.ones(1, dtype=np.int64), body)


@dataclass(eq=False)
class Way:
    """Progress of a limb, or of an undivided shot, from stop to stop: the first bad frame or −1, and the states saved
    at the stops so far."""

    part: Tables
    bad: int = -1
    kept: list = field(default_factory=list)


def run(ways: Sequence[Way], go_on: Callable[[Way], bool]) -> None:
    """Run all ways from stop to stop in parallel; `go_on` does one stretch and returns True if there is more to do.

    Load balancing: a free worker continues the limb that has advanced least, because cores differ in speed.
    """
    waiting = deque(ways)

    def work() -> None:
        while waiting:
            try:
                way = waiting.popleft()
            except IndexError:  # another worker was faster
                return
            if go_on(way):
                waiting.append(way)

    workers = min(len(ways), os.cpu_count() or 1)
    if workers == 1:
        work()
        return
    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="Heft-limb") as pool:
        for done in [pool.submit(work) for _ in range(workers)]:
            done.result()


def gather(limbs: Sequence[Limb], record: Record, first: int, last: int) -> None:
    """Combine the records of all limbs for frames `first` to `last`."""
    part = slice(first, last + 1)
    for k, limb in enumerate(limbs):
        begin = 1 if k == 0 else 2
        record.body[part, limb.rows[begin:]] = limb.record.body[part, begin:]
        record.channel[part, limb.rows[begin:]] = limb.record.channel[part, begin:]
        own = limb.own
        record.rate[part, :, limb.dofs[own:]] = limb.record.rate[part, :, own:]
        root = limb.dofs[:own]
        if k == 0:
            record.rate[part, :, root] = limb.record.rate[part, :, :own]
        else:
            record.rate[part, 1, root] += limb.record.rate[part, 1, :own]


def scatter(limbs: Sequence[Limb], record: Record, frame: int) -> None:
    """Restore a recorded frame in the limbs, to continue from there; without torques, of which only sums are
    recorded."""
    for limb in limbs:
        limb.record.body[frame] = record.body[frame, limb.rows]
        limb.record.rate[frame, 0] = record.rate[frame, 0, limb.dofs]
