"""S2's scripts on a character of 39 degrees of freedom: every key on its time, root held or free."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from comparison import LAWS, play
from naive import angle_between
from performer import SCRIPTS, SWINGS, perform, performer

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
    for shape in (3.5, engine.controllers.follow.spring.SETTLE, 6.0, 9.5):
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


@pytest.mark.parametrize("script", list(SCRIPTS))
def test_on_time_beside_other_laws(script, figure):
    """S2 Fig. 7 and 8: On Time is on time, S2's torques come near, gains that do not know the load are far off."""
    _, _, outcomes = play(SCRIPTS[script])
    found = {law: outcome.summary() for law, outcome in outcomes.items()}
    for law, (pose, timing, bound) in found.items():
        figure.note(f"{script}, {law}: worst pose [°], timing [s]", f"{pose:.2g}, {'> ' if bound else ''}{timing:.2g}")
    figure(f"{script}, On Time: worst pose [°]", found[LAWS[0]][0], ON_POSE)
    figure(f"{script}, On Time: worst timing [s]", found[LAWS[0]][1], 1e-3)
    figure(f"{script}, S2's torques: worst pose [°]", found[LAWS[1]][0], 1.0)
    for law in LAWS[2:]:
        assert found[law][0] > 5.0 and found[law][1] > 0.1
        assert outcomes[law].late.any()


def test_a_straight_and_a_bent_arm_arrive_together(figure):
    """S2 Fig. 1: the elbow makes the arm's inertia another, not its timing; nothing is changed for it."""
    model, fps = performer("FIXED"), 24.0
    arm, arrived = model.index("right upper arm"), {}
    ways = {}
    for law in ("CLOSED_FORM", "TORQUES"):
        for name, script in SWINGS.items():
            motion = perform(model, script, fps)
            control = engine.OnTime(arrival=0.0, law=law)
            result = engine.simulate(model, motion, control, EARTH, steps_per_second=960)
            end = motion.keys.rotations[list(motion.keys.bodies).index(arm)]
            off = np.degrees(angle_between(np.broadcast_to(end, (len(motion), 4)), result.motion.rotations[:, arm]))
            ways[law, name] = off
            there = np.flatnonzero(off < 0.05)
            arrived[law, name] = int(there[0]) if len(there) else -1
            figure.note(f"{law}, {name} arm: off at the key [°]", off[24])
            figure.note(f"{law}, {name} arm: within 0.05 ° at frame (key at 24, −1 never)", arrived[law, name])
    for name in SWINGS:
        figure(f"{name} arm: arrives off its key by [frames]", abs(arrived["CLOSED_FORM", name] - 24), 1)
    both = [ways["CLOSED_FORM", name] for name in SWINGS]
    figure("straight against bent: apart on the way [°]", np.abs(both[0] - both[1])[:25].max(), 1e-9)
    loose = [ways["TORQUES", name] for name in SWINGS]
    figure.note("S2's torques, straight against bent: apart on the way [°]", np.abs(loose[0] - loose[1])[:25].max())
