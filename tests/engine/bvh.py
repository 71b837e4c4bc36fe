"""Recorded motion as model and motion, without Blender: enough of the BVH format for the recordings we test with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine import Capsule, Model, Motion
from engine.math import quaternions as rot

MOCAP = Path(__file__).parents[3] / "shared" / "data" / "mocap"
CMU_SCALE = 0.0564  # metres a unit
UPRIGHT = rot.about(np.array([1.0, 0.0, 0.0]), np.array(np.pi / 2))  # Y up to Z up


def recording(name: str) -> Path:
    """The file, or a skip that says what is missing."""
    path = MOCAP / f"{name}.bvh"
    if not path.exists():
        pytest.skip(f"recording {path.name} is not here: shared/data/mocap is not part of the project")
    return path


def read(path: Path) -> tuple[list[str], list[int], np.ndarray, np.ndarray, list[list[str]], np.ndarray, float]:
    """Names, parents, offsets, ends, channels, values (frames, channels) and frames a second."""
    words = iter(path.read_text().split())
    names, parents, offsets, ends, channels, stack = [], [], [], {}, [], []
    for word in words:
        if word in ("ROOT", "JOINT"):
            names.append(next(words))
            parents.append(stack[-1] if stack else -1)
            channels.append([])
            offsets.append(None)
            stack_top = len(names) - 1
        elif word == "End":
            next(words)
            stack_top = -1
        elif word == "{":
            stack.append(stack_top)
        elif word == "}":
            stack.pop()
        elif word == "OFFSET":
            value = [float(next(words)) for _ in range(3)]
            if stack[-1] < 0:
                ends[stack[-2]] = value
            else:
                offsets[stack[-1]] = value
        elif word == "CHANNELS":
            channels[stack[-1]] = [next(words) for _ in range(int(next(words)))]
        elif word == "Time:":
            fps = 1.0 / float(next(words))
            break
    values = np.array([float(word) for word in words]).reshape(-1, sum(map(len, channels)))
    tips = np.array([ends.get(i, [0.0, 0.0, 0.0]) for i in range(len(names))])
    return names, parents, np.array(offsets), tips, channels, values, fps


def load(
    name: str, first: int = 1, last: int | None = None, step: int = 1, mass: float = 70.0, place=(0.0, 0.0, 0.0)
) -> tuple[Model, Motion]:
    """A recording as a person of capsules; frame 0 of the CMU files is a T-pose, not motion."""
    names, parents, offsets, tips, channels, values, fps = read(recording(name))
    offsets, tips = offsets * CMU_SCALE, tips * CMU_SCALE
    values = values[first:last:step]
    frames, n = len(values), len(names)
    rotations = np.zeros((frames, n, 4))
    rotations[..., 0] = 1.0
    positions = np.tile(offsets, (frames, 1, 1))
    at = 0
    for i, words in enumerate(channels):
        for word in words:
            value = values[:, at]
            at += 1
            axis = np.eye(3)["XYZ".index(word[0])]
            if word.endswith("position"):
                positions[:, i, "XYZ".index(word[0])] = value * CMU_SCALE
            else:
                turn = rot.about(np.broadcast_to(axis, (frames, 3)), np.radians(value))
                rotations[:, i] = rot.multiply(rotations[:, i], turn)
    positions[:, 0] = rot.rotate(np.broadcast_to(UPRIGHT, (frames, 4)), positions[:, 0]) + place
    rests = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    rests[0] = UPRIGHT
    model = Model.from_tree(names, parents, offsets, rests, **_bodies(parents, offsets, tips, mass))
    assert (model.order == np.arange(n)).all()
    return model, Motion.build(model, fps / step, rotations, positions)


def _bodies(parents: list[int], offsets: np.ndarray, tips: np.ndarray, mass: float) -> dict:
    """Capsules from each joint to the middle of its children."""
    n = len(parents)
    ends = tips.copy()
    for i in range(n):
        children = [j for j in range(n) if parents[j] == i]
        if children:
            ends[i] = offsets[children].mean(axis=0)
    lengths = np.linalg.norm(ends, axis=1)
    radii = np.clip(0.22 * lengths, 0.02, 0.09)
    volumes = np.pi * radii**2 * lengths + 4.0 / 3.0 * np.pi * radii**3
    masses = mass * volumes / volumes.sum()
    inertias = np.zeros((n, 3, 3))
    shapes = []
    for i in range(n):
        along = ends[i] / max(lengths[i], 1e-9)
        across = masses[i] * (lengths[i] ** 2 / 12.0 + radii[i] ** 2 / 4.0)
        inertias[i] = across * np.eye(3) + (0.5 * masses[i] * radii[i] ** 2 - across) * np.outer(along, along)
        inset = along * min(radii[i], 0.4 * lengths[i])
        short = lengths[i] < 0.03
        shapes.append(None if short else Capsule(radii[i], tuple(inset), tuple(ends[i] - inset)))
        if short:
            inertias[i] = 0.4 * masses[i] * radii[i] ** 2 * np.eye(3)
    return {"masses": masses, "centers": 0.5 * ends, "inertias": inertias, "shapes": shapes}


def world(model: Model, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """World places (frames, n, 3) and rotations (frames, n, 4) of all bodies."""
    places, turns = np.zeros_like(motion.positions), np.zeros_like(motion.rotations)
    for i, parent in enumerate(model.parents):
        rest = rot.multiply(
            np.broadcast_to(model.rest_rotations[i], motion.rotations[:, i].shape), motion.rotations[:, i]
        )
        if parent < 0:
            places[:, i], turns[:, i] = motion.positions[:, i], rest
        else:
            places[:, i] = places[:, parent] + rot.rotate(turns[:, parent], motion.positions[:, i])
            turns[:, i] = rot.multiply(turns[:, parent], rest)
    return places, turns
