"""On Time beside the laws S2 compares itself with (its Fig. 7 and 8): who is where when a key is due.

The arms of the performer under gravity, trunk and legs fixed, keys at rest. Pose error: how far a joint is off when
its key is due. Timing error: when a joint has gone nine tenths of its way to a key (S2's f = 0.9) against when it
should have, which is the same share of every key's time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

import engine
from engine.controllers.follow.spring import SETTLE
from engine.controllers.on_time.arrivals import arrival
from naive import angle_between
from pd_laws import GONE, LEAST_WAY, Player, hand_tuned, own_link_gains
from performer import perform, performer

FPS = 200.0  # every key falls on a frame
TORQUE_STEPS = 960  # a second, of S2's torques
LAWS = ("On Time", "S2's torques", "hand-tuned constant gains", "gains of the single link")
ARMS = ("upper arm", "forearm", "hand")
EARTH = engine.Scene(touch_self=False)
# The share of a key's time in which nine tenths of the way are gone.
ON_ITS_WAY = 1.0 - brentq(lambda x: arrival.py_func(SETTLE, 1.0, x)[0] - (1.0 - GONE), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one law made of a script.

    rotations   (frames, n, 4)
    poses       (k,) how far off each key was when due [rad]
    timings     (k,) how early (below 0) or late nine tenths of its way were gone [s]; not a number where there was
                hardly any way
    late        (k,) they were not gone when the key was due: it is later than that by an unknown time
    """

    rotations: np.ndarray
    poses: np.ndarray
    timings: np.ndarray
    late: np.ndarray

    def summary(self) -> tuple[float, float, bool]:
        """The worst pose error [°], the worst timing error [s], and whether that is a lower bound."""
        sizes = np.nan_to_num(np.abs(self.timings))
        worst = int(sizes.argmax())
        return float(np.degrees(self.poses.max())), float(sizes[worst]), bool(self.late[worst])


def play(script, tuned_on=None) -> tuple[engine.Model, engine.Motion, dict[str, Outcome]]:
    """A script under every law; constant gains may be tuned on another."""
    model = performer("FIXED", ARMS)
    motion = perform(model, script, FPS)
    player = Player(model, motion, 0.0)
    other = player if tuned_on is None else Player(model, perform(model, tuned_on, FPS), 0.0)
    runs = (
        engine.simulate(model, motion, engine.OnTime(arrival=0.0), EARTH, FPS).motion.rotations,
        engine.simulate(model, motion, engine.OnTime(arrival=0.0, law="TORQUES"), EARTH, TORQUE_STEPS).motion.rotations,
        hand_tuned(player, other),
        own_link_gains(player),
    )
    return model, motion, {law: Outcome(run, *measure(motion, run)) for law, run in zip(LAWS, runs, strict=True)}


def measure(motion: engine.Motion, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pose and timing errors of the motion's keys, and which of the latter are lower bounds."""
    bodies, frames = np.asarray(motion.keys.bodies), np.rint(motion.keys.frames).astype(int)
    assert np.abs(frames - motion.keys.frames).max() < 1e-6
    poses = angle_between(motion.keys.rotations, rotations[frames, bodies])
    timings, late = np.full(len(frames), np.nan), np.zeros(len(frames), dtype=bool)
    for k, (body, due) in enumerate(zip(bodies, frames, strict=True)):
        earlier = frames[(bodies == body) & (frames < due)]
        start = int(earlier.max()) if len(earlier) else 0
        left = angle_between(
            np.broadcast_to(motion.keys.rotations[k], (due - start + 1, 4)), rotations[start : due + 1, body]
        )
        if left[0] > LEAST_WAY:
            gone = _gone(left / left[0])
            late[k] = gone == due - start
            timings[k] = (gone - ON_ITS_WAY * (due - start)) / motion.fps
    return poses, timings, late


def _gone(left: np.ndarray) -> float:
    """When [frames] what is left of the way falls below a tenth to stay there; the last where it does not."""
    k = int(np.flatnonzero(left > 1.0 - GONE)[-1])
    if k == len(left) - 1:
        return float(k)
    return k + (left[k] - (1.0 - GONE)) / (left[k] - left[k + 1])
