"""Fit control channels so that bodies reach wanted poses: key, evaluate, correct, repeat.

Owns the iterations. Each handles all frames and all controls at once: key them, evaluate the rig, correct by the
remaining error. Controls that turn whole limbs come first; tweaks take the remaining error. Must not know where the
poses come from, nor how a control was found.

A control is turned in the world as its body must turn, about the control's own head, or moved with the body. What it is
parented to moves in the same iteration. Its anchor is the nearest control above that carries it fully (`Responses`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np

from ...engine.math import rotations
from ..blender import actions, key_spans, sample_poses
from ..blender.sample_poses import Samples
from ..rig import physical_ends
from . import probe_controls, write_keys
from .control_map import Mapping, Switch
from .probe_controls import STILL, Responses, is_whole, value_of

# Iterations for each kind of control, with one more at the end. Corrections below these need no further iteration
# [degrees, parts of the height].
ROUNDS, AGAIN = 4, 2
CALM_ANGLE, CALM_OFFSET = 0.01, 5e-6
# Controls that depend on one another in unpredictable ways are set in successive iterations, at most this many.
MOST_WAVES = 8
# A control whose channels change by less than this is not keyed.
IDLE_ANGLE, IDLE_OFFSET = 0.01, 1e-5
# A tweak is keyed only if its body deviates by more than this.
TWEAK_ANGLE, TWEAK_OFFSET = 0.05, 1e-4


@dataclass(eq=False)
class _Control:
    """A control, its bodies, and its channels on every frame.

    quats     (frames, 4), places and scales (frames, 3)
    start     quats and places of the source
    moves     True if its location is keyed
    anchor    the control that carries it
    wave      the iteration in which it is set first
    loose     bodies that take only part of its twist
    """

    bone: bpy.types.PoseBone
    part: str
    moves: bool
    bodies: list[str] = field(default_factory=list)
    anchor: str = ""
    wave: int = 0
    loose: set[str] = field(default_factory=set)
    quats: np.ndarray | None = None
    places: np.ndarray | None = None
    scales: np.ndarray | None = None
    start: tuple[np.ndarray, np.ndarray] | None = None
    changed: bool = False
    tried: bool = False

    @property
    def name(self) -> str:
        return self.bone.name

    def basis(self) -> np.ndarray:
        """(frames, 4, 4) matrices that the channels make."""
        out = np.tile(np.eye(4), (len(self.quats), 1, 1))
        out[:, :3, :3] = rotations.to_matrix(self.quats) * self.scales[:, None, :]
        out[:, :3, 3] = self.places
        return out


class Fit:
    """Fits one rig's controls to wanted poses. bag: of the rig's active action, in which they are tried."""

    def __init__(self, rig, scene, bag, mapping: Mapping, found: Responses, wanted: Samples, chosen: set[str] | None):
        self.rig, self.scene, self.bag, self.wanted, self.chosen = rig, scene, bag, wanted, chosen
        self.switches = mapping.switches
        self.frames = wanted.frames
        self.height = physical_ends.height(rig)
        self.places = {name: i for i, name in enumerate(wanted.names)}
        self.controls = _sorted(rig, mapping, found, chosen)
        self.now = sample_poses.finish(sample_poses.sample(rig, scene, self.frames, bases=True))
        for control in self.controls:
            matrices = self.now.bases[:, self.places[control.name]].astype(np.float64)
            turns, control.scales = rotations.split(matrices[:, :3, :3])
            control.quats, control.places = rotations.from_matrix(turns), matrices[:, :3, 3].copy()
            control.start = control.quats, control.places

    def run(self, played: tuple[int, int]) -> None:
        """Key the controls until their bodies reach the wanted poses, or stop getting closer."""
        limbs = [control for control in self.controls if control.part != "REST"]
        tweaks = [control for control in self.controls if control.part == "REST"]
        waves = max((control.wave for control in limbs), default=0)
        self._rounds(limbs, played, TWEAK_ANGLE if tweaks else CALM_ANGLE, ROUNDS + waves, waves)
        tweaked = {body for control in tweaks for body in control.bodies}
        for control in limbs:
            # A body without a tweak may have only its location off. Then its control is moved after all.
            if not control.moves and not tweaked.intersection(control.bodies) and self._is_displaced(control):
                control.moves = True
                tweaks.append(control)
        self._hold_still(tweaks)
        tweaks.sort(key=self.controls.index)
        self._rounds(tweaks, played, CALM_ANGLE, ROUNDS)
        # A tweak that moved the start of a limb may have turned the limb, if its end did not follow.
        turned = [control for control in limbs if self._is_turned(control)]
        if turned and tweaks:
            self._rounds(turned, played, TWEAK_ANGLE, AGAIN)
            self._rounds(tweaks, played, CALM_ANGLE, AGAIN)

    def _hold_still(self, tweaks: list[_Control]) -> None:
        """Keep controls unmoved whose bodies do not follow: their correction would grow with every iteration."""
        pairs = [(control.name, control.bodies[0]) for control in tweaks]
        for control, part in zip(
            tweaks, probe_controls.shifts(self.rig, self.scene, pairs, self.switches), strict=True
        ):
            control.moves = bool(is_whole(part))

    def _rounds(
        self, controls: list[_Control], played: tuple[int, int], calm: float, most: int, waves: int = 0
    ) -> None:
        """Correct, key and evaluate, at most `most` times. waves: the controls that are added in each iteration."""
        for turn in range(most):
            set_now = [control for control in controls if turn >= min(control.wave, waves)]
            angle, offset = self._correct(controls, set_now)
            if angle < calm and offset < CALM_OFFSET and turn >= waves:
                break
            self._write(self.bag, [control for control in self.controls if control.changed], played)
            self.now = sample_poses.finish(sample_poses.sample(self.rig, self.scene, self.frames))

    def _is_turned(self, control: _Control) -> bool:
        """True if a body of the control does not point where it should."""
        axes = [[side(name)[:, :3, 1] for side in (self._pose, self._aim)] for name in control.bodies]
        cosines = [(a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1) for a, b in axes]
        return bool(np.min(cosines) < np.cos(np.radians(TWEAK_ANGLE)))

    def _is_displaced(self, control: _Control) -> bool:
        if any(control.bone.lock_location) or len(control.bodies) > 1:
            return False
        if control.bone.bone.use_connect and control.bone.parent is not None:
            return False
        pose, aim = self._pose(control.bodies[0]), self._aim(control.bodies[0])
        return bool(np.linalg.norm(aim[:, :3, 3] - pose[:, :3, 3], axis=1).max() > TWEAK_OFFSET * self.height)

    def write(self, bag, played: tuple[int, int], reduce: float, tally: write_keys.Tally) -> None:
        """Key every control whose channels differ from the source."""
        self._write(bag, [control for control in self.controls if self._differs(control)], played, reduce, tally)

    def _write(self, bag, controls: list[_Control], played, reduce: float = 0.0, tally=None) -> None:
        tally = tally or write_keys.Tally()
        for control in controls:
            target = write_keys.Target(bag, control.bone, self.frames, played, self.height, reduce, tally)
            # A tweak that only moved gets no rotation keys: one channel less to edit.
            turned = control.part != "REST" or self._differs(control, turned_only=True)
            free = turned and not all(control.bone.lock_rotation)
            write_keys.write(target, control.quats if free else None, control.places if control.moves else None)

    def _differs(self, control: _Control, turned_only: bool = False) -> bool:
        angle = np.degrees(rotations.angle_between(control.start[0], control.quats).max())
        offset = np.linalg.norm(control.places - control.start[1], axis=1).max() / self.height
        return bool(angle > IDLE_ANGLE or (offset > IDLE_OFFSET and not turned_only))

    def _pose(self, name: str) -> np.ndarray:
        return self.now.poses[:, self.places[name]].astype(np.float64)

    def _aim(self, name: str) -> np.ndarray:
        """(frames, 4, 4) wanted pose of a body; within its parent if the parent is not baked."""
        aim = self.wanted.poses[:, self.places[name]].astype(np.float64)
        above = self.rig.pose.bones[name].parent
        if self.chosen is None or above is None:
            return aim
        was = self.wanted.poses[:, self.places[above.name]].astype(np.float64)
        frame = self._aim(above.name) if above.name in self.chosen else self._pose(above.name)
        return frame @ np.linalg.pinv(was) @ aim

    def _correct(self, controls: list[_Control], set_now: list[_Control]) -> tuple[float, float]:
        """Correct the controls of this iteration by the errors of their bodies; other controls are only carried along.
        Returns the largest change [degrees, parts of the height]."""
        moves: dict[str, np.ndarray] = {}
        angles, offsets = [0.0], [0.0]
        for control in controls:
            carried = moves.get(control.anchor, np.eye(4))
            here = self._pose(control.name)
            move = self._move(control, here, carried) if control in set_now else None
            if move is None:
                moves[control.name] = np.broadcast_to(carried, here.shape)
                continue
            change = rotations.inverse_or_nearest(here) @ np.linalg.inv(carried) @ move @ here
            angle, offset = self._apply(control, control.basis() @ change, self._step(control, here, carried, move))
            control.tried = True
            moves[control.name] = move
            angles.append(angle)
            offsets.append(offset)
        return max(angles), max(offsets)

    def _move(self, control: _Control, here: np.ndarray, carried: np.ndarray) -> np.ndarray | None:
        """(frames, 4, 4) how the control must move in armature space; None for a tweak that is not needed."""
        swings, twists, loose = [], [], []
        for name in control.bodies:
            pose, aim = self._pose(name), self._aim(name)
            quats = [rotations.from_matrix(rotations.split(m[:, :3, :3])[0]) for m in (pose, aim)]
            off = rotations.to_vector(rotations.multiply(quats[1], rotations.conjugate(quats[0])))
            if control.part == "REST" and not control.changed and self._is_near(pose, aim, off):
                return None
            axis = rotations.to_matrix(quats[0])[:, :, 1]
            along = (off * axis).sum(axis=1, keepdims=True) * axis
            swings.append(off - along)
            (loose if name in control.loose else twists).append(along)
        # A body that takes only part of a twist is corrected once: repeated corrections would wind the control up.
        turn = np.mean(swings, axis=0) + np.mean(twists or (loose if not control.tried else [0.0]), axis=0)
        move = np.tile(np.eye(4), (len(here), 1, 1))
        move[:, :3, :3] = rotations.to_matrix(rotations.from_vector(turn))
        shift = _transformed(carried, here[:, :3, 3]), here[:, :3, 3]
        if control.moves:
            shift = (each[:, :3, 3] for each in (self._aim(control.bodies[0]), self._pose(control.bodies[0])))
        there, at = shift
        move[:, :3, 3] = there - np.einsum("fij,fj->fi", move[:, :3, :3], at)
        return move

    def _is_near(self, pose: np.ndarray, aim: np.ndarray, off: np.ndarray) -> bool:
        far = np.linalg.norm(aim[:, :3, 3] - pose[:, :3, 3], axis=1).max()
        return far < TWEAK_OFFSET * self.height and np.degrees(np.linalg.norm(off, axis=1).max()) < TWEAK_ANGLE

    def _step(self, control: _Control, here: np.ndarray, carried: np.ndarray, move: np.ndarray) -> np.ndarray:
        """(frames, 3) how far the control's location must change, in its own axes, besides what its parent carries
        it."""
        if not control.moves:
            return np.zeros((len(here), 3))
        bone = control.bone.bone
        axes = np.array(bone.matrix_local)[:3, :3] if bone.use_local_location else np.eye(3)
        if bone.parent is not None:
            if bone.use_local_location:
                axes = np.linalg.inv(np.array(bone.parent.matrix_local)[:3, :3]) @ axes
            axes = self._pose(bone.parent.name)[:, :3, :3] @ axes
        way = _transformed(move, here[:, :3, 3]) - _transformed(carried, here[:, :3, 3])
        axes = np.broadcast_to(carried[..., :3, :3] @ axes, (len(here), 3, 3))
        return np.einsum("fij,fj->fi", rotations.inverse_or_nearest(axes), way)

    def _apply(self, control: _Control, basis: np.ndarray, step: np.ndarray) -> tuple[float, float]:
        """Take over the new rotation of (frames, 4, 4) and the step, except locked channels. Returns the change."""
        quats = rotations.from_matrix(rotations.split(basis[:, :3, :3])[0])
        turn = rotations.to_vector(rotations.multiply(rotations.conjugate(control.quats), quats))
        turn[:, list(control.bone.lock_rotation)] = 0.0
        step[:, list(control.bone.lock_location)] = 0.0
        control.quats = rotations.multiply(control.quats, rotations.from_vector(turn))
        control.places = control.places + step
        angle = float(np.degrees(np.linalg.norm(turn, axis=1).max()))
        offset = float(np.linalg.norm(step, axis=1).max() / self.height)
        control.changed = control.changed or angle > IDLE_ANGLE or offset > IDLE_OFFSET
        return angle, offset


def _transformed(matrices: np.ndarray, points: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", matrices[..., :3, :3], points) + matrices[..., :3, 3]


def _sorted(rig, mapping: Mapping, found: Responses, chosen: set[str] | None) -> list[_Control]:
    """The controls with their bodies and anchors, carriers before those they carry."""
    controls: dict[str, _Control] = {}
    for entry in mapping.controls:
        if chosen is not None and entry.body not in chosen:
            continue
        control = controls.setdefault(
            entry.control, _Control(rig.pose.bones[entry.control], entry.part, entry.part != "ROTATION")
        )
        control.bodies.append(entry.body)
        if entry.control in found.rows and not is_whole(found.of(entry.control, entry.body)[1]):
            control.loose.add(entry.body)
    for control in controls.values():
        control.loose |= {body for body in control.bodies if _twisted_from_below(found, controls, control.name, body)}
    depth = {
        name: sum(_takes_along(found, other, name) for other in controls) if name in found.columns else 0
        for name in controls
    }
    for name, control in controls.items():
        above = [other for other in controls if _takes_along(found, other, name)]
        control.anchor = max(above, key=depth.get, default="")
    ordered = sorted(controls.values(), key=lambda control: depth[control.name])
    _set_waves(ordered, found)
    return ordered


def _set_waves(controls: list[_Control], found: Responses) -> None:
    """Assign iterations: a control that others carry in part, or twice, waits until those are set."""
    known = [control for control in controls if control.name in found.rows]
    for _ in range(MOST_WAVES):
        for control in known:
            for other in known:
                if other is not control and not found.turns_whole(control.name, other.name):
                    partly = found.turns_partly(other.name, control.name)
                    along = found.turns_whole(other.name, control.name)
                    control.wave = min(max(control.wave, other.wave + 1 if partly else other.wave * along), MOST_WAVES)


def _twisted_from_below(found: Responses, controls: dict[str, _Control], control: str, body: str) -> bool:
    """True if other controls also twist the body, and this control carries them: the two corrections would
    alternate."""
    return any(
        _takes_along(found, control, other) and abs(found.of(other, body)[1]) > STILL
        for other in controls
        if other != control and other in found.rows
    )


def _takes_along(found: Responses, control: str, other: str) -> bool:
    return control != other and control in found.rows and found.turns_whole(control, other)


def key_switches(rig: bpy.types.Object, bag, switches: tuple[Switch, ...], frames: np.ndarray, played) -> None:
    """Key the switches at their values on these frames, and at their old values before and after."""
    first, last = int(frames[0]), int(frames[-1])
    for switch in switches:
        bare = float(value_of(rig, switch.path))
        curve = bag.fcurves.find(switch.path) or bag.fcurves.new(switch.path)
        around = actions.values_at(curve, (first - 1, last + 1), bare)
        when, values = (first - 1, first, last + 1), (around[0], switch.value, around[1])
        span = key_spans.Span.plain(when, values, actions.CONSTANT)
        if len(curve.keyframe_points):
            write_keys.write_curve(curve, span, bare, played)
        else:
            key_spans.replace(curve, span)
