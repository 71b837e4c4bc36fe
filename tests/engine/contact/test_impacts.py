"""Impacts, friction and standing: closed forms, conserved momentum, and MuJoCo where it models the same."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import engine
from engine.geometry.mass_properties import inertia
from engine.model.model import Model
from naive import mechanics, rotation_vectors
from props import G, limp_thing, thing
from shapes import launched, random_quaternion, rod_inertia, still_motion
from walkers import walker

REBOUND = 0.02  # of the speed it comes with
SLIDE = 0.02
MOMENTUM = 1e-9  # relative to what the bodies carry
WEIGHT = 1e-3
STANDS = 5e-3  # [m] after 10 s
FPS = 24.0
RATES = (24, 240)
SPACE = engine.Scene(gravity=(0.0, 0.0, 0.0))


def height(result):
    return result.motion.positions[:, 0, 2]


@pytest.mark.parametrize("steps", RATES)
@pytest.mark.parametrize("bounce", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("shape", [engine.Sphere(0.1), engine.Box((0.1, 0.2, 0.1))], ids=["sphere", "box"])
def test_a_fall_rebounds_by_its_restitution(shape, bounce, steps, figure):
    drop, frames = 1.0, 49
    actor = limp_thing("it", shape, 2.0, FPS, frames, (0.0, 0.0, 0.1 + drop), bounce=bounce)
    result = engine.simulate(*_parts(actor), engine.Scene(ground=engine.Ground()), steps)
    speed, when = np.sqrt(2.0 * G * drop), np.sqrt(2.0 * drop / G)
    t = np.arange(frames) / FPS - when
    name = f"{type(shape).__name__.lower()} falls, bounce {bounce}, {steps} steps/s"
    if bounce == 0.0:
        figure(f"{name}: highest after it [m]", height(result)[t > 0.0].max() - 0.1, 1e-4)
        figure(f"{name}: fastest up after it [m/s]", result.velocities[t > 0.0, 5].max(), 1e-9)
        return
    air = (t > 0.0) & (t < 2.0 * bounce * speed / G)
    up = result.velocities[air, 5] + G * t[air]
    figure(f"{name}: rebound off e·v, of v", np.abs(up - bounce * speed).max() / speed, REBOUND)
    path = 0.1 + bounce * speed * t[air] - 0.5 * G * t[air] ** 2
    figure.note(f"{name}: off the parabola [m]", np.abs(height(result)[air] - path).max())


def _parts(actor):
    return actor.model, actor.motion, actor.controller


@pytest.mark.parametrize("steps", RATES)
def test_a_ball_bounces_on(steps, figure):
    """Bounce 1 for 10 s: no height gained, little lost."""
    drop, frames = 0.5, 241
    actor = limp_thing("ball", engine.Sphere(0.1), 1.0, FPS, frames, (0.0, 0.0, 0.1 + drop), bounce=1.0)
    result = engine.simulate(*_parts(actor), engine.Scene(ground=engine.Ground()), steps)
    energy = 0.5 * result.velocities[:, 5] ** 2 + G * (height(result) - 0.1)
    figure(f"a ball bounces 10 s, {steps} steps/s: energy gained", energy.max() / (G * drop) - 1.0, 0.01)
    figure.note(f"a ball bounces 10 s, {steps} steps/s: energy lost", 1.0 - energy[-1] / (G * drop))


def on_slope(shape, lift, angle, friction, seconds, steps):
    """A thing put on a fixed slope; the way it goes down (frames,) and the result."""
    turn = Rotation.from_rotvec([0.0, angle, 0.0])
    q = turn.as_quat(scalar_first=True)
    frames = round(seconds * FPS) + 1
    actor = limp_thing("it", shape, 1.0, FPS, frames, turn.apply([0.0, 0.0, lift]), turn=q, friction=friction)
    slope = engine.Collider("slope", [engine.Box((50.0, 5.0, 0.5), (0.0, 0.0, -0.5))], rotations=q, friction=friction)
    result = engine.simulate(*_parts(actor), engine.Scene(colliders=[slope]), steps)
    down = turn.apply([1.0, 0.0, 0.0])
    away = result.motion.positions[:, 0] - result.motion.positions[0, 0]
    return away @ down, result


@pytest.mark.parametrize("steps", RATES)
@pytest.mark.parametrize("friction", [0.2, 0.6, 1.0])
def test_a_block_slides_exactly_when_the_slope_exceeds_the_friction(friction, steps, figure):
    block, seconds = engine.Box((0.1, 0.1, 0.02)), 2.0
    name = f"block on a slope, friction {friction}, {steps} steps/s"
    way, _ = on_slope(block, 0.02, np.arctan(0.98 * friction), friction, seconds, steps)
    figure(f"{name}: slides at 0.98 of it [m]", np.abs(way).max(), 1e-3)
    for share in (1.02, 2.0):
        angle = np.arctan(share * friction)
        way, _ = on_slope(block, 0.02, angle, friction, seconds, steps)
        wanted = G * (np.sin(angle) - friction * np.cos(angle))
        t = np.arange(len(way)) / FPS
        # the acceleration: of the second half, so that a bad start shows by itself
        half = len(way) // 2
        found = np.polyfit(t[half:], way[half:], 2)[0] * 2.0
        figure(f"{name}: acceleration at {share} of it", abs(found / wanted - 1.0), SLIDE)
        figure.note(f"{name}: way after 2 s at {share} of it, off", way[-1] / (0.5 * wanted * seconds**2) - 1.0)


@pytest.mark.parametrize("steps", RATES)
def test_a_ball_rolls_down_a_slope(steps, figure):
    """a = 5/7 g sin, no slip."""
    angle, seconds = 0.3, 2.0
    way, result = on_slope(engine.Sphere(0.1), 0.1, angle, 0.6, seconds, steps)
    wanted = 0.5 * 5.0 / 7.0 * G * np.sin(angle) * seconds**2
    figure(f"ball rolls down a slope, {steps} steps/s: way after 2 s, off", abs(way[-1] / wanted - 1.0), SLIDE)
    spin, speed = (np.linalg.norm(part) for part in np.split(result.velocities[-1], 2))
    figure(f"ball rolls down a slope, {steps} steps/s: slip", abs(0.1 * spin / speed - 1.0), 1e-3)


@pytest.mark.parametrize("steps", RATES)
def test_a_sliding_block_and_a_rolling_ball_end_right(steps, figure):
    """The block stops after v²/2μg, the ball goes on with 5/7 of its speed."""
    speed, friction = 3.0, 0.5
    ground = engine.Scene(ground=engine.Ground(friction=friction))
    box = limp_thing("it", engine.Box((0.1, 0.1, 0.02)), 1.0, FPS, 49, (0, 0, 0.02), (speed, 0, 0), friction=friction)
    result = engine.simulate(*_parts(box), ground, steps)
    wanted = speed**2 / (2.0 * friction * G)
    figure(
        f"block slides to rest, {steps} steps/s: way, off", abs(result.motion.positions[-1, 0, 0] / wanted - 1), SLIDE
    )
    figure(f"block slides to rest, {steps} steps/s: speed left [m/s]", np.abs(result.velocities[-1]).max(), 1e-6)
    ball = limp_thing("it", engine.Sphere(0.1), 1.0, FPS, 49, (0, 0, 0.1), (speed, 0, 0), friction=friction)
    result = engine.simulate(*_parts(ball), ground, steps)
    figure(
        f"ball starts to roll, {steps} steps/s: off 5/7 of its speed",
        abs(result.velocities[-1, 3] / (5.0 / 7.0 * speed) - 1.0),
        1e-3,
    )


def total_momentum(actors, results):
    """Momentum and angular momentum about the origin (frames, 3), and what the bodies carry each, summed."""
    linear = angular = scale = turn = 0.0
    for actor, result in zip(actors, results, strict=True):
        model = actor.model
        for body in range(len(model)):
            found = mechanics(model, result.motion, result.velocities, bodies_of=[body])
            linear = linear + found.linear
            arm = np.cross(found.center, found.linear)
            angular = angular + found.angular + arm
            scale = scale + np.linalg.norm(found.linear, axis=1)
            turn = turn + np.linalg.norm(found.angular, axis=1) + np.linalg.norm(arm, axis=1)
    return linear, angular, scale.max(), turn.max()


def momentum_change(actors, results):
    linear, angular, scale, turn = total_momentum(actors, results)
    return np.abs(linear - linear[0]).max() / scale, np.abs(angular - angular[0]).max() / turn


def random_shape(rng):
    size = rng.uniform(0.05, 0.2, 3)
    which = rng.integers(4)
    if which == 0:
        return engine.Sphere(size[0])
    if which == 1:
        return engine.Capsule(0.5 * size[0], (-size[1], 0.0, 0.0), (size[1], 0.0, 0.0))
    if which == 2:
        return engine.Box(tuple(size))
    return engine.Hull(rng.normal(size=(12, 3)) * size)


@pytest.mark.parametrize("steps", RATES)
@pytest.mark.parametrize(("least", "name"), [(0.5, "part at once"), (0.0, "may stay together")], ids=["part", "stay"])
def test_two_bodies_meet_and_keep_their_momentum(least, name, steps, figure, rng):
    """Any shapes, oblique, spinning, any friction, masses a thousand apart, weightless."""
    linear = angular = 0.0
    hits = 0
    for _ in range(60):
        aim = rng.normal(size=3)
        aim /= np.linalg.norm(aim)
        surface = {"friction": rng.uniform(0.0, 1.0), "bounce": rng.uniform(least, least + 0.3)}
        actors = [
            limp_thing(
                who, random_shape(rng), 10.0 ** rng.uniform(-1.5, 1.5), FPS, 25, place + rng.normal(size=3) * 0.05,
                way, rng.normal(size=3) * 3.0, random_quaternion(rng), **surface,
            )
            for who, place, way in (("a", np.zeros(3), np.zeros(3)), ("b", 1.2 * aim, -4.0 * aim))
        ]  # fmt: skip
        results = engine.simulate_together(actors, SPACE, steps)
        change = momentum_change(actors, results)
        linear, angular = max(linear, change[0]), max(angular, change[1])
        hits += np.abs(results[0].velocities[:, 3:] - results[0].velocities[0, 3:]).max() > 0.01
    assert hits > 40, "most of them meet"
    figure(f"two bodies meet and {name}, 60 pairs, {steps} steps/s: linear momentum", linear, MOMENTUM)
    figure(f"two bodies meet and {name}, 60 pairs, {steps} steps/s: angular momentum", angular, MOMENTUM)


def doll():
    """A free trunk with four limbs of two capsules each."""
    names, parents, offsets, shapes, masses, centers, inertias = ["trunk"], [-1], [[0, 0, 0]], [], [10.0], [], []
    trunk = engine.Capsule(0.12, (0.0, 0.0, -0.2), (0.0, 0.0, 0.2))
    shapes.append(trunk)
    centers.append(np.zeros(3))
    inertias.append(inertia(trunk, 10.0))
    for k, (x, z) in enumerate([(-1, 0.2), (1, 0.2), (-1, -0.3), (1, -0.3)]):
        along = np.array([x, 0.0, 0.0]) if z > 0 else np.array([0.0, 0.0, -1.0])
        for part in range(2):
            names.append(f"limb{k}{part}")
            parents.append(0 if part == 0 else len(names) - 2)
            offsets.append([0.16 * x, 0.0, z] if part == 0 else along * 0.3)
            shapes.append(engine.Capsule(0.05, tuple(along * 0.06), tuple(along * 0.24)))
            masses.append(1.5)
            centers.append(along * 0.15)
            inertias.append(rod_inertia(1.5, 0.3, 0.05, along))
    kinds = ["FREE"] + ["BALL", "HINGE"] * 4
    axes = np.tile([0.0, 1.0, 0.0], (9, 1))
    return Model.from_tree(names, parents, offsets, None, kinds, masses, centers, inertias, axes, shapes)


@pytest.mark.parametrize("driven", [False, True], ids=["limp", "driven"])
@pytest.mark.parametrize("steps", RATES)
def test_a_ball_hits_a_free_doll_and_momentum_stays(driven, steps, figure, rng):
    model = doll()
    controller = engine.Follow(root="FREE", settle_time=0.3) if driven else engine.Limp(tone=0.0)
    linear = angular = 0.0
    for _ in range(8):
        aim = rng.normal(size=3)
        aim /= np.linalg.norm(aim)
        ball = limp_thing(
            "ball", engine.Sphere(0.1), 3.0, FPS, 37, 1.2 * aim + [0.0, 0.0, rng.uniform(-0.5, 0.3)], -5.0 * aim,
            rng.normal(size=3) * 5.0, bounce=0.3,
        )  # fmt: skip
        actors = [engine.Actor(model, still_motion(model, 1.5, FPS), controller), ball]
        results = engine.simulate_together(actors, SPACE, steps)
        change = momentum_change(actors, results)
        linear, angular = max(linear, change[0]), max(angular, change[1])
    name = f"a ball hits a free {'driven' if driven else 'limp'} doll, {steps} steps/s"
    figure(f"{name}: linear momentum", linear, MOMENTUM)
    figure(f"{name}: angular momentum", angular, MOMENTUM)


def test_a_doll_that_hits_itself_keeps_its_momentum(figure, rng):
    """Limbs flung about; only contacts between its own parts."""
    model = doll()
    frames = 37
    worst = [0.0, 0.0]
    for _ in range(8):
        rates = np.zeros((len(model) + 1, 3))
        rates[: len(model)] = rng.normal(size=(len(model), 3)) * 4.0
        motion = launched(model, FPS, frames, rates)
        actors = [engine.Actor(model, motion, engine.Limp(tone=0.0))]
        results = engine.simulate_together(actors, SPACE, 240)
        change = momentum_change(actors, results)
        worst = [max(a, b) for a, b in zip(worst, change, strict=True)]
    figure("a doll hits itself: linear momentum", worst[0], MOMENTUM)
    figure("a doll hits itself: angular momentum", worst[1], MOMENTUM)


@pytest.mark.parametrize(
    ("masses", "name"),
    [(np.ones(10), "alike"), (np.geomspace(1.0, 100.0, 10), "ever heavier, 1 to 100 kg")],
    ids=["alike", "heavier"],
)
def test_a_stack_of_ten_stands_ten_seconds(masses, name, figure):
    frames, half = 241, 0.1
    actors = [
        limp_thing(f"box{k}", engine.Box((half,) * 3), m, FPS, frames, (0.0, 0.0, half * (2 * k + 1)))
        for k, m in enumerate(masses)
    ]
    results = engine.simulate_together(actors, engine.Scene(ground=engine.Ground()), 240)
    away = max(np.abs(r.motion.positions[-1] - r.motion.positions[0]).max() for r in results)
    lean = max(np.linalg.norm(rotation_vectors(r.motion.rotations[-1, 0])) for r in results)
    speed = max(np.abs(r.velocities[-24:]).max() for r in results)
    figure(f"a stack of ten, {name}, after 10 s: moved [m]", away, STANDS)
    figure(f"a stack of ten, {name}, after 10 s: leans [rad]", lean, 0.01)
    figure(f"a stack of ten, {name}, last second: fastest [m/s]", speed, 1e-3)


def ground_force(result, frames):
    """(frames, 3) what the ground does to all that stands on it."""
    found = np.zeros((frames, 3))
    contacts = result.contacts
    for k, frame in enumerate(contacts.frames):
        if contacts.b[k] == "the world":
            found[frame] += contacts.forces[k]
        elif contacts.a[k] == "the world":
            found[frame] -= contacts.forces[k]
    return found


@pytest.mark.parametrize("steps", RATES)
@pytest.mark.parametrize("heaviness", [0.0, 0.3])
@pytest.mark.parametrize("response", ["BRACES", "GIVES_WAY"])
def test_a_standing_character_weighs_what_it_weighs(response, heaviness, steps, figure):
    model = walker()
    weight = model.total_mass * G
    source = still_motion(model, 4.0, FPS)
    scene = engine.Scene(ground=engine.Ground(response=response))
    control = engine.Follow(root="FREE", settle_time=0.1, heaviness=heaviness)
    result = engine.simulate(model, source, control, scene, steps)
    name = f"a standing character, {response.lower()}, heaviness {heaviness}, {steps} steps/s"
    sinks = result.motion.positions[0, 0] - result.motion.positions[-1, 0]
    figure(f"{name}: its root has moved [m]", np.abs(sinks).max(), 0.05)
    force = ground_force(result, len(source))[-24:]
    figure(f"{name}: mean weight of the last second, off", abs(force[:, 2].mean() / weight - 1.0), WEIGHT)
    figure(f"{name}: mean side force, of the weight", np.abs(force[:, :2].mean(axis=0)).max() / weight, WEIGHT)


def mujoco_slide(half, mass, friction, velocity, spin, seconds):
    """A box on a plane in MuJoCo with stiff contacts and an elliptic cone: where it ends and how far it turns."""
    x, y, z = half
    surface = f'friction="{friction} 0 0" condim="3" solref="0.004 1" solimp="0.99 0.999 0.001"'
    xml = f"""
    <mujoco><option timestep="0.0001" cone="elliptic" impratio="10" gravity="0 0 {-G}" tolerance="1e-14"/>
    <worldbody><geom type="plane" size="10 10 1" {surface}/>
    <body pos="0 0 {z}"><freejoint/><geom type="box" size="{x} {y} {z}" mass="{mass}" {surface}/></body>
    </worldbody></mujoco>"""
    m = mujoco.MjModel.from_xml_string(xml)
    d = mujoco.MjData(m)
    d.qvel[:3], d.qvel[3:] = velocity, spin
    while d.time < seconds:
        mujoco.mj_step(m, d)
    return np.array([*d.qpos[:2], 2.0 * np.arctan2(d.qpos[6], d.qpos[3])])


def corner_slide(half, mass, friction, velocity, spin):
    """The same by DOP853: four corners, Coulomb's law at each, their loads the least-norm ones that balance."""
    x, y, z = half
    corners = np.array([[a * x, b * y] for a in (-1, 1) for b in (-1, 1)])
    moment = mass * (x * x + y * y) / 3.0

    def slope(_, s):
        turn = np.array([[np.cos(s[2]), -np.sin(s[2])], [np.sin(s[2]), np.cos(s[2])]])
        r = corners @ turn.T
        v = s[3:5] + s[5] * np.stack([-r[:, 1], r[:, 0]], axis=1)
        rub = -friction * v / np.maximum(np.linalg.norm(v, axis=1), 1e-6)[:, None]
        balance = np.vstack([np.ones(4), r[:, 1] + z * rub[:, 1], -r[:, 0] - z * rub[:, 0]])
        load = np.linalg.lstsq(balance, [mass * G, 0.0, 0.0], rcond=None)[0]
        f = load[:, None] * rub
        return [*s[3:], *(f.sum(axis=0) / mass), (r[:, 0] * f[:, 1] - r[:, 1] * f[:, 0]).sum() / moment]

    def stops(_, s):
        return np.hypot(s[3], s[4]) + x * abs(s[5]) - 1e-4

    stops.terminal = True
    start = [0.0, 0.0, 0.0, velocity[0], velocity[1], spin[2]]
    return solve_ivp(slope, (0.0, 3.0), start, rtol=1e-9, atol=1e-10, max_step=0.01, events=stops).y[:3, -1]


@pytest.mark.parametrize("steps", RATES)
def test_a_box_slides_and_spins_to_rest(steps, figure):
    """Friction turns with every corner's slip, so how the corners share the weight shows."""
    half, mass, friction, velocity, spin, frames = (0.2, 0.1, 0.02), 2.0, 0.3, (2.0, 0.5, 0.0), (0.0, 0.0, 6.0), 37
    wanted = corner_slide(half, mass, friction, velocity, spin)
    other = mujoco_slide(half, mass, friction, velocity, spin, (frames - 1) / FPS)
    assert other == pytest.approx(wanted, rel=0.02), "MuJoCo says the same"
    actor = limp_thing("it", engine.Box(half), mass, FPS, frames, (0, 0, half[2]), velocity, spin, friction=friction)
    result = engine.simulate(*_parts(actor), engine.Scene(ground=engine.Ground(friction=friction)), steps)
    q = result.motion.rotations[-1, 0]
    name = f"a box slides and spins to rest, {steps} steps/s"
    off = np.linalg.norm(result.motion.positions[-1, 0, :2] - wanted[:2]) / np.linalg.norm(wanted[:2])
    figure(f"{name}: where it ends, of its way", off, SLIDE)
    figure(f"{name}: turn, off", abs(2.0 * np.arctan2(q[3], q[0]) / wanted[2] - 1.0), SLIDE)


@pytest.mark.parametrize("steps", RATES)
def test_four_corners_share_the_weight(steps, figure):
    """Redundant contacts give least-norm impulses: a quarter each."""
    actor = limp_thing("it", engine.Box((0.2, 0.1, 0.02)), 2.0, FPS, 49, (0.0, 0.0, 0.02))
    result = engine.simulate(*_parts(actor), engine.Scene(ground=engine.Ground()), steps)
    force = result.contacts.forces[result.contacts.frames == 48]
    assert force[:, 2].sum() == pytest.approx(2.0 * G, rel=1e-6)
    figure(
        f"a box at rest, {steps} steps/s: its corners' loads off a quarter of its weight",
        np.abs(force[:, 2] / (0.5 * G) - 1.0).max(),
        0.01,
    )


@pytest.mark.parametrize("steps", RATES)
def test_bodies_that_have_parted_move_as_they_should(steps, figure, rng):
    """After a meeting a weightless body's centre goes where its velocity says, and nowhere else."""
    worst = 0.0
    for _ in range(40):
        aim = rng.normal(size=3)
        aim /= np.linalg.norm(aim)
        actors = [
            limp_thing(
                name, engine.Box((0.1, 0.15, 0.2)), 1.0, FPS, 37, place, way, rng.normal(size=3) * 3.0,
                random_quaternion(rng), friction=0.1, bounce=0.2,
            )
            for name, place, way in (("a", np.zeros(3), np.zeros(3)), ("b", 1.0 * aim, -4.0 * aim))
        ]  # fmt: skip
        for result in engine.simulate_together(actors, SPACE, steps):
            gone = np.diff(result.motion.positions[-6:, 0], axis=0) * FPS
            worst = max(worst, np.abs(gone - result.velocities[-6:-1, 3:]).max())
    figure(f"after a meeting, {steps} steps/s: way off the velocity [m/s]", worst, 1e-9)


def test_equal_balls_swap_their_speeds(figure):
    """Head on, bounce 1: as in any textbook; bounce 0: they go on together."""
    for bounce, wanted in ((1.0, (0.0, 2.0)), (0.0, (1.0, 1.0))):
        actors = [
            limp_thing("a", engine.Sphere(0.1), 1.0, FPS, 25, (0, 0, 0), (2.0, 0, 0), bounce=bounce),
            limp_thing("b", engine.Sphere(0.1), 1.0, FPS, 25, (0.7, 0, 0), bounce=bounce),
        ]
        results = engine.simulate_together(actors, SPACE, 24)
        speeds = [r.velocities[-1, 3] for r in results]
        figure(f"equal balls, bounce {bounce}: speeds off [m/s]", np.abs(np.subtract(speeds, wanted)).max(), 1e-6)


def test_a_thing_needs_its_own_model():
    """The helper's own promise: mass and inertia of the shape."""
    model = thing("it", engine.Box((0.1, 0.2, 0.3)), 3.0)
    assert model.inertias[0] == pytest.approx(np.diag([0.13, 0.1, 0.05]))


@pytest.mark.parametrize("steps", RATES)
def test_a_frictionless_ball_slides_without_turning(steps, figure):
    """The normal goes through its centre: nothing can set it turning."""
    way, result = on_slope(engine.Sphere(0.1), 0.1, 0.3, 0.0, 2.0, steps)
    wanted = 0.5 * G * np.sin(0.3) * 4.0
    figure(f"a frictionless ball on a slope, {steps} steps/s: way after 2 s, off", abs(way[-1] / wanted - 1.0), SLIDE)
    spin = np.linalg.norm(result.velocities[:, :3], axis=1).max()
    figure(f"a frictionless ball on a slope, {steps} steps/s: spins [rad/s]", spin, 1e-6)
