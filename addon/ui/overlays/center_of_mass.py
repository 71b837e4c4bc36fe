"""Overlay: the centre of mass of the shown motion, its path, and its ballistic path."""

from __future__ import annotations

import numpy as np

from ....engine.analysis.whole_body import ballistic
from . import shape_wires
from .fading_lines import faded, trail
from .overlay_input import Sight
from .primitives import FLIGHT, RESULT, SOURCE, Dots, Lines, Mark, Piece, with_alpha

AHEAD = 0.5  # length of the ballistic path if its end is unknown [s]
STEPS = 48  # of a ballistic path
SIGN = 11.0  # [pixels]


def pieces(sight: Sight) -> list[Piece]:
    """The mark with a line to the ground, the path, and the ballistic path."""
    film, row = sight.film, sight.row
    if film is None:
        return []
    color = RESULT if sight.shows_result else SOURCE
    rows, height = sight.rows(sight.settings.path_frames), sight.ground
    now = row if row is not None else 0
    key = (film.key, rows.start, rows.stop, now)
    path = film.shown(film.whole.centers[rows])
    colors = faded(color, rows, now, len(film))
    out: list[Piece] = [
        Lines(("mass", *key), lambda: trail(path, colors), color, width=2.5, cased=True),
        Dots(("mass ticks", *key), lambda: (path, colors), size=4.0),
    ]
    if row is None:
        return out
    center = film.whole.centers[row]
    foot = np.array([center[0], center[1], height])
    drop = film.shown(np.stack([center, foot]))
    size = 0.035 * sight.tall / film.meters
    out.append(
        Lines(
            ("drop", film.key, row, height),
            lambda: (np.concatenate([shape_wires.dashes(drop, size), shape_wires.circle(drop[1], size)]), None),
            (1.0, 1.0, 1.0, 0.75),
            width=1.5,
            cased=True,
        )
    )
    flight = flight_of(sight)
    if flight is not None:
        line = film.shown(flight)
        out.append(
            Lines(
                ("flight", film.key, row, height, *sight.gravity, sight.settings.ballistic),
                lambda: (shape_wires.dashes(line, 1.2 * size), None),
                with_alpha(FLIGHT, 0.95),
                width=2.5,
                hidden=0.8,
                cased=True,
            )
        )
    out.append(Mark(drop[0], color, "MASS", SIGN))
    return out


def flight_of(sight: Sight) -> np.ndarray | None:
    """(k, 3) the ballistic path from the present position and velocity [m]: of the whole flight, or for a time
    ahead."""
    film, row, when = sight.film, sight.row, sight.settings.ballistic
    if when == "OFF" or row is None:
        return None
    first, last = 0.0, AHEAD
    flying = film.flying(sight.ground, sight.reach)
    if flying[row]:
        # From the frame of take-off to the frame of landing.
        touching = np.flatnonzero(~flying)
        before, after = touching[touching < row], touching[touching > row]
        first = ((before[-1] if len(before) else 0) - row) / film.fps
        last = ((after[0] if len(after) else len(film) - 1) - row) / film.fps
        last = max(last, 1.0 / film.fps)
    elif when == "AIR":
        return None
    whole = film.whole
    return ballistic(whole.centers[row], whole.velocities[row], sight.gravity, np.linspace(first, last, STEPS))
