"""Two shapes on two bodies, measured by the kernels and by support functions: for the tests of contacts and impacts."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from engine.collision import narrow_phase, signed_distance
from engine.collision.time_of_impact import time_of_impact
from engine.compile.decorators import entry_point
from engine.geometry.build_shapes import build_shapes
from engine.geometry.shape_table import new_placed
from engine.geometry.shapes import Box, Capsule, Grid, Hull, Sphere
from engine.tables import contacts as CT
from shapes import random_quaternion

STILL = (1.0, 0.0, 0.0, 0.0)
ROUND = ("sphere", "capsule")
CONVEX = ("sphere", "capsule", "box", "hull")
PAIRS = list(itertools.combinations_with_replacement(CONVEX, 2))


@entry_point
def _place(shapes, where, placed):
    signed_distance.place_shapes(shapes, where, placed)


@entry_point
def _collide(shapes, placed, a, b, margin, contact, touch, count):
    return narrow_phase.collide(shapes, placed, a, b, margin, contact, touch, count)


@entry_point
def _gap_of(shapes, placed, a, b):
    return narrow_phase.gap_of(shapes, placed, a, b)


@entry_point
def _distance(shapes, placed, s, x, y, z):
    return signed_distance.distance(shapes, placed, s, (x, y, z))


@entry_point
def _impacts(shapes, before, after, scratch, slop, out):
    """before and after: (k, 3, 7)."""
    for k in range(len(before)):
        out[k] = time_of_impact(shapes, before[k], after[k], scratch, 0, 1, slop)


class Pair:
    """Two shapes on two bodies."""

    def __init__(self, first, second, friction=(0.5, 0.5), bounce=(0.0, 0.0)):
        self.given = (first, second)
        self.shapes = build_shapes([1, 2], [first, second], friction, bounce, [0, 0], [1, 2])
        self.where = np.zeros((3, 7))
        self.where[:, 3] = 1.0
        self.placed = new_placed(self.shapes)
        self.move()

    def move(self, place=(0.0, 0.0, 0.0), turn=STILL, place2=(0.0, 0.0, 0.0), turn2=STILL):
        self.where[1], self.where[2] = [*place, *turn], [*place2, *turn2]
        _place(self.shapes, self.where, self.placed)
        return self

    def gap(self, a=0, b=1):
        gap, *n = _gap_of(self.shapes, self.placed, a, b)
        return gap, np.array(n)

    def hits(self, margin=0.01, a=0, b=1, capacity=200, count=0):
        """Contacts and their integers."""
        contact, touch = np.full((capacity, CT.CONTACT_COLUMNS), np.nan), np.full((capacity, CT.MEET_COLUMNS), -7)
        found = _collide(self.shapes, self.placed, a, b, margin, contact, touch, count)
        assert np.isnan(contact[:count]).all() and found <= capacity
        return contact[count:found], touch[count:found]

    def impacts(self, before, after, slop=1e-4):
        """Times of impact of many motions; both (k, 3, 7)."""
        out = np.full(len(before), np.nan)
        _impacts(self.shapes, before, after, new_placed(self.shapes), slop, out)
        return out

    def gap_along(self, before, after, times):
        """Gaps at times of a motion from before to after, (3, 7) each."""
        turns = [
            Slerp([0, 1], Rotation.from_quat([before[k, 3:], after[k, 3:]], scalar_first=True))(times).as_quat(
                scalar_first=True
            )
            for k in (1, 2)
        ]
        gaps = []
        for k, t in enumerate(times):
            places = (1 - t) * before[:, :3] + t * after[:, :3]
            gaps.append(self.move(places[1], turns[0][k], places[2], turns[1][k]).gap()[0])
        return np.array(gaps)

    def distance(self, s, points):
        return np.array([_distance(self.shapes, self.placed, s, *p)[0] for p in np.atleast_2d(points)])

    def support(self, s, directions):
        """How far the shape reaches along world directions (k, 3), from its own corners: no kernel involved."""
        turn = Rotation.from_quat(self.where[s + 1, 3:], scalar_first=True)
        given = self.given[s]
        radius = getattr(given, "radius", 0.0)
        if isinstance(given, Sphere):
            corners = np.array([given.center])
        elif isinstance(given, Capsule):
            corners = np.array([given.start, given.end])
        elif isinstance(given, Box):
            signs = np.array(list(itertools.product((-1, 1), repeat=3)))
            corners = Rotation.from_quat(given.rotation, scalar_first=True).apply(signs * given.half) + given.center
        else:
            corners = given.corners().copy()
        corners = turn.apply(corners) + self.where[s + 1, :3]
        return (directions @ corners.T).max(axis=1) + radius

    def separation(self, directions):
        """How far a is beyond b along directions from b to a; the signed distance is the largest of all."""
        return -self.support(0, -directions) - self.support(1, directions)


def random_shape(rng, kind):
    if kind == "sphere":
        return Sphere(rng.uniform(0.05, 0.5), tuple(rng.normal(size=3) * 0.1))
    if kind == "capsule":
        return Capsule(rng.uniform(0.02, 0.3), tuple(rng.normal(size=3) * 0.3), tuple(rng.normal(size=3) * 0.3))
    if kind == "box":
        return Box(tuple(rng.uniform(0.02, 0.5, 3)), tuple(rng.normal(size=3) * 0.1), tuple(random_quaternion(rng)))
    # few enough points that none is left out
    return Hull(rng.normal(size=(int(rng.integers(4, 40)), 3)) * rng.uniform(0.05, 0.4, 3))


def random_pair(rng, kind, other, spread):
    pair = Pair(random_shape(rng, kind), random_shape(rng, other))
    return pair.move(rng.normal(size=3) * spread, random_quaternion(rng), (0, 0, 0), random_quaternion(rng))


def directions(rng, count):
    n = rng.normal(size=(count, 3))
    return n / np.linalg.norm(n, axis=1, keepdims=True)


def floor_grid(half=0.8, thick=0.2, cell=0.05):
    """A slab with its top at 0, and its corners and a net of points on its top."""
    size = np.array([half, half, thick / 2])
    count = 2 * np.ceil(size / cell).astype(int) + 7
    axes = [(np.arange(n) - 0.5 * (n - 1)) * cell for n in count]
    q = np.abs(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)) - size
    values = np.linalg.norm(np.maximum(q, 0.0), axis=-1) + np.minimum(q.max(axis=-1), 0.0)
    net = np.linspace(-half, half, 9)
    x, y = (a.ravel() for a in np.meshgrid(net, net))
    middle = np.array([0.0, 0.0, -thick / 2])
    return Grid(values, middle, cell, size, np.column_stack([x, y, np.zeros_like(x)]))


def still(count):
    """(count, 3, 7) of bodies at rest in the origin."""
    where = np.zeros((count, 3, 7))
    where[:, :, 3] = 1.0
    return where
