"""A limp body thrown to the ground, and what is measured of its fall.

Owns the throw (pose, spin, height), its simulation and the measures of the result. Works on the engine alone: `Fall` is
read from a rig by `fall_rigs` and kept in a file. Must not know Blender.
"""

from __future__ import annotations

import dataclasses
import pickle
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from elastic import stored

import engine
from engine.collision.narrow_phase import _apart as boxes_apart, gap_of
from engine.collision.signed_distance import place_shapes
from engine.compile.decorators import entry_point
from engine.contact.tie_rows import room_of_ball
from engine.geometry import shape_table as SH
from engine.geometry.shape_table import new_placed
from engine.math import quaternions as rot
from engine.model.model import BALL, FREE, HINGE, UNIVERSAL
from engine.simulation.simulate import begin
from engine.tables.motion import fit_angles

DROP = 0.3  # [m] from the lowest point to the ground
SPIN = (3.0, 0.0, 0.0)  # [rad/s] of the whole body about its centre of mass, about a horizontal axis
SECONDS = 4.0
FPS, STEPS = 30.0, 240.0
SETTLED, RANGED, AFTER_IMPACT = 3.0, 0.2, 0.1  # [s]
# What is measured of a fall: its limit and its unit.
LIMITS = {
    "turn": (1.0, "°/frame after 3 s"),
    "speed": (0.02, "m/s after 3 s"),
    "outside": (3.0, "° outside its range after 0.2 s"),
    "rate": (40.0, "rad/s, more than 0.1 s after an impact"),
    "ground": (5.0, "mm in the ground"),
    "itself": (10.0, "mm in itself"),
    "growth": (1e-6, "of the first energy gained in a frame"),
}


@dataclass(frozen=True, eq=False)
class Fall:
    """Who falls.

    rotations, positions    (n, 4), (n, 3) the pose to begin with, as in a `Motion`
    scene                   gravity and the pairs that never touch; it has no ground yet
    overlapping             pairs of bodies whose shapes overlap at rest or in the pose to begin with
    height                  [m]
    roles                   (n,) what each body is
    """

    name: str
    model: engine.Model
    rotations: np.ndarray
    positions: np.ndarray
    controller: engine.Controller
    scene: engine.Scene
    overlapping: frozenset[tuple[int, int]]
    height: float
    roles: tuple[str, ...]

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(self))


class _Unpickler(pickle.Unpickler):
    """Reads what the add-on's engine (`heft.engine`) wrote as objects of `engine`."""

    def find_class(self, module: str, name: str):
        return super().find_class(module.removeprefix("heft."), name)


def load(path: Path) -> Fall:
    with path.open("rb") as file:
        return _Unpickler(file).load()


def placed(model: engine.Model, rotations: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """World places (..., n, 3) and rotations (..., n, 4) of bodies."""
    places, turns = np.empty_like(positions), np.empty_like(rotations)
    for i, parent in enumerate(model.parents):
        own = rot.multiply(model.rest_rotations[i], rotations[..., i, :])
        places[..., i, :], turns[..., i, :] = positions[..., i, :], own
        if parent >= 0:
            above = turns[..., parent, :]
            places[..., i, :] = places[..., parent, :] + rot.rotate(above, positions[..., i, :])
            turns[..., i, :] = rot.multiply(above, own)
    return places, turns


def motion_of(fall: Fall, fps: float = FPS, seconds: float = SECONDS) -> engine.Motion:
    """The body held in its pose and spinning as one piece from the first frame on; what is limp takes over the
    speed of the first frame."""
    model, frames = fall.model, round(seconds * fps) + 1
    places, turns = placed(model, fall.rotations, fall.positions)
    center = model.masses @ (places + rot.rotate(turns, model.centers)) / model.total_mass
    rotations, positions = np.tile(fall.rotations, (frames, 1, 1)), np.tile(fall.positions, (frames, 1, 1))
    time_of = (np.arange(frames) / fps)[:, None]
    turn, spin = rot.exp(time_of * np.array(SPIN)), np.array(SPIN)
    for i in np.flatnonzero(model.parents < 0):
        world = rot.multiply(turn, rot.multiply(model.rest_rotations[i], fall.rotations[i])[None])
        rotations[:, i] = rot.multiply(rot.conjugate(model.rest_rotations[i])[None], world)
        # not round the circle: the first two frames give the speed
        positions[:, i] = places[i] + time_of * np.cross(spin, places[i] - center)
    return engine.Motion.build(model, fps, rot.continuous(rotations), positions)


def lowest(fall: Fall) -> float:
    """The lowest point of the body's shapes in its pose [m]."""
    places, turns = placed(fall.model, fall.rotations, fall.positions)
    return min(
        float((places[i] + rot.rotate(turns[i], ball[:3]))[2] - ball[3])
        for i, shapes in enumerate(fall.model.shapes)
        for shape in shapes
        for ball in shape.bearing()
    )


@dataclass(frozen=True, eq=False)
class Fallen:
    """A simulated fall: its shot, result and time [s]; places, turns and speeds of bodies, frame by frame."""

    fall: Fall
    shot: object
    result: engine.Result
    seconds: float
    places: np.ndarray
    turns: np.ndarray
    spins: np.ndarray  # (frames, n, 3) angular velocities in the world [rad/s]
    drifts: np.ndarray  # (frames, n, 3) velocities of the anchors [m/s]

    @property
    def fps(self) -> float:
        return self.result.motion.fps

    @property
    def centers(self) -> np.ndarray:
        """(frames, n, 3) centres of mass."""
        return self.places + rot.rotate(self.turns, self.fall.model.centers)

    @property
    def center(self) -> np.ndarray:
        """(frames, 3) centre of mass of all."""
        masses = self.fall.model.masses
        return np.einsum("n,fnk->fk", masses, self.centers) / masses.sum()


def new_shot(fall: Fall, fps: float = FPS, steps: float = STEPS, seconds: float = SECONDS):
    """The shot of a fall, on the ground."""
    scene = dataclasses.replace(fall.scene, ground=engine.Ground(lowest(fall) - DROP))
    return begin([engine.Actor(fall.model, motion_of(fall, fps, seconds), fall.controller)], scene, steps, easy=True)


def drop(fall: Fall, fps: float = FPS, steps: float = STEPS, seconds: float = SECONDS) -> Fallen:
    """Simulate a fall."""
    new_shot(fall, fps, steps, seconds).run(1)  # compiled code is loaded here
    shot = new_shot(fall, fps, steps, seconds)
    start = time.perf_counter()
    shot.run(shot.frames - 1)
    taken = time.perf_counter() - start
    result = shot.results()[0]
    places, turns = placed(fall.model, result.motion.rotations, result.motion.positions)
    spins, drifts = _speeds(fall.model, places, turns, result.velocities)
    return Fallen(fall, shot, result, taken, places, turns, spins, drifts)


def _speeds(model: engine.Model, places, turns, rates) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocities and velocities of anchors (frames, n, 3) in the world, from generalized velocities."""
    spins, drifts = np.zeros_like(places), np.zeros_like(places)
    for i, parent in enumerate(model.parents):
        first, end = model.dof_starts[i], model.dof_starts[i + 1]
        if model.kinds[i] == UNIVERSAL:
            raise ValueError(f"Body '{model.names[i]}' has a universal joint, whose speeds are not worked out here.")
        own = rates[:, first:end]
        if model.kinds[i] == HINGE:
            own = own * model.axes[i, 0]
        if parent >= 0:
            spins[:, i] = spins[:, parent]
            drifts[:, i] = drifts[:, parent] + np.cross(spins[:, parent], places[:, i] - places[:, parent])
        if end > first:
            spins[:, i] += rot.rotate(turns[:, i], own[:, :3])
        if model.kinds[i] == FREE:
            drifts[:, i] = own[:, 3:]
    return spins, drifts


def energies(fallen: Fallen) -> np.ndarray:
    """(frames,) kinetic energy and potential energy above the ground [J]."""
    model = fallen.fall.model
    arms = rot.rotate(fallen.turns, model.centers)
    speeds = fallen.drifts + np.cross(fallen.spins, arms)
    own = rot.rotate(rot.conjugate(fallen.turns), fallen.spins)
    kinetic = 0.5 * np.einsum("n,fnk,fnk->f", model.masses, speeds, speeds)
    kinetic += 0.5 * np.einsum("nij,fni,fnj->f", model.inertias, own, own)
    gravity = np.array(fallen.fall.scene.gravity)
    floor = np.array([0.0, 0.0, lowest(fallen.fall) - DROP])
    height = np.einsum("n,fnk,k->f", model.masses, fallen.places + arms - floor, gravity)
    return kinetic - height


def measure(fallen: Fallen) -> tuple[dict[str, float], dict[str, str]]:
    """The measures of `LIMITS`, and of each where it was worst."""
    fps, names = fallen.fps, fallen.fall.model.names
    found, where = {}, {}

    def note(what: str, values: np.ndarray, first: int, labels, rate: float = fps) -> None:
        """The largest of values (frames, k) from frame `first` on, at `rate` frames a second."""
        values = values[first:]
        if values.size:
            frame, k = np.unravel_index(int(np.argmax(values)), values.shape)
            found[what], where[what] = float(values[frame, k]), f"{labels[k]} at {(frame + first) / rate:.2f} s"
        else:
            found[what], where[what] = 0.0, ""

    q = fallen.result.motion.rotations
    steps = np.degrees(np.linalg.norm(rot.log(rot.multiply(rot.conjugate(q[:-1]), q[1:])), axis=-1))
    settled = round(SETTLED * fps)
    note("turn", steps, settled, names)
    note("speed", _point_speeds(fallen), settled, names)
    note("outside", np.degrees(excursions(fallen)), round(RANGED * fps) + 1, names)
    # with every step a frame: a blow that parts bodies again within a frame is one, too
    fine = drop(fallen.fall, fallen.shot.substeps * fps, fallen.shot.substeps * fps)
    note("rate", np.where(_after_impacts(fine)[:, None], 0.0, joint_rates(fine)), 0, names, fine.fps)
    grounds, selves, labels = depths(fallen)
    note("ground", 1e3 * grounds, 0, names)
    note("itself", 1e3 * selves, 0, labels)
    energy = energies(fallen)
    note("growth", (np.diff(energy) + stored(fallen))[:, None] / energy[0], 0, [""])
    return found, where


def joint_rates(fallen: Fallen) -> np.ndarray:
    """(frames, n) how fast joints turn [rad/s]; roots have none."""
    model = fallen.fall.model
    held = np.flatnonzero(model.parents >= 0)
    out = np.zeros(fallen.spins.shape[:2])
    out[:, held] = np.linalg.norm(fallen.spins[:, held] - fallen.spins[:, model.parents[held]], axis=-1)
    return out


def _point_speeds(fallen: Fallen) -> np.ndarray:
    """(frames, n) the speed of a body's fastest point: its anchor, its centre of mass, the ends of its shapes [m/s]."""
    model = fallen.fall.model
    out = np.zeros(fallen.spins.shape[:2])
    for i in range(len(model)):
        points = [np.zeros(3), model.centers[i], *(ball[:3] for shape in model.shapes[i] for ball in shape.balls())]
        for point in points:
            arm = rot.rotate(fallen.turns[:, i], np.broadcast_to(point, (len(out), 3)))
            speed = fallen.drifts[:, i] + np.cross(fallen.spins[:, i], arm)
            out[:, i] = np.maximum(out[:, i], np.linalg.norm(speed, axis=-1))
    return out


def _after_impacts(fallen: Fallen) -> np.ndarray:
    """(frames,) whether bodies met that had not touched for a tenth of a second, at most such a time before."""
    contacts, count = fallen.result.contacts, len(fallen.result.motion)
    span = round(AFTER_IMPACT * fallen.fps)
    out = np.zeros(count, dtype=bool)
    last: dict[tuple[str, str], int] = {}
    for frame, a, b in zip(contacts.frames, contacts.a, contacts.b, strict=True):
        if frame - last.get((a, b), -count) > span:
            # the contact began in the frame before
            out[max(0, frame - 1) : frame + span + 1] = True
        last[a, b] = frame
    return out


def excursions(fallen: Fallen) -> np.ndarray:
    """(frames, n) how far joints are outside their ranges [rad], 0 within."""
    model, q = fallen.fall.model, fallen.result.motion.rotations
    out = np.zeros(q.shape[:2])
    bound = fallen.shot.touch.holds.bound
    _outside_balls(np.concatenate([[0], model.kinds]), bound, np.ascontiguousarray(q), out)
    hinges = np.flatnonzero(model.kinds == HINGE)
    if len(hinges):
        angles = fit_angles(model, hinges, q[:, hinges], 0)[..., 0]
        low, high = model.limits[hinges, 0], model.limits[hinges, 1]
        out[:, hinges] = np.maximum(0.0, np.maximum(low - angles, angles - high))
    return out


@entry_point
def _outside_balls(kinds, bound, q, out):
    for f in range(len(q)):
        for i in range(1, len(kinds)):
            if kinds[i] == BALL:
                c = (q[f, i - 1, 0], q[f, i - 1, 1], q[f, i - 1, 2], q[f, i - 1, 3])
                gap, _, low, high, _ = room_of_ball(bound, i, c)
                out[f, i - 1] = max(0.0, -gap, -low, -high)


def depths(fallen: Fallen) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """How deep bodies are in the ground (frames, n) and in one another (frames, pairs) [m], and the pairs' names.

    Neighbours do not count, nor do bodies that overlap at rest or from the start.
    """
    model, shapes = fallen.fall.model, fallen.shot.touch.shapes
    bodies = shapes.link[:, SH.BODY]
    count = len(bodies)
    plane = int(np.flatnonzero(shapes.link[:, SH.KIND] == SH.PLANE)[0])
    solid = [s for s in range(count) if s != plane]
    where = np.zeros((len(fallen.places), len(model) + 1, 7))
    where[:, 0, 3] = 1.0
    where[:, 1:, :3], where[:, 1:, 3:] = fallen.places, fallen.turns
    grounds = np.zeros((len(where), len(model)))
    down = _overlap_depths(shapes, where, np.array([(min(s, plane), max(s, plane)) for s in solid]))
    for k, s in enumerate(solid):
        np.maximum(grounds[:, bodies[s] - 1], down[:, k], out=grounds[:, bodies[s] - 1])
    apart = {frozenset(pair) for pair in fallen.fall.overlapping}
    apart |= {frozenset((i, int(parent))) for i, parent in enumerate(model.parents)}
    pairs = [
        (s, t)
        for s in solid
        for t in solid
        if s < t and bodies[s] != bodies[t] and frozenset((bodies[s] - 1, bodies[t] - 1)) not in apart
    ]
    selves = _overlap_depths(shapes, where, np.array(pairs, dtype=np.int64).reshape(-1, 2))
    labels = [f"{model.names[bodies[s] - 1]} in {model.names[bodies[t] - 1]}" for s, t in pairs]
    return grounds, selves, labels


def _overlap_depths(shapes, where: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """(frames, pairs) how deep pairs (k, 2) of shapes overlap [m], with the bodies at `where` (frames, n+1, 7)."""
    out = np.zeros((len(where), len(pairs)))
    if len(pairs):
        _fill_depths(shapes, np.ascontiguousarray(where), new_placed(shapes), pairs, out)
    return out


@entry_point
def _fill_depths(shapes, where, placed_shapes, pairs, out):
    for f in range(len(where)):
        place_shapes(shapes, where[f], placed_shapes)
        for k in range(len(pairs)):
            a, b = pairs[k, 0], pairs[k, 1]
            if not boxes_apart(placed_shapes, a, b, 0.0):
                gap, _, _, _ = gap_of(shapes, placed_shapes, a, b)
                out[f, k] = max(0.0, -gap)
