"""Sampled motion: the animator's keys, or the result of a simulation.

Owns `Motion`: poses frame by frame with their frame rate. Must not know about forces, controllers or Blender.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MotionError
from .keys import Keys
from .model import Model


@dataclass(frozen=True, eq=False)
class Motion:
    """Poses of a model's bodies, one a frame, in the model's order.

    fps              frames a second
    rotations        (frames, n, 4) joint rotations relative to rest, wxyz
    positions        (frames, n, 3) anchors in the parent's frame [m]; for roots
                     in the world. Non-roots whose anchor stays at rest keep the
                     model's offset.
    stepped          (frames, n) True where the body's target jumps on arriving at
                     that frame (constant interpolation up to it). The only
                     discontinuity there is: everything else is C¹ through the samples.
    frame_start      the first sample's frame number, for messages
    keys             the physical keys among them, if any are asked for (On Time)
    """

    fps: float
    rotations: np.ndarray
    positions: np.ndarray
    stepped: np.ndarray
    frame_start: int = 0
    keys: Keys | None = None

    @classmethod
    def build(
        cls,
        model: Model,
        fps: float,
        rotations,
        positions=None,
        stepped=None,
        frame_start: int = 0,
        keys: Keys | None = None,
    ) -> Motion:
        """A checked motion for `model`; positions default to the rest offsets."""
        if not (np.isfinite(fps) and fps > 0.0):
            raise MotionError(f"The frame rate is {fps}: give frames a second above zero.")
        n = len(model)
        rotations = np.array(rotations, dtype=np.float64)
        if rotations.ndim != 3 or rotations.shape[1:] != (n, 4) or len(rotations) == 0:
            raise MotionError(f"The rotations have shape {rotations.shape}, wanted (frames, {n}, 4).")
        frames = len(rotations)
        if positions is None:
            positions = np.broadcast_to(model.offsets, (frames, n, 3))
        positions = np.array(positions, dtype=np.float64)
        if positions.shape != (frames, n, 3):
            raise MotionError(f"The positions have shape {positions.shape}, wanted {(frames, n, 3)}.")
        for values, what in ((rotations, "rotation"), (positions, "position")):
            bad = ~np.isfinite(values).all(axis=2)
            if bad.any():
                frame, body = np.argwhere(bad)[0]
                raise MotionError(
                    f"Body '{model.names[body]}' has a {what} that is not finite at frame {frame + frame_start}: "
                    "mend that key."
                )
        norm = np.linalg.norm(rotations, axis=2)
        bad = np.abs(norm - 1.0) > 1e-2
        if bad.any():
            frame, body = np.argwhere(bad)[0]
            raise MotionError(
                f"Body '{model.names[body]}' has a rotation of length {norm[frame, body]:g} at frame "
                f"{frame + frame_start}: give unit quaternions (wxyz)."
            )
        rotations /= norm[:, :, None]
        stepped = np.zeros((frames, n), dtype=bool) if stepped is None else np.array(stepped, dtype=bool)
        if stepped.shape != (frames, n):
            raise MotionError(f"The stepped flags have shape {stepped.shape}, wanted {(frames, n)}.")
        for array in (rotations, positions, stepped):
            array.setflags(write=False)
        return cls(float(fps), rotations, positions, stepped, frame_start, keys)

    def __len__(self) -> int:
        """The number of frames."""
        return len(self.rotations)
