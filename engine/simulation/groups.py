"""Split the characters of a shot into groups that do not meet, and simulate the groups in parallel.

Owns the groups, and how they are combined into one shot. Must not know what happens inside a shot.

One shot of all would load the tables of all at every stage of a step, far more than a processor's cache holds. Groups
run through many frames each while their tables are in the cache, in parallel on threads. Members that are tied, or near
one another in the source, are in one group from the start; a free object is with the nearest actor. If two groups come
near one another, their separate simulations are dropped, and they restart as one. The earliest meeting is always
handled first, so the groups, and every byte, depend neither on slices nor on threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from ..model.motion import Motion
from ..model.result import Contacts, Result
from ..model.scene import BodyName, Scene
from ..tables import record as RE
from .assemble import Actor, check_actors, find_body, largest_size, prop_of
from .bounding_boxes import Outline, extent, near, new_boxes, poses_of
from .checkpoints import Memory
from .shot_interface import ShotInterface

# Frames that a group simulates at a time: enough to be worth loading its tables.
STRIDE = 12


@dataclass(eq=False)
class _Group:
    """Members that are simulated together, by their indices."""

    members: tuple[int, ...]
    shot: ShotInterface
    bad: int = -1  # the frame where it became unstable


class Crowd:
    """The simulation of many actors, resumable frame by frame; has the interface of `Shot`.

    Its members are the actors, then the free colliders. All other colliders are in every group.
    """

    def __init__(
        self,
        begin: Callable[[Sequence[Actor], Scene, Sequence[int], float], ShotInterface],
        actors: Sequence[Actor],
        scene: Scene,
        threads: int | None = None,
    ) -> None:
        """begin: makes a shot from some of the actors, their part of the scene, their indices and all sizes."""
        check_actors(actors)
        self.actors, self.scene = tuple(actors), scene
        self.frames, self.done = len(actors[0].motion), 0
        self._begin, self._threads = begin, threads or os.cpu_count() or 1
        self._size = largest_size(actors)
        self._free = [k for k, each in enumerate(scene.colliders) if each.moves == "FREE"]
        self._ties = [(each, self._owners(each.a, each.b)) for each in scene.ties]
        self._pushes = [(each, self._owners(each.body)) for each in scene.pushes]
        self._apart = [(pair, self._owners(*pair)) for pair in scene.apart]
        sources = [*actors, *(prop_of(scene.colliders[k], self.frames, actors[0].motion.fps) for k in self._free)]
        self._outlines = [Outline(each.model) for each in sources]
        self._boxes = new_boxes(len(sources), self.frames)
        self._ahead = 0  # frame up to which all groups are simulated and known not to meet
        self._head = np.arange(len(sources))  # the lowest index in each member's group
        self._first_heads([each.motion for each in sources])
        self._groups: dict[int, _Group] = {}
        self._gather()

    def remember(self, memory: Memory) -> None:
        """Called before it has run: see `Shot.remember`. Groups that may still be joined are not remembered, because
        they would restart."""
        memory.first = 0
        if len(self._groups) == 1:
            shot = self._groups[0].shot
            shot.remember(memory)
            self.done = self._ahead = shot.done

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
        """One result for each actor."""
        if len(self._groups) == 1:
            return self._groups[0].shot.results()
        objects, contacts = {}, self._contacts()
        for group in self._groups.values():
            objects.update(group.shot.objects())
        objects = {each.name: objects[each.name] for each in self.scene.colliders if each.name in objects}
        out = {}
        for group in self._groups.values():
            out.update(zip(group.members, group.shot.results_with(objects, contacts), strict=False))
        return [out[k] for k in range(len(self.actors))]

    def _owners(self, *names: BodyName | None) -> set[int]:
        """The members that own these bodies; the world and colliders that are not free have none."""
        count, colliders = len(self.actors), self.scene.colliders
        found = {find_body(self.actors, colliders, name, range(count))[0] for name in names if name is not None}
        free = {count + k: count + x for x, k in enumerate(self._free)}
        return {free.get(which, which) for which in found if which < count or which in free}

    def _first_heads(self, sources: Sequence[Motion]) -> None:
        """The initial groups: members that are tied, or near one another in the source; every free object is with an
        actor."""
        for _, owners in self._ties:
            _unite(self._head, [(min(owners), k) for k in owners])
        for k, source in enumerate(sources):
            poses = poses_of(source.rotations, source.positions)
            self._outlines[k].trace(poses, 0, 0, self.frames - 1, self._boxes[k])
        for frame in range(self.frames):
            _unite(self._head, np.argwhere(self._meet(frame)))
        low, high = extent(self._boxes, 0)
        count = len(self.actors)
        for k in range(count, len(sources)):
            if self._head[k] >= count:
                gaps = np.maximum(0.0, np.maximum(low[:count] - high[k], low[k] - high[:count]))
                _unite(self._head, [(int(np.linalg.norm(gaps, axis=1).argmin()), k)])

    def _gather(self) -> None:
        """Begin the groups that are new; the others stay as they are."""
        old = self._groups
        self._groups = {}
        for head in np.unique(self._head):
            members = tuple(int(k) for k in np.flatnonzero(self._head == head))
            group = old.get(int(head))
            if group is None or group.members != members:
                some = [k for k in members if k < len(self.actors)]
                shot = self._begin([self.actors[k] for k in some], self._part(set(members)), some, self._size)
                group = _Group(members, shot)
            self._groups[int(head)] = group

    def _part(self, members: set[int]) -> Scene:
        """The part of the scene for these members. Its names stay: a group knows its members' indices."""
        free = {k: len(self.actors) + x for x, k in enumerate(self._free)}
        return replace(
            self.scene,
            colliders=[each for k, each in enumerate(self.scene.colliders) if k not in free or free[k] in members],
            ties=[each for each, owners in self._ties if owners <= members],
            pushes=[each for each, owners in self._pushes if owners <= members],
            apart=[each for each, owners in self._apart if owners <= members],
        )

    def _advance(self, goal: int) -> None:
        """Simulate every group to the frame `goal`, on threads, the largest first."""
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
        for k, start in self._starts(group):
            self._outlines[k].trace(shot.record.body, start + 1, first, last, self._boxes[k])

    def _starts(self, group: _Group) -> Iterator[tuple[int, int]]:
        """Each member and the row at which its bodies begin in the group's shot."""
        cast = group.shot.cast
        free = [x for x, each in enumerate(cast.colliders) if each.moves == "FREE"]
        places = [*range(len(cast.actors)), *(len(cast.actors) + x for x in free)]
        for k, place in zip(group.members, places, strict=True):
            yield k, int(cast.starts[place])

    def _first_meeting(self, since: int, goal: int) -> int | None:
        """The first frame after `since` at which groups come near one another, before any becomes unstable."""
        if len(self._groups) == 1:
            return None
        ends = [group.bad - 1 for group in self._groups.values() if group.bad >= 0]
        for frame in range(since + 1, min([goal, *ends]) + 1):
            if self._meet(frame).any():
                return frame
        return None

    def _meet(self, frame: int) -> np.ndarray:
        """(members, members) True for members of different groups that come near one another."""
        return near(self._boxes, frame) & (self._head[:, None] != self._head)

    def _join(self, frame: int) -> None:
        """Join the groups that meet at this frame, and those around them.

        Groups that meet once often do again. Joining everything within the group's own size lets groups at least
        double, so that a row of dominoes of any length restarts only a few times.
        """
        before = self._head.copy()
        _unite(self._head, np.argwhere(self._meet(frame)))
        low, high = extent(self._boxes, frame)
        for head in np.unique(self._head[self._head != before]):
            mine = self._head == head
            if not mine.any():  # joined already
                continue
            grow = 0.5 * (high[mine].max(axis=0) - low[mine].min(axis=0)).max()
            around = (low <= high[mine].max(axis=0) + grow) & (high >= low[mine].min(axis=0) - grow)
            _unite(self._head, [(int(head), k) for k in np.flatnonzero(around.all(axis=1))])
        self._gather()

    def _contacts(self) -> Contacts:
        """All groups' contacts in the order of a single shot: by frame, then by row."""
        sizes = [len(actor.model) for actor in self.actors] + [1] * len(self._free)
        starts = np.cumsum([0, *sizes])
        parts, first = [], []
        for group in self._groups.values():
            shot = group.shot
            parts.append(shot.contacts())
            row = np.full(len(shot.cast.model) + 1, starts[-1])  # each body's root row in a single shot
            for k, start in self._starts(group):
                mine = slice(start, start + sizes[k])
                row[1:][mine] = shot.cast.model.trees[mine] - start + starts[k]
            first.append(row[shot.marks()[1][:, [RE.MARK_A, RE.MARK_B]].astype(int)].min(axis=1))
        frames = np.concatenate([part.frames for part in parts])
        order = np.lexsort((np.concatenate(first), frames))
        names = [np.array([name for part in parts for name in getattr(part, side)], dtype=object) for side in "ab"]
        vectors = [np.concatenate([getattr(part, what) for part in parts]) for what in ("points", "normals", "forces")]
        return Contacts(frames[order], *(tuple(each[order]) for each in names), *(each[order] for each in vectors))


def _unite(head: np.ndarray, pairs: Iterable[Sequence[int]]) -> None:
    """Join each pair's groups; the head is the lowest index."""
    for a, b in pairs:
        low, high = sorted((head[a], head[b]))
        if low != high:
            head[head == high] = low
