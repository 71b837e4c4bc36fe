"""Paths over time: lines that fade away from the current frame.

Must not know Blender, nor what the paths are of.
"""

from __future__ import annotations

import numpy as np

from . import shape_wires
from .primitives import Color

FAINTEST = 0.12


def faded(color: Color, rows: slice, now: int, count: int) -> np.ndarray:
    """(k, 4) the colour on the frames `rows` of `count`: strongest at the current frame, later frames a little paler
    than earlier ones."""
    frames = np.arange(rows.start, rows.stop)
    reach = max(rows.stop - now, now - rows.start + 1, 1)
    near = np.clip(1.0 - np.abs(frames - now) / reach, 0.0, 1.0)
    if rows.stop - rows.start >= count:  # the whole shot is shown: nothing fades out
        near = 0.35 + 0.65 * near
    out = np.tile(np.array(color, dtype=np.float32), (len(frames), 1))
    out[:, 3] *= FAINTEST + (1.0 - FAINTEST) * near
    return out


def trail(points: np.ndarray, colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The segments (k, 2, 3) of a path with their colours (k, 2, 4)."""
    return shape_wires.line(points), np.stack([colors[:-1], colors[1:]], axis=1)
