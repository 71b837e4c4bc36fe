"""Overlay: contacts on this frame and their forces, in body weights.

Contacts are known only for a simulation of this session; the forces are those at the frame.
"""

from __future__ import annotations

import numpy as np

from ...simulate import session
from .. import answers
from . import impacts, motions, shape_wires
from .motions import Film
from .overlay_input import Sight
from .primitives import BAD, Dots, Faces, Lines, Mark, Piece, with_alpha

WORLD = "the world"
GRAVITY = 9.81
PRESS = (1.0, 0.45, 0.12, 1.0)
SLIDE = (0.95, 0.85, 0.25, 1.0)
FLASH = 3  # frames for which a blow is shown


def here(sight: Sight, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (k, 3) [m], forces (k, 3) [N] and normals (k, 3) of all contacts of the rig's bodies on a frame, each as
    it acts on the body. Contacts between objects count for the shot's leader."""
    found, keep, sign = sight.footage.forces.contacts, [], []
    for k in _now(sight, row):
        a, b = found.a[k], found.b[k]
        if is_own(sight, a, found.points[k], row):
            keep.append(k)
            sign.append(1.0)
        elif is_own(sight, b, found.points[k], row):
            keep.append(k)
            sign.append(-1.0)
        elif not any({a, b} & set(film.model.names) for film in _cast(sight)) and _leads(sight):
            keep.append(k)
            sign.append(-1.0 if a == WORLD else 1.0)
    sign = np.array(sign)[:, None]
    return found.points[keep], found.forces[keep] * sign, found.normals[keep] * sign


def standing(sight: Sight, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (k, 3) [m] and forces (k, 3) [N] of the ground on the rig's bodies on a frame, and the bodies (k,)."""
    found, index = sight.footage.forces.contacts, sight.footage.reading.model.index
    rows = []
    for k in _now(sight, row):
        a, b = found.a[k], found.b[k]
        name = a if b == WORLD else b
        if WORLD in (a, b) and is_own(sight, name, found.points[k], row):
            rows.append((k, 1.0 if b == WORLD else -1.0, index(name)))
    keep = [k for k, _, _ in rows]
    sign = np.array([sign for _, sign, _ in rows])[:, None]
    return found.points[keep], found.forces[keep] * sign, np.array([body for *_, body in rows], dtype=int)


def _now(sight: Sight, row: int) -> np.ndarray:
    """Indices of a frame's contacts."""
    return np.flatnonzero(np.asarray(sight.footage.forces.contacts.frames) == row)


def is_own(sight: Sight, name: str, point: np.ndarray, row: int) -> bool:
    """True if it is a body of the rig. If other rigs have bodies of that name, the nearest counts."""
    own = sight.footage.result
    if name not in own.model.names:
        return False
    rivals = [film for film in _cast(sight) if name in film.model.names and row < len(film)]
    away = [np.linalg.norm(film.places[row, film.model.index(name)] - point) for film in rivals]
    return not rivals or rivals[int(np.argmin(away))] is own


def _cast(sight: Sight) -> list[Film]:
    """The results of all characters of the shot, the rig's own first."""
    if "cast" not in sight.scratch:
        others = [other for other in answers.shot_of(sight.rig).rigs if other != sight.rig]
        sight.scratch["cast"] = [other for other in others if session.last_shown(other) is not None]
    films = [motions.current(other, sight.scene).result for other in sight.scratch["cast"]]
    return [sight.footage.result, *films]


def _leads(sight: Sight) -> bool:
    if "leads" not in sight.scratch:
        sight.scratch["leads"] = answers.shot_of(sight.rig).leader == sight.rig
    return sight.scratch["leads"]


def pieces(sight: Sight) -> list[Piece]:
    """Arrows: orange for pressure, yellow for friction; rings for blows."""
    row = sight.row
    if row is None or not sight.shows_result or sight.footage.forces is None or sight.footage.forces.contacts is None:
        return []
    film = sight.film
    points, forces, normals = here(sight, row)
    key = (film.key, row, sight.settings.force_scale)
    out: list[Piece] = []
    weight = GRAVITY * film.model.total_mass
    size = sight.tall / film.meters
    long = sight.settings.force_scale * size / weight
    press = np.einsum("ki,ki->k", forces, normals)[:, None] * normals if len(points) else forces
    spots = film.shown(points)
    arrows = film.shown(press) * film.meters * long
    slides = film.shown(forces - press) * film.meters * long
    if len(points):
        out += [
            _shafts(("press", *key), spots, arrows, PRESS, size),
            Faces(("press heads", *key), lambda: shape_wires.heads(spots, arrows, 0.02 * size), PRESS),
            _shafts(("slide", *key), spots, slides, SLIDE, size),
            Faces(("slide heads", *key), lambda: shape_wires.heads(spots, slides, 0.014 * size), SLIDE),
            Dots(("touch", *key), lambda: (spots, np.tile(np.array((1.0, 1.0, 1.0, 1.0)), (len(spots), 1))), size=6.0),
        ]
    return out + _blows(sight, row, long)


def _blows(sight: Sight, row: int, long: float) -> list[Piece]:
    """A ring that grows and fades over a few frames, with the force on the first."""
    film, out = sight.film, []
    struck = impacts.of(sight, lambda name, point, when: is_own(sight, name, point, when))
    size = sight.tall / film.meters
    for blow in struck:
        age = row - blow.row
        if 0 <= age <= FLASH:
            spot = film.shown(blow.point)
            out.append(Mark(spot, with_alpha(BAD, 1.0 - age / (FLASH + 1.0)), "RING", 9.0 + 7.0 * age))
            arrow = (film.shown(blow.force) * film.meters * long)[None]
            key = (film.key, blow.row, *blow.point, sight.settings.force_scale)
            color = with_alpha(BAD, 1.0 - age / (FLASH + 1.0))
            # The arrow ends at the point of contact.
            start = spot[None] - arrow
            out.append(_shafts(("blow", *key, age), start, arrow, color, size))
            out.append(Faces(("blow head", *key, age), _made(start, arrow, 0.026 * size), color))
    return out


def _made(spots: np.ndarray, arrows: np.ndarray, size: float):
    return lambda: shape_wires.heads(spots, arrows, size)


def _shafts(key, spots: np.ndarray, arrows: np.ndarray, color, size: float) -> Lines:
    return Lines(key, lambda: (shape_wires.shafts(spots, arrows, 0.02 * size), None), color, width=3.0, cased=True)
