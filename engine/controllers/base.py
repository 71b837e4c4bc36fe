"""What every controller shares: behaviours, the root's mode, and what it may declare.

Owns the behaviours, the roots and the control table made from a controller's settings. Must not know how a step is
solved, nor which controllers there are.

A controller is one file: its settings with their columns of the control table, its channels of a result, and the hooks
that it needs. Hooks in Python are methods here; hooks in the step are kernels, called by name from `hooks`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import SettingError
from ..model.model import FREE, Model
from ..model.motion import Motion
from ..model.result import Progress, Result
from ..model.scene import Scene
from ..tables import control as C
from ..tables.classes import Control
from .settings import CONTROL, Channel, Setting, per_frame, spread

BEHAVIOURS = ("ANIMATED", "SIMULATED", "LIMP")
ROOTS = ("ANIMATED", "ASSISTED", "FREE")
ROOT_BEHAVIOUR = (C.ANIMATED, C.ASSIST, C.LIMP)

# A function that simulates other motions or controllers in the same scene: yields progress, the last report has the
# results.
Forward = Callable[[Sequence["object"]], Iterator[Progress]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Controller:
    """Settings of every controller, and what a controller may declare and implement.

    behaviour   a name, one for each body, or (frames, n) indices into BEHAVIOURS
    root        'ANIMATED' (exactly the keys), 'ASSISTED' (guided with limited force) or 'FREE' (may fall): for every
                root with a free joint, whatever its behaviour; or (frames,) indices into ROOTS
    assist      limit of the guiding force, in body weights; one, or (frames,)
    """

    # Settings with a value for each body, and for each frame and body: the field of the same name.
    settings: ClassVar[tuple[Setting, ...]] = ()
    # The channels that it adds to a result.
    channels: ClassVar[tuple[Channel, ...]] = ()
    # True if one limb's motion depends on another's, so that they cannot be simulated in parallel.
    couples_limbs: ClassVar[bool] = False
    # True if it implements `run`, which may simulate many times.
    runs_itself: ClassVar[bool] = False

    behaviour: object = "SIMULATED"
    root: object = "ANIMATED"
    assist: object = 1.0

    # --- hooks ------------------------------------------------------------------------------

    def columns(self, model: Model, values: Mapping[str, np.ndarray]) -> Mapping[np.int64, np.ndarray]:
        """Columns of the control table that are computed from several settings; values: (1 or frames, n) by setting."""
        return {}

    def prepare(self, model: Model, motion: Motion, scene: Scene) -> Motion:
        """Called before the first step. Returns the motion that joints are driven to; the result is compared with the
        source."""
        return motion

    def measure(self, model: Model, motion: Motion, result: Result) -> Mapping[str, np.ndarray]:
        """Called after the last frame. Returns values of channels that no kernel fills, by name; motion: the source."""
        return {}

    def run(self, actors: Sequence[object], forward: Forward) -> Iterator[Progress]:
        """Replaces the simulation if `runs_itself`: any number of forward simulations; the last report carries results.

        actors: those of the shot, including this controller's; forward: simulates actors in the scene of the shot, as
        `simulate_together_iter` does, with controllers that do not run themselves.
        """
        raise NotImplementedError(f"{type(self).__name__} has no run of its own.")

    # --- the control table -------------------------------------------------------------------

    def control(self, model: Model, frames: int) -> Control:
        """The control table: values for each frame and body."""
        values = {each.name: each.spread(getattr(self, each.name), model, frames) for each in self.settings}
        columns = {each.column: values[each.name] for each in self.settings if each.column is not None}
        columns |= self.columns(model, values)
        behaviour = self._behaviours(model, frames)
        rows = max(len(behaviour), *(len(each) for each in columns.values()), 1)
        neutral = CONTROL.neutral
        setting = np.empty((rows, len(model) + 1, len(neutral)))
        setting[:] = neutral
        for column, each in columns.items():
            setting[:, 1:, column] = each
        out = np.zeros((rows, len(model) + 1), dtype=behaviour.dtype)
        out[:, 1:] = behaviour
        assist = per_frame(self.assist, frames, "assist")
        return Control(out, setting, np.repeat(assist[:, None], len(model) + 1, axis=1))

    def _behaviours(self, model: Model, frames: int) -> np.ndarray:
        root = _root_rows(self.root, frames)
        given = np.asarray(self.behaviour)
        if given.dtype.kind in "US":
            unknown = set(np.unique(given)) - set(BEHAVIOURS)
            if unknown:
                raise SettingError(f"Behaviour '{unknown.pop()}' is not known: use one of {', '.join(BEHAVIOURS)}.")
            given = np.select([given == word for word in BEHAVIOURS], range(len(BEHAVIOURS)))
        behaviour = np.array(spread(given, model, frames, "behaviour"), dtype=np.int64)
        if len(behaviour) < len(root):
            behaviour = np.repeat(behaviour, len(root), axis=0)
        if behaviour.min() < 0 or behaviour.max() >= len(BEHAVIOURS):
            raise SettingError(f"Behaviours run from 0 to {len(BEHAVIOURS) - 1}: {', '.join(BEHAVIOURS)}.")
        behaviour[:, model.kinds == FREE] = np.array(ROOT_BEHAVIOUR)[root][:, None]
        return behaviour

    def at_frames(self, rows: np.ndarray, frames: int) -> Controller:
        """The same with every setting that changes by frame taken at these rows, in any order, with repetitions;
        frames: the present number of frames."""
        keyed = {}
        for field in dataclasses.fields(self):
            shape = np.shape(getattr(self, field.name))
            by_frame = field.name in ("root", "assist") and shape == (frames,)
            if by_frame or (len(shape) == 2 and shape[0] == frames):
                keyed[field.name] = np.ascontiguousarray(np.asarray(getattr(self, field.name))[rows])
        return dataclasses.replace(self, **keyed)


def _root_rows(root: object, frames: int) -> np.ndarray:
    """(1,) or (frames,) indices into ROOTS."""
    given = np.asarray(root)
    if given.dtype.kind in "US":
        if given.ndim or str(given) not in ROOTS:
            raise SettingError(f"The root is '{root}': use one of {', '.join(ROOTS)}.")
        return np.array([ROOTS.index(str(given))])
    if given.shape != (frames,) or given.min() < 0 or given.max() >= len(ROOTS):
        raise SettingError(
            f"The root by frames has shape {given.shape}: give {frames} numbers from 0 to {len(ROOTS) - 1}, for "
            f"{', '.join(ROOTS)}."
        )
    return given.astype(np.int64)
