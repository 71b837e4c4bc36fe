"""Recorded people meet things: a ball, a pole, a table, each other. They react, and recover (issue's point 5)."""

from __future__ import annotations

import numpy as np
import pytest

import bvh
from deviations import off_source
from engine import Actor, Box, Capsule, Collider, Follow, Ground, Motion, Scene, Sphere, simulate, simulate_together
from engine.math import quaternions as rot


def world_off(model, source: Motion, result: Motion, name: str) -> np.ndarray:
    """(frames,) angle of one body in the world between source and result [°]."""
    body = model.index(name)
    one, two = bvh.world(model, source)[1][:, body], bvh.world(model, result)[1][:, body]
    return np.degrees(
        2.0 * np.arcsin(np.clip(np.linalg.norm(rot.multiply(rot.conjugate(one), two)[:, 1:], axis=1), 0, 1))
    )


def slide(places: np.ndarray, planted: np.ndarray) -> float:
    """The longest way a foot slides while planted [m]; places (frames, 3)."""
    way = np.linalg.norm(np.diff(places[:, :2], axis=0), axis=1) * planted[1:]
    worst = total = 0.0
    for stands, step in zip(planted[1:], way, strict=True):
        total = total + step if stands else 0.0
        worst = max(worst, total)
    return worst


@pytest.mark.parametrize("settle", [0.2, 0.3, 0.5])
def test_a_walker_hit_on_the_shoulder_reacts_and_recovers(settle, figure):
    model, motion = bvh.load("cmu_02_01")
    places = bvh.world(model, motion)[0]
    hit = 150
    time = (np.arange(len(motion)) - hit)[:, None] / motion.fps
    way = places[hit, model.index("LeftArm")] + [0.19, 0.0, 0.0] + time * [-5.0, 0.0, 0.0]
    ball = Collider("ball", [Sphere(0.1)], way, moves="FREE", mass=5.0, free_from=hit - 12)
    scene = Scene(ground=Ground(), colliders=[ball], touch_self=False)
    result = simulate(model, motion, Follow(root="ASSISTED", settle_time=settle), scene)

    struck = result.contacts.frames[
        [("ball" in pair) for pair in zip(result.contacts.a, result.contacts.b, strict=True)]
    ]
    assert len(struck)
    before = off_source(motion, result.motion)[: hit - 2].max()
    figure(f"walker, settle {settle} s: off the source before the hit [°]", before, 0.02)
    torso = world_off(model, motion, result.motion, "Spine1")
    figure.note(f"walker, settle {settle} s: the torso gives way by [°]", torso.max())
    assert torso.max() > 3.0
    left = torso[min(hit + round(3 * settle * motion.fps), len(torso) - 1)]
    figure(f"walker, settle {settle} s: left of it after three settle times", left / torso.max(), 0.05)
    after = bvh.world(model, result.motion)[0]
    for side in ("Left", "Right"):
        toe = model.index(f"{side}ToeBase")
        speed = np.linalg.norm(np.gradient(places[:, toe], axis=0), axis=1) * motion.fps
        planted = (speed < 0.15) & (np.arange(len(motion)) >= hit)
        more = slide(after[:, toe], planted) - slide(places[:, toe], planted)
        figure(f"walker, settle {settle} s: {side.lower()} foot slides more by [mm]", 1000.0 * more, 5.0)


def deepest(model, motion: Motion, other, moved: Motion) -> float:
    """How deep two people of capsules get into one another [m], by brute force where balls around them meet."""
    sets = []
    for one, path in ((model, motion), (other, moved)):
        places, turns = bvh.world(one, path)
        for body, shapes in enumerate(one.shapes):
            for capsule in shapes:
                ends = [
                    places[:, body] + rot.rotate(turns[:, body], np.tile(np.asarray(end, float), (len(path), 1)))
                    for end in (capsule.start, capsule.end)
                ]
                sets.append((one is other, capsule.radius, *ends))
    share = np.linspace(0.0, 1.0, 13)[None, :, None]
    worst = np.inf
    for mine, radius, start, end in sets:
        for theirs, width, first, last in sets:
            if not mine and theirs:
                apart = np.linalg.norm(start + end - first - last, axis=-1)
                reach = np.linalg.norm(end - start, axis=-1) + np.linalg.norm(last - first, axis=-1)
                near = apart <= reach + 2.0 * (radius + width)
                if not near.any():
                    continue
                p = start[near, None] + share * (end - start)[near, None]
                q = first[near, None] + share * (last - first)[near, None]
                gap = np.linalg.norm(p[:, :, None] - q[:, None], axis=-1).min() - radius - width
                worst = min(worst, gap)
    return max(0.0, -worst)


@pytest.mark.parametrize("root", ["ASSISTED", "ANIMATED"])
@pytest.mark.parametrize("nearer", [0.0, 0.26, 0.3])
def test_two_people_do_not_pass_through_one_another(root, nearer, figure):
    """As recorded they pass 19 cm apart (to these capsules); brought nearer, their arms meet."""
    one, first = bvh.load("cmu_18_03", 150, 350)
    two, second = bvh.load("cmu_19_03", 150, 350)
    places, others = bvh.world(one, first)[0], bvh.world(two, second)[0]
    gaps = np.linalg.norm(places[:, :, None] - others[:, None], axis=-1)
    frame, a, b = np.unravel_index(gaps.argmin(), gaps.shape)
    way = (places[frame, a] - others[frame, b]) * [1.0, 1.0, 0.0]
    positions = np.array(second.positions)
    positions[:, 0] += nearer * way / np.linalg.norm(way)
    second = Motion.build(two, second.fps, second.rotations, positions)
    actors = [Actor(one, first, Follow(root=root)), Actor(two, second, Follow(root=root))]
    results = simulate_together(actors, Scene(ground=Ground(), touch_self=False))
    depth = deepest(one, results[0].motion, two, results[1].motion)
    figure(f"two people, {root.lower()}, {nearer} m nearer: in one another [mm]", 1000.0 * depth, 5.0)
    changed = max(off_source(first, results[0].motion).max(), off_source(second, results[1].motion).max())
    if nearer:
        assert deepest(one, first, two, second) > 0.03
        assert changed > 3.0
    else:
        assert changed < 0.02


@pytest.mark.parametrize("root", ["ASSISTED", "ANIMATED"])
def test_a_runner_brushes_a_pole_with_an_arm(root, figure):
    model, motion = bvh.load("cmu_09_01")
    places = bvh.world(model, motion)[0]
    frame = len(motion) // 3
    hand = places[frame, model.index("RightHand")]
    pole = Collider("pole", [Capsule(0.03, (0.0, 0.0, 0.0), (0.0, 0.0, 2.0))], (hand[0], hand[1], 0.0))
    result = simulate(model, motion, Follow(root=root), Scene(ground=Ground(), colliders=[pole], touch_self=False))
    struck = {
        name for pair in zip(result.contacts.a, result.contacts.b, strict=True) if "pole" in pair for name in pair
    }
    assert struck & {"RightHand", "RightForeArm", "RightHandIndex1", "RThumb", "RightArm"}
    arm = off_source(motion, result.motion)[:, model.index("RightForeArm")]
    figure.note(f"runner and pole, {root.lower()}: the forearm gives way by [°]", arm.max())
    assert arm.max() > 5.0
    figure(
        f"runner and pole, {root.lower()}: off the source at the end [°]",
        off_source(motion, result.motion)[-1].max(),
        2.0,
    )


@pytest.mark.parametrize("root", ["ASSISTED", "ANIMATED"])
def test_a_dancer_s_hand_meets_a_table_edge(root, figure):
    model, motion = bvh.load("cmu_60_01", 1240, 1400)
    places = bvh.world(model, motion)[0]
    hand, root_place = model.index("LeftHand"), places[:, 0]
    out = np.linalg.norm((places[:, hand] - root_place)[:, :2], axis=1)
    frame = int(out.argmax())
    way = (places[frame, hand] - root_place[frame]) * [1.0, 1.0, 0.0]
    way /= np.linalg.norm(way)
    yaw = np.arctan2(way[1], way[0])
    table = Collider(
        "table", [Box((0.3, 0.3, 0.02))], places[frame, hand] + 0.25 * way,
        (np.cos(0.5 * yaw), 0.0, 0.0, np.sin(0.5 * yaw)),
    )  # fmt: skip
    result = simulate(model, motion, Follow(root=root), Scene(ground=Ground(), colliders=[table], touch_self=False))
    assert "table" in result.contacts.a + result.contacts.b
    off = off_source(motion, result.motion)
    figure.note(f"dancer and table, {root.lower()}: the arm gives way by [°]", off[:, model.index("LeftArm")].max())
    assert off[:, hand - 2 : hand + 1].max() > 3.0
    assert np.isfinite(result.motion.rotations).all()
