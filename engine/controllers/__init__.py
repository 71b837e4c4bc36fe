"""The controllers, one file each, named as in the panel."""

from .base import BEHAVIOURS, ROOTS, Controller
from .follow import Follow
from .limp import Limp

CONTROLLERS = (Follow, Limp)

__all__ = ["BEHAVIOURS", "CONTROLLERS", "ROOTS", "Controller", "Follow", "Limp"]
