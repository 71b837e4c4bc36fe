"""Models and motions the tests are run on. Everything random is seeded by the caller."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from engine.model.model import BALL, FREE, HINGE, UNIVERSAL, Model
from engine.model.motion import Motion

STILL = np.array([1.0, 0.0, 0.0, 0.0])


def random_quaternion(rng, count: int | None = None) -> np.ndarray:
    q = rng.normal(size=(count or 1, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return q if count else q[0]


def random_inertia(rng, mass: float, size: float) -> np.ndarray:
    """That of a cloud of points of the given spread: always physical."""
    points = rng.normal(size=(8, 3)) * size * rng.uniform(0.2, 1.0, 3)
    points -= points.mean(axis=0)
    squares = (points**2).sum(axis=1)
    inertia = sum(s * np.eye(3) - np.outer(p, p) for p, s in zip(points, squares, strict=True))
    return mass / 8.0 * inertia


def random_tree(
    rng,
    bodies: int,
    light: float = 0.2,
    zero: float = 0.2,
    kinds=None,
    roots: int | None = None,
    root: str | None = None,
) -> Model:
    """Any shape, any joints, some bodies a millionth as heavy as others, some offsets zero, several roots."""
    roots = int(rng.integers(1, min(3, bodies) + 1)) if roots is None else roots
    deep = rng.random() < 0.3
    parents, words = [], []
    words_of = kinds or ["FIXED", "HINGE", "UNIVERSAL", "BALL"]
    for i in range(bodies):
        if i < roots:
            parents.append(-1)
            words.append(str(rng.choice([*words_of, "FREE", "FREE"])) if kinds is None else str(rng.choice(kinds)))
        else:
            parents.append(int(rng.integers(max(0, i - 2) if deep else 0, i)))
            words.append(str(rng.choice([w for w in words_of if w != "FREE"])))
    if root:
        words[:roots] = [root] * roots
    if all(word == "FIXED" for word in words):
        words[0] = "BALL"
    size = 10.0 ** rng.uniform(-1.3, -0.3, bodies)
    mass = 10.0 ** rng.uniform(-1.0, 1.0, bodies)
    feather = rng.random(bodies) < light
    mass[feather] *= 1e-6
    size[feather] *= 0.1
    offsets = rng.normal(size=(bodies, 3)) * 0.3
    offsets[rng.random(bodies) < zero] = 0.0
    centers = rng.normal(size=(bodies, 3)) * size[:, None]
    centers[rng.random(bodies) < zero] = 0.0
    return Model.from_tree(
        [f"body{i}" for i in range(bodies)],
        parents,
        offsets,
        rest_rotations=random_quaternion(rng, bodies),
        kinds=words,
        masses=mass,
        centers=centers,
        inertias=[random_inertia(rng, m, s) for m, s in zip(mass, size, strict=True)],
        axes=rng.normal(size=(bodies, 2, 3)),
    )


def rod_inertia(mass: float, length: float, radius: float, along) -> np.ndarray:
    along = np.asarray(along, dtype=float)
    thin = mass * radius**2 / 2.0
    wide = mass * (3.0 * radius**2 + length**2) / 12.0
    return wide * np.eye(3) + (thin - wide) * np.outer(along, along)


def chain(
    links: int, kind="HINGE", base: str | None = None, length=0.3, mass=1.0, along=(1.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)
) -> Model:
    """Rods in a row along `along`, hinged about `axis`; `base` puts a heavier body before them ('FREE' or 'FIXED')."""
    along = np.asarray(along, dtype=float)
    total = links + (base is not None)
    names = (["base"] if base else []) + [f"link{i}" for i in range(links)]
    kinds = ([base] if base else []) + [kind] * links
    offsets = np.zeros((total, 3))
    offsets[(2 if base else 1) :] = along * length
    masses = np.full(total, float(mass))
    centers = np.tile(along * length / 2.0, (total, 1))
    inertias = np.array([rod_inertia(mass, length, 0.1 * length, along)] * total)
    if base:
        masses[0] = 5.0 * mass
        centers[0] = 0.0
        inertias[0] = np.diag([0.9, 1.0, 1.2]) * 5.0 * mass * length**2
    return Model.from_tree(
        names, [None, *names[:-1]], offsets, None, kinds, masses, centers, inertias, np.tile(axis, (total, 1))
    )


def ragdoll(seed: int = 7, balls: int = 22, hinges: int = 52, root="FREE") -> Model:
    """A human-sized tree with the paper's skeleton in numbers: 74 joints, 118 degrees of freedom, 70 kg."""
    rng = np.random.default_rng(seed)
    total = 1 + balls + hinges
    kinds = np.array(["BALL"] * balls + ["HINGE"] * hinges)
    rng.shuffle(kinds)
    parents = [-1] + [int(rng.integers(max(0, i - 6), i)) for i in range(1, total)]
    depth = np.zeros(total)
    for i in range(1, total):
        depth[i] = depth[parents[i]] + 1
    length = np.maximum(0.25 * 0.9**depth, 0.03)
    mass = length**2.5
    mass *= 70.0 / mass.sum()
    along = rng.normal(size=(total, 3))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    offsets = np.zeros((total, 3))
    for i in range(1, total):
        offsets[i] = along[parents[i]] * length[parents[i]]
    return Model.from_tree(
        [f"bone{i}" for i in range(total)],
        parents,
        offsets,
        rest_rotations=random_quaternion(rng, total),
        kinds=[root, *kinds],
        masses=mass,
        centers=along * length[:, None] / 2.0,
        inertias=[rod_inertia(m, s, 0.15 * s, a) for m, s, a in zip(mass, length, along, strict=True)],
        axes=rng.normal(size=(total, 3)),
    )


def box() -> Model:
    """One free asymmetric box, its centre of mass away from its anchor."""
    mass, (a, b, c) = 3.0, (0.3, 0.5, 0.9)
    inertia = mass / 12.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    return Model.from_tree(["box"], [None], [[0.0, 0.0, 0.0]], None, ["FREE"], [mass], [[0.1, -0.2, 0.05]], [inertia])


def joint_rotations(model: Model, angles: np.ndarray) -> np.ndarray:
    """Rotations (frames, n, 4) from (frames, n, 3): rotation vectors of balls, angles of hinges and universals."""
    out = np.tile(STILL, (*angles.shape[:2], 1))
    for i in range(len(model)):
        if model.kinds[i] in (BALL, FREE):
            turn = Rotation.from_rotvec(angles[:, i])
        elif model.kinds[i] == HINGE:
            turn = Rotation.from_rotvec(angles[:, i, :1] * model.axes[i, 0])
        elif model.kinds[i] == UNIVERSAL:
            turn = Rotation.from_rotvec(angles[:, i, :1] * model.axes[i, 0]) * Rotation.from_rotvec(
                angles[:, i, 1:2] * model.axes[i, 1]
            )
        else:
            continue
        out[:, i] = turn.as_quat(scalar_first=True)
    return out


def hinge_angles(model: Model, motion: Motion) -> np.ndarray:
    """(frames, n) angles of the hinges of a motion, unwrapped."""
    out = np.zeros(motion.rotations.shape[:2])
    for i in np.flatnonzero(model.kinds == HINGE):
        q = motion.rotations[:, i]
        out[:, i] = np.unwrap(2.0 * np.arctan2(q[:, 1:] @ model.axes[i, 0], q[:, 0]))
    return out


def smooth_motion(model: Model, rng, frames: int, fps: float, reach=0.8, moving_anchors=False) -> Motion:
    """Slow sums of sines in every joint; free roots travel and turn, anchors of others may breathe."""
    t = np.arange(frames)[:, None, None] / fps
    n = len(model)
    angles = np.zeros((frames, n, 3))
    places = np.broadcast_to(model.offsets, (frames, n, 3)).copy()
    for k in range(3):
        rate = rng.uniform(0.3, 2.0, (n, 3)) * (k + 1)
        angles += reach / (k + 1) / 2.0 * rng.normal(size=(n, 3)) * np.sin(rate * t + rng.uniform(0.0, 6.3, (n, 3)))
    travel = rng.normal(size=(n, 3)) * 0.5 * np.sin(rng.uniform(0.5, 2.0, (n, 3)) * t)
    moves = np.ones(n, dtype=bool) if moving_anchors else model.kinds == FREE
    places[:, moves] += travel[:, moves]
    return Motion.build(model, fps, joint_rotations(model, angles), places)


def still_motion(model: Model, seconds: float, fps: float, angles=None) -> Motion:
    """The model held in one pose (joint angles (n, 3), rest if none)."""
    frames = round(seconds * fps) + 1
    pose = np.zeros((1, len(model), 3)) if angles is None else np.asarray(angles, dtype=float)[None]
    return Motion.build(model, fps, np.repeat(joint_rotations(model, pose), frames, axis=0))


def launched(model: Model, fps: float, frames: int, rates: np.ndarray, pose=None) -> Motion:
    """A motion whose first frame has the given pose (n, 3) and rates: rotational ones (n, 3) and, of the
    free root, a last row of linear velocity. Only its start matters: the bodies are limp from there."""
    n = len(model)
    start = np.zeros((n, 3)) if pose is None else pose
    t = np.arange(frames)[:, None, None] / fps
    turns = joint_rotations(model, np.broadcast_to(start, (frames, n, 3)).copy())
    steps = joint_rotations(model, rates[None, :n] * t)
    for i in np.flatnonzero((model.kinds == BALL) | (model.kinds == FREE)):
        turns[:, i] = (
            Rotation.from_quat(turns[:, i], scalar_first=True) * Rotation.from_quat(steps[:, i], scalar_first=True)
        ).as_quat(scalar_first=True)
    for i in np.flatnonzero((model.kinds == HINGE) | (model.kinds == UNIVERSAL)):
        turns[:, i] = joint_rotations(model, start[None] + rates[None, :n] * t)[:, i]
    places = np.broadcast_to(model.offsets, (frames, n, 3)).copy()
    if len(rates) > n:
        for i in np.flatnonzero(model.kinds == FREE):
            places[:, i] += rates[n] * t[:, 0]
    return Motion.build(model, fps, turns, places)
