"""S2's scripts on a character of 39 degrees of freedom: every key on its time, root held or free."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from naive import angle_between
from performer import SCRIPTS, perform, performer

ON_POSE, ON_RATE = 0.1, 1.0  # [°, °/s]
EARTH = engine.Scene(touch_self=False)  # its hands pass through one another in some poses


def test_the_character_has_39_degrees_of_freedom():
    model = performer()
    assert model.nv == 6 + 39 and performer("FIXED").nv == 39
    assert np.isclose(model.total_mass, 75.0)


@pytest.mark.parametrize("steps", [24, 96, 384])
@pytest.mark.parametrize("root", ["FIXED", "FREE"])
@pytest.mark.parametrize("script", list(SCRIPTS))
def test_every_key_is_hit(script, root, steps, figure):
    """At 24 frames a second no key of YMCA falls on a frame; at rest and with the curve's velocity, at any shape."""
    model = performer(root)
    motion = perform(model, SCRIPTS[script], 24.0)
    angle = rate = 0.0
    for shape in (3.5, engine.pd.SETTLE, 6.0, 9.5):
        for arrival in (0.0, 1.0):
            control = engine.OnTime(shape=shape, arrival=arrival, root="FREE")
            arrivals = engine.simulate(model, motion, control, EARTH, steps_per_second=steps).arrivals
            assert len(arrivals.bodies) == len(motion.keys.bodies)
            angle, rate = max(angle, arrivals.angles.max()), max(rate, arrivals.rates.max())
    figure(f"{script}, root {root.lower()}, {steps} steps/s: off the pose [°]", np.degrees(angle), ON_POSE)
    figure(f"{script}, root {root.lower()}, {steps} steps/s: off the velocity [°/s]", np.degrees(rate), ON_RATE)


@pytest.mark.parametrize("script", list(SCRIPTS))
def test_the_frames_show_it(script, figure):
    """At 200 frames a second every key falls on a frame: poses and rates read there."""
    model, fps = performer("FREE"), 200.0
    motion = perform(model, SCRIPTS[script], fps)
    result = engine.simulate(model, motion, engine.OnTime(arrival=0.0, root="FREE"), EARTH, steps_per_second=fps)
    frames, bodies = np.rint(motion.keys.frames).astype(int), np.asarray(motion.keys.bodies)
    assert np.abs(frames - motion.keys.frames).max() < 1e-6
    angle = angle_between(motion.keys.rotations, result.motion.rotations[frames, bodies])
    figure(f"{script}, read from the frames: off the pose [°]", np.degrees(angle).max(), ON_POSE)
    starts = model.dof_starts
    rates = [result.velocities[f, starts[b] : starts[b + 1]] for f, b in zip(frames, bodies, strict=True)]
    worst = max(np.linalg.norm(each) for each in rates)
    figure(f"{script}, read from the frames: off the velocity [°/s]", np.degrees(worst), ON_RATE)
