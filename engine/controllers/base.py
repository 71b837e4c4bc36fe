"""What every controller shares: whose bones obey it, and how the root is held.

Owns the behaviours, the roots and the per-body, per-frame plan a controller hands
to the step. Must not know how a step is solved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..dynamics.even_weight import settle_scales
from ..dynamics.tone import tone_gains
from ..errors import SettingError
from ..model.model import FREE, Model
from ..tables.state_table import ANIMATED, ASSIST, LIMP, Plan
from .follow.spring import SETTLE

BEHAVIOURS = ("ANIMATED", "SIMULATED", "LIMP")
ROOTS = ("ANIMATED", "ASSISTED", "FREE")
ARRIVAL_SHAPES = (3.5, 9.5)  # of arrivals: below 2 + √2 the acceleration at a key has no bound (METHODS §2)
ROOT_BEHAVIOUR = (ANIMATED, ASSIST, LIMP)


@dataclass(frozen=True, eq=False, kw_only=True)
class Controller(ABC):
    """Settings every controller has.

    behaviour   a word, one a body, or (frames, n) indices into BEHAVIOURS
    root        'ANIMATED' (exactly the keys), 'ASSISTED' (guided with limited
                force) or 'FREE' (may fall): for every root with a free joint,
                whatever its behaviour; or (frames,) indices into ROOTS
    assist      limit of the guiding force, in body weights; one, or (frames,)
    """

    behaviour: object = "SIMULATED"
    root: object = "ANIMATED"
    assist: object = 1.0

    @abstractmethod
    def plan(self, model: Model, frames: int) -> Plan:
        """What is asked of each body at each frame."""

    def _plan(
        self,
        model: Model,
        frames: int,
        settle_time,
        damping_ratio,
        heaviness,
        strength=np.inf,
        arrival=-1.0,
        shape=SETTLE,
        law=0.0,
        recovery=None,
        tone=1.0,
        even_weight=False,
    ) -> Plan:
        settle = _per_body(settle_time, model, frames, "settle time", 1e-4, 1e6)
        quicker = 1.0 / settle_scales(model)[None] if even_weight else np.ones((1, len(model)))
        omega = quicker * SETTLE / settle
        zeta = _per_body(damping_ratio, model, frames, "damping ratio", 0.0, 1e3)
        heavy = _per_body(heaviness, model, frames, "heaviness", 0.0, 1.0)
        strong = _per_body(strength, model, frames, "strength", 0.0, np.inf)
        arrive = _per_body(arrival, model, frames, "arrival", -1.0, 1.0)
        form = _per_body(shape, model, frames, "shape", *ARRIVAL_SHAPES)
        behaviour = self._behaviours(model, frames)
        how = _per_body(law, model, frames, "law", 0.0, 1.0)
        back = _per_body(0.0 if recovery is None else recovery, model, frames, "recovery time", 0.0, 1e6)
        lively = _per_body(tone, model, frames, "tone", 0.0, 1e3)
        damping, pull = tone_gains(model)
        settings = (
            (omega, 1.0), (zeta, 1.0), (heavy, 0.0), (strong, np.inf), (arrive, -1.0), (form, SETTLE),
            (how, 0.0), (back, 0.0), (lively * damping, 0.0), (lively * pull, 0.0), (quicker, 1.0),
        )  # fmt: skip
        rows = max(len(behaviour), *(len(values) for values, _ in settings))

        def columns(values: np.ndarray, world: float) -> np.ndarray:
            out = np.full((rows, len(model) + 1), world, dtype=values.dtype)
            out[:, 1:] = values
            return out

        return Plan(
            columns(behaviour, 0),
            np.stack([columns(values, world) for values, world in settings], axis=2),
            np.repeat(_per_frame(self.assist, frames, "assist")[:, None], len(model) + 1, axis=1),
        )

    def _behaviours(self, model: Model, frames: int) -> np.ndarray:
        root = _root_rows(self.root, frames)
        given = np.asarray(self.behaviour)
        if given.dtype.kind in "US":
            unknown = set(np.unique(given)) - set(BEHAVIOURS)
            if unknown:
                raise SettingError(f"Behaviour '{unknown.pop()}' is not known: use one of {', '.join(BEHAVIOURS)}.")
            given = np.select([given == word for word in BEHAVIOURS], range(len(BEHAVIOURS)))
        behaviour = np.array(_spread(given, model, frames, "behaviour"), dtype=np.int64)
        if len(behaviour) < len(root):
            behaviour = np.repeat(behaviour, len(root), axis=0)
        if behaviour.min() < 0 or behaviour.max() >= len(BEHAVIOURS):
            raise SettingError(f"Behaviours run from 0 to {len(BEHAVIOURS) - 1}: {', '.join(BEHAVIOURS)}.")
        behaviour[:, model.kinds == FREE] = np.array(ROOT_BEHAVIOUR)[root][:, None]
        return behaviour


def _root_rows(root, frames: int) -> np.ndarray:
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


def _per_frame(values, frames: int, what: str) -> np.ndarray:
    """(1,) or (frames,) numbers of zero or above."""
    given = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if given.shape not in ((1,), (frames,)):
        raise SettingError(f"The {what} has shape {given.shape}: give one number or {frames}.")
    bad = ~(np.isfinite(given) & (given >= 0.0))
    if bad.any():
        raise SettingError(f"The {what} is {given[bad][0]}: give a number of zero or above.")
    return given


def _spread(values: np.ndarray, model: Model, frames: int, what: str) -> np.ndarray:
    """Bring a scalar, (n,) or (frames, n) setting to (1, n) or (frames, n)."""
    n = len(model)
    if values.ndim <= 1 and values.shape in ((), (n,)):
        return np.broadcast_to(values, (1, n))
    if values.shape == (frames, n):
        return values
    raise SettingError(f"The {what} has shape {values.shape}, wanted one number, ({n},) or ({frames}, {n}).")


def _per_body(values, model: Model, frames: int, what: str, low: float, high: float) -> np.ndarray:
    array = _spread(np.asarray(values, dtype=np.float64), model, frames, what)
    bad = ~((array >= low) & (array <= high))
    if bad.any():
        frame, body = np.argwhere(bad)[0]
        raise SettingError(
            f"Body '{model.names[body]}' has {what} {array[frame, body]:g}: give a number from {low:g} to {high:g}."
        )
    return array
