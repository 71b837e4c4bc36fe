"""What every controller shares: whose bones obey it, and how the root is held.

Owns the behaviours, the roots and the per-body, per-frame plan a controller hands
to the step. Must not know how a step is solved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import SettingError
from ..model import Model
from ..motion import Motion

ANIMATED, SIMULATED, LIMP = range(3)
BEHAVIOURS = ("ANIMATED", "SIMULATED", "LIMP")

ROOT_ANIMATED, ROOT_ASSISTED, ROOT_FREE = range(3)
ROOTS = ("ANIMATED", "ASSISTED", "FREE")


@dataclass(frozen=True, eq=False, kw_only=True)
class Controller:
    """behaviour: a word, one a body, or (frames, n) indices or words.

    root      'ANIMATED' (exactly the keys), 'ASSISTED' (guided with limited force)
              or 'FREE' (may fall); for all roots of the model
    assist    the guiding force's limit, in body weights
    """

    behaviour: object = "SIMULATED"
    root: str = "ANIMATED"
    assist: float = 1.0
