"""The overlays over the 3D View: one file for each, listed here.

Owns the list, in drawing order. A new overlay is a file with a function from a `Sight` to pieces, a switch in
`settings/overlays.py`, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ... import controllers
from . import arcs, center_of_mass, channel_colors, contacts, ghosts, limits, shapes, stress, support
from .overlay_input import Sight
from .primitives import Piece

# What an overlay needs computed beforehand: shapes, motions, or the forces of a simulation in this session.
BUILT, MOTION, FORCES = "BUILT", "MOTION", "FORCES"


class Overlay(NamedTuple):
    """switch: the setting that turns it on; needs: see above."""

    switch: str
    pieces: Callable[[Sight], list[Piece]]
    needs: str


OVERLAYS = (
    Overlay("show_onion", ghosts.onion, MOTION),
    Overlay("show_ghost", ghosts.ghost, MOTION),
    Overlay("show_stress", stress.pieces, FORCES),
    Overlay("show_shapes", shapes.pieces, BUILT),
    Overlay("show_limits", limits.pieces, BUILT),
    Overlay("show_support", support.pieces, MOTION),
    Overlay("show_arcs", arcs.pieces, MOTION),
    Overlay("show_mass", center_of_mass.pieces, MOTION),
    Overlay("show_contacts", contacts.pieces, FORCES),
    *(Overlay(each.setting, channel_colors.pieces_of(each), FORCES) for each in controllers.COLORS),
)


def switched_on(settings) -> list[Overlay]:
    """The overlays that are switched on in a rig's settings."""
    return [each for each in OVERLAYS if getattr(settings, each.switch)] if settings.show_overlays else []
