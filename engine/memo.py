"""Cache of values derived from an immutable object: each is computed once and kept on the object.

Owns where the values are kept. They are freed with their owner, so nothing invalidates them. It pays because settings
change often and keys seldom.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

Value = TypeVar("Value")
PLACE = "_derived"


def derived(owner: object, name: Hashable, make: Callable[[], Value], key: Hashable = None) -> Value:
    """The owner's value of that name. It is computed if there is none, or if the one that is kept has another key.

    name    one value is kept for each; a tuple such as ("way", body) where several are kept at once
    key     what the value was computed with besides the owner; compared by `==`, so objects with arrays must compare
            by identity
    """
    kept = owner.__dict__.get(PLACE)
    if kept is None:
        kept = owner.__dict__[PLACE] = {}
    found = kept.get(name)
    if found is None or found[0] != key:
        found = kept[name] = (key, make())
    return found[1]
