"""Where the feet of a struck character come down: on the source's steps, whatever the hips do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import engine
from engine.model.model import Model
from naive import forward
from shapes import still_motion
from walkers import FPS, marching, walker

HIT = 22  # the right foot is in the air
RECOVERY = 1.3


def struck(mass: float, recovery: float = RECOVERY):
    """A marcher hit on the chest, with the settings that Throw a Ball brings."""
    model = walker()
    source = marching(model, 6)
    way = [0.05, 0.25, 1.38] + (np.arange(len(source)) - HIT)[:, None] / FPS * [0.0, -7.0, 0.0]
    ball = engine.Collider("ball", [engine.Sphere(0.1)], way, moves="FREE", mass=mass, bounce=0.3, free_from=HIT - 1)
    scene = engine.Scene(ground=engine.Ground(friction=0.6), colliders=[ball], touch_self=False)
    control = engine.Follow(root="ASSISTED", settle_time=0.7, recovery_time=recovery)
    return model, source, engine.simulate(model, source, control, scene)


def off(model, source, result, name: str) -> np.ndarray:
    """(frames,) how far a body's joint is from where the source has it [m]."""
    places, found = (forward(model, m.rotations, m.positions).anchors for m in (source, result.motion))
    return np.linalg.norm((found - places)[:, model.index(name)], axis=1)


@pytest.mark.parametrize("mass", [2.0, 5.0])
def test_a_foot_in_the_air_comes_down_on_its_step(mass, figure):
    model, source, result = struck(mass)
    hips = np.linalg.norm(result.motion.positions[:, 0] - source.positions[:, 0], axis=1)
    name = f"a marcher is struck by {mass:g} kg"
    figure.note(f"{name}: the hips are off by up to [cm]", 100.0 * hips.max())
    assert hips.max() > 0.01 * mass, "the blow is felt"
    stands = slice(27, 43)  # the right foot's next stand: the hips are still off
    figure(f"{name}: the foot is off when it has come down [cm]", 100 * off(model, source, result, "foot.r")[27], 1.0)
    for side in "lr":
        foot = off(model, source, result, f"foot.{side}")
        figure(f"{name}: foot.{side} at most off while the hips are [cm]", 100 * foot[stands].max(), 1.0)
        late = HIT + int(np.ceil(1.5 * FPS))
        figure(f"{name}: foot.{side} off after 1.5 s [cm]", 100 * foot[late:].max(), 0.1)


def on_slopes(model: Model) -> Model:
    """The same character on feet like most rigs': capsules from the ankle down to the toes, nothing below the heel."""
    foot = engine.Capsule(0.03, (0.0, 0.0, 0.0), (0.13, 0.0, -0.05))
    return dataclasses.replace(
        model,
        shapes=tuple((foot,) if n.startswith("foot") else s for n, s in zip(model.names, model.shapes, strict=True)),
    )


@pytest.mark.parametrize("side", ["l", "r"])
def test_a_foot_that_touches_by_its_toes_stands_below_its_ankle_too(side, figure):
    """Struck towards one foot, which bears the body then: without a hold at its heel it sinks, rolls and swivels."""
    model = on_slopes(walker())
    source = still_motion(model, 2.5, FPS)
    sideways = np.array([0.0, 1.0 if side == "l" else -1.0, 0.0])
    places = [0.0, 0.0, 1.38] + ((np.arange(len(source)) - 10)[:, None] / FPS * 10.0 - 0.3) * sideways
    ball = engine.Collider("ball", [engine.Sphere(0.1)], places, moves="FREE", mass=10.0, bounce=0.3, free_from=8)
    scene = engine.Scene(ground=engine.Ground(friction=0.6), colliders=[ball], touch_self=False)
    control = engine.Follow(root="ASSISTED", settle_time=0.7, recovery_time=RECOVERY)
    result = engine.simulate(model, source, control, scene)
    hips = np.linalg.norm(result.motion.positions[:, 0] - source.positions[:, 0], axis=1)
    assert hips.max() > 0.1, "the blow is felt"
    foot = off(model, source, result, f"foot.{side}")
    figure(f"struck on sloping feet: the ankle of foot.{side}, which bears all, is off [cm]", 100 * foot.max(), 1.3)


def test_the_same_blow_gives_the_same_bytes():
    first, second = (struck(5.0)[2].motion for _ in range(2))
    assert first.rotations.tobytes() == second.rotations.tobytes()
    assert first.positions.tobytes() == second.positions.tobytes()


def test_before_the_blow_nothing_is_changed(figure):
    model, source, result = struck(5.0)
    before = max(off(model, source, result, name)[: HIT - 2].max() for name in model.names)
    figure("a marcher before the blow: off the source [m]", before, 1e-12)
