"""Ties and joint limits: they hold like joints, share what is redundant, come and go by key."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import engine
from curves import SETTLE
from engine.geometry.mass_properties import inertia
from engine.model.model import Model
from engine.model.motion import Motion
from mujoco_model import Oracle
from naive import angle_between, forward, mechanics, rotation_vectors, velocities
from props import G, capsule_chain, limp_thing, planks, thing, thrown
from shapes import chain, hinge_angles, joint_rotations, launched, still_motion

FPS = 24.0
LOOP = 1e-3  # [m]
WELD = 1e-6  # [m, rad]
JITTER = 1e-6  # [rad/s]
SPACE = engine.Scene(gravity=(0.0, 0.0, 0.0))
BOX = engine.Box((0.05, 0.1, 0.2))


def test_a_pinned_body_swings_like_one_on_a_ball_joint(figure):
    """Both converge to the same swing, the tie with second order."""
    corner, frames = (0.05, 0.1, 0.2), 25
    off = []
    for steps in (240, 480, 960, 1920):
        free = limp_thing("it", BOX, 2.0, FPS, frames, -np.array(corner))
        scene = engine.Scene(ties=[engine.Tie("PIN", "it", None, corner)])
        tied = engine.simulate(free.model, free.motion, free.controller, scene, steps).motion
        jointed = Model.from_tree(
            ["it"], [None], np.zeros((1, 3)), None, ["BALL"], [2.0], [-np.array(corner)], [inertia(BOX, 2.0)]
        )
        still = still_motion(jointed, (frames - 1) / FPS, FPS)
        swing = engine.simulate(jointed, still, engine.Limp(tone=0.0), None, 7680)
        off.append(np.degrees(angle_between(tied.rotations, swing.motion.rotations).max()))
        turn = Rotation.from_quat(tied.rotations[:, 0], scalar_first=True)
        spot = tied.positions[:, 0] + turn.apply(corner)
        if steps == 240:
            figure("a pinned box, 240 steps/s: its corner off the pin [m]", np.linalg.norm(spot, axis=1).max(), LOOP)
    figure.note("a pinned box against a ball joint, 240 to 1920/s [°]", " ".join(f"{x:.2g}" for x in off))
    orders = np.log2(np.divide(off[:-1], off[1:]))
    figure.note("a pinned box against a ball joint: order", " ".join(f"{x:.2f}" for x in orders))
    figure("a pinned box against a ball joint, 1 s, 960 steps/s [°]", off[2], 0.5)
    assert orders.min() > 1.5, "second order"


def relative(results, k=0, j=1):
    """Place and rotation vector of k as j sees it, over the frames."""
    a, b = (
        (r.motion.positions[:, 0], Rotation.from_quat(r.motion.rotations[:, 0], scalar_first=True))
        for r in (results[k], results[j])
    )
    return b[1].inv().apply(a[0] - b[0]), (b[1].inv() * a[1]).as_rotvec()


def two_things(frames):
    """Two boxes that move as one: both turn about the origin with the same spin."""
    spin, way = np.array([1.0, 2.0, 0.5]), np.array([0.2, 0.1, 0.5])
    return [
        limp_thing(name, BOX, mass, FPS, frames, place, way + np.cross(spin, place), spin)
        for name, mass, place in (("a", 1.0, (0.0, 0.0, 0.0)), ("b", 5.0, (0.3, 0.1, 0.0)))
    ]


@pytest.mark.parametrize("steps", [24, 240])
def test_a_weld_keeps_place_and_rotation(steps, figure):
    """Two boxes that tumble as one, tied from the start: they may not shift against each other at all."""
    actors = two_things(49)
    scene = engine.Scene(gravity=(0.0, 0.0, 0.0), ties=[engine.Tie("WELD", "a", "b", (0.1, 0.0, 0.0))])
    place, turn = relative(engine.simulate_together(actors, scene, steps))
    shifts, turns = np.abs(place - place[0]).max(), np.abs(turn - turn[0]).max()
    if steps == 24:
        figure.note("a weld, 24 steps/s: shifts, turns [m, rad]", f"{shifts:.2g} {turns:.2g}")
        return
    figure(f"a weld, {steps} steps/s: shifts [m]", shifts, WELD)
    figure(f"a weld, {steps} steps/s: turns [rad]", turns, WELD)


@pytest.mark.parametrize("steps", [24, 240])
@pytest.mark.parametrize("kind", ["PIN", "WELD", "DISTANCE"])
def test_ties_keep_momentum(kind, steps, figure):
    """Two boxes that whirl about each other: what one is given the other gives, at one place and time."""
    frames = 25
    one, other = two_things(frames)
    if kind != "WELD":
        other = limp_thing("b", BOX, 5.0, FPS, frames, (0.3, 0.1, 0.0), (0.3, -0.2, 0.1), (0.5, -3.0, 1.0))
    end = (-0.1, 0.05, 0.0) if kind == "DISTANCE" else None
    tie = engine.Tie(kind, "a", "b", (0.1, 0.0, 0.0), point_b=end)
    scene = engine.Scene(gravity=(0.0, 0.0, 0.0), ties=[tie], apart=[("a", "b")])
    results = engine.simulate_together([one, other], scene, steps)
    found = [mechanics(x.model, r.motion, r.velocities) for x, r in zip((one, other), results, strict=True)]
    # the tie takes hold with a jerk in the first step; from then on nothing may come or go
    linear = sum(m.linear for m in found)[1:]
    angular = sum(m.angular + np.cross(m.center, m.linear) for m in found)[1:]
    energy = sum(m.kinetic for m in found)[1:]
    name = f"two boxes on a tie ({kind.lower()}), {steps} steps/s"
    figure(f"{name}: momentum changes by", np.abs(linear - linear[0]).max() / np.abs(linear).max(), 1e-12)
    figure(f"{name}: angular momentum changes by", np.abs(angular - angular[0]).max() / np.abs(angular).max(), 1e-6)
    figure(f"{name}: energy gained", energy.max() / energy[0] - 1.0, 0.01)


def test_three_welds_do_what_one_does(figure):
    """Redundant and singular sets share their impulses: finite, and the same motion."""
    paths = []
    for count in (1, 3):
        ties = [engine.Tie("WELD", "a", "b", (0.1 * k, 0.0, 0.05 * k)) for k in range(count)]
        actors = two_things(49)
        results = engine.simulate_together(actors, engine.Scene(ties=ties), 240)
        paths.append(np.concatenate([r.motion.positions for r in results], axis=1))
        assert all(np.isfinite(r.velocities).all() for r in results)
    figure("three welds against one: paths apart [m]", np.abs(paths[0] - paths[1]).max(), 1e-4)
    pins = [engine.Tie("PIN", "a", None, (0.05, 0.1, 0.2))] * 3
    free = limp_thing("a", BOX, 1.0, FPS, 25, (0.0, 0.0, 0.0))
    one, three = (
        engine.simulate(free.model, free.motion, free.controller, engine.Scene(ties=pins[:n]), 240) for n in (1, 3)
    )
    off = np.abs(one.motion.rotations - three.motion.rotations).max()
    figure("three pins against one: rotations apart", off, 1e-5)


@pytest.mark.parametrize("steps", [24, 240])
def test_a_distance_tie_keeps_its_length(steps, figure):
    ball = limp_thing("it", engine.Sphere(0.05), 1.0, FPS, 73, (0.5, 0.0, 0.0))
    scene = engine.Scene(ties=[engine.Tie("DISTANCE", "it", None, point_b=(0.0, 0.0, 0.0))])
    result = engine.simulate(ball.model, ball.motion, ball.controller, scene, steps)
    length = np.linalg.norm(result.motion.positions[:, 0], axis=1)
    if steps == 24:
        figure.note("a ball on a rod, 24 steps/s: its length off [m]", np.abs(length - 0.5).max())
    else:
        figure(f"a ball on a rod, {steps} steps/s: its length off [m]", np.abs(length - 0.5).max(), LOOP)
    energy = 0.5 * (result.velocities[:, 3:] ** 2).sum(axis=1) + 9.81 * result.motion.positions[:, 0, 2]
    figure(f"a ball on a rod, {steps} steps/s: energy gained, of the fall's", energy.max() / (9.81 * 0.5), 0.01)


def four_bar():
    """Three bars hinged about Y; the last one's end is pinned to the world."""
    model = chain(3, "HINGE", length=0.4)
    angles = np.zeros((3, 3))
    angles[:, 0] = (1.3, -1.2, -1.0)  # down, level, up: hangs, off its rest
    return model, angles


@pytest.mark.parametrize("steps", [24, 240])
def test_a_four_bar_linkage_holds_together_and_moves_as_in_mujoco(steps, figure):
    model, angles = four_bar()
    source = still_motion(model, 1.0, FPS, angles)
    start = forward(model, source.rotations[:1], source.positions[:1])
    tip = start.anchors[0, 2] + start.turns[0, 2] @ [0.4, 0.0, 0.0]
    scene = engine.Scene(ties=[engine.Tie("PIN", "link2", None, (0.4, 0.0, 0.0))])
    result = engine.simulate(model, source, engine.Limp(tone=0.0), scene, steps)
    bodies = forward(model, result.motion.rotations, result.motion.positions)
    end = bodies.anchors[:, 2] + bodies.turns[:, 2] @ [0.4, 0.0, 0.0]
    name = f"a four-bar linkage, {steps} steps/s"
    open_by = np.linalg.norm(end - tip, axis=1).max()
    moved = hinge_angles(model, result.motion)
    assert np.ptp(moved[:, 0]) > 0.1, "it swings"
    if steps == 24:
        figure.note(f"{name}: its loop open [m]", open_by)
        return
    figure(f"{name}: its loop open [m]", open_by, LOOP)
    theirs = linkage_in_mujoco(Oracle(model, timestep=2e-4), model, angles[:, 0], tip, len(source))
    figure(f"{name}: against MuJoCo, 1 s [°]", np.degrees(np.abs(moved - theirs).max()), 3.0)


def linkage_in_mujoco(oracle, model, angles, tip, frames):
    """Angles (frames, n): MuJoCo's joints with the loop closed by the constraint force that keeps the tip still."""
    m, d = oracle.m, oracle.d
    coords = np.zeros((len(model), 4))
    coords[:, 0] = angles
    oracle.set_pose(coords, model.offsets)
    out, last = [], oracle.body_ids[-1]
    jac, before = np.zeros((3, m.nv)), None
    for frame in range(frames):
        while d.time < frame / FPS - 1e-9:
            d.qfrc_applied[:] = 0.0
            mujoco.mj_forward(m, d)
            point = d.xpos[last] + d.xmat[last].reshape(3, 3) @ [0.4, 0.0, 0.0]
            mujoco.mj_jac(m, d, jac, None, point, last)
            j = jac[[0, 2]]
            speed, off = j @ d.qvel, (point - tip)[[0, 2]]
            drift = np.zeros(2) if before is None else (j - before) @ d.qvel / m.opt.timestep
            before = j.copy()
            full = np.zeros((m.nv, m.nv))
            mujoco.mj_fullM(m, d, full)
            # Baumgarte: (J M⁻¹ Jᵀ) f = −(J q̈ + J̇ q̇ + 2a ṗ + a² p)
            rate = 200.0
            wanted = -(j @ d.qacc + drift + 2.0 * rate * speed + rate**2 * off)
            force = np.linalg.solve(j @ np.linalg.solve(full, j.T), wanted)
            d.qfrc_applied[:] = j.T @ force
            mujoco.mj_step(m, d)
        out.append(oracle.coords()[:, 0])
    return np.array(out)


@pytest.mark.parametrize("steps", [24, 240])
@pytest.mark.parametrize("settle", [0.1, 0.3])
def test_an_arm_gives_way_to_what_it_holds_by_its_own_settle_time(settle, steps, figure):
    """D k_p E = m g r with the box a part of D (METHODS §1c): a light hand does not droop from a heavy box."""
    model = planks(1, 1.0, 1.0)
    reach, half, mass = 0.9, 0.1, 5.0
    box = engine.Collider("box", [engine.Box((half,) * 3)], (reach, 0.0, -0.15), moves="FREE", mass=mass)
    scene = engine.Scene(colliders=[box], ties=[engine.Tie("WELD", "plank0", "box")], apart=[("plank0", "box")])
    result = engine.simulate(model, still_motion(model, 3.0, FPS), engine.Follow(settle_time=settle), scene, steps)
    place = result.objects["box"][0][-1]
    whole = (1.0 + 0.02**2) / 12.0 + 0.25 + mass * (reach**2 + 0.15**2 + half**2 / 1.5)
    wanted = mass * G * place[0] / (whole * (SETTLE / settle) ** 2)
    found = hinge_angles(model, result.motion)[-1, 0]
    name = f"a box welded to a plank, settle {settle} s, {steps} steps/s"
    figure.note(f"{name}: sag [°]", np.degrees(found))
    figure(f"{name}: off the closed form", abs(found / wanted - 1.0), 0.01)


def test_a_hand_picks_a_box_up_carries_it_and_lets_go(figure):
    """Keyed: tied from frame 12 to 48; before and after the box lies on the ground."""
    model = capsule_chain(2, "HINGE", length=0.4, mass=2.0, radius=0.03)
    frames = 97
    t = np.arange(frames)
    # the shoulder stands 0.5 m high; the arm reaches down, lifts by 0.4 m, comes down again
    lift = np.interp(t, [0, 16, 28, 40, 52, 96], [0.0, 0.0, 1.0, 1.0, 0.15, 0.15])
    lift = np.convolve(np.pad(lift, 4, mode="edge"), np.ones(9) / 9.0, mode="valid")
    angles = np.zeros((frames, 2, 3))
    angles[:, 0, 0] = 0.9 - 0.6 * lift
    angles[:, 1, 0] = 0.1
    places = np.broadcast_to(model.offsets, (frames, 2, 3)).copy()
    places[:, 0, 2] = 0.8
    source = Motion.build(model, FPS, joint_rotations(model, angles), places)
    bodies = forward(model, source.rotations, source.positions)
    hand = bodies.anchors[:, 1] + bodies.turns[:, 1] @ [0.4, 0.0, 0.0]
    half = 0.04
    active = (t >= 12) & (t < 48)
    box = engine.Collider("box", [engine.Box((half,) * 3)], positions=(hand[0, 0] + 0.08, 0.0, half), moves="FREE")
    for behaviour in ("ANIMATED", "SIMULATED"):
        scene = engine.Scene(
            ground=engine.Ground(),
            colliders=[box],
            ties=[engine.Tie("WELD", "link1", "box", (0.4, 0.0, 0.0), active=active)],
            apart=[("link1", "box")],
        )
        result = engine.simulate(model, source, engine.Follow(behaviour=behaviour, settle_time=0.1), scene, 240)
        place, turn = result.objects["box"]
        bodies = forward(model, result.motion.rotations, result.motion.positions)
        seen = np.einsum("fba,fb->fa", bodies.turns[:, 1], place - bodies.anchors[:, 1])
        name = f"carry a box ({behaviour.lower()})"
        figure(f"{name}: lies still before [m]", np.abs(place[:12] - place[0]).max(), 1e-3)
        figure(f"{name}: slips in the hand [m]", np.abs(seen[13:48] - seen[12]).max(), LOOP)
        figure(f"{name}: lifted at least [m]", -place[:, 2].max(), -0.2)
        figure(f"{name}: ends off the ground [m]", abs(place[-1, 2] - half), LOOP)
        assert np.isfinite(turn).all()


@pytest.mark.parametrize("steps", [24, 240])
def test_a_swinging_hinge_stays_within_its_range(steps, figure):
    model = chain(2, "HINGE")
    limits = np.full((2, 4), np.nan)
    limits[0, :2], limits[1, :2] = (-0.2, 0.9), (-0.3, 0.4)
    model = Model.from_tree(
        model.names, model.parents, model.offsets, None, ["HINGE"] * 2, model.masses, model.centers, model.inertias,
        model.axes[:, 0], limits=limits,
    )  # fmt: skip
    result = engine.simulate(model, still_motion(model, 4.0, FPS), engine.Limp(tone=0.0), None, steps)
    angle = hinge_angles(model, result.motion)
    over = max((angle[:, 0] - 0.9).max(), (angle[:, 1] - 0.4).max(), (-0.3 - angle[:, 1]).max())
    figure(f"limp hinges with ranges, {steps} steps/s: beyond them [rad]", over, 0.02)
    speed = np.abs(result.velocities[-1]).max()
    figure(f"limp hinges with ranges, {steps} steps/s: at rest in the end [rad/s]", speed, 0.01)


def swing_and_twist(quaternions):
    """Angle of the Y axis from rest, and the turn about it."""
    turn = Rotation.from_quat(quaternions, scalar_first=True)
    swing = np.arccos(np.clip(turn.apply([0.0, 1.0, 0.0])[:, 1], -1.0, 1.0))
    twist = 2.0 * np.arctan2(quaternions[:, 2], quaternions[:, 0])
    return swing, (twist + np.pi) % (2.0 * np.pi) - np.pi


@pytest.mark.parametrize("steps", [24, 240])
def test_a_flung_ball_joint_stays_within_cone_and_twist(steps, figure, rng):
    """Rods along Y, the body's long axis, flung about without gravity."""
    base = chain(1, "BALL", along=(0.0, 1.0, 0.0))
    model = Model.from_tree(
        base.names, base.parents, base.offsets, None, ["BALL"], base.masses, base.centers, base.inertias,
        limits=[[0.5, -0.3, 0.4, np.nan]],
    )  # fmt: skip
    out = [0.0, 0.0]
    for _ in range(10):
        source = launched(model, FPS, 49, rng.normal(size=(1, 3)) * 4.0)
        motion = engine.simulate(model, source, engine.Limp(tone=0.0), SPACE, steps).motion
        swing, twist = swing_and_twist(motion.rotations[:, 0])
        out = [max(out[0], (swing - 0.5).max()), max(out[1], (twist - 0.4).max(), (-0.3 - twist).max())]
    figure(f"a flung ball joint, {steps} steps/s: beyond its cone [rad]", out[0], 0.02)
    figure(f"a flung ball joint, {steps} steps/s: beyond its twist [rad]", out[1], 0.02)


@pytest.mark.parametrize("steps", [24, 240])
@pytest.mark.parametrize("heaviness", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["HINGE", "BALL"])
def test_a_target_beyond_the_limit_does_not_jitter(kind, heaviness, steps, figure):
    """The keys ask for 1 rad where 0.4 is allowed."""
    base = chain(2, kind, along=(0.0, 1.0, 0.0), axis=(1.0, 0.0, 0.0))
    limits = [[-0.4, 0.4, np.nan, np.nan]] * 2 if kind == "HINGE" else [[0.4, np.nan, np.nan, np.nan]] * 2
    model = Model.from_tree(
        base.names, base.parents, base.offsets, None, [kind] * 2, base.masses, base.centers, base.inertias,
        base.axes[:, 0], limits=limits,
    )  # fmt: skip
    frames = 121
    way = np.clip(np.arange(frames) / 24.0, 0.0, 1.0)
    angles = np.zeros((frames, 2, 3))
    angles[:, :, 0] = way[:, None] * 1.0
    source = Motion.build(model, FPS, joint_rotations(model, angles))
    result = engine.simulate(model, source, engine.Follow(heaviness=heaviness, settle_time=0.2), None, steps)
    size = np.linalg.norm(rotation_vectors(result.motion.rotations), axis=2)
    name = f"a target beyond the limit, {kind}, heaviness {heaviness}, {steps} steps/s"
    figure(f"{name}: resting joint's speed [rad/s]", np.abs(result.velocities[-24:]).max(), JITTER)
    figure(f"{name}: beyond the limit [rad]", size[-1].max() - 0.4, 5e-3)
    figure(f"{name}: short of the limit [rad]", (0.4 - size[-1]).max(), 5e-3)


def test_a_tie_let_go_leaves_the_body_to_itself(figure):
    """A ball on a string, let go: from there on free flight."""
    frames, release = 49, 18
    model = thing("it", engine.Sphere(0.05), 1.0)
    motion = thrown(model, FPS, frames, (0.5, 0.0, 0.0))
    active = np.arange(frames) < release
    scene = engine.Scene(ties=[engine.Tie("DISTANCE", "it", None, point_b=(0.0, 0.0, 0.0), active=active)])
    result = engine.simulate(model, motion, engine.Limp(tone=0.0), scene, 240)
    t = (np.arange(frames) - release)[release:, None] / FPS
    start, speed = result.motion.positions[release, 0], result.velocities[release, 3:]
    path = start + speed * t + 0.5 * t**2 * np.array([0.0, 0.0, -9.81])
    figure("a ball let go: off free flight [m]", np.abs(result.motion.positions[release:, 0] - path).max(), 1e-9)


@pytest.mark.parametrize("steps", [24, 240])
def test_a_pin_through_the_centre_gives_no_spin(steps, figure):
    """A light ball pinned by its centre to the end of a rod that swings: nothing can set it turning."""
    model = chain(1, "HINGE", length=0.5)
    frames = 49
    ball = limp_thing("ball", engine.Sphere(0.02), 0.01, FPS, frames, (0.5, 0.0, 0.0))
    actors = [engine.Actor(model, still_motion(model, (frames - 1) / FPS, FPS), engine.Limp(tone=0.0)), ball]
    scene = engine.Scene(ties=[engine.Tie("PIN", (1, "ball"), (0, "link0"))], apart=[((0, "link0"), (1, "ball"))])
    results = engine.simulate_together(actors, scene, steps)
    assert np.abs(results[0].velocities).max() > 3.0, "the rod swings"
    spin = np.linalg.norm(results[1].velocities[:, :3], axis=1).max()
    figure(f"a ball pinned by its centre, {steps} steps/s: spins [rad/s]", spin, 1e-6)


@pytest.mark.parametrize("steps", [24, 240])
def test_a_node_pulled_through_its_centre_does_not_spin(steps, figure):
    """A swinging rod with a light node at its end, on which a ball hangs by a pin through both centres."""
    frames, small = 49, engine.Sphere(0.01)
    rod = chain(1, "HINGE", length=0.5)
    model = Model.from_tree(
        ["rod", "node"],
        [None, "rod"],
        [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]],
        kinds=["HINGE", "BALL"],
        masses=[1.0, 0.01],
        centers=[rod.centers[0], np.zeros(3)],
        inertias=[rod.inertias[0], inertia(small, 0.01)],
        axes=np.tile([0.0, 1.0, 0.0], (2, 1)),
    )
    ball = limp_thing("ball", engine.Sphere(0.05), 1.0, FPS, frames, (0.5, 0.0, 0.0))
    actors = [engine.Actor(model, still_motion(model, (frames - 1) / FPS, FPS), engine.Limp(tone=0.0)), ball]
    results = engine.simulate_together(actors, engine.Scene(ties=[engine.Tie("PIN", "node", "ball")]), steps)
    # a ball joint's rates are against the rod: the node's own spin is theirs plus the rod's
    bodies = forward(model, results[0].motion.rotations, results[0].motion.positions)
    spin = velocities(model, bodies, results[0].velocities)[0][:, 1]
    assert np.abs(results[0].velocities[:, 0]).max() > 3.0, "the rod swings"
    figure(f"a node pulled through its centre, {steps} steps/s: spins [rad/s]", np.abs(spin).max(), 1e-6)
    figure.note(f"a ball on that node, {steps} steps/s: spins [rad/s]", np.abs(results[1].velocities[:, :3]).max())
