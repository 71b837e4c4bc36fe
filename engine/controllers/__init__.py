"""The controllers, one file each, named as in the panel."""

from .base import BEHAVIOURS, ROOTS, Controller
from .follow.controller import Follow
from .limp import Limp
from .on_time.controller import OnTime

CONTROLLERS = (Follow, OnTime, Limp)

__all__ = ["BEHAVIOURS", "CONTROLLERS", "ROOTS", "Controller", "Follow", "Limp", "OnTime"]
