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

# What is this quick may be worked out at every redraw [s].
QUICK = 0.002
# How long edits must have paused before anything longer [s], and in times of what it took last.
PAUSE, PAUSES = 0.2, 2.0

Value = TypeVar("Value")
_edited_at = 0.0


def edited() -> None:
    """Something was edited just now."""
    global _edited_at
    _edited_at = time.perf_counter()


class Answers(Generic[Value]):
    """Answers to one question, by whom it is asked of."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[str, Value]] = {}
        self._before: dict[Hashable, tuple[str, Value]] = {}  # the same, also where something was edited since
        self._took: dict[Hashable, float] = {}  # [s]

    def edited(self) -> None:
        """Every answer may be another now."""
        self._known.clear()

    def forget(self) -> None:
        """Undo, redo, another file: nothing is known."""
        self._known.clear()
        self._before.clear()
        self._took.clear()

    def known(self, key: Hashable, mark: str) -> Value | None:
        """The answer, if nothing was edited since it was found."""
        known = self._known.get(key)
        return known[1] if known is not None and known[0] == mark else None

    def last(self, key: Hashable) -> Value | None:
        """The last answer, right or not any more."""
        before = self._before.get(key)
        return None if before is None else before[1]

    def ask(self, key: Hashable, mark: str, look: Callable[[], Value]) -> Value:
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
        return _edited_at + PAUSE + PAUSES * took - time.perf_counter()


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
