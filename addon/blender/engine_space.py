"""Between Blender's armature space and the engine's world: metres, Z up, no mirror.

Owns `Placement`, the one conversion. Must not know bones, actions or settings.

One engine metre is one Blender metre of the *world*: an armature unit times the
object's scale, times the scene's unit scale, times the armature's own
`meters_per_unit`. An object scaled by 100 is a giant and falls like one; set
`meters_per_unit` to 0.01 where the scale is only a matter of file formats.

The placement is a similarity (rotation, one size, translation) on every frame, so
that a rig stays rigid inside the engine even under a non-uniform object scale.
A mirrored object is simulated in a world mirrored in X, which leaves gravity's
vertical as it is, and mirrored back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engine.math import rotations

MIRROR_X = np.diag([-1.0, 1.0, 1.0])


@dataclass(frozen=True, eq=False)
class Placement:
    """Transform from armature space to the engine's world, for each frame.

    rotations      (frames, 4) wxyz
    sizes          (frames,)   engine metres in one armature unit
    translations   (frames, 3) [m]
    mirrored       the object's scale is negative
    """

    rotations: np.ndarray
    sizes: np.ndarray
    translations: np.ndarray
    mirrored: bool

    @classmethod
    def from_matrices(cls, matrices: np.ndarray, meters: float) -> Placement:
        """From object matrices (frames, 4, 4) and the metres in one Blender unit."""
        matrices = np.asarray(matrices, dtype=np.float64)
        linear, translations = matrices[:, :3, :3], matrices[:, :3, 3]
        mirrored = bool(np.linalg.det(linear[0]) < 0.0)
        if mirrored:
            linear, translations = MIRROR_X @ linear, translations @ MIRROR_X
        rotation, size = rotations.polar(linear)
        quats = rotations.continuous(rotations.from_matrix(rotation))
        return cls(quats, np.maximum(size, 1e-9) * meters, translations * meters, mirrored)

    def points_to_world(self, points: np.ndarray) -> np.ndarray:
        """Armature-space points (frames, n, 3) as engine points [m]."""
        return (
            rotations.rotate(self.rotations[:, None], points) * self.sizes[:, None, None] + self.translations[:, None]
        )

    def points_to_rig(self, points: np.ndarray) -> np.ndarray:
        """Engine points (frames, n, 3) [m] in armature space."""
        local = (points - self.translations[:, None]) / self.sizes[:, None, None]
        return rotations.rotate(rotations.conjugate(self.rotations)[:, None], local)

    def rotations_to_world(self, quats: np.ndarray) -> np.ndarray:
        """Armature-space rotations (frames, n, 4) in the engine's world."""
        return rotations.multiply(self.rotations[:, None], quats)

    def rotations_to_rig(self, quats: np.ndarray) -> np.ndarray:
        """Engine rotations (frames, n, 4) in armature space."""
        return rotations.multiply(rotations.conjugate(self.rotations)[:, None], quats)

    def vector_to_world(self, vector) -> tuple[float, float, float]:
        """A direction of Blender's world (gravity, say) in the engine's world."""
        x, y, z = (float(c) for c in vector)
        return (-x, y, z) if self.mirrored else (x, y, z)


def meters_in_unit(meters_per_unit: float, scale_length: float) -> float:
    """Engine metres in one unit of Blender's world."""
    return meters_per_unit * scale_length


def frames_per_second(fps: int, fps_base: float) -> float:
    """Blender's frame rate is a whole number over a base (24 / 1.001)."""
    return fps / fps_base
