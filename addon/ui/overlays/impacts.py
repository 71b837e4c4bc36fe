"""Blows on a body: by a contact that starts hard, or by a free object whose path bends there.

Owns how they are detected in the result. An impact is over within a step, so contacts at the frames seldom show it, but
the object has another velocity afterwards. Must not know how it is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....engine import derived
from ....engine.math import rotations
from ...read import collision_shapes, read_scene
from ...settings import collider_of
from .overlay_input import Sight

GRAVITY = 9.81
LEAST = 0.15  # of the mean force over a frame [body weights]
THICKNESS = 0.08  # of flesh around a bone at most [parts of the rig's height]


class Blow(NamedTuple):
    """row: index of the frame; point (3,) [m]; force (3,) on the body, the mean over the frame [N]."""

    row: int
    point: np.ndarray
    force: np.ndarray


def of(sight: Sight, is_own) -> list[Blow]:
    """All blows on the rig in its last simulation. is_own(name, point, row): True for a body of the rig."""
    return derived(sight.footage.result, "blows", lambda: _by_contacts(sight, is_own) + _by_flights(sight))


def _by_contacts(sight: Sight, is_own) -> list[Blow]:
    """Contacts that were not there on the frame before, with a force above the body's weight."""
    found, out = sight.footage.forces.contacts, []
    if found is None or not len(found.frames):
        return out
    least = GRAVITY * sight.footage.reading.model.total_mass
    pairs: dict[int, set[tuple[str, str]]] = {}
    for k, frame in enumerate(found.frames):
        pairs.setdefault(int(frame), set()).add((found.a[k], found.b[k]))
    for k in np.flatnonzero(np.linalg.norm(found.forces, axis=1) > least):
        row, pair, point = int(found.frames[k]), (found.a[k], found.b[k]), found.points[k]
        if row > 0 and pair not in pairs.get(row - 1, ()) and any(is_own(name, point, row) for name in pair):
            sign = 1.0 if is_own(pair[0], point, row) else -1.0
            out.append(Blow(row, point, sign * found.forces[k]))
    return out


def _by_flights(sight: Sight) -> list[Blow]:
    """Free objects near a body whose velocity changed by more than gravity explains."""
    film, result, out = sight.footage.result, sight.footage.forces, []
    least = LEAST * GRAVITY * film.model.total_mass
    free = [track for track in sight.footage.tracks if _name(track) in result.objects]
    ends = segments(sight) if free else None
    for track in free:
        places, size = result.objects[track.ob.name_full][0], size_of(track)
        mass = collider_of(track.ob).mass or collision_shapes.WATER * 4.19 * size**3
        speeds = np.diff(places, axis=0) * film.fps
        kicks = mass * (np.diff(speeds, axis=0) * film.fps - sight.gravity)
        strong = np.flatnonzero(np.linalg.norm(kicks, axis=1) > least)
        # A blow between two frames changes the velocity at both.
        for rows in np.split(strong, np.flatnonzero(np.diff(strong) > 1) + 1) if len(strong) else ():
            looked = range(rows[0], rows[-1] + 3)
            point, away, row = min(((*nearest(ends[k], places[k]), k) for k in looked), key=lambda each: each[1])
            if away < size + THICKNESS * sight.tall:
                way = places[row] - point
                spot = places[row] - way / max(np.linalg.norm(way), 1e-9) * size
                out.append(Blow(int(row), spot, -kicks[rows].sum(axis=0)))
    return out


def _name(track: read_scene.Track) -> str:
    """The object's name; "" if it was deleted."""
    try:
        return track.ob.name_full
    except ReferenceError:
        return ""


def size_of(track: read_scene.Track) -> float:
    """Half the mean size of an object [m]."""
    corners = np.array(track.ob.bound_box)
    half = 0.5 * np.abs(track.stretch) @ (corners.max(axis=0) - corners.min(axis=0))
    return float(np.cbrt(np.prod(np.maximum(half, 1e-6))))


def segments(sight: Sight) -> np.ndarray:
    """(frames, bones, 2, 3) heads and tails of the bodies' bones in the result [m]."""
    film, reading = sight.footage.result, sight.footage.reading
    own = [
        (reading.model.index(body), head, tail) for name, (body, head, tail) in reading.spots.items() if name == body
    ]
    bodies = [body for body, _, _ in own]
    ends = np.array([(head, tail) for _, head, tail in own])
    return film.places[:, bodies, None] + rotations.rotate(film.turns[:, bodies, None], ends[None])


def nearest(ends: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, float]:
    """The point of segments (k, 2, 3) nearest to a point (3,), and its distance."""
    way = ends[:, 1] - ends[:, 0]
    t = np.clip(((place - ends[:, 0]) * way).sum(axis=1) / np.maximum((way * way).sum(axis=1), 1e-12), 0.0, 1.0)
    points = ends[:, 0] + t[:, None] * way
    away = np.linalg.norm(points - place, axis=1)
    return points[away.argmin()], float(away.min())
