"""A character of 39 degrees of freedom of our own, and the poses it is asked for (S2: YMCA, the conductor).

It stands with hanging arms, Z up, facing −Y, its left at +X. Segment masses, centres and radii of gyration are
Dempster's (Winter's table), in parts of the body's mass and the segment's length.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

import engine
from engine.model.model import FIXED, FREE
from shapes import joint_rotations

MASS = 75.0  # [kg]
UP, DOWN, AHEAD = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -1.0]), np.array([0.0, -1.0, 0.0])
# name, parent, where it sets off from there, kind, its way, length [m], mass and centre in parts, gyration, radius [m]
TRUNK = (
    ("pelvis", None, (0.0, 0.0, 0.95), "FREE", UP, 0.15, 0.142, 0.5, 0.31, 0.11),
    ("waist", "pelvis", (0.0, 0.0, 0.15), "BALL", UP, 0.15, 0.139, 0.5, 0.31, 0.11),
    ("chest", "waist", (0.0, 0.0, 0.15), "BALL", UP, 0.25, 0.206, 0.5, 0.31, 0.12),
    ("neck", "chest", (0.0, 0.0, 0.25), "BALL", UP, 0.1, 0.013, 0.5, 0.3, 0.05),
    ("head", "neck", (0.0, 0.0, 0.1), "UNIVERSAL", UP, 0.2, 0.068, 0.5, 0.3, 0.09),
)
LIMBS = (
    ("clavicle", "chest", (0.03, 0.0, 0.2), "UNIVERSAL", None, 0.15, 0.005, 0.5, 0.3, 0.04),
    ("upper arm", "clavicle", (0.15, 0.0, 0.0), "BALL", DOWN, 0.3, 0.028, 0.436, 0.322, 0.045),
    ("forearm", "upper arm", (0.0, 0.0, -0.3), "HINGE", DOWN, 0.26, 0.016, 0.43, 0.303, 0.035),
    ("hand", "forearm", (0.0, 0.0, -0.26), "UNIVERSAL", DOWN, 0.18, 0.006, 0.506, 0.297, 0.03),
    ("thigh", "pelvis", (0.1, 0.0, -0.02), "BALL", DOWN, 0.42, 0.1, 0.433, 0.323, 0.07),
    ("shin", "thigh", (0.0, 0.0, -0.42), "HINGE", DOWN, 0.42, 0.0465, 0.433, 0.302, 0.05),
    ("foot", "shin", (0.0, 0.0, -0.42), "UNIVERSAL", AHEAD, 0.2, 0.0145, 0.5, 0.475, 0.04),
)
ONE_SIDE, OTHER_SIDE = ("left", 1.0), ("right", -1.0)


def performer(root: str = "FREE", only: tuple[str, ...] = ()) -> engine.Model:
    """19 bodies, 39 degrees of freedom in their joints; the root's six are apart ('FREE', or 'FIXED' for none).

    only: the joints that move, whatever their side; the others are fixed."""
    rows = [(name, parent, np.array(at), root if kind == "FREE" else kind, way, *rest)
            for name, parent, at, kind, way, *rest in TRUNK]  # fmt: skip
    for side, sign in (ONE_SIDE, OTHER_SIDE):
        for name, parent, at, kind, way, *rest in LIMBS:
            on = parent if parent in ("chest", "pelvis") else f"{side} {parent}"
            out = np.array([sign, 0.0, 0.0]) if way is None else way
            rows.append((f"{side} {name}", on, np.array(at) * [sign, 1.0, 1.0], kind, out, *rest))
    names, parents, offsets, kinds, ways, lengths, shares, centers, gyrations, radii = zip(*rows, strict=True)
    if only:
        kinds = [kind if name.split(" ", 1)[-1] in only else "FIXED" for name, kind in zip(names, kinds, strict=True)]
    masses = MASS * np.array(shares) / sum(shares)
    inertias = []
    for mass, length, gyration, radius, way in zip(masses, lengths, gyrations, radii, ways, strict=True):
        across, along = mass * ((gyration * length) ** 2 + 0.25 * radius**2), 0.5 * mass * radius**2
        inertias.append(across * np.eye(3) + (along - across) * np.outer(way, way))
    return engine.Model.from_tree(
        names, parents, offsets, kinds=kinds, masses=masses, inertias=inertias,
        centers=[c * s * np.asarray(way) for c, s, way in zip(centers, lengths, ways, strict=True)],
        # hinges flex: elbows forward, knees backward; universals nod and turn aside
        axes=[[[1.0 if "shin" in name else -1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] if "clavicle" not in name
              else [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] for name in names],
        shapes=[engine.Capsule(r, tuple(r * w), tuple((s - r) * w))
                for r, s, w in zip(radii, lengths, map(np.asarray, ways), strict=True)],
    )  # fmt: skip


def _arms(*upper: tuple[float, float, float], bend: float = 0.0, nod: float = 0.0, raised: float = 0.0) -> dict:
    """Both arms alike, or left then right: forward, sideways and about the arm [°]; elbows, wrists and clavicles."""
    pose = {}
    for (side, sign), (forward, aside, twist) in zip((ONE_SIDE, OTHER_SIDE), (upper[0], upper[-1]), strict=True):
        pose[f"{side} upper arm"] = (-forward, -sign * aside, -sign * twist)
        pose[f"{side} forearm"] = (bend, 0.0, 0.0)
        pose[f"{side} hand"] = (nod, 0.0, 0.0)
        pose[f"{side} clavicle"] = (-sign * raised, 0.0, 0.0)
    return pose


# Angles by body [°]: rotation vectors of balls, angles of hinges and universals; bodies not named rest.
POSES = {
    "Stand": {},
    "Ready": _arms((20.0, 120.0, 10.0), bend=25.0),
    "Y": _arms((10.0, 140.0, 0.0), bend=10.0, raised=10.0) | {"chest": (4.0, 0.0, 0.0)},
    "M": _arms((35.0, 75.0, 60.0), bend=125.0, nod=40.0) | {"head": (10.0, 0.0, 0.0)},
    "C": _arms((70.0, 60.0, 0.0), (10.0, 110.0, 30.0), bend=50.0) | {"waist": (0.0, 15.0, 10.0)},
    "A": _arms((30.0, 150.0, 20.0), bend=60.0, nod=-20.0, raised=15.0) | {"neck": (-8.0, 0.0, 0.0)},
    "ArmsFront": _arms((80.0, 15.0, 0.0), bend=20.0),
    "ArmsUp": _arms((130.0, 20.0, 10.0), bend=35.0, raised=10.0) | {"head": (-10.0, 0.0, 0.0)},
    "Out": _arms((50.0, 70.0, 0.0), bend=30.0, nod=15.0),
    "UpBeat": _arms((100.0, 30.0, 20.0), bend=70.0, nod=-30.0) | {"chest": (-5.0, 0.0, 0.0)},
    "Bent": _arms((0.0, 0.0, 0.0), bend=120.0),
    "Ahead": _arms((90.0, 0.0, 0.0)),
    "AheadBent": _arms((90.0, 0.0, 0.0), bend=120.0),
    "Catch": _arms((0.0, 0.0, 0.0), (75.0, 25.0, 10.0), bend=25.0, nod=-15.0) | {"head": (5.0, 0.0, 0.0)},
    "DownBeat": _arms((55.0, 20.0, 0.0), bend=40.0, nod=30.0) | {"chest": (8.0, 0.0, 0.0), "neck": (10.0, 0.0, 0.0)},
}
# What is asked for and when [s]: S2's scripts. The conductor's are given one after the other.
YMCA = (("Ready", 0.0), ("Y", 0.1), ("M", 1.1), ("C", 1.85), ("A", 2.355))
_BEATS = (("ArmsFront", 0.3), ("ArmsUp", 0.3), ("Out", 0.3), ("UpBeat", 0.4), ("DownBeat", 0.545), ("UpBeat", 0.545))
CONDUCTOR = (
    ("Stand", 0.0),
    *((pose, float(end)) for (pose, _), end in zip(_BEATS, np.cumsum([s for _, s in _BEATS]).round(6), strict=True)),
)
SCRIPTS = {"YMCA": YMCA, "conductor": CONDUCTOR}
CATCH = (("Stand", 0.0), ("Catch", 1.5))  # S2 Fig. 6
# S2 Fig. 1: the same swing with the elbows straight and bent
SWINGS = {"straight": (("Stand", 0.0), ("Ahead", 1.0)), "bent": (("Bent", 0.0), ("AheadBent", 1.0))}


def pose_angles(model: engine.Model, name: str) -> np.ndarray:
    """(n, 3) [rad]"""
    out = np.zeros((len(model), 3))
    for body, angles in POSES[name].items():
        out[model.index(body)] = np.radians(angles)
    return out


def perform(model: engine.Model, script, fps: float, rest: float = 0.25) -> engine.Motion:
    """A smooth motion through the script's poses, whose keys are the poses at their times; velocities are its own."""
    times = np.array([when for _, when in script])
    poses = np.array([pose_angles(model, pose) for pose, _ in script])
    frames = int(np.ceil((times[-1] + rest) * fps)) + 1
    t = np.minimum(np.arange(frames) / fps, times[-1])
    angles = CubicSpline(times, poses, bc_type="clamped")(t)
    bodies = np.flatnonzero((model.kinds != FREE) & (model.kinds != FIXED))
    turns = joint_rotations(model, poses)[1:, bodies]
    keys = engine.Keys(
        np.repeat(bodies, len(times) - 1), np.tile(times[1:] * fps, len(bodies)),
        np.swapaxes(turns, 0, 1).reshape(-1, 4),
    )  # fmt: skip
    return engine.Motion.build(model, fps, joint_rotations(model, angles), keys=keys)
