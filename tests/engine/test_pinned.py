"""Forty random scenes give the numbers they gave before, on any machine.

`pinned.json` holds for every scene the last frame up to which rounding does not matter, and projections of the poses of
that frame. It is written by `python tests/engine/test_pinned.py`, on purpose only: where a result is meant to change.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "engine")]

import pinned_scenes  # noqa: E402  isort: skip

FILE = Path(__file__).parent / "pinned.json"
WITHIN = 1e-9
# A change of the source by this share may change poses by this much up to the frame that is compared.
NUDGE, HOLDS = 1e-15, 1e-11
NUMBERS = 6


def project(poses: np.ndarray, frame: int) -> list[float]:
    """A few numbers that hang on all poses up to a frame, all of them about as large as a pose's."""
    rng = np.random.default_rng(frame)
    seen = poses[: frame + 1].ravel()
    return [float(seen @ rng.normal(size=len(seen)) / np.sqrt(len(seen))) for _ in range(NUMBERS)]


def last_steady_frame(name: str, poses: np.ndarray) -> int:
    off = np.abs(poses - pinned_scenes.poses_of(pinned_scenes.results_of(name, NUDGE))).max(axis=1)
    return int(np.argmax(off > HOLDS)) - 1 if (off > HOLDS).any() else len(poses) - 1


@pytest.mark.parametrize("name", pinned_scenes.names())
def test_the_numbers_are_those_of_before(name):
    pinned = json.loads(FILE.read_text())[name]
    poses = pinned_scenes.poses_of(pinned_scenes.results_of(name))
    np.testing.assert_allclose(project(poses, pinned["frame"]), pinned["numbers"], rtol=0.0, atol=WITHIN)


def test_most_scenes_are_compared_to_their_end():
    frames = {name: each["frame"] for name, each in json.loads(FILE.read_text()).items()}
    assert set(frames) == set(pinned_scenes.names())
    assert sum(frame >= 20 for frame in frames.values()) >= 30


if __name__ == "__main__":
    found = {}
    for scene in pinned_scenes.names():
        poses = pinned_scenes.poses_of(pinned_scenes.results_of(scene))
        frame = last_steady_frame(scene, poses)
        found[scene] = {"frame": frame, "numbers": project(poses, frame)}
    FILE.write_text(json.dumps(found, indent=1) + "\n")
