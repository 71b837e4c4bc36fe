"""Limp: nothing drives the joints; the body hangs, swings and falls."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Model
from ..state import LIMP, SIMULATED, Plan
from .base import Controller


@dataclass(frozen=True, eq=False, kw_only=True)
class Limp(Controller):
    """Joints without drive; 'SIMULATED' means limp here. The root is free unless said otherwise."""

    behaviour: object = "LIMP"
    root: str = "FREE"

    def plan(self, model: Model, frames: int) -> Plan:
        plan = self._plan(model, frames, 1.0, 1.0, 0.0)
        plan.behaviour[plan.behaviour == SIMULATED] = LIMP
        return plan
