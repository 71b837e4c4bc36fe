"""A toy controller, as it is copied to `engine/controllers/pull.py`: heaviness times a pull of each body, and a channel
that notes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model.model import Model
from ..tables import control as C
from .follow.controller import Follow
from .settings import CONTROL, Channel, Setting

PULL = CONTROL.add(1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pull(Follow):
    """pull: times the heaviness; the others as in Follow."""

    pull: object = 1.0
    settings: ClassVar = (*Follow.settings, Setting("pull", 0.0, 1.0, PULL))
    channels: ClassVar = (Channel("pull", "times"),)

    def columns(self, model: Model, values: Mapping[str, np.ndarray]) -> Mapping[np.int64, np.ndarray]:
        return {**super().columns(model, values), C.HEAVINESS: values["heaviness"] * values["pull"]}

    def measure(self, model, motion, result) -> Mapping[str, np.ndarray]:
        pull = self.control(model, len(motion)).setting[:, 1:, PULL]
        return {"pull": np.broadcast_to(pull, (len(motion), len(model)))}
