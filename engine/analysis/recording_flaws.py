"""Find flaws of a recording: jumps of the root, flips of joints, frames at its ends that do not belong to it.

Owns the definition of a jump, which frames are bad, and how they are repaired. Must not know Blender: plain arrays in,
plain arrays out.

A jump is a step between two frames that is faster than bodies move and much faster than the steps around it. Falls,
punches and sprints accelerate over several frames, so they are not jumps. Keys with constant interpolation are
intended. The source's keys are never changed: the repair is applied to the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..math import rotations

# A root faster than this [heights of the rig in a second], or a joint faster than this [rad/s] that has turned this far
# [rad], jumps if it is also this many times faster than in the steps around. A sprinter runs 6 heights a second, a
# punch turns 20 rad/s.
ROOT_SPEED = 12.0
JOINT_SPEED, JOINT_TURN = 60.0, 1.0
AROUND = 8.0
# At any frame rate it also jumps if it turns this far [rad] and is back a frame or two later, except for this part.
SPIKE_TURN, SPIKE_LEFT, SPIKE_FRAMES = 1.5, 0.25, 2
# The first or last step of a shot, which a rest pose makes: slower ones count if this many joints jump at once.
EDGE_SPEED, EDGE_TURN, EDGE_AROUND, EDGE_JOINTS = 12.0, 0.5, 15.0, 3
# [s] The time around a step that is compared; the longest stray stretch; the end of a shot; the smoothed time on each
# side of a jump.
LOOK, STRAY, END, SMOOTHED = 0.05, 0.1, 0.25, 0.04
# Shots with fewer frames have no "around".
LEAST_FRAMES = 6
# Texts for frames at the ends.
NO_PART = "no part of the motion"
# The number of bones that a sentence names.
NAMED = 3


@dataclass(frozen=True)
class Jump:
    """body: its index in the model; arrival: index of the first frame after the jump; far [m] and turn [rad]."""

    body: int
    arrival: int
    far: float
    turn: float


@dataclass(frozen=True)
class Flaws:
    """jumps: all of them, by time; head, tail: the number of frames at the ends that are not part of the motion; spans:
    by body, the bad stretches [from, to) between them."""

    jumps: tuple[Jump, ...] = ()
    head: int = 0
    tail: int = 0
    spans: tuple[tuple[int, int, int], ...] = ()


def find(joints: np.ndarray, places: np.ndarray, parents: np.ndarray, stepped: np.ndarray, fps: float, tall: float):
    """Find the flaws of a motion.

    joints (frames, n, 4); places (frames, n, 3) of roots in the world [m]; parents (n,), -1 for roots; stepped (frames,
    n) True for constant interpolation; tall: the rig's height [m].
    """
    frames = len(joints)
    if frames < LEAST_FRAMES:
        return Flaws()
    turns = rotations.angle_between(joints[:-1], joints[1:])
    roots = parents < 0
    ways = np.where(roots, np.linalg.norm(np.diff(places, axis=0), axis=2), 0.0)
    reach = max(3, round(LOOK * fps))
    flips = (turns > max(JOINT_TURN, JOINT_SPEED / fps)) | _spikes(joints, turns)
    leaps = ways > ROOT_SPEED * tall / fps
    flips &= turns > AROUND * _around(turns, flips, reach)
    leaps &= ways > AROUND * _around(ways, leaps, reach)
    for edge in (0, frames - 2):
        left = turns[edge] > max(EDGE_TURN, EDGE_SPEED / fps)
        left &= turns[edge] > EDGE_AROUND * _beside(turns, edge, reach)
        if left.sum() >= EDGE_JOINTS:
            flips[edge] |= left
    found = (flips | leaps) & ~stepped[1:]
    jumps = tuple(Jump(int(b), int(f) + 1, float(ways[f, b]), float(turns[f, b])) for f, b in np.argwhere(found))
    head, tail = _ends(jumps, roots, frames, fps)
    inner = [jump for jump in jumps if head < jump.arrival < frames - tail]
    return Flaws(jumps, head, tail, tuple(_spans(inner, joints, places, frames, fps)))


def _spikes(joints: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """(frames - 1, n) True for the steps to and from a pose that lasts a frame or two."""
    found = np.zeros(turns.shape, dtype=bool)
    wide = turns > SPIKE_TURN
    for long in range(1, SPIKE_FRAMES + 1):
        left = rotations.angle_between(joints[: -long - 1], joints[long + 1 :])
        there = wide[:-long] & wide[long:] & (left < SPIKE_LEFT * turns[:-long])
        found[:-long] |= there
        found[long:] |= there
    return found


def _around(steps: np.ndarray, wanted: np.ndarray, reach: int) -> np.ndarray:
    """(frames - 1, n) the median of the steps around each, computed for frames in which one is wanted; 0 elsewhere."""
    out = np.zeros_like(steps)
    for f in np.flatnonzero(wanted.any(axis=1)):
        out[f] = _beside(steps, f, reach)
    return out


def _beside(steps: np.ndarray, f: int, reach: int) -> np.ndarray:
    """(n,) the median of the steps on both sides, without the adjacent ones, because a flip comes back."""
    beside = f + np.array([k for k in range(-reach - 1, reach + 2) if abs(k) > 1])
    return np.median(steps[beside[(beside >= 0) & (beside < len(steps))]], axis=0)


def _ends(jumps: Sequence[Jump], roots: np.ndarray, frames: int, fps: float) -> tuple[int, int]:
    """The numbers of frames at both ends that are separated by a jump of the whole pose: of a root, or of several
    joints at once. At most a third of the shot each."""
    head = tail = 0
    reach = min(max(2, round(END * fps)), frames // 3)
    for arrival in sorted({jump.arrival for jump in jumps}):
        here = [jump for jump in jumps if jump.arrival == arrival]
        if len(here) < EDGE_JOINTS and not any(roots[jump.body] for jump in here):
            continue
        if arrival <= reach:
            head = arrival
        elif frames - arrival <= reach and not tail:
            tail = frames - arrival
    return head, tail


def _spans(jumps: Sequence[Jump], joints, places, frames: int, fps: float):
    """Bad stretches by body: a stretch that strays and comes back, else a short time on both sides of a jump."""
    stray, beside = max(2, round(STRAY * fps)), max(1, round(SMOOTHED * fps))
    for body in sorted({jump.body for jump in jumps}):
        own = [jump for jump in jumps if jump.body == body]
        while own:
            jump = own.pop(0)
            if own and own[0].arrival - jump.arrival <= stray and _back(jump, own[0], joints, places):
                yield body, jump.arrival, own.pop(0).arrival
            else:
                yield body, max(jump.arrival - beside, 1), min(jump.arrival + beside, frames - 1)


def _back(jump: Jump, other: Jump, joints, places) -> bool:
    """True if the body after the second jump is where it was before the first."""
    before, after, body = jump.arrival - 1, other.arrival, jump.body
    turn = rotations.angle_between(joints[before, body], joints[after, body])
    way = np.linalg.norm(places[after, body] - places[before, body])
    return bool(turn <= 0.5 * jump.turn + 1e-6 and way <= 0.5 * jump.far + 1e-6)


# --- mending -----------------------------------------------------------------------


def mended(matrices: np.ndarray, first: int, stop: int, hold: bool) -> np.ndarray:
    """Matrices (frames, 4, 4) whose frames [first, stop) are replaced using the good frames around them.

    At the ends they are copies of the nearest good frame. In between they hold the last good frame (hold), or
    interpolate to the next with the velocities of both sides.
    """
    out = matrices.copy()
    if first == 0:
        out[:stop] = matrices[stop]
    elif stop == len(matrices) or hold:
        out[first:stop] = matrices[first - 1]
    else:
        out[first:stop] = _bridge(matrices, first - 1, stop)
    return out


def _bridge(matrices: np.ndarray, a: int, b: int) -> np.ndarray:
    """(b - a - 1, 4, 4) between the frames a and b: cubic interpolation of position and rotation, linear of scale."""
    turns, sizes = rotations.split(matrices[:, :3, :3])
    near = [max(a - 1, 0), a, b, min(b + 1, len(matrices) - 1)]
    quats = rotations.from_matrix(turns[near])
    spots = matrices[near, :3, 3]
    s = (np.arange(a + 1, b) - a)[:, None] / (b - a)
    whole = rotations.to_vector(rotations.multiply(rotations.conjugate(quats[1]), quats[2]))
    starts = [rotations.to_vector(rotations.multiply(rotations.conjugate(quats[k]), quats[k + 1])) for k in (0, 2)]
    turned = rotations.from_vector(_cubic(whole, starts[0] * (b - a), starts[1] * (b - a), s))
    out = np.tile(np.eye(4), (b - a - 1, 1, 1))
    out[:, :3, :3] = rotations.to_matrix(rotations.multiply(quats[1], turned))
    out[:, :3, :3] *= ((1.0 - s) * sizes[a] + s * sizes[b])[:, None, :]
    out[:, :3, 3] = spots[1] + _cubic(
        spots[2] - spots[1], (spots[1] - spots[0]) * (b - a), (spots[3] - spots[2]) * (b - a), s
    )
    return out


def _cubic(whole: np.ndarray, start: np.ndarray, end: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Cubic from 0 to `whole` with these slopes at the ends, at s in 0 to 1."""
    return s * s * (3.0 - 2.0 * s) * whole + s * (1.0 - s) ** 2 * start - s * s * (1.0 - s) * end


# --- words -------------------------------------------------------------------------


def sentences(found: Flaws, names: Sequence[str], parents: np.ndarray, numbers: np.ndarray) -> list[str]:
    """Sentences on the flaws; names (n,) of the bodies, numbers (frames,) of the scene's frames."""
    out = []
    last = len(numbers) - 1
    for arrival, edge, which, word in (
        (found.head, found.head, (0, found.head - 1), "begins"),
        (len(numbers) - found.tail, last - found.tail, (last + 1 - found.tail, last), "ends"),
    ):
        if 0 < arrival <= last:
            span = [int(numbers[k]) for k in which]
            text = f"frame {span[0]} is" if span[0] == span[1] else f"frames {span[0]} to {span[1]} are"
            here = [jump for jump in found.jumps if jump.arrival == arrival]
            deed = _worst(here, names, parents, numbers)
            out.append(f"The recording {word} with another pose: {text} {NO_PART}, which {word} on frame "
                       f"{int(numbers[edge])}. {deed}.")  # fmt: skip
    inner = [jump for jump in found.jumps if found.head < jump.arrival < len(numbers) - found.tail]
    by_body: dict[int, list[Jump]] = {}
    for jump in inner:
        by_body.setdefault(jump.body, []).append(jump)
    # Roots first, then by largest turn.
    order = sorted(by_body, key=lambda body: (parents[body] >= 0, -max(jump.turn for jump in by_body[body])))
    for body in order[:NAMED]:
        worst = max(by_body[body], key=lambda jump: (jump.far, jump.turn))
        times = len(by_body[body]) - 1
        more = f", and {times} more times" if times > 1 else ", and once more" if times else ""
        out.append(f"{_worst([worst], names, parents, numbers)}{more}.")
    if len(order) > NAMED:
        left = len(order) - NAMED
        out.append(f"So {'do' if left > 1 else 'does'} {left} more bone{'s' if left > 1 else ''}.")
    return out


def _worst(jumps: Sequence[Jump], names, parents, numbers) -> str:
    """The largest jump on one frame, in words, with the number of the others."""
    jump = max(jumps, key=lambda jump: (parents[jump.body] < 0 and jump.far > 0.0, jump.far, jump.turn))
    root = parents[jump.body] < 0
    between = f"between frames {numbers[jump.arrival - 1]} and {numbers[jump.arrival]}"
    deed = f"turns {np.degrees(jump.turn):.0f}°"
    if root and jump.far > 0.0 and np.degrees(jump.turn) < 30.0:
        deed = f"jumps {jump.far:.3g} m"
    elif root and jump.far > 0.01:
        deed = f"jumps {jump.far:.3g} m and turns {np.degrees(jump.turn):.0f}°"
    more = f", and so do {len(jumps) - 1} more" if len(jumps) > 1 else ""
    return f"{'Root' if root else 'Bone'} '{names[jump.body]}' {deed} {between}{more}"
