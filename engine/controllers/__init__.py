"""The controllers, one file or folder each, named as in the panel: a new one is a file and a line here.

Kernels that act within the step are called from `hooks`, one line each.
"""

from .base import BEHAVIOURS, ROOTS, Controller
from .follow.controller import Follow
from .limp import Limp
from .on_time.controller import ARRIVAL_SHAPES, OnTime
from .settings import Channel, Setting

CONTROLLERS = (Follow, OnTime, Limp)

__all__ = [
    "ARRIVAL_SHAPES",
    "BEHAVIOURS",
    "CONTROLLERS",
    "ROOTS",
    "Channel",
    "Controller",
    "Follow",
    "Limp",
    "OnTime",
    "Setting",
]
