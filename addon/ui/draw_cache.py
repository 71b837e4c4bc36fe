"""Cache for draw callbacks: values that take longer than 2 ms are recomputed only after edits have paused.

Owns when they are recomputed: after an edit; if that takes longer, as on rigs of hundreds of bones, after edits have
paused. Until then the old value is returned. Must not know the values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import bpy

from ..blender import redraw_views
from ..memory import EDIT_SOURCE, LOAD, UNDO, Registered, owner

# Values that take less are recomputed at every redraw [s].
QUICK = 0.002
# The pause in edits before anything longer is recomputed: at least this [s], and this many times its last duration.
PAUSE, PAUSES = 0.2, 2.0

Given = TypeVar("Given")


class _LastEdit(Registered):
    """Time of the last edit that a result may depend on [s]."""

    at = 0.0

    def on_event(self, event: str, uids: frozenset[int] | None) -> None:
        if event == EDIT_SOURCE:
            self.at = time.perf_counter()

    def drop(self, uids: frozenset[int] | None = None) -> None:
        self.at = 0.0


_last_edit = _LastEdit("time of the last edit")


class Answers(Registered, Generic[Given]):
    """Cached values of one question by key: the session_uid of a rig, or a tuple that begins with it.

    asked_after    the event that makes all values stale
    """

    def __init__(self, name: str, asked_after: str = EDIT_SOURCE, drops_on: tuple[str, ...] = (LOAD, UNDO)) -> None:
        super().__init__(name, "rig", drops_on)
        self._asked_after = asked_after
        self._known: dict[Hashable, tuple[str, Given]] = {}
        self._before: dict[Hashable, tuple[str, Given]] = {}  # also stale values
        self._took: dict[Hashable, float] = {}  # [s]

    def __len__(self) -> int:
        return len(self._before)

    def on_event(self, event: str, uids: frozenset[int] | None) -> None:
        """Drop the values, or mark them as stale."""
        if event == self._asked_after:
            self._known.clear()
        super().on_event(event, uids)

    def drop(self, uids: frozenset[int] | None = None) -> None:
        """Drop the values of these data-blocks, or all."""
        for kept in (self._known, self._before, self._took):
            for key in [key for key in kept if uids is None or owner(key) in uids]:
                del kept[key]

    def owners(self) -> set[Hashable]:
        """The session_uids of the rigs that have values."""
        return set(map(owner, self._before))

    def known(self, key: Hashable, mark: str) -> Given | None:
        """The value, if it is not stale."""
        known = self._known.get(key)
        return known[1] if known is not None and known[0] == mark else None

    def last(self, key: Hashable) -> Given | None:
        """The last value, stale or not."""
        before = self._before.get(key)
        return None if before is None else before[1]

    def ask(self, key: Hashable, mark: str, look: Callable[[], Given]) -> Given:
        """The value, computed by `look` if it is missing or stale. A value with another mark counts as missing."""
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
        """The delay until the value may be recomputed [s]; 0 without a window."""
        took = self._took.get(key, 0.0)
        if bpy.app.background or took < QUICK:
            return 0.0
        return _last_edit.at + PAUSE + PAUSES * took - time.perf_counter()


def _draw_in(wait: float) -> None:
    if not bpy.app.timers.is_registered(_draw):
        bpy.app.timers.register(_draw, first_interval=wait)


def _draw() -> None:
    """Timer callback, runs once: redraw, which asks again."""
    redraw_views.views()


def stop() -> None:
    """Stop the timer."""
    if bpy.app.timers.is_registered(_draw):
        bpy.app.timers.unregister(_draw)
