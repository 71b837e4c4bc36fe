"""Recovery time: whoever is struck is back on the motion when the time is up; what the blow does not pass, stays."""

from __future__ import annotations

import numpy as np
import pytest

import bvh
import engine
from deviations import off_source, powers
from engine.math import quaternions as rot
from shapes import chain, hinge_angles, still_motion

SPACE = (0.0, 0.0, 0.0)
FPS = 24.0


def way_to_root(model: engine.Model, name: str) -> list[int]:
    """The body and all it hangs on."""
    way = [model.index(name)]
    while model.parents[way[-1]] >= 0:
        way.append(int(model.parents[way[-1]]))
    return way


def struck_punch() -> tuple[engine.Model, engine.Motion, engine.Collider, int]:
    """A punch at its fastest, and a ball that meets the forearm from outside at that frame."""
    model, motion = bvh.load("cmu_02_05", 1122, 1402)
    hit, radius = 60, 0.06
    places = bvh.world(model, motion)[0][hit]
    elbow, wrist, chest = (places[model.index(name)] for name in ("RightForeArm", "RightHand", "Spine1"))
    aside = np.cross(wrist - elbow, [0.0, 0.0, 1.0])
    aside *= np.sign(aside @ (elbow - chest)) / np.linalg.norm(aside)
    time = (np.arange(len(motion)) - hit)[:, None] / motion.fps
    way = 0.5 * (elbow + wrist) + (2.0 * radius - 6.0 * time) * aside
    ball = engine.Collider("ball", [engine.Sphere(radius)], way, moves="FREE", mass=0.5, bounce=0.6, free_from=hit - 12)
    return model, motion, ball, hit


@pytest.mark.parametrize("root", ["ANIMATED", "ASSISTED"])
@pytest.mark.parametrize("recovery", [0.2, 0.5, 1.0])
def test_a_punch_that_is_struck_is_back_in_time(recovery, root, figure):
    model, motion, ball, hit = struck_punch()
    scene = engine.Scene(colliders=[ball], ground=engine.Ground(), touch_self=False)
    result = engine.simulate(model, motion, engine.Follow(recovery_time=recovery, root=root), scene)
    off = off_source(motion, result.motion)
    way = [i for i in way_to_root(model, "RightForeArm") if i > 0]
    others = [i for i in range(1, len(model)) if i not in way]
    name = f"punch, recovery {recovery} s, root {root.lower()}"
    start = int(np.argmax(off[:, way].max(axis=1) > 0.1))
    assert abs(start - hit) <= 3
    peak = off[:, way].max(axis=0)
    assert peak[0] > 10.0, "the blow is felt"
    figure.note(f"{name}: the elbow gives way by [°]", peak[0])
    back = start + round(recovery * motion.fps)  # less than a frame after the time is up
    figure(f"{name}: left of the peak when the time is up [%]", 100.0 * (off[back, way] / peak).max(), 2.0)
    if root == "ASSISTED":  # the blow goes through the whole body, and joints come back by their settle time
        assert off[:, others].max() > 0.5
        figure.note(f"{name}: a joint off the blow's way is off when the time is up [°]", off[back, others].max())
        return
    early = start + round(0.5 * recovery * motion.fps)
    assert off[early, way[0]] > 0.05 * peak[0], "it takes its time"
    figure(f"{name}: a joint off the blow's way leaves the source by [°]", off[:, others].max(), 0.5)


def pushed(pushes: dict[int, float], control: engine.Controller, keys=None) -> np.ndarray:
    """(frames, 2) angles of two links in a row; blows on the first turn it, and the second with it, at
    so many rad/s: frame → rate."""
    model = chain(2, length=0.5)
    arms = model.centers[:, 0] + [0.0, 0.5]
    whole = model.inertias[:, 1, 1].sum() + model.masses @ arms**2
    blows = [engine.Push("link0", (0.0, 0.0, -rate * whole / arms[0]), frame) for frame, rate in pushes.items()]
    source = still_motion(model, 3.0, FPS)
    source = engine.Motion.build(model, FPS, source.rotations, keys=keys)
    result = engine.simulate(model, source, control, engine.Scene(gravity=SPACE, pushes=blows))
    return hinge_angles(model, result.motion)


def swing(
    rate: float, since: np.ndarray, time: float, shape: float = engine.controllers.follow.spring.SETTLE
) -> np.ndarray:
    """E = A s^p + B s^q of a blow: none at its instant, rate then, none left when the time is up."""
    p, q = powers(shape)
    left = np.clip(1.0 - since / time, 0.0, 1.0)
    return np.where(since < 0.0, 0.0, rate * time * (left**q - left**p) / (p - q))


@pytest.mark.parametrize("recovery", [0.3, 1.0])
def test_the_way_back_is_the_closed_form(recovery, figure):
    """Pushed at a frame, the joint goes out and back as A s^p + B s^q, and the link beyond never moves."""
    found = pushed({12: 1.0}, engine.Follow(recovery_time=recovery, settle_time=0.4))
    wanted = swing(1.0, np.arange(len(found)) / FPS - 0.5, recovery)
    figure(f"pushed, recovery {recovery} s: off the closed form [rad]", np.abs(found[:, 0] - wanted).max(), 1e-9)
    figure(f"pushed, recovery {recovery} s: the link beyond turns [rad]", np.abs(found[:, 1]).max(), 1e-12)


def test_only_a_harder_blow_moves_the_deadline(figure):
    """A second blow half way: a lighter one keeps the first one's deadline, a harder one sets its own."""
    control = engine.Follow(recovery_time=1.0)
    lighter, harder = pushed({12: 1.0, 24: -0.8}, control), pushed({12: 1.0, 24: -1.5}, control)
    figure("a lighter second blow: off when the first time is up [rad]", np.abs(lighter[36:, 0]).max(), 1e-9)
    assert abs(harder[36, 0]) > 0.01, "the harder one is still on its way"
    figure("a harder second blow: off when its own time is up [rad]", np.abs(harder[48:, 0]).max(), 1e-9)


def test_a_blow_that_is_hardly_felt_makes_no_deadline(figure):
    """Below 0.2 rad/s the joint comes back by its settle time; just above by its recovery time."""
    control = engine.Follow(recovery_time=1.5, settle_time=0.3)
    since = np.arange(73) / FPS - 0.5
    light, hard = pushed({12: 0.19}, control)[:, 0], pushed({12: 0.21}, control)[:, 0]
    omega = engine.controllers.follow.spring.SETTLE / 0.3
    settles = np.where(since < 0.0, 0.0, 0.19 * since * np.exp(-omega * np.maximum(since, 0.0)))
    figure("a light blow: off the settle time's curve [rad]", np.abs(light - settles).max(), 1e-9)
    figure("a harder blow: off the recovery time's curve [rad]", np.abs(hard - swing(0.21, since, 1.5)).max(), 1e-9)


def test_none_is_zero_and_is_off():
    """Without a recovery time all joints yield, and come back by their settle time."""
    none, zero = (pushed({12: 1.0}, engine.Follow(recovery_time=r)) for r in (None, 0.0))
    assert (none == zero).all()
    assert np.abs(none[:, 1]).max() > 1e-3


@pytest.mark.parametrize("frame", [0, 12, 40])
def test_a_key_ahead_is_kept_whatever_the_recovery_time(frame, figure):
    """On Time, struck before its key (and on the shot's first frame, and on the key's own): the key's time counts."""
    turn = rot.about(np.array([0.0, 1.0, 0.0]), 0.8)
    keys = engine.Keys(["link0"], [40.0], [turn], [[0.0, 0.0, 0.0]])
    found = pushed({frame: 1.0}, engine.OnTime(recovery_time=0.5), keys)
    figure(f"struck at frame {frame}, key at 40: off the key [rad]", abs(found[40, 0] - 0.8), 1e-9)
    if frame == 40:  # no key is left: 0.8 rad off the motion, it has half a second
        assert abs(found[46, 0]) > 0.05
        figure("struck at its key: off the motion when the time is up [rad]", np.abs(found[52:, 0]).max(), 1e-9)


def test_a_blow_on_what_an_arm_holds_goes_into_the_arm(figure):
    """A box welded to the last link is struck: all links between it and the root give way, and are back in time."""
    model = chain(3, length=0.4)
    source = still_motion(model, 2.0, FPS)
    box = engine.Collider("box", [engine.Box((0.05,) * 3)], (1.25, 0.0, 0.0), moves="FREE", mass=0.5)
    ball = engine.Collider(
        "ball", [engine.Sphere(0.05)], (1.25, 0.0, 0.6), moves="FREE", mass=0.5, bounce=1.0, velocity=(0.0, 0.0, -4.0)
    )
    weld = engine.Tie("WELD", "link2", "box", point_a=(0.45, 0.0, 0.0))
    scene = engine.Scene(gravity=SPACE, colliders=[box, ball], ties=[weld])
    result = engine.simulate(model, source, engine.Follow(recovery_time=0.5), scene)
    off = np.abs(hinge_angles(model, result.motion))
    start = int(np.argmax(off.max(axis=1) > 1e-3))
    figure.note("a box in an arm is struck: the joints give way by [°]", str(np.degrees(off.max(axis=0)).round(2)))
    assert (off.max(axis=0) > np.radians(1.0)).all()
    back = off[start + 12] / off.max(axis=0)
    figure("a box in an arm is struck: left of the peak when the time is up [%]", 100.0 * back.max(), 2.0)


def test_heaviness_is_as_ever_when_the_time_is_up(figure):
    """A heavy arm that was struck hangs when its time is up as it hung before: it does not pull itself up for it.

    What the way back itself does to the load dies away by the settle time."""
    model = chain(2, length=0.5)
    source = still_motion(model, 4.0, FPS)
    control = engine.Follow(recovery_time=0.5, heaviness=1.0, settle_time=0.2)
    blow = engine.Scene(pushes=[engine.Push("link0", (0.0, 0.0, 1.5), 48)])
    calm, struck = (hinge_angles(model, engine.simulate(model, source, control, scene).motion)
                    for scene in (engine.Scene(), blow))  # fmt: skip
    sag = np.abs(calm[48]).min()
    assert sag > 0.02 and np.abs(struck - calm).max() > 0.02
    figure("heavy and struck: off where it hangs, from the time that is up [of the sag]",
           np.abs(struck - calm)[60:].max() / sag, 0.1)  # fmt: skip


def test_a_recovery_time_below_zero_is_refused():
    with pytest.raises(engine.SettingError, match="Body 'link0' has recovery time -1"):
        pushed({}, engine.Follow(recovery_time=-1.0))
