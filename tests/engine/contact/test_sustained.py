"""Things that lean on driven joints (S1 Fig. 1) and driven joints that lean on things (S1 Fig. 8)."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from curves import SETTLE, error_curve
from engine.model.motion import Motion
from naive import forward, mass_matrix
from props import G, box_distance, capsule_chain, planks
from shapes import hinge_angles, joint_rotations, still_motion

SAG = 0.01  # relative
BRACED = 0.05  # [°]
DEPTH = 1e-3  # [m]
REST = 0.01  # [rad/s]
CURVE = 0.05  # of the peak
FPS = 24.0
RATES = (24, 240)  # steps a second


def weight_on(place, mass=1.0, half=0.05, response="GIVES_WAY"):
    return engine.Collider(
        "block", [engine.Box((half,) * 3)], positions=place, moves="FREE", mass=mass, response=response
    )


@pytest.mark.parametrize("steps", RATES)
@pytest.mark.parametrize(("settle", "wanted"), [(0.1, 0.18), (0.2, 0.71), (0.3, 1.60)])
def test_a_plank_sags_under_a_block(settle, wanted, steps, figure):
    """S1 Fig. 1 left: 5 kg, 1 m, 1 kg at 0.8 m."""
    model = planks(1, 1.0, 5.0)
    source = still_motion(model, 4.0, FPS)
    scene = engine.Scene(colliders=[weight_on((0.8, 0.0, 0.06))])
    result = engine.simulate(model, source, engine.Follow(settle_time=settle), scene, steps)
    sag = np.degrees(hinge_angles(model, result.motion)[-1, 0])
    whole = np.degrees(G * 0.8 / (5.0 / 3.0 * (SETTLE / settle) ** 2))
    assert whole == pytest.approx(wanted, abs=0.005), "the closed form is the paper's number"
    name = f"a block on a plank, settle {settle} s, {steps} steps/s"
    figure.note(f"{name}: sag [°]", f"{sag:.4f}, closed form {whole:.4f}")
    figure(f"{name}: off the closed form", abs(sag / whole - 1.0), SAG)


@pytest.mark.parametrize("steps", RATES)
def test_a_plank_braces_against_a_block(steps, figure):
    """S1 Fig. 1 right."""
    model = planks(1, 1.0, 5.0)
    worst = 0.0
    for settle in (0.1, 0.3, 1.0):
        scene = engine.Scene(colliders=[weight_on((0.8, 0.0, 0.06), response="BRACES")])
        source = still_motion(model, 3.0, FPS)
        result = engine.simulate(model, source, engine.Follow(settle_time=settle), scene, steps)
        worst = max(worst, np.degrees(np.abs(hinge_angles(model, result.motion)).max()))
        lies = result.objects["block"][0][-1]
        assert lies == pytest.approx([0.8, 0.0, 0.06], abs=2e-3), "the block stays where it was put"
    figure(f"a block braced against, settle up to 1 s, {steps} steps/s: sag [°]", worst, BRACED)


@pytest.mark.parametrize("steps", RATES)
@pytest.mark.parametrize("loaded", [1, 3, 4])
def test_five_planks_sag_by_their_own_settle_times(loaded, steps, figure):
    """D_i k_p E_i = (Jᵀw)_i: the weight acts through the block's centre on the joints inboard of it."""
    length, mass = 0.4, 2.0
    model = planks(5, length, mass)
    settle = np.array([0.15, 0.3, 0.1, 0.25, 0.2])
    start = (length * (loaded + 0.5), 0.0, 0.06)
    scene = engine.Scene(colliders=[weight_on(start, mass=1.5)], touch_self=False)
    result = engine.simulate(model, still_motion(model, 6.0, FPS), engine.Follow(settle_time=settle), scene, steps)
    rest = result.motion.rotations[-1]
    bend = hinge_angles(model, result.motion)[-1]
    place = result.objects["block"][0][-1]
    anchors = forward(model, rest[None], model.offsets[None]).anchors[0]
    pull = 1.5 * G * (place[0] - anchors[:, 0])
    pull[loaded + 1 :] = 0.0
    spring = np.diag(mass_matrix(model, rest, model.offsets)) * (SETTLE / settle) ** 2 * bend
    name = f"five planks, block on number {loaded + 1}, {steps} steps/s"
    figure.note(f"{name}: sag [°]", " ".join(f"{x:.3f}" for x in np.degrees(bend)))
    figure(f"{name}: D k_p E against Jᵀw", np.abs(spring - pull).max() / pull.max(), SAG)


def bent_into(model, seconds, angles, sweep=0.5):
    """Every joint swings from straight to `angles` in `sweep` seconds and stays there."""
    frames = round(seconds * FPS) + 1
    t = np.clip(np.arange(frames) / FPS / sweep, 0.0, 1.0)
    way = (t * t * (3.0 - 2.0 * t))[:, None]
    turns = np.zeros((frames, len(model), 3))
    column = 1 if model.kinds[0] == 3 else 0
    turns[:, :, column] = way * np.asarray(angles)
    return Motion.build(model, FPS, joint_rotations(model, turns))


@pytest.mark.parametrize("kind", ["HINGE", "BALL"])
@pytest.mark.parametrize("steps", RATES)
def test_an_obstructed_chain_comes_to_rest(kind, steps, figure):
    """S1 Fig. 8: the target goes on through a fixed box."""
    length, radius, half = 0.3, 0.03, np.array([0.2, 0.3, 0.3])
    model = capsule_chain(3, kind, length, radius=radius)
    source = bent_into(model, 5.0, [0.5, 0.25, 0.15])
    middle = np.array([0.65, 0.0, -0.45])
    block = engine.Collider("block", [engine.Box(tuple(half))], positions=middle)
    control = engine.Follow(settle_time=[0.2, 0.3, 0.15])
    result = engine.simulate(model, source, control, engine.Scene(colliders=[block]), steps)

    def depths(motion):
        bodies = forward(model, motion.rotations, motion.positions)
        spots = np.linspace(0.0, length, 61)[:, None] * [1.0, 0.0, 0.0]
        points = bodies.anchors[:, :, None] + np.einsum("fiab,sb->fisa", bodies.turns, spots)
        return radius - box_distance(points - middle, half).min(axis=(1, 2))

    assert depths(source)[-1] > 0.05, "the target lies well inside"
    name = f"obstructed chain, {kind}, {steps} steps/s"
    figure(f"{name}: deepest at rest [m]", depths(result.motion)[-24:].max(), DEPTH)
    figure.note(f"{name}: deepest on the way [m]", depths(result.motion).max())
    figure(f"{name}: fastest joint at rest [rad/s]", np.abs(result.velocities[-24:]).max(), REST)
    touching = result.contacts.frames == len(source) - 1
    assert touching.any(), "it leans on the box"


@pytest.mark.parametrize("settle", [0.3, 0.8])
def test_after_a_ball_the_joint_follows_its_curve(settle, figure):
    """S1 Fig. 8: the ball hits once and flies off; Ė₀ from the closed form of the impact, t from the gap."""
    model = planks(1, 1.0, 5.0)
    arm, speed, mass, radius, gap, bounce = 0.7, 4.0, 0.5, 0.05, 0.3, 1.0
    ball = engine.Collider(
        "ball",
        [engine.Sphere(radius)],
        positions=(arm, 0.0, 0.01 + radius + gap),
        moves="FREE",
        mass=mass,
        bounce=bounce,
        velocity=(0.0, 0.0, -speed),
    )
    scene = engine.Scene(gravity=(0.0, 0.0, 0.0), colliders=[ball])
    source = still_motion(model, gap / speed + 2.5 * settle, FPS)
    result = engine.simulate(model, source, engine.Follow(settle_time=settle), scene, 192)
    error = hinge_angles(model, result.motion)[:, 0]
    inertia = 5.0 * (1.0 + 0.02**2) / 12.0 + 5.0 * 0.25
    rate = (1.0 + bounce) * mass * arm * speed / (inertia + mass * arm**2)
    t = np.arange(len(source)) / FPS - gap / speed
    wanted = np.where(t > 0.0, rate * error_curve(settle, 1.0, np.maximum(t, 0.0))[1], 0.0)
    place = result.objects["ball"][0]
    assert place[-1, 2] > place[0, 2], "the ball has left"
    figure(
        f"after a ball, settle {settle} s, 192 steps/s: off Ė₀ t e^(−ωt), of its peak",
        np.abs(error - wanted).max() / np.abs(wanted).max(),
        CURVE,
    )
