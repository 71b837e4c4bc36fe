"""Input of an overlay: one rig on one frame.

Owns the mapping from frames to rows of the films. Must not know any single overlay, nor how it is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np

from ...blender.engine_space import MIRROR_X
from ...memory import EDIT_SOURCE, LOAD, UNDO, Memo
from ...result import result_armature
from .. import answers
from . import motions
from .motions import REACH, Film, Footage


@dataclass(frozen=True, eq=False)
class Sight:
    """What overlays read. footage: None while no motion is known yet; graph: where the rig is evaluated; scratch: a
    cache for overlays until the next edit, with keys of their own."""

    rig: bpy.types.Object
    scene: bpy.types.Scene
    graph: bpy.types.Depsgraph
    footage: Footage | None
    scratch: dict

    @cached_property
    def settings(self):
        """The rig's settings."""
        return self.rig.heft

    @cached_property
    def shows_result(self) -> bool:
        """True if the rig shows its result."""
        found = self.footage is not None and self.footage.result is not None
        return found and result_armature.is_visible(self.rig) and self.settings.mix > 0.5

    @cached_property
    def film(self) -> Film | None:
        """The motion that the rig shows."""
        if self.footage is None:
            return None
        return self.footage.result if self.shows_result else self.footage.source

    @cached_property
    def other(self) -> Film | None:
        """The motion that it does not show, if there is one."""
        if self.footage is None or self.footage.result is None:
            return None
        return self.footage.source if self.shows_result else self.footage.result

    @cached_property
    def row(self) -> int | None:
        """The index of the current frame in the films; None beyond their ends."""
        return self.row_of(self.scene.frame_current)

    def row_of(self, frame: int) -> int | None:
        """The row of a frame in the films; a loop repeats."""
        if self.footage is None:
            return None
        row, period = frame - self.footage.first, self.settings.result_period
        if self.shows_result and period > 0:
            row %= period
        return row if 0 <= row < len(self.film) else None

    def rows(self, count: int) -> slice:
        """The rows within `count` frames of the current one; all of them for 0."""
        if count == 0:
            return slice(0, len(self.film))
        now = min(max(self.scene.frame_current - self.footage.first, 0), len(self.film) - 1)
        return slice(max(now - count, 0), min(now + count, len(self.film) - 1) + 1)

    @cached_property
    def tall(self) -> float:
        """The rig's longest side at rest [m]."""
        reading = self.footage.reading
        return float(reading.height * reading.placement.sizes[0])

    @cached_property
    def gravity(self) -> np.ndarray:
        """(3,) gravity in the engine's world [m/s²], from the shot's leader."""
        pull = np.array(answers.shot_of(self.rig).leader.heft.gravity, dtype=float)
        return pull @ MIRROR_X if self.film.mirrored else pull

    @cached_property
    def ground(self) -> float:
        """The height of the ground [m]."""
        return self.ground_height * self.film.meters

    @cached_property
    def ground_height(self) -> float:
        """The height of the ground [units of the scene]: the shot's, or the rig's own setting if no one has a
        ground."""
        grounded = answers.shot_of(self.rig).grounded or self.rig
        return float(grounded.heft.ground_height)

    @cached_property
    def reach(self) -> float:
        """Points closer to the ground than this stand on it [m]."""
        return REACH * self.tall


_scratch: Memo[int, dict] = Memo("scratch of overlays", "rig", (LOAD, UNDO, EDIT_SOURCE))


def of(rig: bpy.types.Object, scene: bpy.types.Scene, graph: bpy.types.Depsgraph) -> Sight:
    """The overlays' input for a rig now; changes nothing."""
    return Sight(rig, scene, graph, motions.current(rig, scene), _scratch.remember(rig.session_uid, dict))
