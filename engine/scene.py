"""The world around the characters.

Owns `Scene`: gravity for now; ground, colliders, free bodies, ties and pushes
join it as the engine learns them. Must not know about models or Blender.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import SettingError


@dataclass(frozen=True)
class Scene:
    """gravity: acceleration [m/s²], Z up."""

    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)

    def __post_init__(self) -> None:
        if np.shape(self.gravity) != (3,) or not np.isfinite(self.gravity).all():
            raise SettingError(f"Gravity is {self.gravity}: give three finite numbers in m/s².")
