"""Cache for draw callbacks: values that take longer than 2 ms are recomputed only after edits have paused.

Owns when they are worked out again: after something was edited; and where that takes longer than a frame, as on rigs
of hundreds of bones, not before the edits pause. Until then an answer is what it was. Must not know what is asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import bpy

from ..blender import redraw_views
from ..memory import EDIT_SOURCE, LOAD, UNDO, Registered, owner

# What is this quick may be worked out at every redraw [s].
QUICK = 0.002
# How long edits must have paused before anything longer [s], and in times of what it took last.
PAUSE, PAUSES = 0.2, 2.0

Given = TypeVar("Given")


class _LastEdit(Registered):
    """When something that a result may depend on was edited last [s]."""

    at = 0.0

    def on_event(self, event: str, uids: frozenset[int] | None) -> None:
        if event == EDIT_SOURCE:
            self.at = time.perf_counter()

    def drop(self, uids: frozenset[int] | None = None) -> None:
        self.at = 0.0


_last_edit = _LastEdit("time of the last edit")


class Answers(Registered, Generic[Given]):
    """Answers to one question, by whom it is asked of: the session_uid of a rig, or a tuple that begins with it.

    asked_after    the event after which every answer may be another one
    """

    def __init__(self, name: str, asked_after: str = EDIT_SOURCE, drops_on: tuple[str, ...] = (LOAD, UNDO)) -> None:
        super().__init__(name, "rig", drops_on)
        self._asked_after = asked_after
        self._known: dict[Hashable, tuple[str, Given]] = {}
        self._before: dict[Hashable, tuple[str, Given]] = {}  # the same, also where something was edited since
        self._took: dict[Hashable, float] = {}  # [s]

    def __len__(self) -> int:
        return len(self._before)

    def on_event(self, event: str, uids: frozenset[int] | None) -> None:
        """Dropped, or only asked again as soon as there is time."""
        if event == self._asked_after:
            self._known.clear()
        super().on_event(event, uids)

    def drop(self, uids: frozenset[int] | None = None) -> None:
        """Nothing is known, of these or of anybody."""
        for kept in (self._known, self._before, self._took):
            for key in [key for key in kept if uids is None or owner(key) in uids]:
                del kept[key]

    def owners(self) -> set[Hashable]:
        """The session_uids of the rigs that something is remembered of."""
        return set(map(owner, self._before))

    def known(self, key: Hashable, mark: str) -> Given | None:
        """The answer, if nothing was edited since it was found."""
        known = self._known.get(key)
        return known[1] if known is not None and known[0] == mark else None

    def last(self, key: Hashable) -> Given | None:
        """The last answer, right or not any more."""
        before = self._before.get(key)
        return None if before is None else before[1]

    def ask(self, key: Hashable, mark: str, look: Callable[[], Given]) -> Given:
        """The answer, by `look` where it is not known; one with another mark is none."""
        known = self.known(key, mark)
        if known is not None:
            return known
        before, wait = self._before.get(key), self._wait(key)
        if wait > 0.0 and before is not None and before[0] == mark:
            _draw_in(wait)
            return before[1]
        start = time.perf_counter()
        found = look()
        self._took[key] = time.perf_counter() - start
        self._known[key] = self._before[key] = (mark, found)
        return found

    def _wait(self, key: Hashable) -> float:
        """How long the next look has to wait [s]; nobody waits for a drawing without a window."""
        took = self._took.get(key, 0.0)
        if bpy.app.background or took < QUICK:
            return 0.0
        return _last_edit.at + PAUSE + PAUSES * took - time.perf_counter()


def _draw_in(wait: float) -> None:
    if not bpy.app.timers.is_registered(_draw):
        bpy.app.timers.register(_draw, first_interval=wait)


def _draw() -> None:
    """A timer's callback, once: what is drawn now asks again."""
    redraw_views.views()


def stop() -> None:
    """Nothing is drawn again any more."""
    if bpy.app.timers.is_registered(_draw):
        bpy.app.timers.unregister(_draw)
