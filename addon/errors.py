"""What can go wrong on Blender's side, in the engine's family of errors.

Owns the add-on's own exception; operators report the whole family and nothing else.
"""

from __future__ import annotations

from ..engine import HeftError


class RigError(HeftError):
    """The rig, its data or its state does not allow what was asked."""
