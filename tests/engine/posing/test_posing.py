"""Posing by dragging: held against closed forms, limits and pins; calm under any mouse."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from engine.geometry.shapes import Box
from engine.math import quaternions as rot
from engine.model.model import BALL, HINGE, Model
from engine.posing.posing import AT_REST, PATIENCE_SINKING, Lock, Pin, Posing
from performer import performer
from shapes import chain, ragdoll

STILL = np.array([1.0, 0.0, 0.0, 0.0])
DOWN = (0.0, 0.0, -9.81)


def at_rest(model: Model) -> tuple[np.ndarray, np.ndarray]:
    return np.tile(STILL, (len(model), 1)), np.array(model.offsets)


def settle(posing: Posing, target, pulls: int = 400) -> int:
    """Pull to one place until all rests. Returns how many pulls that took."""
    for k in range(pulls):
        if posing.pull(target) < AT_REST:
            return k + 1
    raise AssertionError(f"not at rest after {pulls} pulls")


def two_links(lengths=(0.5, 0.4), kind="HINGE", limits=None) -> Model:
    """A planar arm along X from the origin, turning about −Y: positive angles lift it."""
    return Model.from_tree(
        ["base", "upper", "lower"], [None, "base", "upper"], [[0, 0, 0], [0, 0, 0], [lengths[0], 0, 0]],
        kinds=["FIXED", kind, kind], axes=np.tile([0.0, -1.0, 0.0], (3, 1)), masses=[10.0, 2.0, 1.0],
        centers=[[0, 0, 0], [0.5 * lengths[0], 0, 0], [0.5 * lengths[1], 0, 0]],
        inertias=[np.eye(3) * 0.1, np.diag([1e-3, 0.04, 0.04]), np.diag([1e-3, 0.013, 0.013])],
        limits=limits,
    )  # fmt: skip


def bent(model: Model, angles: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """The rest pose with hinges at angles [rad]."""
    turns, places = at_rest(model)
    for name, angle in angles.items():
        b = model.index(name)
        turns[b] = rot.about(model.axes[b, 0], np.array(angle))
    return turns, places


def test_a_ball_joint_with_two_locks_is_a_hinge():
    hinged, balls = two_links(), two_links(kind="BALL")
    names, away = ("upper", "lower"), ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    locks = [Lock(name, above, (0.0, 1.0, 0.0)) for name in names for above in away]
    turns, places = bent(hinged, {"upper": 0.3, "lower": 0.5})
    ends = []
    for model, shut in ((hinged, ()), (balls, locks)):
        posing = Posing(model, turns, places, locks=shut)
        posing.grab("lower", (0.4, 0.0, 0.0))
        settle(posing, (0.5, 0.3, 0.5))
        ends.append(posing.placed()[1])
    off = rot.rotate(ends[0], np.eye(3)[1]) - rot.rotate(ends[1], np.eye(3)[1])
    assert np.abs(off).max() < 1e-3, "neither leaves the plane"
    np.testing.assert_allclose(np.abs((ends[0] * ends[1]).sum(axis=1)), 1.0, atol=1e-5)


def test_one_lock_takes_one_turn_away():
    """Forearms that bend and lean but do not twist: one way of the parent's stays square to one of theirs."""
    model = two_links(kind="BALL")
    posing = Posing(model, *at_rest(model), locks=[Lock("lower", (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))])
    free = Posing(model, *at_rest(model))
    squares = []
    for each in (posing, free):
        each.grab("lower", (0.4, 0.1, 0.1))
        settle(each, (0.3, 0.3, 0.5))
        turn = each.rotations[model.index("lower")]
        squares.append(abs(rot.rotate(turn, np.eye(3)[2])[1]))
        np.testing.assert_allclose(each.grabbed_at(), (0.3, 0.3, 0.5), atol=2e-3)
    assert squares[0] < 1e-3 < 1e-2 < squares[1]


def test_two_links_reach_as_trigonometry_says(figure):
    a, b = 0.5, 0.4
    model = two_links((a, b))
    posing = Posing(model, *bent(model, {"upper": 0.3, "lower": 0.5}))
    posing.grab("lower", (b, 0.0, 0.0))
    worst = 0.0
    for target in ([0.5, 0.0, 0.5], [0.1, 0.0, 0.7], [0.6, 0.0, -0.3], [-0.2, 0.0, 0.4]):
        settle(posing, target)
        # the law of cosines; the elbow stays on the side it began
        r = np.hypot(target[0], target[2])
        elbow = np.arccos((r * r - a * a - b * b) / (2.0 * a * b))
        shoulder = np.arctan2(target[2], target[0]) - np.arctan2(b * np.sin(elbow), a + b * np.cos(elbow))
        angles = [rot.twist(q, axis) for q, axis in zip(posing.rotations[1:], model.axes[1:, 0], strict=True)]
        off = (np.array(angles) - [shoulder, elbow] + np.pi) % (2.0 * np.pi) - np.pi
        worst = max(worst, np.abs(off).max())
    figure("two links against trigonometry [rad]", worst, 2e-3)


@pytest.mark.parametrize("kind", ["HINGE", "BALL"])
@pytest.mark.parametrize("way", [(1.0, 0.0, 0.2), (0.3, 0.0, 1.0), (-0.5, 0.0, -0.8)])
def test_an_arm_that_cannot_reach_points_straight_at_the_target(kind, way, figure):
    model = two_links(kind=kind)
    posing = Posing(model, *bent(model, {"upper": 0.3, "lower": 0.9}))
    posing.grab("lower", (0.4, 0.0, 0.0))
    way = np.array(way) / np.linalg.norm(way)
    settle(posing, 3.0 * way)
    turns = posing.placed()[1]
    for b in (1, 2):
        points = rot.rotate(turns[b], np.array([1.0, 0.0, 0.0]))
        figure(f"{kind} arm off its line [rad]", np.arccos(min(points @ way, 1.0)), 2e-3)
    figure("how far short of its length [m]", 0.9 - posing.grabbed_at() @ way, 1e-4)


def test_what_the_pose_is_depends_on_the_mouse_and_not_on_its_way(rng, figure):
    """Back where it was grabbed everything is as it was, wherever the mouse has been."""
    model = limited(performer())
    posing = Posing(model, *at_rest(model), pins=[Pin("left foot"), Pin("right foot")])
    posing.grab("left hand", (0.0, 0.0, -0.18))
    start, home = posing.rotations, posing.grabbed_at()
    for _ in range(60):
        posing.pull(home + 0.3 * rng.normal(size=3))
    settle(posing, home)
    figure(
        "off the start's pose [rad]", np.abs(rot.log(rot.multiply(rot.conjugate(start), posing.rotations))).max(), 1e-3
    )


def test_the_least_turn_is_weighed_by_mass(figure):
    """A chain free in space, pulled a little: its turns are the least in the metric that a plain minimiser is told."""
    model = chain(4, "BALL", base="FREE")
    turns, places = at_rest(model)
    posing = Posing(model, turns, places)
    posing.grab("link3", (0.3, 0.0, 0.0))
    home = posing.grabbed_at()
    shift = np.array([0.0, 0.0005, 0.001])
    metric = np.array(posing._pull.metric)
    # J by differences of the engine's own places, apart from the rows of the solve
    found = []
    for d in range(model.nv):
        other = Posing(model, turns, places)
        other.grab("link3", (0.3, 0.0, 0.0))
        nudge = np.zeros(model.nv)
        nudge[d] = 1e-6
        move_by(other, model, nudge)
        found.append((other.grabbed_at() - home) / 1e-6)
    jacobian = np.array(found).T
    inverse = np.linalg.inv(full(metric))
    wanted = inverse @ jacobian.T @ np.linalg.solve(jacobian @ inverse @ jacobian.T, shift)
    settle(posing, home + shift)
    b = model.index("link3")
    off = rot.log(posing.rotations[b]) - wanted[model.dof_starts[b] : model.dof_starts[b] + 3]
    figure("off the least turn, in parts", np.abs(off).max() / np.abs(wanted).max(), 0.03)
    figure("base's shift off, in parts", np.abs(posing.positions[0] - places[0] - wanted[3:6]).max() / 0.001, 0.01)


def full(metric: np.ndarray) -> np.ndarray:
    return np.where(np.abs(metric) > 0.0, metric, metric.T)


def move_by(posing: Posing, model: Model, step: np.ndarray) -> None:
    turns, places = posing.rotations, posing.positions
    for b, kind in enumerate(model.kinds):
        d = model.dof_starts[b]
        if kind >= BALL:
            turns[b] = rot.multiply(turns[b], rot.exp(step[d : d + 3]))
        elif kind == HINGE:
            turns[b] = rot.multiply(turns[b], rot.about(model.axes[b, 0], step[d]))
    places[0] += step[3:6]
    posing.__init__(model, turns, places)
    posing.grab("link3", (0.3, 0.0, 0.0))


@pytest.mark.parametrize("target", [(0.4, -0.8, 1.2), (0.2, -1.5, 0.4), (2.0, 0.0, 3.0), (0.0, 0.3, 0.1)])
def test_pins_hold_and_limits_too(target, figure):
    model = limited(performer())
    posing = Posing(model, *at_rest(model), pins=[Pin("left foot"), Pin("right foot", turns=False)])
    feet = [model.index("left foot"), model.index("right foot")]
    before = posing.placed()
    posing.grab("left hand", (0.0, 0.0, -0.18))
    for share in np.linspace(0.0, 1.0, 12):
        posing.pull((1.0 - share) * np.array([0.2, 0.0, 0.8]) + share * np.array(target))
        hold(posing, model, before, feet, figure)
    settle(posing, target)
    hold(posing, model, before, feet, figure)


def hold(posing, model, before, feet, figure) -> None:
    places, turns = posing.placed()
    figure("pinned feet off [m]", np.linalg.norm(places[feet] - before[0][feet], axis=1).max(), 1e-3)
    turned = rot.log(rot.multiply(rot.conjugate(before[1][feet[0]]), turns[feet[0]]))
    figure("the foot whose turn is pinned [rad]", np.linalg.norm(turned), np.radians(0.1))
    figure("beyond limits [°]", beyond(model, posing.rotations), 1.0)


def limited(model: Model) -> Model:
    """Knees and elbows bend one way; all balls lean 70° at most and twist 40°."""
    limits = np.tile([-np.inf, np.inf, -np.inf, np.inf], (len(model), 1))
    for b, kind in enumerate(model.kinds):
        if kind == HINGE:
            limits[b] = (0.0, np.radians(140.0), np.inf, np.inf)
        elif kind == BALL:
            limits[b] = (np.radians(70.0), -np.radians(40.0), np.radians(40.0), np.inf)
    limits[model.kinds < BALL, 2:] = np.where(model.kinds[model.kinds < BALL, None] == 2, [-2.0, 2.0], np.inf)
    return dataclasses.replace(model, limits=limits)


def beyond(model: Model, rotations: np.ndarray) -> float:
    """The most that a joint is beyond its limits [°], by scipy."""
    worst = 0.0
    for b, kind in enumerate(model.kinds):
        low, *rest = model.limits[b]
        turn = Rotation.from_quat(rotations[b], scalar_first=True)
        if kind == HINGE:
            angle = float(rot.twist(rotations[b], model.axes[b, 0]))
            worst = max(worst, low - angle, angle - rest[0])
        elif kind == BALL and np.isfinite(low):
            y = turn.apply([0.0, 1.0, 0.0])
            worst = max(worst, np.arccos(np.clip(y[1], -1.0, 1.0)) - low)
            twist = 2.0 * np.arctan2(rotations[b][2], rotations[b][0])
            twist = (twist + np.pi) % (2.0 * np.pi) - np.pi
            worst = max(worst, rest[0] - twist, twist - rest[1])
    return float(np.degrees(worst))


def test_with_gravity_a_pinned_chain_hangs_straight_down(figure):
    model = chain(5, "BALL")
    turns, places = at_rest(model)
    model = Model.from_tree(
        model.names, model.parents, model.offsets, None, ["BALL"] * 5, model.masses, model.centers, model.inertias
    )
    posing = Posing(model, turns, places, gravity=DOWN)
    posing.grab("link0")
    settle(posing, (0.0, 0.0, 0.0), 2000)
    for turn in posing.placed()[1]:
        way = rot.rotate(turn, np.array([1.0, 0.0, 0.0]))
        figure("a link off the vertical [rad]", np.linalg.norm(way - [0.0, 0.0, -1.0]), 0.01)


def test_between_pin_and_mouse_a_chain_hangs_where_its_weight_is_lowest(figure):
    """Against a minimiser told only where the links' centres are."""
    links, length, span = 6, 0.3, 1.0
    model = Model.from_tree(
        [f"l{i}" for i in range(links)], [None, *range(links - 1)],
        [[0, 0, 0], *[[length, 0, 0]] * (links - 1)], kinds=["BALL"] * links,
        centers=[[0.5 * length, 0, 0]] * links, inertias=[np.eye(3) * 0.01] * links,
    )  # fmt: skip
    posing = Posing(model, *at_rest(model), gravity=DOWN)
    posing.grab(f"l{links - 1}", (length, 0.0, 0.0))
    settle(posing, (span, 0.0, 0.0), 2000)
    turns = posing.placed()[1]

    def height(angles):
        return float(np.sum(np.cumsum(np.sin(angles)) - 0.5 * np.sin(angles))) * length

    ends = {"type": "eq", "fun": lambda a: length * np.array([np.cos(a).sum(), np.sin(a).sum()]) - [span, 0.0]}
    best = minimize(height, np.linspace(-1.0, 1.0, links), constraints=ends, options={"ftol": 1e-14, "maxiter": 500})
    ways = rot.rotate(turns, np.tile([1.0, 0.0, 0.0], (links, 1)))
    angles = np.arctan2(ways[:, 2], np.hypot(ways[:, 0], ways[:, 1]) * np.sign(ways[:, 0]))
    figure("links off the lowest pose [rad]", np.abs(angles - best.x).max(), 0.01)
    figure("its end off the mouse [m]", np.linalg.norm(posing.grabbed_at() - [span, 0.0, 0.0]), 1e-3)


def test_nothing_goes_through_the_floor(figure):
    model = performer()
    foot = model.index("left foot")
    shapes = list(model.shapes)
    shapes[foot] = (Box((0.04, 0.1, 0.03), (0.0, -0.1, 0.0)),)
    model = dataclasses.replace(model, shapes=tuple(shapes))
    posing = Posing(model, *at_rest(model), floor=-0.1)
    posing.grab("pelvis")
    settle(posing, posing.grabbed_at() + np.array([0.1, 0.0, -0.5]))
    spot = posing._pull.spot
    places, turns = posing.placed()
    rows = spot[:, 0].astype(int) - 1
    low = (places[rows] + rot.rotate(turns[rows], spot[:, 1:4]))[:, 2] - spot[:, 4]
    figure("deepest under the floor [m]", -(low + 0.1).min(), 1e-3)
    assert low.min() < -0.05, "something stands on it"


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    gravity=st.booleans(),
    reach=st.sampled_from([0.05, 0.5, 5.0, 500.0]),
    which=st.integers(0, 74),
)
def test_a_wild_mouse_does_no_harm(seed, gravity, reach, which):
    """Nothing is thrown about: bones keep their lengths, limits hold, and when the mouse rests all does."""
    rng = np.random.default_rng(seed)
    model = limited(ragdoll())
    turns, places = at_rest(model)
    posing = Posing(model, turns, places, pins=[Pin(model.names[rng.integers(75)])], gravity=DOWN if gravity else None)
    pinned = model.index(posing.pins[0].body)
    before = posing.placed()[0][pinned]
    posing.grab(model.names[which], rng.normal(size=3) * 0.05)
    home = posing.grabbed_at()
    target = home
    for _ in range(15):
        target = home + rng.normal(size=3) * reach
        posing.pull(target)
        assert np.isfinite(posing.rotations).all() and np.isfinite(posing.positions).all()
        assert np.linalg.norm(posing.placed()[0][pinned] - before) < 1e-3
        assert beyond(model, posing.rotations) < 1.0
    calm = [posing.pull(target) for _ in range(PATIENCE_SINKING + 60)]
    assert calm[-1] < AT_REST


def test_the_same_input_gives_the_same_bytes():
    poses = []
    for _ in range(2):
        model = limited(performer())
        posing = Posing(model, *at_rest(model), pins=[Pin("left foot")])
        posing.grab("right hand")
        for k in range(20):
            posing.pull((-0.3, -0.05 * k, 0.9))
        poses.append(posing.rotations.tobytes() + posing.positions.tobytes())
    assert poses[0] == poses[1]


def test_what_is_fixed_does_not_turn_and_other_trees_stay():
    model = Model.from_tree(
        ["a", "b", "c", "alone"], [None, "a", "b", None], [[0, 0, 0], [0.3, 0, 0], [0.3, 0, 0], [2, 0, 0]]
    )
    posing = Posing(model, *at_rest(model), fixed=["b"], gravity=DOWN)
    posing.grab("c", (0.3, 0.0, 0.0))
    posing.pull((0.5, 0.4, 0.0))
    np.testing.assert_array_equal(posing.rotations[1], STILL)
    np.testing.assert_array_equal(posing.positions[3], [2.0, 0.0, 0.0])
    assert np.abs(posing.rotations[2] - STILL).max() > 1e-3
