"""One simulation: its tables, the frames it has run, and its results.

Owns the set-up of a shot and its output. Must not know what happens inside a step.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from ..compile.decorators import warn_if_plain
from ..compile.precompile import ensure_built
from ..contact.step_size import steps_needed
from ..errors import SettingError, SimulationError
from ..math import quaternions as rot
from ..model.model import BALL, FREE, HINGE, UNIVERSAL, Model
from ..model.motion import Motion
from ..model.result import Arrivals, ChannelValues, Contacts, Result
from ..model.scene import Scene
from ..step.run_frames import new_record, run_frames
from ..tables import control as C, motion as M, record as RE
from ..tables.aim import new_aim
from ..tables.classes import Aim, Record, State
from ..tables.state import new_state
from ..tables.work import new_work
from . import limbs
from .assemble import Actor, Cast
from .checkpoints import Memory
from .unmet_contacts import forced_warnings


class Shot:
    """One simulation, resumable frame by frame."""

    def __init__(
        self,
        actors: Sequence[Actor],
        scene: Scene | None,
        steps_per_second: float,
        numbers: Sequence[int] | None = None,
        size: float | None = None,
        apart: bool = False,
        easy: bool = False,
    ) -> None:
        """numbers and size: if the actors are a part of more, see `Cast`; apart: simulate limbs in parallel; easy:
        fewer steps where those suffice."""
        if not (np.isfinite(steps_per_second) and steps_per_second > 0.0):
            raise SettingError(f"Steps per second is {steps_per_second}: give a number above zero.")
        warn_if_plain()
        scene = scene or Scene()
        self.cast = Cast(actors, scene, numbers, size)
        self.frames = self.cast.frames
        self.done = 0
        self.dt = 1.0 / self.cast.fps
        self.gravity = tuple(float(x) for x in scene.gravity)
        self.tree, self.target, self.control = self.cast.tree, self.cast.target, self.cast.control
        self.state = new_state(self.tree, len(self.target.key))
        self.aim = new_aim(self.tree)
        self.work = new_work(self.tree)
        self.touch = self.cast.touch()
        if easy:
            bounded = self.touch is not None and not limbs.limits_alone(self.touch)
            steps_per_second = steps_needed(self.tree, self.control, bounded, steps_per_second)
        # per second, not per frame: the frame rate must not change the motion (METHODS §1b)
        self.substeps = max(1, math.ceil(steps_per_second / self.cast.fps - 1e-9))
        self.memory: Memory | None = None
        self.record = new_record(self.tree, self.frames, self.touch is not None)
        if self.frames == 1:  # nothing to simulate: the result is the source
            turns = [motion.rotations[0] for motion in self.cast.motions]
            self.record.body[0, 1:, RE.TURN : RE.TURN + 4] = np.concatenate(turns)
            self.record.body[0, 1:, RE.SPOT : RE.SPOT + 3] = self.target.curve[0, 1:, M.ANCHOR_AT : M.ANCHOR_AT + 3]
        couples = any(actor.controller.couples_limbs for actor in actors)
        self.limbs = limbs.split(self) if apart and not couples else ()

    def run(self, last: int) -> None:
        """Simulate up to frame index `last`."""
        bad = self.advance(last)
        if bad >= 0:
            raise self.error(bad)

    def advance(self, last: int) -> int:
        """Simulate up to frame index `last`. Returns the first frame with a bad number, or −1; it stops there."""
        if last <= self.done:
            return -1
        ensure_built("alone", *([] if self.touch is None else ["touching"]))
        first, ways = self.done, [limbs.Way(part) for part in self.parts]
        stops = self._stops(last)
        limbs.run(ways, lambda way: self._go_on(way, first, stops))
        bad = min((way.bad for way in ways if way.bad >= 0), default=-1)
        reached = stops[: min(len(way.kept) for way in ways)]
        self.done = reached[-1] if reached else first
        if self.memory is not None:
            self.memory.keep(reached, [way.kept for way in ways])
        limbs.gather(self.limbs, self.record, first, max(self.done, bad))
        return bad

    @property
    def parts(self) -> Sequence[Shot | limbs.Limb]:
        """What is stepped: the limbs, or the undivided shot."""
        return self.limbs or (self,)

    def _stops(self, last: int) -> list[int]:
        """The frames up to `last` at which parts stop, including `last`."""
        if self.memory is not None:
            return self.memory.stops(self.done, last)
        return [*range(self.done + limbs.STRETCH, last, limbs.STRETCH), last] if self.limbs else [last]

    def _go_on(self, way: limbs.Way, first: int, stops: Sequence[int]) -> bool:
        """Run a part to its next stop and save its state there, if states are saved. Returns True if there are more
        stops."""
        done, part = len(way.kept), way.part
        way.bad = self._run_frames(part, part.state, part.aim, stops[done - 1] if done else first, stops[done])
        if way.bad >= 0:
            return False
        way.kept.append(None if self.memory is None else self.memory.copy_of(part, stops[done]))
        return done + 1 < len(stops)

    def _run_frames(self, part: Shot | limbs.Limb, state: State, aim: Aim, first: int, last: int) -> int:
        return run_frames(
            part.tree, part.target, part.control, state, aim, part.work, part.touch, part.record,
            first, last, self.substeps, self.dt, self.gravity,
        )  # fmt: skip

    def remember(self, memory: Memory) -> None:
        """Called before it has run: resume at the first difference from the last shot, and save states."""
        memory.begin(self)

    def error(self, frame: int) -> SimulationError:
        """The error for a bad number at frame index `frame`."""
        bad = ~np.isfinite(self.record.body[frame]).all(axis=1)
        name = self.cast.name_of(int(np.argmax(bad)) if bad.any() else 1)
        start = self.cast.actors[0].motion.frame_start
        return SimulationError(
            f"Body '{name}' flew apart at frame {frame + start}: raise the steps per second, "
            "or look for a key that jumps there."
        )

    def results(self) -> list[Result]:
        """The simulated motions in the sources' terms: one result for each actor."""
        return self.results_with(self.objects(), self.contacts())

    def results_with(self, objects: dict[str, tuple[np.ndarray, np.ndarray]], contacts: Contacts) -> list[Result]:
        """The same with objects and contacts of a larger shot."""
        cast, model, record = self.cast, self.cast.model, self.record
        rotations, positions = record.body[:, 1:, RE.TURN : RE.TURN + 4], record.body[:, 1:, RE.SPOT : RE.SPOT + 3]
        torques, forces = _drive(model, record)
        out = []
        for actor, start in zip(cast.actors, cast.starts, strict=False):
            body = slice(start, start + len(actor.model))
            dofs = slice(*model.dof_starts[[body.start, body.stop]])
            put = self._put(int(start), actor)
            # not validated again: the kernels have checked every number
            motion = Motion(
                actor.motion.fps,
                _put_in(put, actor.motion.rotations, rotations[:, body]),
                _put_in(put, actor.motion.positions, positions[:, body]),
                np.zeros((self.frames, len(actor.model)), dtype=bool),
                actor.motion.frame_start,
            )
            for array in (motion.rotations, motion.positions, motion.stepped):
                array.setflags(write=False)
            arrivals = self._arrivals(int(start), len(actor.model), actor)
            rates = record.rate[:, 0, dofs]
            told = forced_warnings(cast, record.forced, int(start), actor)
            found = (motion, torques[:, body], forces[:, body], rates, objects, contacts, arrivals)
            out.append(self._with_channels(Result(*found, warnings=told), actor, int(start)))
        return out

    def _with_channels(self, result: Result, actor: Actor, start: int) -> Result:
        """The result with its controller's channels."""
        controller = actor.controller
        if not controller.channels:
            return result
        found = dict(controller.measure(actor.model, actor.motion, result))
        rows = slice(start + 1, start + 1 + len(actor.model))
        for each in controller.channels:
            if each.column is not None:
                values = self.record.channel[:, rows, each.column].copy()
                found[each.name] = values if each.per == "body" else values[:, 0]
        values = {each.name: ChannelValues(found[each.name], each.unit) for each in controller.channels}
        return dataclasses.replace(result, channels=values)

    def _put(self, start: int, actor: Actor) -> np.ndarray:
        """(frames, n, 1) where keys with constant interpolation put an animated body: the kernels recorded the pose
        just before."""
        wanted = self.control.behaviour[:, start + 1 : start + 1 + len(actor.model)] == C.ANIMATED
        return (np.broadcast_to(wanted, actor.motion.stepped.shape) & actor.motion.stepped)[..., None]

    def _arrivals(self, start: int, count: int, actor: Actor) -> Arrivals:
        """How the actor's keys were met, by time."""
        first = self.target.key_first[start + 1 : start + count + 2]
        rows = np.arange(first[0], first[-1])
        bodies = np.repeat(np.arange(count), np.diff(first))
        off = self._met()
        met = ~np.isnan(off[rows, 0])
        rows, bodies = rows[met], bodies[met]
        order = np.argsort(self.target.key[rows, M.WHEN], kind="stable")
        rows, bodies = rows[order], bodies[order]
        names = tuple(actor.model.names[b] for b in bodies)
        frames = self.target.key[rows, M.WHEN] + actor.motion.frame_start
        return Arrivals(names, frames, *_sizes(actor.model, bodies, off[rows]))

    def _met(self) -> np.ndarray:
        """(k, 6) errors at the keys so far, including those on this very frame: the shot may continue."""
        if not 0 < self.done < self.frames - 1 or self.limbs:  # limbs have no keys
            return self.state.off
        state, aim = (type(table)(*(array.copy() for array in table)) for table in (self.state, self.aim))
        self._run_frames(self, state, aim, self.done, self.done)
        return state.off

    def marks(self) -> tuple[np.ndarray, np.ndarray]:
        """Frames (k,) and marks (k, MARK_COLUMNS) of all recorded contacts."""
        frames, slots = np.nonzero(self.record.touch[:, :, RE.MARK_A] >= 0.0)
        return frames, self.record.touch[frames, slots]

    def contacts(self) -> Contacts:
        """The contacts, frame by frame."""
        frames, marks = self.marks()
        known = np.array([self.cast.name_of(row) for row in range(len(self.cast.model) + 1)], dtype=object)
        names = [tuple(known[marks[:, side].astype(int)]) for side in (RE.MARK_A, RE.MARK_B)]
        point, normal, force = (marks[:, c : c + 3] for c in (RE.MARK_POINT, RE.MARK_NORMAL, RE.MARK_FORCE))
        return Contacts(frames, *names, point, normal, force)

    def objects(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """The motion of the free colliders."""
        cast, body = self.cast, self.record.body[:, 1:]
        found = {}
        for collider, start in zip(cast.colliders, cast.starts[len(cast.actors) :], strict=True):
            if collider.moves == "FREE":
                found[collider.name] = (body[:, start, RE.SPOT : RE.SPOT + 3], body[:, start, RE.TURN : RE.TURN + 4])
        return found


def _put_in(put: np.ndarray, source: np.ndarray, simulated: np.ndarray) -> np.ndarray:
    return np.where(put, source, simulated) if put.any() else simulated.copy()


def _sizes(model: Model, bodies: np.ndarray, off: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles and angular speeds (k,) of joint errors (k, 6), in each joint's own coordinates."""
    angles, rates = np.linalg.norm(off[:, :3], axis=1), np.linalg.norm(off[:, 3:], axis=1)
    cross = model.kinds[bodies] == UNIVERSAL
    axes, (a, b), (v, w) = model.axes[bodies[cross]], off[cross, :2].T, off[cross, 3:5].T
    overlap = np.sum(axes[:, 0] * axes[:, 1], axis=1)
    # two successive rotations combine to one; the angle between their axes is constant
    half = np.cos(0.5 * a) * np.cos(0.5 * b) - overlap * np.sin(0.5 * a) * np.sin(0.5 * b)
    angles[cross] = 2.0 * np.arccos(np.clip(np.abs(half), 0.0, 1.0))
    rates[cross] = np.sqrt(v * v + w * w + 2.0 * overlap * v * w)
    return angles, rates


def _drive(model: Model, record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Generalized torques as vectors: (frames, n, 3) in body axes, and roots' forces in world axes."""
    frames, n = len(record.body), len(model)
    torques, forces = np.zeros((frames, n, 3)), np.zeros((frames, n, 3))
    tau, first = record.rate[:, 1], model.dof_starts[:-1]
    three = np.arange(3)
    turn, free = model.kinds >= BALL, model.kinds == FREE
    torques[:, turn] = tau[:, first[turn, None] + three]
    forces[:, free] = tau[:, first[free, None] + 3 + three]
    hinge, cross = model.kinds == HINGE, model.kinds == UNIVERSAL
    torques[:, hinge] = tau[:, first[hinge], None] * model.axes[hinge, 0]
    # a universal's torque is the vector whose components along its two present axes are tau
    axis2 = model.axes[cross, 1]
    back = rot.conjugate(rot.about(axis2, record.body[:, 1:][:, cross, RE.SECOND]))
    axis = rot.rotate(back, np.broadcast_to(model.axes[cross, 0], (*back.shape[:-1], 3)))
    one, two = tau[:, first[cross]], tau[:, first[cross] + 1]
    overlap = np.sum(axis * axis2, axis=-1)
    scale = 1.0 / np.maximum(1.0 - overlap**2, 1e-12)
    torques[:, cross] = ((one - overlap * two) * scale)[..., None] * axis
    torques[:, cross] += ((two - overlap * one) * scale)[..., None] * axis2
    return torques, forces
