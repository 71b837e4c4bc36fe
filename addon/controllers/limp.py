"""Limp in Blender."""

from __future__ import annotations

from ... import engine
from .base import ControllerEntry, Values


def build(values: Values) -> engine.Controller:
    return engine.Limp(**values.common)


LIMP = ControllerEntry(
    id="LIMP",
    number=1,
    label="Limp",
    text="No muscles at all: the body hangs and falls",
    page="LIMP",
    rows=("tone",),
    build=build,
    drives=False,
)
