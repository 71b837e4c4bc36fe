"""Shared by controllers that follow a motion: their settings, and the columns of springs and of tone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...dynamics.even_weight import settle_scales
from ...dynamics.tone import tone_gains
from ...model.model import Model
from ...tables import control as C
from ..follow.spring import SETTLE
from ..settings import Setting

TONE = Setting("tone", 0.0, 1e3)
FOLLOWING = (
    Setting("settle_time", 1e-4, 1e6),
    Setting("damping_ratio", 0.0, 1e3, C.ZETA),
    Setting("heaviness", 0.0, 1.0, C.HEAVINESS),
    Setting("strength", 0.0, np.inf, C.STRENGTH),
    Setting("recovery_time", 0.0, 1e6, C.RECOVERY),
    TONE,
)


def spring_columns(model: Model, values: Mapping[str, np.ndarray], even_weight: bool) -> Mapping[np.int64, np.ndarray]:
    """The springs' frequencies from settle times and, with even weight, from the joints' sizes."""
    quicker = 1.0 / settle_scales(model)[None] if even_weight else np.ones((1, len(model)))
    return {C.OMEGA: quicker * SETTLE / values["settle_time"], C.QUICKER: quicker} | tone_columns(model, values["tone"])


def tone_columns(model: Model, tone: np.ndarray) -> Mapping[np.int64, np.ndarray]:
    """Damping and pull of joints without drive."""
    damping, pull = tone_gains(model)
    return {C.TONE_DAMPING: tone * damping, C.TONE_PULL: tone * pull}
