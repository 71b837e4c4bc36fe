"""Guard for draw callbacks: an error is printed once instead of at every redraw.

Owns the record of printed errors. Must not know what is drawn.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable

from ..memory import Memo

_told: Memo[str, bool] = Memo("sentences printed", "content")


def guarded(draw: Callable[[], None]) -> Callable[[], None]:
    """Wrap a draw callback: exceptions are printed once and never raised."""

    @functools.wraps(draw)
    def drawn() -> None:
        try:
            draw()
        except Exception:
            tell(traceback.format_exc())

    return drawn


def tell(text: str) -> None:
    """Print a sentence, once."""
    if text not in _told:
        _told[text] = True
        print(text)
