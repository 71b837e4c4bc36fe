"""How a character answers a blow: soft joints swing, but in bounds; what braces holds; feet let the body get back."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from curves import error_curve
from engine.geometry.mass_properties import inertia
from engine.model.model import Model
from engine.model.motion import Motion
from naive import angle_between, forward
from props import planks
from shapes import hinge_angles, joint_rotations, rod_inertia, still_motion
from walkers import FPS, marching, walker

SWING = 1.0  # [rad] as far as a blow swings a joint
SPACE = (0.0, 0.0, 0.0)


def turned(source: Motion, result: Motion) -> np.ndarray:
    """(frames, n) joint angles between source and result [°]."""
    return np.degrees(angle_between(source.rotations, result.rotations))


@pytest.mark.parametrize("damping", [0.5, 1.0])
@pytest.mark.parametrize("settle", [0.5, 1.0, 3.0, 10.0])
def test_a_soft_joint_swings_as_far_as_a_blow_may(settle, damping, figure):
    """A ball on a plank: what the blow gives, as far as that does not swing the plank beyond the bound."""
    model = planks(1, 1.0, 5.0)
    arm, speed, mass, bounce = 0.7, 12.0, 1.0, 1.0
    ball = engine.Collider(
        "ball", [engine.Sphere(0.05)], (arm, 0.0, 0.2), moves="FREE", mass=mass, bounce=bounce,
        velocity=(0.0, 0.0, -speed),
    )  # fmt: skip
    scene = engine.Scene(gravity=SPACE, colliders=[ball])
    control = engine.Follow(settle_time=settle, damping_ratio=damping)
    result = engine.simulate(model, still_motion(model, settle + 0.5, 48.0), control, scene)
    whole = 5.0 * (1.0 + 0.02**2) / 12.0 + 5.0 * 0.25
    rate = (1.0 + bounce) * mass * arm * speed / (whole + mass * arm**2)
    wanted = min(rate * error_curve(settle, damping, np.linspace(0.0, settle, 200))[1].max(), SWING)
    found = hinge_angles(model, result.motion)[:, 0].max()
    name = f"a ball on a plank, settle {settle} s, damping {damping}"
    figure.note(f"{name}: swings [°]", np.degrees(found))
    figure(f"{name}: off what it may", abs(found / wanted - 1.0), 0.1)


def arm_with_finger() -> Model:
    sizes = ((0.6, 0.04, 3.0), (0.08, 0.01, 0.02))
    return Model.from_tree(
        ["arm", "finger"],
        [None, 0],
        [[0.0, 0.0, 0.0], [0.6, 0.0, 0.0]],
        kinds=["HINGE", "BALL"],
        masses=[mass for _, _, mass in sizes],
        centers=[[0.5 * length, 0.0, 0.0] for length, _, _ in sizes],
        inertias=[rod_inertia(mass, length, radius, [1.0, 0.0, 0.0]) for length, radius, mass in sizes],
        axes=np.tile([0.0, 1.0, 0.0], (2, 1)),
        shapes=[engine.Capsule(radius, (0.0, 0.0, 0.0), (length, 0.0, 0.0)) for length, radius, _ in sizes],
    )


@pytest.mark.parametrize("settle", [0.2, 1.0])
def test_a_finger_does_not_whip_round_when_its_hand_is_stopped(settle, figure):
    model = arm_with_finger()
    turns = np.zeros((37, 2, 3))
    turns[:, 0, 0] = np.minimum(np.arange(37) / FPS * 8.0, 1.5)
    source = Motion.build(model, FPS, joint_rotations(model, turns))
    wall = engine.Collider("wall", [engine.Box((0.1, 0.5, 0.1))], (0.35, 0.0, -0.45))
    scene = engine.Scene(gravity=SPACE, colliders=[wall], touch_self=False)
    result = engine.simulate(model, source, engine.Follow(settle_time=settle), scene)
    assert np.degrees(hinge_angles(model, result.motion)[-1, 0]) < 60.0, "the wall stops the arm"
    swing = turned(source, result.motion)[:, 1].max()
    figure(f"a finger of a stopped arm, settle {settle} s: swings [°]", swing, 1.15 * np.degrees(SWING))


def test_an_arm_that_braces_holds_while_another_gives_way(figure):
    """Two planks on one post, a block dropped onto each at the same instant (the sample scene 'block')."""
    plank = engine.Box((0.5, 0.1, 0.01), (0.5, 0.0, 0.0))
    post = engine.Box((0.05, 0.05, 0.5), (-0.1, 0.0, 0.0))
    model = Model.from_tree(
        ["post", "one", "other"],
        [None, 0, 0],
        [[0.0, 0.0, 0.0], [0.0, -0.4, 0.0], [0.0, 0.4, 0.0]],
        kinds=["FREE", "BALL", "BALL"],
        masses=[10.0, 4.0, 4.0],
        centers=[[-0.1, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.0, 0.0]],
        inertias=[inertia(post, 10.0), inertia(plank, 4.0), inertia(plank, 4.0)],
        shapes=[post, plank, plank],
    )
    blocks = [
        engine.Collider(
            name, [engine.Box((0.1,) * 3)], (0.7, y, 0.4), moves="FREE", mass=4.0, response=response, friction=1.0
        )
        for name, y, response in (("yielded", -0.4, "GIVES_WAY"), ("braced", 0.4, "BRACES"))
    ]
    source = still_motion(model, 1.5, FPS)
    result = engine.simulate(model, source, engine.Follow(settle_time=0.2), engine.Scene(colliders=blocks))
    swing = turned(source, result.motion).max(axis=0)
    assert swing[1] > 3.0, "the blow is felt"
    figure("two blocks at once, one braced against: the braced arm turns [°]", swing[2], 0.05)


@pytest.mark.parametrize("friction", [0.0, 0.6], ids=["ice", "floor"])
@pytest.mark.parametrize("settle", [0.3, 0.5])
def test_a_marcher_who_is_struck_gets_back_into_step(settle, friction, figure):
    """The foot in the air comes down beside its place and stays there; the next steps must not hand that on."""
    model, hit = walker(), 32
    source = marching(model, 8)
    way = [0.05, 0.25, 1.38] + (np.arange(len(source)) - hit)[:, None] / FPS * [0.0, -7.0, 0.0]
    ball = engine.Collider("ball", [engine.Sphere(0.1)], way, moves="FREE", mass=5.0, bounce=0.3, free_from=hit - 1)
    scene = engine.Scene(ground=engine.Ground(friction=friction), colliders=[ball], touch_self=False)
    result = engine.simulate(model, source, engine.Follow(root="ASSISTED", settle_time=settle), scene)
    swing = turned(source, result.motion)
    name = f"a marcher is struck, settle {settle} s, friction {friction}"
    figure(f"{name}: off the source before [°]", swing[: hit - 2].max(), 1e-6)
    assert swing[:, 0].max() > 2.0, "the blow is felt"
    figure(f"{name}: a joint turns at most [°]", swing[:, 1:].max(), 1.15 * np.degrees(SWING))
    root = np.linalg.norm((result.motion.positions - source.positions)[-1, 0])
    figure(f"{name}: root off after three paces [mm]", 1000.0 * root, 0.6)
    figure(f"{name}: root leans after three paces [°]", swing[-1, 0], 0.1)
    places, found = (forward(model, m.rotations, m.positions).anchors[-1] for m in (source, result.motion))
    for side in "lr":
        foot = model.index(f"foot.{side}")
        figure(f"{name}: foot.{side} off after three paces [mm]", 1000 * np.linalg.norm((found - places)[foot]), 5.0)
