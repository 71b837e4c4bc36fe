"""Overlay: paths of bone tails, the source's against the result's."""

from __future__ import annotations

import numpy as np

from ...rig import bone_roles
from . import shape_wires
from .fading_lines import faded, trail
from .limits import selected
from .motions import Film
from .overlay_input import Sight
from .primitives import RESULT, SOURCE, Dots, Lines, Mark, Note, Piece, with_alpha

ENDS = ("HAND", "FOOT", "HEAD")


def chosen(sight: Sight) -> list[str]:
    """The bones whose paths are drawn."""
    spots = sight.footage.reading.spots
    if sight.settings.arc_bones == "SELECTED":
        return [name for name in sorted(selected(sight.rig)) if name in spots]
    if "ends" not in sight.scratch:
        found: dict = {}
        for name, part in bone_roles.roles_of(sight.rig).items():
            if part.role in ENDS:
                found.setdefault(part, name)  # the first of several in a row
        sight.scratch["ends"] = list(found.values())
    return [name for name in sight.scratch["ends"] if name in spots]


def ways(sight: Sight, film: Film, names: list[str]) -> np.ndarray:
    """(bones, frames, 3) paths of the bones' tails, in Blender's world."""
    reading = sight.footage.reading
    found = (reading.spots[name] for name in names)
    return np.stack([film.spots(reading.model.index(body), tail) for body, _, tail in found])


def pieces(sight: Sight) -> list[Piece]:
    """A line for each motion, with a tick for each frame and a dot for the current one; the motion that is not shown is
    thinner."""
    names = chosen(sight) if sight.film is not None else []
    if not names:
        return []
    rows, row = sight.rows(sight.settings.path_frames), sight.row
    now = row if row is not None else 0
    out: list[Piece] = []
    for film, color, title in ((sight.footage.source, SOURCE, "Source"), (sight.footage.result, RESULT, "Result")):
        if film is None:
            continue
        shown = film is sight.film
        every, colors = ways(sight, film, names), faded(color, rows, now, len(film))
        key = (film.key, *names, rows.start, rows.stop, now)
        out.append(Lines(("arc", *key), _lines(every[:, rows], colors), color, width=2.6 if shown else 1.8, cased=True))
        out.append(Dots(("arc ticks", *key), _dots(every[:, rows], colors), size=5.0 if shown else 4.0))
        if row is not None and row < len(film):
            out += [Mark(way[row], with_alpha(color, 1.0), "DOT", 4.5 if shown else 3.5) for way in every]
        out.append(Note(title, color))
    return out


def _lines(ways: np.ndarray, colors: np.ndarray):
    def make():
        parts = [trail(way, colors) for way in ways]
        return np.concatenate([shape_wires.NO_WIRES, *(part for part, _ in parts)]), np.concatenate(
            [part for _, part in parts]
        )

    return make


def _dots(ways: np.ndarray, colors: np.ndarray):
    return lambda: (ways.reshape(-1, 3), np.tile(colors, (len(ways), 1)))
