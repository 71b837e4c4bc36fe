"""Tone: the damped spring of a joint that nothing drives, against its closed form and published passive moments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import engine
from engine.dynamics.tone import tone_gains
from engine.model.model import Model
from engine.model.relaxed_pose import relaxed_coordinates
from shapes import chain, hinge_angles, launched, still_motion

FPS = 24.0
SPACE = engine.Scene(gravity=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("steps", [24, 240, 960])
@pytest.mark.parametrize("tone", [0.3, 1.0, 5.0])
def test_a_joint_follows_the_damped_spring(steps, tone, figure):
    model = chain(1)
    rate, frames = 3.0, 49
    motion = launched(model, FPS, frames, np.array([[rate, 0.0, 0.0]]))
    found = hinge_angles(model, engine.simulate(model, motion, engine.Limp(tone=tone), SPACE, steps).motion)[:, 0]
    damping, pull = (tone * float(each[0]) for each in tone_gains(model))
    system = np.array([[0.0, 1.0], [-pull, -damping]])
    wanted = np.array([(expm(system * k / FPS) @ [0.0, rate])[0] for k in range(frames)])
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    figure(f"tone {tone}, {steps} steps a second: off the damped spring", error, 0.3 if steps < 100 else 0.012)


def test_tone_means_the_same_at_any_size():
    """Froude's law: a pendulum's time goes with the root of its length."""
    large, small = chain(3, "BALL"), chain(3, "BALL", length=0.003, mass=1e-6)
    ratio = np.array(tone_gains(small)) / np.array(tone_gains(large))
    np.testing.assert_allclose(ratio[0], 10.0, rtol=1e-9)
    np.testing.assert_allclose(ratio[1], 100.0, rtol=1e-9)


def test_a_limp_body_keeps_its_momentum():
    """Tone acts between bodies: a free tree spins on."""
    model = chain(4, "BALL", base="FREE")
    rng = np.random.default_rng(4)
    motion = launched(model, FPS, 49, rng.normal(size=(len(model) + 1, 3)))
    result = engine.simulate(model, motion, engine.Limp(tone=3.0), SPACE, 240)
    rates = np.linalg.norm(result.velocities[:, 6:], axis=1)
    assert rates[-1] < 0.2 * rates[0], "the joints come to rest"
    root = result.velocities[:, :3]
    assert np.linalg.norm(root[-1]) > 0.05 * np.linalg.norm(root[0]), "the whole goes on turning"


def test_the_middle_of_a_range_is_where_tone_pulls_to():
    low, high = -0.2, 1.4
    base = chain(1)
    model = Model.from_tree(
        base.names, base.parents, base.offsets, None, ["HINGE"], base.masses, base.centers, base.inertias,
        axes=base.axes[:, 0], limits=[(low, high, np.nan, np.nan)],
    )  # fmt: skip
    assert relaxed_coordinates(model)[0, 0] == pytest.approx(0.5 * (low + high))
    found = hinge_angles(model, engine.simulate(model, still_motion(model, 6.0, FPS), engine.Limp(), SPACE).motion)
    assert found[-1, 0] == pytest.approx(0.5 * (low + high), abs=0.02)


def passive_moments(hip: float, knee: float, ankle: float) -> np.ndarray:
    """[N m] at hip, knee and ankle, from flexion angles in degrees (Riener and Edrich 1999, equations 3 to 5)."""
    return np.array([
        np.exp(1.4655 - 0.0034 * knee - 0.0750 * hip) - np.exp(1.3403 - 0.0226 * knee + 0.0305 * hip) + 8.072,
        np.exp(1.800 - 0.0460 * ankle - 0.0352 * knee + 0.0217 * hip)
        - np.exp(-3.971 - 0.0004 * ankle + 0.0495 * knee - 0.0128 * hip) - 4.820 + np.exp(2.220 - 0.150 * knee),
        np.exp(2.1016 - 0.0843 * ankle - 0.0176 * knee) - np.exp(-7.9763 + 0.1949 * ankle + 0.0008 * knee) - 1.792,
    ])  # fmt: skip


def leg() -> Model:
    """Thigh, shank and foot of a person of 70 kg and 1.75 m (de Leva 1996)."""
    masses, lengths = np.array([9.91, 3.03, 0.96]), np.array([0.425, 0.438, 0.16])
    centers = np.array([[0.0, 0.0, -0.4095 * 0.425], [0.0, 0.0, -0.4459 * 0.438], [0.05, 0.0, -0.04]])
    radii = np.array([0.329, 0.255, 0.257]) * lengths
    inertias = [m * r**2 * np.eye(3) for m, r in zip(masses, radii, strict=True)]
    offsets = [(0.0, 0.0, 0.0), (0.0, 0.0, -lengths[0]), (0.0, 0.0, -lengths[1])]
    return Model.from_tree(["thigh", "shank", "foot"], [None, 0, 1], offsets, None, ["BALL"] * 3, masses, centers,
                           inertias)  # fmt: skip


def test_the_pull_is_that_of_published_passive_moments(figure):
    """Slopes in the middle of the ranges, hip 30 to 70°, knee 40 to 90°: within a factor of three.

    Tone goes with what hangs on a joint, and an ankle's tendons are made for the body above it: its measured slope is a
    multiple of the foot's, and only printed.
    """
    model = leg()
    pull = tone_gains(model)[1]
    inertia = np.array([_about(model, i) for i in range(3)])
    middle = np.array([50.0, 65.0, 10.0])
    spans = np.array([40.0, 50.0, 20.0])
    for k, name in enumerate(("hip", "knee", "ankle")):
        step = np.zeros(3)
        step[k] = 0.5 * spans[k]
        slope = -(passive_moments(*(middle + step)) - passive_moments(*(middle - step)))[k] / np.radians(spans[k])
        ratio = pull[k] * inertia[k] / slope
        limit = 3.0 if k < 2 else 60.0
        figure(f"{name}: pull and the published {slope:.1f} N m/rad, as a factor", max(ratio, 1 / ratio), limit)


def _about(model: Model, i: int) -> float:
    """The moment of inertia of all that hangs on a joint, hanging straight down [kg m²]."""
    total, place = 0.0, np.zeros(3)
    for b in range(i, len(model)):
        if b > i:
            place = place + model.offsets[b]
        center = place + model.centers[b]
        total += model.inertias[b, 1, 1] + model.masses[b] * (center[0] ** 2 + center[2] ** 2)
    return total
