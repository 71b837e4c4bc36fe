"""The engine's errors: one family; each message names the object and the fix.

Owns the exception classes. Must not know models or Blender; the add-on reports this family, and no other exceptions, to
the user.
"""


class HeftError(Exception):
    """Base class of everything that Heft raises on purpose."""


class ModelError(HeftError):
    """The bodies, joints or masses cannot be simulated as given."""


class MotionError(HeftError):
    """The motion does not fit the model, or carries bad numbers."""


class SettingError(HeftError):
    """A controller or scene setting is out of its range."""


class SimulationError(HeftError):
    """The simulation itself produced a number that is not finite."""


class LibraryError(HeftError):
    """A library the engine needs is missing or too old."""
