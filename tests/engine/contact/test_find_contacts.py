"""Finding contacts before a step: which are kept where the table has no room for all of them."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.collision.broad_phase import find_pairs
from engine.compile.decorators import entry_point
from engine.contact import find_contacts
from engine.simulation.shot import Shot
from engine.tables import contacts as CT, rows as R

BALLS, RADIUS = 24, 0.05


@entry_point
def _nearest(state, work, touch, h):
    found = touch.found
    touch.rows.count[R.PAIRS] = find_pairs(touch.shapes, found.placed, found.reach, found.moves, found.box, found.pairs)
    return find_contacts._nearest_contacts(state, work, touch, h, 0, find_contacts.EVERY)


def balls_over_the_ground(heights: np.ndarray) -> Shot:
    """Limp balls in a row, 1 m apart."""
    count = len(heights)
    model = engine.Model.from_tree(
        [f"ball{k}" for k in range(count)], [None] * count, np.zeros((count, 3)),
        shapes=[engine.Sphere(RADIUS)] * count,
    )  # fmt: skip
    places = np.zeros((2, count, 3))
    places[:, :, 0] = np.arange(count)
    places[:, :, 2] = heights + RADIUS
    motion = engine.Motion.build(model, 30.0, np.tile([1.0, 0.0, 0.0, 0.0], (2, count, 1)), places)
    return Shot(
        [engine.Actor(model, motion, engine.Limp())], engine.Scene(ground=engine.Ground(), gravity=(0, 0, 0)), 240
    )


@pytest.mark.parametrize("room", [8, 12, 20, 40])
def test_where_there_is_no_room_for_all_contacts_the_nearest_stay(room):
    """The far balls come first in every list; halved margins find the near ones all the same."""
    heights = np.geomspace(0.4, 0.003, BALLS)
    shot = balls_over_the_ground(heights)
    shot.run(1)
    found = shot.touch.found
    found.reach[:] = 0.25
    touch = shot.touch._replace(
        found=found._replace(contact=np.zeros((room, found.contact.shape[1])), meet=found.meet[:room].copy())
    )
    count = _nearest(shot.state, shot.work, touch, 1.0 / 240.0)
    kept = {min(a, b) for a, b in touch.found.meet[:count, [CT.SHAPE_A, CT.SHAPE_B]].tolist()}
    assert len(kept) == count <= room
    assert kept == set(range(BALLS - count, BALLS)), "those that are kept are the lowest"
    assert count == BALLS or count > room / 3, "margins are halved until there is room, no further"
