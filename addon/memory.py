"""Caches that live from one event to the next: the memo, its registry, and the events that invalidate memos.

Owns the events and the registry. A module that caches something declares it here: what it is, its key, and the events
that invalidate it. `handlers` sends the events and need not know the memos. Imports nothing of Blender or Heft.

A memo is dropped on the events that could make it stale. One that compares a checksum before it answers, or that is
keyed by the content itself, may survive an edit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, TypeVar

# Another file was opened.
LOAD = "LOAD"
# Undo or redo: a name may now refer to another data-block.
UNDO = "UNDO"
# Anything at all was edited.
EDIT = "EDIT"
# Something that a result may depend on was edited.
EDIT_SOURCE = "EDIT_SOURCE"
# An armature was edited, or only posed: Blender does not report which.
EDIT_ARMATURE = "EDIT_ARMATURE"
# (actions): the user's keys in these were edited.
EDIT_KEYS = "EDIT_KEYS"
# A bone's role was corrected.
EDIT_ROLES = "EDIT_ROLES"
# (rigs, objects): these are read again, even if they look unchanged.
REREAD = "REREAD"
# (rigs): physics was removed from these, or one is a copy of another and has no result of its own yet.
REMOVE = "REMOVE"
# The add-on is switched off: everything is dropped.
UNREGISTER = "UNREGISTER"
EVENTS = frozenset((LOAD, UNDO, EDIT, EDIT_SOURCE, EDIT_ARMATURE, EDIT_KEYS, EDIT_ROLES, REREAD, REMOVE, UNREGISTER))

Key = TypeVar("Key", bound=Hashable)
Held = TypeVar("Held")
# Marks a missing entry.
NOTHING: Any = object()


class Registered:
    """Base class of caches. Subclasses implement how they are dropped.

    name        unique among all caches
    keyed_by    the owner of an entry, in one word ("rig", "action", "content"); empty for a single value
    drops_on    the events that drop it, besides UNREGISTER
    """

    def __init__(self, name: str, keyed_by: str = "", drops_on: tuple[str, ...] = ()) -> None:
        if not EVENTS.issuperset(drops_on):
            raise ValueError(f"'{name}' is dropped by an unknown event: {drops_on}")
        self.name, self.keyed_by, self.drops_on = name, keyed_by, frozenset((*drops_on, UNREGISTER))
        REGISTRY[name] = self

    def on_event(self, event: str, uids: frozenset[int] | None) -> None:
        """Handle an event on the data-blocks with these session_uids, or on all."""
        if event in self.drops_on:
            self.drop(uids)

    def drop(self, uids: frozenset[int] | None = None) -> None:
        """Drop the entries of these data-blocks, or everything."""
        raise NotImplementedError

    def owners(self) -> set[Hashable]:
        """The session_uids of the data-blocks that have entries."""
        return set()


def owner(key: Hashable) -> Hashable:
    """The session_uid of the data-block that an entry with this key belongs to."""
    return key[0] if isinstance(key, tuple) else key


# All caches by name. Modules add to it once, at import.
REGISTRY: dict[str, Registered] = {}


class Memo(Registered, dict[Key, Held]):
    """A dictionary that events drop. The key is the session_uid of the data-block that an entry belongs to, or a tuple
    that begins with it. If it is keyed by content, the key is a digest of the content.

    most    maximum number of entries, 0 for any number; the least recently used go first

    The background thread and the window may ask at the same time: at worst both compute the same entry.
    """

    def __init__(self, name: str, keyed_by: str, drops_on: tuple[str, ...] = (), most: int = 0) -> None:
        dict.__init__(self)
        Registered.__init__(self, name, keyed_by, drops_on)
        self.most = most

    def drop(self, uids: frozenset[int] | None = None) -> None:
        """Drop the entries of these data-blocks, or all."""
        if uids is None:
            self.clear()
            return
        for key in [key for key in list(self) if owner(key) in uids]:
            self.pop(key, None)

    def owners(self) -> set[Hashable]:
        """The session_uids of the data-blocks that have entries."""
        return set(map(owner, list(self)))

    def remember(self, key: Key, make: Callable[[], Held]) -> Held:
        """The entry under the key; computed if missing."""
        found = self.pop(key, NOTHING) if self.most else self.get(key, NOTHING)
        if found is NOTHING:
            found = make()
        self[key] = found
        while self.most and len(self) > self.most:
            self.pop(next(iter(self)), None)
        return found


class Value(Registered, Generic[Held]):
    """A single cached value. Dropped, it becomes what `start` returns."""

    def __init__(self, name: str, start: Callable[[], Held], drops_on: tuple[str, ...] = ()) -> None:
        super().__init__(name, "", drops_on)
        self._start = start
        self.value: Held = start()

    def __len__(self) -> int:
        return 0 if self.value == self._start() else 1

    def drop(self, uids: frozenset[int] | None = None) -> None:
        """Reset the value. It belongs to no data-block, so events on certain data-blocks do not drop it."""
        if uids is None:
            self.value = self._start()


def remembered(keyed_by: str, drops_on: tuple[str, ...] = (), most: int = 0) -> Callable[[Callable], Callable]:
    """Decorator: caches the function's results by its arguments, which must be hashable."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        memo: Memo = Memo(f"{function.__module__}.{function.__qualname__}", keyed_by, drops_on, most)

        @functools.wraps(function)
        def asked(*key: Hashable) -> Any:
            return memo.remember(key, lambda: function(*key))

        return asked

    return wrap


def notify(event: str, *blocks: Any) -> None:
    """Send an event on these data-blocks, or on everything, to all caches."""
    uids = frozenset(block.session_uid for block in blocks) if blocks else None
    for each in tuple(REGISTRY.values()):
        each.on_event(event, uids)


def sweep(keyed_by: str, alive: Iterable[Any]) -> None:
    """Data-blocks may have been deleted: drop entries of memos with this kind of key whose owner no longer exists."""
    left = {block.session_uid for block in alive}
    for each in [each for each in REGISTRY.values() if each.keyed_by == keyed_by]:
        gone = each.owners() - left
        if gone:
            each.drop(frozenset(gone))


def held(keyed_by: str) -> dict[str, int]:
    """The number of entries of each memo with this kind of key, by name."""
    return {name: len(each) for name, each in REGISTRY.items() if each.keyed_by == keyed_by}
