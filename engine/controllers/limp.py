"""Limp: nothing drives the joints; the body hangs, swings and falls."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.model import Model
from ..tables.state_table import LIMP, SIMULATED, Plan
from .base import Controller


@dataclass(frozen=True, eq=False, kw_only=True)
class Limp(Controller):
    """Joints without drive; 'SIMULATED' means limp here. The root is free unless said otherwise.

    tone    times the damping and the pull to the middle of its range of a relaxed person's joint; 0: a rag. One number,
            one a body (n,), or (frames, n)
    """

    behaviour: object = "LIMP"
    root: str = "FREE"
    tone: object = 1.0

    def plan(self, model: Model, frames: int) -> Plan:
        plan = self._plan(model, frames, 1.0, 1.0, 0.0, tone=self.tone)
        plan.behaviour[plan.behaviour == SIMULATED] = LIMP
        return plan
