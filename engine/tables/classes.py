"""The classes of all tables, for annotations."""

from .aim import Aim
from .contacts import Found, Touch
from .control import Control
from .factor import Factor
from .holds import Holds
from .motion import Target
from .pose import Pose
from .pull import Pull
from .record import Record
from .rows import Rows
from .state import State
from .tree import Tree
from .work import Work

__all__ = [
    "Aim",
    "Control",
    "Factor",
    "Found",
    "Holds",
    "Pose",
    "Pull",
    "Record",
    "Rows",
    "State",
    "Target",
    "Touch",
    "Tree",
    "Work",
]
