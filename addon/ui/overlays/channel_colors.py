"""Overlay: bones coloured by a channel of the result that their controller declares.

Channels are known only for a simulation of this session.
"""

from __future__ import annotations

from collections.abc import Callable

from ... import controllers
from . import bone_capsules, stress
from .overlay_input import Sight
from .primitives import Note, Piece, Solid


def pieces_of(colors: controllers.ChannelColors) -> Callable[[Sight], list[Piece]]:
    """The overlay of one channel."""

    def pieces(sight: Sight) -> list[Piece]:
        row = sight.row
        result = sight.footage.forces if sight.shows_result else None
        if row is None or result is None or colors.channel not in result.channels:
            return []
        values = result.channels[colors.channel].values
        if values.ndim != 2 or values.shape[1] != len(sight.footage.reading.names):
            return []
        solid = Solid(
            bone_capsules.capsules(sight.footage, 1.3),
            bone_capsules.places(sight.film),
            row,
            (1.0, 1.0, 1.0, 1.0),
            stress.colors(values[row], colors.top),
            0.75,
            True,
        )
        unit = result.channels[colors.channel].unit
        end = f"{colors.top:g} {unit}".rstrip()
        return [solid, Note(f"{colors.label}: 0", scale=tuple(map(tuple, stress.SCALE)), end=end)]

    return pieces
