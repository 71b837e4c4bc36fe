"""Times of impact, by dense sampling: no shot passes, no near miss is a hit, tumbling pairs meet when they meet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from engine.geometry.shapes import Box, Capsule, Plane, Sphere
from how_many import cases
from pair import PAIRS, STILL, Pair, directions, floor_grid, random_shape, still
from shapes import random_quaternion

SHOTS = cases(10_000)
SPEED = 20.0 / 24.0  # metres a frame
TARGETS = {"wall": Box((0.01, 0.5, 0.5)), "forearm": Capsule(0.03, (0.0, -0.13, 0.0), (0.0, 0.13, 0.0))}


def shots(rng, target):
    """A ball on its way through some point of the target."""
    way = directions(rng, SHOTS)
    aim = rng.uniform(-1.0, 1.0, (SHOTS, 3)) * ([0.0, 0.4, 0.4] if target == "wall" else [0.0, 0.12, 0.0])
    before, after = still(SHOTS), still(SHOTS)
    start = rng.uniform(0.1, 0.9, (SHOTS, 1))
    before[:, 1, :3], after[:, 1, :3] = aim - start * SPEED * way, aim + (1 - start) * SPEED * way
    before[:, 1, 3:] = after[:, 1, 3:] = random_quaternion(rng, SHOTS)
    return before, after


def sampled_gaps(pair, before, after, count):
    """The least gap of a ball to a target in the origin on its way, by distances alone."""
    t = np.linspace(0.0, 1.0, count)[:, None, None]
    points = (1 - t) * before[:, 1, :3] + t * after[:, 1, :3]
    given = pair.given[1]
    if isinstance(given, Box):
        q = np.abs(points) - given.half
        d = np.linalg.norm(np.maximum(q, 0.0), axis=-1) + np.minimum(q.max(axis=-1), 0.0)
    else:
        q = points.copy()
        q[..., 1] -= np.clip(q[..., 1], given.start[1], given.end[1])
        d = np.linalg.norm(q, axis=-1) - given.radius
    return d - pair.given[0].radius


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("radius", [0.05, 0.025])
def test_no_shot_passes_a_thin_target(target, radius, rng, figure):
    """A ball at 20 m/s, a step a frame. The time is right: the gap is open before it and the slop at it."""
    pair = Pair(Sphere(radius), TARGETS[target])
    before, after = shots(rng, target)
    times = pair.impacts(before, after)
    samples = sampled_gaps(pair, before, after, 201)
    starts_apart = samples[0] > 1e-3
    assert starts_apart.sum() > 0.6 * SHOTS
    assert (samples.min(axis=0) < 0.0).all(), "every shot is a hit"
    figure(f"{target}, ball of {radius} m: shots that pass", (times[starts_apart] > 1.0).sum(), 0)
    places = before[:, 1, :3] + times[:, None] * (after - before)[:, 1, :3]
    at = before.copy()
    at[:, 1, :3] = places
    there = sampled_gaps(pair, at, at, 1)[0][starts_apart]
    figure(f"{target}, ball of {radius} m: gap at the impact less the slop", np.abs(there - 1e-4).max(), 2e-6)
    earlier = (np.linspace(0.0, 1.0, 201)[:, None] < times - 1e-6) & starts_apart
    assert (samples[earlier] > 1e-4 - 1e-9).all()


@pytest.mark.parametrize("target", TARGETS)
def test_near_misses_are_misses(target, rng, figure):
    """Balls that come no nearer than 1 mm to 5 cm, by a plane between them and the target; and the same nearer by
    that much: hits of the outermost skin."""
    pair = Pair(Sphere(0.05), TARGETS[target])
    before, after = shots(rng, target)
    way = (after - before)[:, 1, :3]
    side = np.cross(way, directions(rng, SHOTS))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    given = TARGETS[target]
    if target == "wall":
        top = np.sign(side) * given.half
    else:
        top = np.where(side[:, 1:2] > 0.0, given.end, given.start) + given.radius * side
    clear = 10.0 ** rng.uniform(-3.0, np.log10(0.05), (SHOTS, 1))
    share = rng.uniform(0.2, 0.8, (SHOTS, 1))
    for sign, name in ((1.0, "misses told as hits"), (-1.0, "hits told as misses")):
        middle = top + (0.05 + sign * clear) * side
        before[:, 1, :3], after[:, 1, :3] = middle - share * way, middle + (1 - share) * way
        least = sampled_gaps(pair, before, after, 201)
        times = pair.impacts(before, after)
        if sign > 0.0:
            assert (least > 1e-3 - 1e-9).all() and (least.min(axis=0) < clear[:, 0] + 1e-3).mean() > 0.9
            wrong = times != 2.0
        else:
            wrong = (times > 1.0) & (least[0] > 1e-3)
        figure(f"{target}: {name}, by 1 mm or more", wrong.sum(), 0)


@pytest.mark.parametrize(("kind", "other"), [*PAIRS, ("box", "plane"), ("capsule", "plane"), ("box", "grid")])
def test_tumbling_pairs_against_sampling(kind, other, rng, figure):
    """Both move and turn by up to half a turn. Hits come no later than the first sample that overlaps, misses have
    none, and at the time told the gap is the slop."""
    wrong = worst = 0.0
    hits = misses = 0
    for _ in range(60):
        second = (
            Plane((0, 0, 1), -0.3)
            if other == "plane"
            else floor_grid()
            if other == "grid"
            else random_shape(rng, other)
        )
        pair = Pair(random_shape(rng, kind), second)
        before, after = still(1), still(1)
        middle = directions(rng, 1)[0] * rng.uniform(0.0, 0.8)
        way = directions(rng, 1)[0] * rng.uniform(0.2, 1.5)
        before[0, 1, :3], after[0, 1, :3] = middle - way, middle + way
        spin = Rotation.from_rotvec(directions(rng, 2) * rng.uniform(0.0, 3.0, (2, 1)))
        first = Rotation.random(2, random_state=int(rng.integers(1 << 30)))
        before[0, 1:, 3:], after[0, 1:, 3:] = (
            first.as_quat(scalar_first=True),
            (first * spin).as_quat(scalar_first=True),
        )
        if other in ("plane", "grid"):
            before[0, 2, 3:] = after[0, 2, 3:] = STILL
        t = pair.impacts(before, after)[0]
        steps = np.linspace(0.0, 1.0, 300)
        gaps = pair.gap_along(before[0], after[0], steps)
        if gaps[0] < 1e-3:
            continue
        if t > 1.0:
            misses += 1
            wrong = max(wrong, 1e-4 - gaps.min())
        else:
            hits += 1
            worst = max(worst, abs(pair.gap_along(before[0], after[0], np.array([t]))[0] - 1e-4))
            assert (gaps[steps < t - 1e-6] > 1e-4 - 1e-9).all()
    assert hits > 3 and hits + misses > 15
    figure.note(f"{kind}, {other}: tumbling hits, misses", f"{hits}, {misses}")
    figure(f"{kind}, {other}: gap at the impact", worst, 2e-6)
    figure(f"{kind}, {other}: overlap of a miss", max(wrong, 0.0), 0.0)


def test_a_touching_start():
    """Closing is an impact at once; parting, sliding and resting are none; parting and coming back is one later."""
    pair = Pair(Sphere(0.1), Plane())
    before, after = still(5), still(5)
    before[:, 1, 2] = 0.1
    after[:, 1, :3] = [[0, 0, 0.0], [0, 0, 0.5], [0.5, 0, 0.1], [0, 0, 0.1], [0.3, 0, 0.0999]]
    assert list(pair.impacts(before, after, 1e-3)) == [0.0, 2.0, 2.0, 2.0, 0.0]
    # a rod whose lower end stands on the ground, turning: up and away with one end, down with the other
    rod = Pair(Capsule(0.1, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), Plane())
    before, after = still(2), still(2)
    tilt = Rotation.from_euler("y", [[-10], [-60]], degrees=True).as_quat(scalar_first=True)
    before[:, 1, 2] = after[:, 1, 2] = 0.1
    before[0, 1, 3:], after[0, 1, 3:] = tilt[0], tilt[1]
    before[1, 1, 3:], after[1, 1, 3:] = tilt[1], Rotation.from_euler("y", 20, degrees=True).as_quat(scalar_first=True)
    times = rod.impacts(before, after, 1e-3)
    assert times[0] == 2.0
    assert 0.7 < times[1] <= 0.751
