"""Candidate pairs: none that touches is missed, few that do not are kept, and crowds cost no more a head."""

from __future__ import annotations

import numpy as np

from engine.collision import broad_phase, narrow_phase, signed_distance
from engine.compile.decorators import entry_point
from engine.geometry.build_shapes import build_shapes
from engine.geometry.shape_table import new_placed
from engine.geometry.shapes import Box, Capsule, Hull, Plane, Sphere
from engine.tables import contacts as CT
from shapes import random_quaternion


@entry_point
def _find(shapes, where, placed, reach, moves, box, out):
    signed_distance.place_shapes(shapes, where, placed)
    return broad_phase.find_pairs(shapes, placed, reach, moves, box, out)


@entry_point
def _gap_of(shapes, placed, a, b):
    return narrow_phase.gap_of(shapes, placed, a, b)


class Crowd:
    """Shapes on bodies, with scratch for the search."""

    def __init__(self, bodies, shapes, roots, where, moves=None, apart=(), families=None):
        count = len(shapes)
        surface = ([0.5] * count, [0.0] * count, [0] * count)
        self.shapes = build_shapes(bodies, shapes, *surface, roots, apart, families)
        self.where, self.placed, self.box = where, new_placed(self.shapes), CT.new_box(self.shapes)
        self.moves = np.ones(len(where), dtype=np.bool_) if moves is None else moves
        self.moves[0] = False
        self.reach = np.zeros(count)

    def find(self, capacity=100_000):
        out = np.full((capacity, 2), -1)
        found = _find(self.shapes, self.where, self.placed, self.reach, self.moves, self.box, out)
        assert (out[found:] == -1).all() and (out[:found, 0] < out[:found, 1]).all()
        assert len({tuple(p) for p in out[:found]}) == found
        return {tuple(int(k) for k in p) for p in out[:found]}

    def gap(self, a, b):
        return _gap_of(self.shapes, self.placed, a, b)[0]


def random_crowd(rng, apart=()):
    """Trees of three bodies, free bodies, things and planes of the world."""
    bodies, shapes, roots, row = [], [], [], 0
    for _ in range(12):
        root = row + 1
        for _ in range(int(rng.integers(1, 4))):
            row += 1
            for _ in range(int(rng.integers(1, 3))):
                bodies.append(row)
                roots.append(root)
    bodies += [0] * 6
    roots += [0] * 6
    for _ in bodies[:-2]:
        kind = rng.integers(0, 4)
        if kind == 0:
            shapes.append(Sphere(rng.uniform(0.05, 0.3)))
        elif kind == 1:
            shapes.append(Capsule(rng.uniform(0.02, 0.1), tuple(rng.normal(size=3)), tuple(rng.normal(size=3))))
        elif kind == 2:
            shapes.append(Box(tuple(rng.uniform(0.02, 0.4, 3)), tuple(rng.normal(size=3) * 0.2)))
        else:
            shapes.append(Hull(rng.normal(size=(10, 3)) * 0.2))
    shapes += [Plane((0, 0, 1), -1.0), Plane((1, 0.5, 0), -2.0)]
    order = rng.permutation(len(shapes))  # trees need not be in order
    where = np.column_stack([rng.normal(size=(row + 1, 3)) * 1.5, random_quaternion(rng, row + 1)])
    where[0] = [0, 0, 0, 1, 0, 0, 0]
    moves = rng.random(row + 1) < 0.7
    return Crowd([bodies[k] for k in order], [shapes[k] for k in order], [roots[k] for k in order], where, moves, apart)


def test_every_pair_that_touches_is_found_and_no_other_kind(rng, figure):
    touching = candidates = 0
    for _ in range(20):
        crowd = random_crowd(rng, apart=[(3, 1), (2, 5), (7, 9)])
        crowd.reach[:] = rng.uniform(0.0, 0.1, len(crowd.reach))
        found = crowd.find()
        link = crowd.shapes.link
        for a in range(len(link)):
            for b in range(a + 1, len(link)):
                body, other = link[a, 0], link[b, 0]
                allowed = body != other and (crowd.moves[body] or crowd.moves[other])
                allowed = allowed and (a, b) not in {(1, 3), (2, 5), (7, 9)}
                if not allowed:
                    assert (a, b) not in found
                elif crowd.gap(a, b) <= crowd.reach[a] + crowd.reach[b]:
                    touching += 1
                    assert (a, b) in found
        candidates += len(found)
    assert touching > 200
    figure("candidates for each pair that touches", candidates / touching, 3.0)


def test_an_elongated_shape_is_not_a_ball():
    """A pole along X does not meet what stands a metre beside its middle."""
    where = np.zeros((3, 7))
    where[:, 3] = 1.0
    where[2, 1] = 1.0
    pole, ball = Capsule(0.05, (-5, 0, 0), (5, 0, 0)), Sphere(0.2)
    assert Crowd([1, 2], [pole, ball], [1, 2], where).find() == set()
    where[2, 1] = 0.24
    assert Crowd([1, 2], [pole, ball], [1, 2], where).find() == {(0, 1)}


def test_a_family_does_not_touch_itself_but_others():
    """Two trees of one family and one of another, all at the same place, on a plane that is in none."""
    where = np.tile([0.0, 0, 0, 1, 0, 0, 0], (6, 1))
    bodies, roots, families = [1, 2, 3, 4, 5, 0], [1, 1, 3, 4, 4, 0], [7, 7, 7, 8, 8, -1]
    crowd = Crowd(bodies, [Sphere(0.1)] * 5 + [Plane()], roots, where, families=families)
    others = {(a, b) for a in range(3) for b in (3, 4)}
    assert crowd.find() == others | {(a, 5) for a in range(5)}


def test_reach_and_capacity():
    where = np.zeros((4, 7))
    where[:, 3] = 1.0
    where[1:, 0] = [0.0, 1.0, 2.0]
    crowd = Crowd([1, 2, 3, 0], [Sphere(0.1)] * 3 + [Plane((0, 0, 1), -0.5)], [1, 2, 3, 0], where)
    assert crowd.find() == set()
    crowd.reach[:] = [0.5, 0.31, 0.0, 0.0]
    assert crowd.find() == {(0, 1), (0, 3)}
    crowd.reach[:] = 9.0
    everything = {(a, b) for a in range(4) for b in range(a + 1, 4)}
    assert crowd.find() == everything
    for capacity in range(1, 6):
        assert len(crowd.find(capacity)) == capacity


def test_overlapping_at_rest():
    """A chain of bones: neighbours overlap, the others do not; another tree does not count."""
    bone = Capsule(0.05, (0, 0, 0), (0, 1.0, 0))
    where = np.zeros((6, 7))
    where[:, 3] = 1.0
    where[1:, 1] = [0.0, 1.0, 2.0, 3.0, 0.5]
    crowd = Crowd([1, 2, 3, 4, 5, 4], [*[bone] * 5, Sphere(0.1)], [1, 1, 1, 1, 5, 1], where)
    assert broad_phase.overlapping_at_rest(crowd.shapes, where) == [(0, 1), (1, 2), (2, 3), (2, 5)]
    empty = build_shapes([], [], [], [], [], [])
    assert broad_phase.overlapping_at_rest(empty, where) == []


def characters(count, spacing):
    """Each 75 capsules of a body's size, on 25 bodies, on a ground plane."""
    rng = np.random.default_rng(5)
    bodies, shapes, roots, where = [0], [Plane()], [0], [[0, 0, 0, 1, 0, 0, 0]]
    start = rng.uniform([-0.5, -0.3, 0.0], [0.5, 0.3, 1.8], (25, 3))
    for c in range(count):
        root = len(where)
        for b in range(25):
            row = len(where)
            where.append([*(start[b] + [spacing * c, 0, 0]), 1, 0, 0, 0])
            for k in range(3):
                bodies.append(row)
                roots.append(root)
                arm = 0.15 * np.array([np.cos(b + k), np.sin(b + k), np.sin(3.0 * b + k)])
                shapes.append(Capsule(0.05, tuple(-arm), tuple(arm)))
    return Crowd(bodies, shapes, roots, np.array(where, dtype=float))


def test_a_crowd_has_no_more_pairs_a_head(figure):
    """What a head costs is in the benchmark; here, that nobody is looked at because others are there."""
    heads = {count: len(characters(count, 3.0).find()) / count for count in (1, 100)}
    figure("pairs a head among 100, less those of one alone", abs(heads[100] - heads[1]), 0.0)
