"""Overlays: the ghost of the motion that is not shown, and onion skins of the one that is."""

from __future__ import annotations

from ....engine.geometry.surfaces import PLAIN
from . import bone_capsules
from .overlay_input import Sight
from .primitives import AFTER, BEFORE, RESULT, SOURCE, Note, Piece, Solid, with_alpha

GHOST = 0.45  # opacity
NEAREST, FARTHEST = 0.42, 0.12
SLIM = 0.65  # thickness of onion skins, relative to the ghost's


def ghost(sight: Sight) -> list[Piece]:
    """The source while the result is shown, and vice versa."""
    film, row = sight.other, sight.row
    if film is None or row is None or row >= len(film):
        return []
    color = SOURCE if sight.shows_result else RESULT
    return [
        Solid(
            bone_capsules.capsules(sight.footage),
            bone_capsules.places(film),
            row,
            with_alpha(color, GHOST),
            hidden=0.45,
            whole=True,
        ),
        Note("Source" if sight.shows_result else "Result", color),
    ]


def onion(sight: Sight) -> list[Piece]:
    """The poses before and after, fainter with distance."""
    if sight.film is None:
        return []
    mesh, places, heft = (
        bone_capsules.capsules(sight.footage, SLIM, PLAIN),
        bone_capsules.places(sight.film),
        sight.settings,
    )
    out: list[Piece] = []
    for count, sign, color in ((heft.onion_before, -1, BEFORE), (heft.onion_after, 1, AFTER)):
        for k in range(count, 0, -1):
            row = sight.row_of(sight.scene.frame_current + sign * k * heft.onion_step)
            if row is not None:
                alpha = NEAREST + (FARTHEST - NEAREST) * (k - 1) / max(count - 1, 1)
                out.append(Solid(mesh, places, row, with_alpha(color, alpha)))
    return [*out, Note("Before", BEFORE), Note("After", AFTER)] if out else []
