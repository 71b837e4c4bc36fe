"""Follow in Blender."""

from __future__ import annotations

from ... import engine
from .base import ControllerEntry, Values


def build(values: Values) -> engine.Controller:
    return engine.Follow(**values.common, **values.following)


FOLLOW = ControllerEntry(
    id="FOLLOW",
    number=0,
    label="Follow",
    text="Joints pull towards the keys like springs tuned by settle time and damping",
    page="FOLLOW",
    rows=("settle_time", "damping_ratio", "heaviness", "even_weight", "recovery_time", "use_strength"),
    bone_rows=("settle_scale", "heaviness_scale"),
    build=build,
)
