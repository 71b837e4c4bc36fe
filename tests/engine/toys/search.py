"""A toy on the level of the run, as Plan will be: it simulates many times, and keeps the settle time that ends nearest
to a place."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model.result import Progress
from .base import Controller
from .follow.controller import Follow


@dataclass(frozen=True, eq=False, kw_only=True)
class Search(Controller):
    """turn (4,): how the last body shall be turned in the end; tries: settle times [s]."""

    turn: object = (1.0, 0.0, 0.0, 0.0)
    tries: tuple[float, ...] = (0.1, 0.3, 1.0)
    heaviness: object = 0.0
    runs_itself: ClassVar = True

    def run(self, actors, forward) -> Iterator[Progress]:
        best, found = np.inf, None
        for k, settle in enumerate(self.tries):
            follow = Follow(settle_time=settle, heaviness=self.heaviness, root=self.root)
            ours = [
                dataclasses.replace(each, controller=follow) if each.controller is self else each for each in actors
            ]
            *_, last = forward(ours)
            which = next(i for i, each in enumerate(actors) if each.controller is self)
            off = 1.0 - abs(float(last.results[which].motion.rotations[-1, -1] @ np.asarray(self.turn)))
            if off < best:
                best, found = off, last
            yield Progress(k + 1, len(self.tries) + 1)
        yield dataclasses.replace(found, done=len(self.tries) + 1, total=len(self.tries) + 1)
