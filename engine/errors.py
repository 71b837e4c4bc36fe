"""The engine's errors: one family, each message naming the thing and the fix.

Owns the exception classes. Knows nothing of models or Blender; the add-on turns
this family, and only it, into a report to the user.
"""


class HeftError(Exception):
    """Root of everything Heft raises on purpose."""


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
