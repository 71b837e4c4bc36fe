"""Bounding box of a character on every frame, over all its collision shapes.

Owns the boxes, and the test whether two are near one another. Must not know its use.

Shapes are bounded by balls, so boxes may be a little too large, never too small.
"""

from __future__ import annotations

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import entry_point
from ..math.vectors import add, dot, load3, load4, quat_mul, rotate, store3, store4, sub
from ..model.model import Model
from ..tables import record as RE

# Columns of a box
columns = Columns()
LOW = columns(3)  # [m]
HIGH = columns(3)
WAY = columns()  # the largest displacement of any part since the frame before
BOX_COLUMNS = columns.count

# A character is near others within this share of its size: motion between two frames is not recorded.
MARGIN = 0.1


class Outline:
    """The data of a model needed for its box."""

    def __init__(self, model: Model) -> None:
        held = [(body, shape.balls()) for body, shapes in enumerate(model.shapes) for shape in shapes]
        self.body = np.repeat([body for body, _ in held], [len(balls) for _, balls in held]).astype(np.int64)
        self.ball = np.concatenate([np.zeros((0, 4)), *(balls for _, balls in held)])
        self.parents = np.array(model.parents, dtype=np.int64)
        self.rest = np.array(model.rest_rotations, dtype=np.float64)
        self._where = np.zeros((len(model), 7))
        self._spots = np.zeros((len(self.body), 3))

    def trace(self, poses: np.ndarray, start: int, first: int, last: int, boxes: np.ndarray) -> None:
        """Write boxes (frames, BOX_COLUMNS) from frame `first` to `last`; poses (frames, rows, RECORD_COLUMNS) as
        recorded, the model's from row `start` on. The box of `first` keeps its WAY, which is known already."""
        if len(self.body):
            _trace(
                self.parents, self.rest, self.body, self.ball, poses, start, first, last,
                self._where, self._spots, boxes,
            )  # fmt: skip


def poses_of(rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """A motion in the form of recorded poses."""
    out = np.zeros((*rotations.shape[:2], RE.COLUMNS))
    out[:, :, RE.TURN : RE.TURN + 4], out[:, :, RE.SPOT : RE.SPOT + 3] = rotations, positions
    return out


def new_boxes(count: int, frames: int) -> np.ndarray:
    """(count, frames, BOX_COLUMNS), all empty: near nothing."""
    boxes = np.zeros((count, frames, BOX_COLUMNS))
    boxes[:, :, LOW : LOW + 3], boxes[:, :, HIGH : HIGH + 3] = np.inf, -np.inf
    return boxes


def extent(boxes: np.ndarray, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """Low and high (count, 3) corners of the space covered since the frame before."""
    since = boxes[:, max(frame - 1, 0) : frame + 1]
    return since[:, :, LOW : LOW + 3].min(axis=1), since[:, :, HIGH : HIGH + 3].max(axis=1)


def near(boxes: np.ndarray, frame: int) -> np.ndarray:
    """(count, count) True for pairs that come near one another between the frame before and this one.

    Within the frame a body may deviate from a straight way, by half of its displacement at most.
    """
    low, high = extent(boxes, frame)
    way = boxes[:, max(frame - 1, 0) : frame + 1, WAY].max(axis=1)
    grow = (MARGIN * (high - low).max(axis=1) + 0.5 * way)[:, None]
    low, high = low - grow, high + grow
    return ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=2)


@entry_point
def _trace(parents, rest, body, ball, poses, start, first, last, where, spots, boxes):
    for f in range(first, last + 1):
        pose = poses[f]
        for i in range(len(parents)):
            q = quat_mul(load4(rest, i, 0), load4(pose, start + i, RE.TURN))
            place = load3(pose, start + i, RE.SPOT)
            p = parents[i]
            if p >= 0:
                turn = load4(where, p, 0)
                place = add(load3(where, p, 4), rotate(turn, place))
                q = quat_mul(turn, q)
            store4(where, i, 0, q)
            store3(where, i, 4, place)
        for k in range(3):
            boxes[f, LOW + k], boxes[f, HIGH + k] = np.inf, -np.inf
        longest = 0.0
        for s in range(len(body)):
            i = body[s]
            spot = add(load3(where, i, 4), rotate(load4(where, i, 0), load3(ball, s, 0)))
            for k in range(3):
                boxes[f, LOW + k] = min(boxes[f, LOW + k], spot[k] - ball[s, 3])
                boxes[f, HIGH + k] = max(boxes[f, HIGH + k], spot[k] + ball[s, 3])
            step = sub(spot, load3(spots, s, 0))
            longest = max(longest, dot(step, step))
            store3(spots, s, 0, spot)
        if f > first:
            boxes[f, WAY] = np.sqrt(longest)
