"""The add-on's exception, a subclass of the engine's base class.

Owns that exception. Operators report the whole family and no other exception.
"""

from __future__ import annotations

from ..engine import HeftError


class RigError(HeftError):
    """The rig, its data or its state does not allow what was asked."""
