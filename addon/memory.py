"""What is remembered from one event to the next: one kind of memo, one registry, and the events that drop memos.

Owns the events and the registry. Whoever remembers something declares it here: what it is, what it is keyed by, and
which events drop it. `handlers` tells the events; nobody else need know what there is to drop. Imports nothing of
Blender or Heft.

A memo is dropped for what it could get wrong. One that compares a checksum before it answers, or that is keyed by the
content itself, may outlive an edit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, TypeVar

# Another file was opened.
LOAD = "LOAD"
# Undo or redo: a data-block may be another one now, under the same name.
UNDO = "UNDO"
# Anything at all was edited.
EDIT = "EDIT"
# Something that a result may depend on was edited.
EDIT_SOURCE = "EDIT_SOURCE"
# An armature was edited, or only posed: Blender does not tell which.
EDIT_ARMATURE = "EDIT_ARMATURE"
# (actions): the user's keys in these were edited.
EDIT_KEYS = "EDIT_KEYS"
# What a bone is was corrected.
EDIT_ROLES = "EDIT_ROLES"
# (rigs, objects): these are read anew, also where they look unchanged.
REREAD = "REREAD"
# (rigs): physics was removed from these, or one is a copy of another and has no result of its own yet.
REMOVE = "REMOVE"
# The add-on is switched off: everything is dropped.
UNREGISTER = "UNREGISTER"
EVENTS = frozenset((LOAD, UNDO, EDIT, EDIT_SOURCE, EDIT_ARMATURE, EDIT_KEYS, EDIT_ROLES, REREAD, REMOVE, UNREGISTER))

Key = TypeVar("Key", bound=Hashable)
Held = TypeVar("Held")
# What no entry is.
NOTHING: Any = object()


class Registered:
    """What remembers something. Subclasses say how it is dropped.

    name        what it is, told from all others
    keyed_by    what its entries belong to, in one word ("rig", "action", "content"); empty for a single thing
    drops_on    the events that drop it, besides UNREGISTER
    """

    def __init__(self, name: str, keyed_by: str = "", drops_on: tuple[str, ...] = ()) -> None:
        if not EVENTS.issuperset(drops_on):
            raise ValueError(f"'{name}' is dropped by an unknown event: {drops_on}")
        self.name, self.keyed_by, self.drops_on = name, keyed_by, frozenset((*drops_on, UNREGISTER))
        REGISTRY[name] = self

    def on_event(self, event: str, uids: frozenset[int] | None) -> None:
        """An event happened, to the data-blocks with these session_uids, or to all."""
        if event in self.drops_on:
            self.drop(uids)

    def drop(self, uids: frozenset[int] | None = None) -> None:
        """Forget what belongs to these data-blocks, or everything."""
        raise NotImplementedError

    def owners(self) -> set[Hashable]:
        """The session_uids of the data-blocks that something is remembered of."""
        return set()


def owner(key: Hashable) -> Hashable:
    """The session_uid of the data-block that an entry with this key belongs to."""
    return key[0] if isinstance(key, tuple) else key


# Everything that remembers anything, by name. Modules add to it once, when they are imported.
REGISTRY: dict[str, Registered] = {}


class Memo(Registered, dict[Key, Held]):
    """A dictionary that events drop. The key is the session_uid of the data-block that an entry belongs to, or a tuple
    that begins with it; or, where it is keyed by content, what tells one content from another.

    most    how many entries it holds at most, 0 for any number; those not asked for longest go first

    The background thread may ask while the window does: at worst both make the same.
    """

    def __init__(self, name: str, keyed_by: str, drops_on: tuple[str, ...] = (), most: int = 0) -> None:
        dict.__init__(self)
        Registered.__init__(self, name, keyed_by, drops_on)
        self.most = most

    def drop(self, uids: frozenset[int] | None = None) -> None:
        """Forget the entries of these data-blocks, or all."""
        if uids is None:
            self.clear()
            return
        for key in [key for key in list(self) if owner(key) in uids]:
            self.pop(key, None)

    def owners(self) -> set[Hashable]:
        """The session_uids of the data-blocks that something is remembered of."""
        return set(map(owner, list(self)))

    def remember(self, key: Key, make: Callable[[], Held]) -> Held:
        """The entry under the key, made if there is none."""
        found = self.pop(key, NOTHING) if self.most else self.get(key, NOTHING)
        if found is NOTHING:
            found = make()
        self[key] = found
        while self.most and len(self) > self.most:
            self.pop(next(iter(self)), None)
        return found


class Value(Registered, Generic[Held]):
    """A single thing that is remembered; dropped, it is what `start` makes."""

    def __init__(self, name: str, start: Callable[[], Held], drops_on: tuple[str, ...] = ()) -> None:
        super().__init__(name, "", drops_on)
        self._start = start
        self.value: Held = start()

    def __len__(self) -> int:
        return 0 if self.value == self._start() else 1

    def drop(self, uids: frozenset[int] | None = None) -> None:
        """Begin again. What belongs to certain data-blocks only is no single thing."""
        if uids is None:
            self.value = self._start()


def remembered(keyed_by: str, drops_on: tuple[str, ...] = (), most: int = 0) -> Callable[[Callable], Callable]:
    """A decorator: the function is called once for the same arguments, which must be hashable."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        memo: Memo = Memo(f"{function.__module__}.{function.__qualname__}", keyed_by, drops_on, most)

        @functools.wraps(function)
        def asked(*key: Hashable) -> Any:
            return memo.remember(key, lambda: function(*key))

        return asked

    return wrap


def notify(event: str, *blocks: Any) -> None:
    """An event happened, to these data-blocks, or to everything: whoever remembers what it touches drops that."""
    uids = frozenset(block.session_uid for block in blocks) if blocks else None
    for each in tuple(REGISTRY.values()):
        each.on_event(event, uids)


def sweep(keyed_by: str, alive: Iterable[Any]) -> None:
    """Data-blocks may have been deleted: drop what is keyed so and belongs to none of those that are left."""
    left = {block.session_uid for block in alive}
    for each in [each for each in REGISTRY.values() if each.keyed_by == keyed_by]:
        gone = each.owners() - left
        if gone:
            each.drop(frozenset(gone))


def held(keyed_by: str) -> dict[str, int]:
    """How many entries everything holds that is keyed so, by name."""
    return {name: len(each) for name, each in REGISTRY.items() if each.keyed_by == keyed_by}
