"""Values derived from an immutable object, worked out once and kept on it: settings change often, keys seldom.

Owns how they are kept. A value goes with its owner, so nothing has to drop it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

Value = TypeVar("Value")
PLACE = "_derived"


def derived(owner: object, name: str, make: Callable[[], Value], key: Hashable = None) -> Value:
    """The value of that name, made where the owner has none for this key; one with another key is replaced.

    key: compared by `==`; objects that compare by identity stand for themselves.
    """
    kept = owner.__dict__.get(PLACE)
    if kept is None:
        kept = owner.__dict__[PLACE] = {}
    found = kept.get(name)
    if found is None or found[0] != key:
        found = kept[name] = (key, make())
    return found[1]
