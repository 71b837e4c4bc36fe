"""Overlay: the support polygon, and the zero-moment point of the shown motion.

Green while the zero-moment point is inside the polygon, red while it is outside: then the ground would have to pull,
and the body tips.
"""

from __future__ import annotations

import numpy as np

from ....engine import derived
from ....engine.analysis.support_polygon import margin, outline
from . import contacts, shape_wires
from .overlay_input import Sight
from .primitives import BAD, GOOD, Faces, Lines, Mark, Piece, with_alpha

LIFT = 0.002  # above the ground [parts of the rig's height]
NEAR = 0.005  # a point this little outside counts as on the edge [parts of the rig's height]


def bearing(sight: Sight, row: int) -> np.ndarray:
    """(k, 3) the points of the ground that support the body on a frame [m]: the solver's contacts, and points on the
    ground of the bodies with contacts; without contacts, of all bodies."""
    film, forces, pressing = sight.film, sight.footage.forces, None
    found = np.zeros((0, 3))
    if sight.shows_result and forces is not None and forces.contacts is not None:
        points, _, bodies = contacts.standing(sight, row)
        if len(points):
            found, pressing = np.column_stack([points[:, :2], np.full(len(points), sight.ground)]), bodies
    own = film.soles.bearing(film.places[row], film.turns[row], sight.ground, sight.reach, pressing)
    return np.concatenate([found, own])


def balance(sight: Sight, row: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """The support's corners (h, 2) [m], the zero-moment point (3,) [m], and True if it is inside the support."""
    film = sight.film
    corners = outline(bearing(sight, row))
    points = derived(
        film,
        "zero-moment points",
        lambda: film.whole.zero_moment_points(sight.gravity, sight.ground),
        (tuple(sight.gravity), sight.ground),
    )
    point = points[row]
    holds = bool(np.isfinite(point).all() and margin(corners, point[:2]) > -NEAR * sight.tall)
    return corners, point, holds


def pieces(sight: Sight) -> list[Piece]:
    """The polygon on the ground, the zero-moment point with the ground reaction there, and a line between them where
    the point is outside."""
    film, row = sight.film, sight.row
    if film is None or row is None:
        return []
    corners, point, holds = balance(sight, row)
    if not len(corners):
        return []
    color = GOOD if holds or not np.isfinite(point).all() else BAD
    height = sight.ground + LIFT * sight.tall
    flat = film.shown(np.column_stack([corners, np.full(len(corners), height)]))
    key = (film.key, row, sight.ground, color, sight.shows_result)
    ring = np.concatenate([flat, flat[:1]])
    out: list[Piece] = [
        Lines(("support", *key), lambda: (shape_wires.line(ring), None), with_alpha(color, 0.95), width=2.5, cased=True)
    ]
    if len(flat) > 2:
        fan = np.stack([np.broadcast_to(flat[0], flat[1:-1].shape), flat[1:-1], flat[2:]], axis=1)
        out.append(Faces(("support face", *key), lambda: fan, with_alpha(color, 0.30)))
    if np.isfinite(point).all():
        spot = film.shown(np.array([point[0], point[1], height]))
        if not holds:
            middle = flat.mean(axis=0)
            step = 0.03 * sight.tall / film.meters
            way = np.stack([middle, spot])
            out.append(
                Lines(("tips", *key), lambda: (shape_wires.dashes(way, step), None), with_alpha(BAD, 0.9), width=2.0)
            )
        whole = film.whole
        force = whole.mass * (whole.accelerations[row] - sight.gravity)
        long = sight.settings.force_scale * sight.tall / (whole.mass * contacts.GRAVITY)
        arrow = film.shown(force * long)[None]
        size = sight.tall / film.meters
        key += (sight.settings.force_scale,)
        out += [
            Lines(
                ("reaction", *key),
                lambda: (shape_wires.shafts(spot[None], arrow, 0.02 * size), None),
                color,
                2.5,
                cased=True,
            ),
            Faces(("reaction head", *key), lambda: shape_wires.heads(spot[None], arrow, 0.018 * size), color),
            Mark(spot, color, "CROSS", 7.0),
        ]
    return out
