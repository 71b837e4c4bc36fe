"""The controllers, one file each, named as in the panel."""

from .base import ARRIVAL_SHAPES, BEHAVIOURS, ROOTS, Controller
from .follow.controller import Follow
from .limp import Limp
from .on_time.controller import OnTime

CONTROLLERS = (Follow, OnTime, Limp)

__all__ = ["ARRIVAL_SHAPES", "BEHAVIOURS", "CONTROLLERS", "ROOTS", "Controller", "Follow", "Limp", "OnTime"]
