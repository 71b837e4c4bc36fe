"""Overlay: where things touch on this frame, and with what force, in body weights.

Contacts are known from a simulation of this session alone; the forces are those at the frame.
"""

from __future__ import annotations

import numpy as np

from .. import session, shot
from . import footage, wires
from .pieces import BAD, Dots, Faces, Lines, Mark, Piece, with_alpha
from .sight import Sight

WORLD = "the world"
GRAVITY = 9.81
PRESS = (1.0, 0.45, 0.12, 1.0)
SLIDE = (0.95, 0.85, 0.25, 1.0)
FLASH = 3  # frames that a blow stays seen
BLOW = 1.0  # a force that was not there a frame before, and is more than this [body weights], is a blow


def here(sight: Sight, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (k, 3) [m], forces (k, 3) [N] and normals (k, 3) of all contacts that the rig's bodies have on a frame,
    each as it acts on the body; those between things of its shot count for the shot's leader."""
    found = sight.footage.forces.contacts
    now = np.flatnonzero(np.asarray(found.frames) == row)
    keep, sign = [], []
    for k in now:
        a, b = found.a[k], found.b[k]
        if _is_own(sight, a, found.points[k], row):
            keep.append(k)
            sign.append(1.0)
        elif _is_own(sight, b, found.points[k], row):
            keep.append(k)
            sign.append(-1.0)
        elif _is_nobodys(sight, a) and _is_nobodys(sight, b) and shot.leader(sight.rig) == sight.rig:
            keep.append(k)
            sign.append(-1.0 if a == WORLD else 1.0)
    sign = np.array(sign)[:, None]
    return found.points[keep], found.forces[keep] * sign, found.normals[keep] * sign


def standing(sight: Sight, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (k, 3) [m] and forces (k, 3) [N] of the ground on the rig's bodies on a frame."""
    found = sight.footage.forces.contacts
    now = np.flatnonzero(np.asarray(found.frames) == row)
    keep = [
        k
        for k in now
        if (found.b[k] == WORLD and _is_own(sight, found.a[k], found.points[k], row))
        or (found.a[k] == WORLD and _is_own(sight, found.b[k], found.points[k], row))
    ]
    sign = np.array([1.0 if found.b[k] == WORLD else -1.0 for k in keep])[:, None]
    return found.points[keep], found.forces[keep] * sign


def _is_own(sight: Sight, name: str, point: np.ndarray, row: int) -> bool:
    """Is it a body of the rig's? Bodies of others may have the same name: then the nearer one's."""
    model = sight.footage.reading.model
    if name not in model.names:
        return False
    away = np.linalg.norm(sight.footage.result.places[row, model.index(name)] - point)
    for other in shot.members(sight.rig).rigs:
        shown = session.last_shown(other) if other != sight.rig else None
        if shown is not None and name in shown.reading.model.names:
            film = footage.current(other, sight.scene).result
            body = shown.reading.model.index(name)
            if row < len(film) and np.linalg.norm(film.places[row, body] - point) < away:
                return False
    return True


def _is_nobodys(sight: Sight, name: str) -> bool:
    """Is it no body of any character of the shot?"""
    shown = [session.last_shown(other) for other in shot.members(sight.rig).rigs]
    return not any(each is not None and name in each.reading.model.names for each in shown)


def pieces(sight: Sight) -> list[Piece]:
    """Arrows: orange what presses, yellow what holds against sliding; rings where a blow was."""
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
            Faces(("press heads", *key), lambda: wires.heads(spots, arrows, 0.02 * size), PRESS),
            _shafts(("slide", *key), spots, slides, SLIDE, size),
            Faces(("slide heads", *key), lambda: wires.heads(spots, slides, 0.014 * size), SLIDE),
            Dots(("touch", *key), lambda: (spots, np.tile(np.array((1.0, 1.0, 1.0, 1.0)), (len(spots), 1))), size=6.0),
        ]
    return out + [
        Mark(film.shown(point), with_alpha(BAD, 1.0 - age / (FLASH + 1.0)), "RING", 10.0 + 6.0 * age)
        for point, age in blows(sight, row)
    ]


def _shafts(key, spots: np.ndarray, arrows: np.ndarray, color, size: float) -> Lines:
    return Lines(key, lambda: (wires.shafts(spots, arrows, 0.02 * size), None), color, width=3.0, cased=True)


def blows(sight: Sight, row: int) -> list[tuple[np.ndarray, int]]:
    """Where the body was struck on this frame or the last few, and how many frames ago."""
    film = sight.footage.result
    kept = film.__dict__.get("_blows")
    if kept is None:
        kept = film.__dict__["_blows"] = _find_blows(sight)
    return [(point, row - frame) for frame, point in kept if 0 <= row - frame <= FLASH]


def _find_blows(sight: Sight) -> list[tuple[int, np.ndarray]]:
    """Frames and points of contacts that were not there on the frame before, and press hard."""
    found, out = sight.footage.forces.contacts, []
    least = BLOW * GRAVITY * sight.footage.reading.model.total_mass
    pairs: dict[int, set[tuple[str, str]]] = {}
    for k, frame in enumerate(found.frames):
        pairs.setdefault(int(frame), set()).add((found.a[k], found.b[k]))
    for k in np.flatnonzero(np.linalg.norm(found.forces, axis=1) > least):
        frame, pair = int(found.frames[k]), (found.a[k], found.b[k])
        new = frame > 0 and pair not in pairs.get(frame - 1, ())
        if new and any(_is_own(sight, name, found.points[k], frame) for name in pair):
            out.append((frame, found.points[k]))
    return out
