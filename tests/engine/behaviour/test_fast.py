"""Fast bodies: none passes what it should hit, and a near miss changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from how_many import cases
from naive import forward
from props import capsule_chain, limp_thing
from shapes import random_quaternion, smooth_motion, still_motion

FPS = 24.0
SPEED = 20.0  # [m/s]
RADIUS = 0.05  # of the ball
SHOTS = cases(1000)
UNTOUCHED = 1e-9


def ball_at(aim, gap, way, bounce=0.0, mass=0.5):
    """A ball that comes at `aim` from `gap` metres before it, flying along `way`."""
    return engine.Collider(
        "ball", [engine.Sphere(RADIUS)], positions=np.asarray(aim) - gap * np.asarray(way), moves="FREE", mass=mass,
        velocity=SPEED * np.asarray(way), bounce=bounce, friction=0.3,
    )  # fmt: skip


def unit(rng, count):
    v = rng.normal(size=(count, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def across(rng, line, count):
    """(count, 3) unit vectors at right angles to `line`."""
    v = np.cross(unit(rng, count), line)
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def arm(radius):
    return capsule_chain(2, "BALL", length=0.3, mass=1.5, radius=radius)


@pytest.mark.parametrize("behaviour", ["ANIMATED", "SIMULATED"])
def test_no_ball_passes_a_forearm(behaviour, figure, rng):
    """Fired at random from every side at the middle of a forearm, one step a frame; the arm is 3 cm thick.

    Passing: it flies on as if nothing had been there.
    """
    radius = 0.03
    model = arm(radius)
    source = still_motion(model, 8.0 / FPS, FPS, angles=[[0.0, 0.3, 0.2], [0.0, -0.6, 0.1]])
    bodies = forward(model, source.rotations[:1], source.positions[:1])
    a = bodies.anchors[0, 1]
    b = a + bodies.turns[0, 1] @ [0.3, 0.0, 0.0]
    line = (b - a) / np.linalg.norm(b - a)
    passed, softest = 0, np.inf
    control = engine.Follow(behaviour=behaviour, settle_time=0.2)
    for _ in range(SHOTS):
        way = unit(rng, 1)[0]
        if abs(way @ line) > 0.9:
            way = across(rng, line, 1)[0]
        side = np.cross(way, line)
        side /= np.linalg.norm(side)
        # off the middle by up to 0.8 of what still touches
        aim = a + (b - a) * rng.uniform(0.1, 0.9) + side * rng.uniform(-0.8, 0.8) * (radius + RADIUS)
        ball = ball_at(aim, rng.uniform(0.5, 2.0), way, bounce=rng.choice([0.0, 0.5]))
        scene = engine.Scene(gravity=(0.0, 0.0, 0.0), colliders=[ball])
        places = engine.simulate(model, source, control, scene, FPS).objects["ball"][0]
        straight = places[0] + np.arange(len(places))[:, None] / FPS * SPEED * way
        turned = np.linalg.norm(places[-1] - straight[-1])
        passed += turned < 1e-3
        softest = min(softest, turned)
    figure(f"{SHOTS} balls at 20 m/s at a forearm ({behaviour.lower()}): fly through", passed, 0)
    figure.note(f"{SHOTS} balls at a forearm ({behaviour.lower()}): least turned aside [m]", softest)


@pytest.mark.parametrize("behaviour", ["ANIMATED", "SIMULATED"])
def test_no_ball_passes_a_moving_forearm(behaviour, figure, rng):
    """The arm waves; the ball comes head on, so it must never come out behind it."""
    radius = 0.04
    model = arm(radius)
    passed = 0
    control = engine.Follow(behaviour=behaviour, settle_time=0.1)
    for shot in range(SHOTS // 5):
        source = smooth_motion(model, np.random.default_rng(shot), 10, FPS, reach=0.5)
        bodies = forward(model, source.rotations, source.positions)
        when = rng.integers(2, 6)  # the frame it meets
        spot = bodies.anchors[when, 1] + bodies.turns[when, 1] @ [rng.uniform(0.1, 0.2), 0.0, 0.0]
        line = bodies.turns[when, 1][:, 0]
        way = across(rng, line, 1)[0]
        ball = ball_at(spot, SPEED * when / FPS, way, mass=0.2)
        scene = engine.Scene(gravity=(0.0, 0.0, 0.0), colliders=[ball])
        result = engine.simulate(model, source, control, scene, FPS)
        places = result.objects["ball"][0]
        straight = places[0] + np.arange(len(places))[:, None] / FPS * SPEED * way
        passed += np.linalg.norm(places[-1] - straight[-1]) < 1e-3
    figure(f"{SHOTS // 5} balls at 20 m/s at a waving forearm ({behaviour.lower()}): fly through", passed, 0)


@pytest.mark.parametrize("steps", [24, 240])
@pytest.mark.parametrize("kind", ["box", "hull", "moving box"])
def test_no_ball_passes_a_thin_wall(kind, steps, figure, rng):
    """2 cm thick; the ball's centre must never be behind its middle."""
    wall = engine.Box((0.01, 2.0, 2.0))
    corners = [[x, y, z] for x in (-0.01, 0.01) for y in (-2.0, 2.0) for z in (-2.0, 2.0)]
    passed, deepest = 0, 0.0
    shots = SHOTS if (steps, kind) == (24, "box") else SHOTS // 4
    dummy = limp_thing("nobody", engine.Sphere(0.05), 1.0, FPS, 13, (0.0, 0.0, 50.0))
    for _ in range(shots):
        way = unit(rng, 1)[0]
        way[0] = abs(way[0]) + 0.3
        way /= np.linalg.norm(way)
        ball = ball_at(rng.uniform(-0.5, 0.5, 3) * [0.0, 1.0, 1.0], rng.uniform(0.4, 2.0), way, rng.choice([0.0, 0.6]))
        places = np.zeros((13, 3))
        if kind == "moving box":
            places[:, 0] = -rng.uniform(0.5, 3.0) / FPS * np.arange(13)
        shape = engine.Hull(np.array(corners)) if kind == "hull" else wall
        wall_body = engine.Collider("wall", [shape], positions=places)
        scene = engine.Scene(gravity=(0.0, 0.0, 0.0), colliders=[wall_body, ball])
        result = engine.simulate(dummy.model, dummy.motion, dummy.controller, scene, steps)
        behind = result.objects["ball"][0][:, 0] - places[:, 0]
        passed += (behind > 0.0).any()
        deepest = max(deepest, (behind + 0.01 + RADIUS).max())
    figure(f"{shots} balls at 20 m/s at a 2 cm wall ({kind}), {steps} steps/s: come through", passed, 0)
    figure.note(f"{shots} balls at a 2 cm wall ({kind}), {steps} steps/s: deepest at a frame [m]", deepest)


@pytest.mark.parametrize("behaviour", ["ANIMATED", "SIMULATED"])
def test_near_misses_change_nothing(behaviour, figure, rng):
    """1 to 5 cm past the forearm, from every side: the arm and the ball go as if alone, at one step a frame."""
    radius = 0.03
    model = arm(radius)
    source = smooth_motion(model, np.random.default_rng(4), 9, FPS, reach=0.0)
    bodies = forward(model, source.rotations[:1], source.positions[:1])
    a = bodies.anchors[0, 1]
    line = bodies.turns[0, 1] @ [1.0, 0.0, 0.0]
    control = engine.Follow(behaviour=behaviour, settle_time=0.2)
    alone = engine.simulate(model, source, control, engine.Scene(gravity=(0.0, 0.0, 0.0)), FPS)
    worst_arm = worst_ball = 0.0
    for way in across(rng, line, SHOTS):
        side = np.cross(way, line)
        miss = radius + RADIUS + rng.uniform(0.01, 0.05)
        aim = a + line * rng.uniform(0.03, 0.27) + side * miss * rng.choice([-1.0, 1.0])
        ball = ball_at(aim, rng.uniform(0.5, 2.0), way)
        scene = engine.Scene(gravity=(0.0, 0.0, 0.0), colliders=[ball])
        result = engine.simulate(model, source, control, scene, FPS)
        places = result.objects["ball"][0]
        straight = places[0] + np.arange(len(places))[:, None] / FPS * SPEED * way
        worst_ball = max(worst_ball, np.abs(places - straight).max())
        worst_arm = max(worst_arm, np.abs(result.motion.rotations - alone.motion.rotations).max())
    figure(f"{SHOTS} near misses of an arm ({behaviour.lower()}): the ball is off its line [m]", worst_ball, UNTOUCHED)
    figure(f"{SHOTS} near misses of an arm ({behaviour.lower()}): the arm is off its pose", worst_arm, UNTOUCHED)


def test_near_misses_in_flight_change_nothing(figure, rng):
    """Two free spinning things pass 1 to 5 cm apart, under gravity too."""
    worst = 0.0
    for shot in range(SHOTS // 2):
        way = unit(rng, 1)[0]
        side = across(rng, way, 1)[0]
        box = engine.Box((0.1, 0.05, 0.08))
        apart = float(np.linalg.norm(box.half)) + RADIUS + rng.uniform(0.01, 0.05)
        gravity = (0.0, 0.0, 0.0 if shot % 2 else -9.81)
        target = limp_thing(
            "box", box, 1.0, FPS, 9, (0.0, 0.0, 0.0), spin=rng.normal(size=3) * 3.0, turn=random_quaternion(rng)
        )
        scene = engine.Scene(gravity=gravity)
        alone = engine.simulate(target.model, target.motion, target.controller, scene, FPS)
        scene = engine.Scene(gravity=gravity, colliders=[ball_at(side * apart, rng.uniform(0.5, 2.0), way)])
        result = engine.simulate(target.model, target.motion, target.controller, scene, FPS)
        worst = max(worst, np.abs(result.motion.positions - alone.motion.positions).max())
        worst = max(worst, np.abs(result.motion.rotations - alone.motion.rotations).max())
    figure(f"{SHOTS // 2} near misses in flight: off the way alone [m, –]", worst, UNTOUCHED)


@pytest.mark.parametrize("steps", [24, 240])
def test_a_fast_ball_rebounds_where_it_should(steps, figure):
    """Head on at a wall, bounce 0.5: the time of impact is found within the step."""
    ball = ball_at((-0.01 - RADIUS, 0.0, 0.0), 2.3, np.array([1.0, 0.0, 0.0]), bounce=0.5)
    wall = engine.Collider("wall", [engine.Box((0.01, 2.0, 2.0))])
    dummy = limp_thing("nobody", engine.Sphere(0.05), 1.0, FPS, 13, (0.0, 0.0, 50.0))
    scene = engine.Scene(gravity=(0.0, 0.0, 0.0), colliders=[wall, ball])
    result = engine.simulate(dummy.model, dummy.motion, dummy.controller, scene, steps)
    t = np.arange(13) / FPS - 2.3 / SPEED
    wanted = -0.01 - RADIUS + np.where(t < 0.0, SPEED * t, -0.5 * SPEED * t)
    figure(
        f"a 20 m/s ball against a wall, {steps} steps/s: off its path [m]",
        np.abs(result.objects["ball"][0][:, 0] - wanted).max(),
        1e-3,
    )
