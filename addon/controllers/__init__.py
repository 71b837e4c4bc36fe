"""The controllers as Blender shows them: one file each, listed here in the panel's order."""

from __future__ import annotations

from .base import ChannelColors, ChannelCurve, ControllerEntry
from .follow import FOLLOW
from .limp import LIMP
from .on_time import ON_TIME

CONTROLLERS: tuple[ControllerEntry, ...] = (FOLLOW, ON_TIME, LIMP)

ITEMS = tuple((each.id, each.label, each.text, each.number) for each in CONTROLLERS)
SETTINGS = tuple(each.settings for each in CONTROLLERS if each.settings is not None)
BONE_SETTINGS = tuple(each.bone_settings for each in CONTROLLERS if each.bone_settings is not None)
CURVES: tuple[ChannelCurve, ...] = tuple(curve for each in CONTROLLERS for curve in each.curves)
COLORS: tuple[ChannelColors, ...] = tuple(colors for each in CONTROLLERS for colors in each.colors)


def entry(name: str) -> ControllerEntry:
    """The controller of that id."""
    return next(each for each in CONTROLLERS if each.id == name)
