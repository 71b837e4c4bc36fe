"""Context manager: no garbage collection during a simulation or a compilation, which saves 5 to 10 %.

Owns that pause. A simulation makes tens of thousands of short-lived objects without reference cycles, and compiling
makes millions that live to its end. Scanning them repeatedly would take a twentieth to a tenth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_gc() -> Iterator[None]:
    """No collection within this block; restored afterwards."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
