"""What controllers share whose joints follow a motion: their settings, and the columns of the springs and of tone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...dynamics.even_weight import settle_scales
from ...dynamics.tone import tone_gains
from ...model.model import Model
from ...tables.state_table import HEAVINESS, OMEGA, QUICKER, RECOVERY, STRENGTH, TONE_DAMPING, TONE_PULL, ZETA
from ..follow.spring import SETTLE
from ..settings import Setting

TONE = Setting("tone", 0.0, 1e3)
FOLLOWING = (
    Setting("settle_time", 1e-4, 1e6),
    Setting("damping_ratio", 0.0, 1e3, ZETA),
    Setting("heaviness", 0.0, 1.0, HEAVINESS),
    Setting("strength", 0.0, np.inf, STRENGTH),
    Setting("recovery_time", 0.0, 1e6, RECOVERY),
    TONE,
)


def spring_columns(model: Model, values: Mapping[str, np.ndarray], even_weight: bool) -> Mapping[np.int64, np.ndarray]:
    """The springs' frequencies by settle times and, with even weight, by the joints' sizes."""
    quicker = 1.0 / settle_scales(model)[None] if even_weight else np.ones((1, len(model)))
    return {OMEGA: quicker * SETTLE / values["settle_time"], QUICKER: quicker} | tone_columns(model, values["tone"])


def tone_columns(model: Model, tone: np.ndarray) -> Mapping[np.int64, np.ndarray]:
    """Damping and pull of joints that nothing drives."""
    damping, pull = tone_gains(model)
    return {TONE_DAMPING: tone * damping, TONE_PULL: tone * pull}
