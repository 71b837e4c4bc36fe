"""Events: settings emit them, Live and the panels' caches listen.

Owns the events, and whether they are paused. Imports nothing of Heft, so that a property can say that it was changed
without importing what simulates. A listener is connected when the add-on is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager


class Event:
    """Call it to emit; listeners are called in the order in which they were connected, paused or not."""

    def __init__(self) -> None:
        self._listeners: list[Callable] = []

    def connect(self, listener: Callable) -> None:
        """From now on call the listener, once."""
        if listener not in self._listeners:
            self._listeners.append(listener)

    def disconnect(self, listener: Callable) -> None:
        """Do not call it any more."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def __call__(self, *args) -> None:
        for listener in tuple(self._listeners):
            listener(*args)


class Pause:
    """How many blocks are open within which changed settings start nothing."""

    def __init__(self) -> None:
        self.depth = 0

    def change(self, by: int) -> None:
        """One more, or one less."""
        self.depth += by


setting_changed = Event()  # (rig): a setting that matters to the simulation
mix_changed = Event()  # (rig): how much of the result shows
collider_changed = Event()  # (object): a setting of an object that characters may meet or carry
curves_changed = Event()  # (rig): which curves are written for the Graph Editor
bone_edited = Event()  # (group, context, name): a setting of a bone was changed
role_changed = Event()  # (rig): what a bone is, was corrected
detail_changed = Event()  # (rig, scene): which bones are bodies
take_picked = Event()  # (rig): a take was clicked in the list
take_beside_changed = Event()  # (rig): whether takes are shown beside the character
take_renamed = Event()  # (take)
job_failed = Event()  # (session_uid of the rig that leads the shot, text)
job_ended = Event()  # (): a job has come to its end, whatever it was

_pause = Pause()


def hold() -> None:
    """From now on changed settings start nothing, until `release`."""
    _pause.change(1)


def release() -> None:
    """Undo one `hold`."""
    _pause.change(-1)


def is_paused() -> bool:
    """True while changed settings start nothing."""
    return _pause.depth > 0


@contextmanager
def paused():
    """Within this block changed settings start nothing."""
    hold()
    try:
        yield
    finally:
        release()
