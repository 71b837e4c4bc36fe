"""How many random cases are tried: all where the suite is asked for by name (`dev.py test engine`), else a quarter."""

from __future__ import annotations

import os

ALL = bool(os.environ.get("HEFT_TEST_ALL")) or "HEFT_TEST_SUITE" not in os.environ


def cases(count: int) -> int:
    return count if ALL else count // 4
