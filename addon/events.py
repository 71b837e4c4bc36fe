"""Events: settings emit them, Live and the panels' caches listen.

Owns the events, and whether they are paused. Imports nothing of Heft, so that a property can say that it was changed
without importing what simulates. A listener is connected when the add-on is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager


class Event:
    """An event. Calling it emits it: listeners are called in the order of their connection, paused or not."""

    def __init__(self) -> None:
        self._listeners: list[Callable] = []

    def connect(self, listener: Callable) -> None:
        """Connect a listener, once."""
        if listener not in self._listeners:
            self._listeners.append(listener)

    def disconnect(self, listener: Callable) -> None:
        """Disconnect a listener."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def __call__(self, *args) -> None:
        for listener in tuple(self._listeners):
            listener(*args)


class Pause:
    """Counter of open blocks in which changed settings start no simulation."""

    def __init__(self) -> None:
        self.depth = 0

    def change(self, by: int) -> None:
        """Add to the counter."""
        self.depth += by


setting_changed = Event()  # (rig): a setting that affects the simulation
mix_changed = Event()  # (rig): the mix of source and result
collider_changed = Event()  # (object): a setting of an object that characters may meet or carry
curves_changed = Event()  # (rig): which curves are written for the Graph Editor
bone_edited = Event()  # (group, context, name): a setting of a bone was changed
role_changed = Event()  # (rig): a bone's role or side was corrected
detail_changed = Event()  # (rig, scene): the choice of bones that are bodies
take_picked = Event()  # (rig): a take was clicked in the list
take_beside_changed = Event()  # (rig): takes are shown next to the character, or no longer
take_renamed = Event()  # (take)
job_failed = Event()  # (session_uid of the rig that leads the shot, text)
job_ended = Event()  # (): a job has ended, for whatever reason

_pause = Pause()


def hold() -> None:
    """Changed settings start no simulation until `release`."""
    _pause.change(1)


def release() -> None:
    """Undo one `hold`."""
    _pause.change(-1)


def is_paused() -> bool:
    """True while changed settings start no simulation."""
    return _pause.depth > 0


@contextmanager
def paused():
    """Context manager: changed settings start no simulation."""
    hold()
    try:
        yield
    finally:
        release()
