"""Checkpoints: resume a simulation at the first frame that a change can reach.

Owns the content of a shot's state at a frame, how often it is saved, and the search for the first frame that a change
can reach. Must not know what happens inside a step.

A step reads the target at its frame and the next, the control table, ties and winds of its frame, and the body's next
key. So where all of these are unchanged, so is every byte of the state. What a step leaves behind besides the state
(the pose it ended in, the forces of contacts, what ties have found) is saved with it; everything else is scratch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..tables import holds as H, motion as M, state as S, work as W
from ..tables.axes import equal_frames, first_difference
from ..tables.classes import Holds, Target
from .limbs import scatter
from .shot_interface import ShotInterface, Tables

MOST = 64  # states saved for a shot
FEWEST_FRAMES = 16  # between two of them


Kept = tuple[list[np.ndarray], np.ndarray]  # for a part: the arrays of `carried`, and the torques recorded so far


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a shot at a frame: copies of the arrays of `carried`, and the torques recorded so far."""

    frame: int
    arrays: tuple[np.ndarray, ...]
    torques: tuple[np.ndarray, ...]


class Memory:
    """The last shot and its saved states. Pass the same object to every simulation of one set-up."""

    def __init__(self) -> None:
        self.shot: ShotInterface | None = None
        self.kept: list[Checkpoint] = []
        self.first = 0  # the frame at which the last simulation resumed
        self._ties: tuple[np.ndarray, ...] = ()

    def begin(self, shot: ShotInterface) -> None:
        """Restore from the last shot what is valid for this one, and save this one's states from now on."""
        ties = _ties_of(shot)
        frame = self._valid_until(shot, ties)
        self.kept = [each for each in self.kept if each.frame <= frame]
        self.first = 0
        if self.kept:
            _restore(shot, self.kept[-1], self.shot)
            self.first = self.kept[-1].frame
            self.kept = [_moved(each, self.shot.target, shot.target) for each in self.kept]
        self.shot, self._ties = shot, ties
        shot.memory = self

    def stops(self, done: int, last: int) -> list[int]:
        """The frames after `done` at which states are saved, up to `last`, and `last` itself."""
        stride = self._stride()
        return [*range((done // stride + 1) * stride, last, stride), last]

    def copy_of(self, part: Tables, frame: int) -> Kept | None:
        """The state of a part at a frame, if states are saved there."""
        if frame % self._stride() or frame >= self.shot.frames - 1:
            return None
        return [array.copy() for array in _carried_by(part)], part.record.rate[frame, 1].copy()

    def keep(self, frames: Sequence[int], parts: Sequence[Sequence[Kept | None]]) -> None:
        """Save the shot's states at these frames, from its parts' copies."""
        for frame, kept in zip(frames, zip(*(each[: len(frames)] for each in parts), strict=True), strict=True):
            if kept[0] is not None and (not self.kept or self.kept[-1].frame < frame):
                arrays = tuple(array for each, _ in kept for array in each)
                self.kept.append(Checkpoint(frame, arrays, tuple(torque for _, torque in kept)))

    def _stride(self) -> int:
        return max(FEWEST_FRAMES, math.ceil(self.shot.frames / MOST))

    def _valid_until(self, shot: ShotInterface, ties: tuple[np.ndarray, ...]) -> int:
        """The last frame at which the last shot's state is valid for this one too; 0 if they differ from the start."""
        if self.shot is None or not self.kept or not _same_tables(self.shot, shot):
            return 0
        if any(not np.array_equal(a, b) for a, b in zip(self._ties, ties, strict=True)):
            return 0
        return min(self.shot.done, *_limits(self.shot, shot))


def carried(shot: ShotInterface) -> Iterator[np.ndarray]:
    """All arrays that one step passes on to the next."""
    for part in shot.parts:
        yield from _carried_by(part)


def _carried_by(part: Tables) -> Iterator[np.ndarray]:
    yield from part.state
    yield from part.aim
    slot = part.work.slot[W.NOW]
    yield from (part.work.poses[slot], part.work.axes[slot])
    if part.touch is not None:
        found, rows, holds = part.touch.found, part.touch.rows, part.touch.holds
        yield from (found.old, found.old_meet, rows.count, holds.tie, holds.tie_link)


def _ties_of(shot: ShotInterface) -> tuple[np.ndarray, ...]:
    """Ties before they are switched on, which writes into them."""
    return () if shot.touch is None else (shot.touch.holds.tie.copy(), shot.touch.holds.tie_link.copy())


def _restore(shot: ShotInterface, checkpoint: Checkpoint, last: ShotInterface) -> None:
    """Bring a shot that has not begun to the frame of a saved state of the last one."""
    frame = checkpoint.frame
    checkpoint = _moved(checkpoint, last.target, shot.target)
    for here, kept in zip(carried(shot), checkpoint.arrays, strict=True):
        here[...] = kept
    for here, there in zip(shot.record, last.record, strict=True):
        here[: frame + 1] = there[: frame + 1]
    scatter(shot.limbs, shot.record, frame)
    for part, torque in zip(shot.parts, checkpoint.torques, strict=True):
        part.record.rate[frame, 1] = torque
    shot.done = frame


# --- what a change can reach ---------------------------------------------------------------


def _same_tables(old: ShotInterface, new: ShotInterface) -> bool:
    """True if everything that applies to the whole shot is unchanged."""
    if (old.frames, old.dt, old.substeps, old.gravity) != (new.frames, new.dt, new.substeps, new.gravity):
        return False
    if (old.touch is None) != (new.touch is None) or old.cast.numbers != new.cast.numbers:
        return False
    if [limb.rows.tolist() for limb in old.limbs] != [limb.rows.tolist() for limb in new.limbs]:
        return False
    pairs = [*zip(old.tree, new.tree, strict=True), (old.target.moving, new.target.moving)]
    if new.touch is not None:
        pairs += zip(old.touch.shapes, new.touch.shapes, strict=True)
        pairs += [(getattr(old.touch.holds, name), getattr(new.touch.holds, name)) for name in ("bound", "area")]
        pairs += [(old.touch.holds.wind, new.touch.holds.wind), (old.touch.limit, new.touch.limit)]
        pairs += [(old.touch.found.moves, new.touch.found.moves)]
    return all(a is b or np.array_equal(a, b) for a, b in pairs)


def _limits(old: ShotInterface, new: ShotInterface) -> Iterator[int]:
    """For everything that changes with the frame: the last frame whose state no difference has reached."""
    # a step also reads the sample after its frame
    yield equal_frames(old.target, new.target, new.frames) - 1
    yield from _key_limits(old.target, new.target)
    yield equal_frames(old.control, new.control, new.frames)
    if new.touch is not None:
        holds, others = old.touch.holds, new.touch.holds
        yield first_difference(holds.tie_on, others.tie_on)
        yield first_difference(holds.wind_on, others.wind_on)
        yield _push_limit(holds, others)


def _push_limit(old: Holds, new: Holds) -> int:
    """A push affects the step that starts on its frame."""
    a, b = ([tuple(push) for push in holds.push] for holds in (old, new))
    # pushes on one frame act together, and rounding depends on their order
    frames = {push[H.PUSH_FRAME] for push in (*a, *b)}
    differ = [f for f in frames if [p for p in a if p[H.PUSH_FRAME] == f] != [p for p in b if p[H.PUSH_FRAME] == f]]
    return int(max(min(differ), 0)) if differ else np.iinfo(np.int64).max


def _key_limits(old: Target, new: Target) -> Iterator[int]:
    """A key affects a body from the key before it on; a body's first key from the start."""
    if len(old.key_first) != len(new.key_first):
        yield 0
        return
    if old.key is new.key:
        return
    for i in range(1, len(new.key_first) - 1):
        a, b = (t.key[t.key_first[i] : t.key_first[i + 1]] for t in (old, new))
        count = min(len(a), len(b))
        same = first_difference(a[:count], b[:count])
        if same == count and len(a) == len(b):
            continue
        yield max(math.ceil(a[same - 1, M.WHEN] - 1e-3) - 1, 0) if same > 0 else 0


def _moved(checkpoint: Checkpoint, old: Target, new: Target) -> Checkpoint:
    """The same checkpoint if bodies have more or fewer keys: keys are identified by their index in one table."""
    if np.array_equal(old.key_first, new.key_first):
        return checkpoint
    body, rate, behaviour, off, *rest = checkpoint.arrays
    body, moved = body.copy(), np.full((len(new.key), 6), np.nan)
    for i in range(1, len(body)):
        shift = new.key_first[i] - old.key_first[i]
        if body[i, S.DUE_KEY] >= 0.0:
            body[i, S.DUE_KEY] += shift
        count = min(old.key_first[i + 1] - old.key_first[i], new.key_first[i + 1] - new.key_first[i])
        moved[new.key_first[i] : new.key_first[i] + count] = off[old.key_first[i] : old.key_first[i] + count]
    return Checkpoint(checkpoint.frame, (body, rate, behaviour, moved, *rest), checkpoint.torques)
