"""Several characters in one shot: those apart from one another are simulated apart.

Owns who is simulated with whom, and what comes of it as one shot. Must not know what
happens inside a shot.

One shot of all streams through the tables of all at every stage of a step, far more than
a processor's cache holds. Groups go through many frames each while their tables are at
hand, side by side on threads. Who is tied, or comes near another in the source, is in one
group from the start. Where two groups turn out to come near, what they did apart is
dropped, and they begin anew as one. The earliest meeting always goes first, so the groups,
and with them every byte, depend neither on slices nor on threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .cast import Actor, check_actors, find_body, largest_size
from .result import Contacts, Result
from .scene import BodyName, Scene
from .touch import MARK_A, MARK_B
from .whereabouts import Outline, extent, near, new_boxes, poses_of

if TYPE_CHECKING:
    from .simulate import Shot

# Frames that groups go through at a time, if there are so many: enough to be worth fetching their tables.
STRIDE = 12


@dataclass(eq=False)
class _Group:
    """Actors that are simulated together, by their numbers."""

    members: tuple[int, ...]
    shot: Shot
    bad: int = -1  # the frame where it flew apart


class Crowd:
    """The actors' simulation on its way, resumable frame by frame: to the outside a `Shot`."""

    def __init__(
        self,
        begin: Callable[[Sequence[Actor], Scene, Sequence[int], float], Shot],
        actors: Sequence[Actor],
        scene: Scene,
        threads: int | None = None,
    ) -> None:
        """`begin` makes the shot of some of the actors, of their part of the scene, their numbers and all sizes."""
        check_actors(actors)
        self.actors, self.scene = tuple(actors), scene
        self.frames, self.done = len(actors[0].motion), 0
        self._begin, self._threads = begin, threads or os.cpu_count() or 1
        self._size = largest_size(actors)
        self._ties = [(each, self._owners(each.a, each.b)) for each in scene.ties]
        self._pushes = [(each, self._owners(each.body)) for each in scene.pushes]
        self._apart = [(pair, self._owners(*pair)) for pair in scene.apart]
        self._outlines = [Outline(actor.model) for actor in actors]
        self._boxes = new_boxes(len(actors), self.frames)
        self._ahead = 0  # frame to which all groups are simulated, and seen not to meet
        self._head = self._first_heads()  # (actors,) the lowest number in each one's group
        self._groups: dict[int, _Group] = {}
        self._gather()

    def run(self, last: int) -> None:
        """Simulate up to frame index `last`."""
        if last > self._ahead:
            stride = STRIDE if len(self._groups) > 1 else 1
            goal = min(max(last, self._ahead + stride), self.frames - 1)
            self._advance(goal)
            frame = self._first_meeting(self._ahead, goal)
            while frame is not None:
                self._join(frame)
                self._advance(goal)
                frame = self._first_meeting(0, goal)
            bad = [group for group in self._groups.values() if group.bad >= 0]
            if bad:
                first = min(bad, key=lambda group: (group.bad, group.members))
                raise first.shot.error(first.bad)
            self._ahead = goal
        self.done = max(self.done, last)

    def results(self) -> list[Result]:
        """A result each actor."""
        if len(self._groups) == 1:
            return self._groups[0].shot.results()
        contacts = self._contacts()
        out = {}
        for group in self._groups.values():
            out.update(zip(group.members, group.shot.results(contacts), strict=True))
        return [out[k] for k in range(len(self.actors))]

    def _owners(self, *names: BodyName | None) -> set[int]:
        """Whose bodies these are; the world and colliders are nobody's."""
        count = len(self.actors)
        colliders = self.scene.colliders
        found = {find_body(self.actors, colliders, name, range(count))[0] for name in names if name is not None}
        return {which for which in found if which < count}

    def _first_heads(self) -> np.ndarray:
        """Who is together from the start: what is tied, or near in the source; all, where something free may go
        from one to the other."""
        head = np.arange(len(self.actors))
        if any(collider.moves == "FREE" for collider in self.scene.colliders):
            head[:] = 0
            return head
        for _, owners in self._ties:
            _unite(head, [(min(owners), k) for k in owners])
        for k, actor in enumerate(self.actors):
            poses = poses_of(actor.motion.rotations, actor.motion.positions)
            self._outlines[k].trace(poses, 0, 0, self.frames - 1, self._boxes[k])
        for frame in range(self.frames):
            _unite(head, np.argwhere(near(self._boxes, frame)))
        return head

    def _gather(self) -> None:
        """Begin the groups that are new; the others stay as they are."""
        old = self._groups
        self._groups = {}
        for head in np.unique(self._head):
            members = tuple(int(k) for k in np.flatnonzero(self._head == head))
            group = old.get(int(head))
            if group is None or group.members != members:
                shot = self._begin([self.actors[k] for k in members], self._part(set(members)), members, self._size)
                group = _Group(members, shot)
            self._groups[int(head)] = group

    def _part(self, members: set[int]) -> Scene:
        """What of the scene concerns them. Its names stay: a group knows its members' numbers."""
        return replace(
            self.scene,
            ties=[each for each, owners in self._ties if owners <= members],
            pushes=[each for each, owners in self._pushes if owners <= members],
            apart=[each for each, owners in self._apart if owners <= members],
        )

    def _advance(self, goal: int) -> None:
        """Every group to the frame `goal`, on threads, the largest first."""
        groups = sorted(self._groups.values(), key=lambda group: -len(group.members))
        if min(self._threads, len(groups)) == 1:
            for group in groups:
                self._advance_group(group, goal)
            return
        with ThreadPoolExecutor(max_workers=self._threads) as pool:
            for _ in pool.map(lambda group: self._advance_group(group, goal), groups):
                pass

    def _advance_group(self, group: _Group, goal: int) -> None:
        shot = group.shot
        first = shot.done
        if group.bad >= 0 or first >= goal:
            return
        group.bad = shot.advance(goal)
        if len(self._groups) == 1:
            return
        last = goal if group.bad < 0 else group.bad - 1
        for k, start in zip(group.members, shot.cast.starts, strict=False):
            self._outlines[k].trace(shot.record.body, int(start) + 1, first, last, self._boxes[k])

    def _first_meeting(self, since: int, goal: int) -> int | None:
        """The first frame after `since` at which groups come near one another, before any flies apart."""
        if len(self._groups) == 1:
            return None
        ends = [group.bad - 1 for group in self._groups.values() if group.bad >= 0]
        for frame in range(since + 1, min([goal, *ends]) + 1):
            if self._meet(frame).any():
                return frame
        return None

    def _meet(self, frame: int) -> np.ndarray:
        """(actors, actors) who comes near another of another group."""
        return near(self._boxes, frame) & (self._head[:, None] != self._head)

    def _join(self, frame: int) -> None:
        """Make one group of those that meet at this frame, and of those around.

        What bumps once often does again: taking in all within the group's own size around it lets groups at least
        double, so that a row of dominoes of any length begins anew a few times only.
        """
        before = self._head.copy()
        _unite(self._head, np.argwhere(self._meet(frame)))
        low, high = extent(self._boxes, frame)
        for head in np.unique(self._head[self._head != before]):
            mine = self._head == head
            grow = 0.5 * (high[mine].max(axis=0) - low[mine].min(axis=0)).max()
            around = (low <= high[mine].max(axis=0) + grow) & (high >= low[mine].min(axis=0) - grow)
            _unite(self._head, [(int(head), k) for k in np.flatnonzero(around.all(axis=1))])
        self._gather()

    def _contacts(self) -> Contacts:
        """All groups' contacts in the order one shot of all has them: by frame, then by who stands first."""
        starts = np.cumsum([0, *(len(actor.model) for actor in self.actors)])
        parts, first = [], []
        for group in self._groups.values():
            shot = group.shot
            parts.append(shot.contacts())
            row = np.full(len(shot.cast.model) + 1, starts[-1])  # of each body's root, in a shot of all
            for k, start in zip(group.members, shot.cast.starts, strict=False):
                mine = slice(start, start + len(self.actors[k].model))
                row[1:][mine] = shot.cast.model.trees[mine] - start + starts[k]
            first.append(row[shot.marks()[1][:, [MARK_A, MARK_B]].astype(int)].min(axis=1))
        frames = np.concatenate([part.frames for part in parts])
        order = np.lexsort((np.concatenate(first), frames))
        names = [np.array([name for part in parts for name in getattr(part, side)], dtype=object) for side in "ab"]
        vectors = [np.concatenate([getattr(part, what) for part in parts]) for what in ("points", "normals", "forces")]
        return Contacts(frames[order], *(tuple(each[order]) for each in names), *(each[order] for each in vectors))


def _unite(head: np.ndarray, pairs: Iterable[Sequence[int]]) -> None:
    """Put each pair into one group; its head is the lowest of it."""
    for a, b in pairs:
        low, high = sorted((head[a], head[b]))
        if low != high:
            head[head == high] = low
