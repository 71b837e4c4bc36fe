"""Heft's dynamics engine: rigs in motion, without Blender.

    model  = engine.Model.from_tree(...)
    motion = engine.Motion.build(model, fps, rotations)
    result = engine.simulate(model, motion, engine.Follow(settle_time=0.2))

SI units, Z up, quaternions w first. Never imports Blender.
"""

from .controllers import BEHAVIOURS, CONTROLLERS, ROOTS, Controller, Follow, Limp
from .errors import HeftError, LibraryError, ModelError, MotionError, SettingError, SimulationError
from .jit import NO_NUMBA, is_compiled
from .model import Model
from .motion import Motion
from .result import Progress, Result
from .scene import Scene
from .simulate import simulate, simulate_iter, simulate_variants, warm_up

ENGINE_VERSION = "0.1.0"

__all__ = [
    "BEHAVIOURS",
    "CONTROLLERS",
    "ENGINE_VERSION",
    "NO_NUMBA",
    "ROOTS",
    "Controller",
    "Follow",
    "HeftError",
    "LibraryError",
    "Limp",
    "Model",
    "ModelError",
    "Motion",
    "MotionError",
    "Progress",
    "Result",
    "Scene",
    "SettingError",
    "SimulationError",
    "is_compiled",
    "simulate",
    "simulate_iter",
    "simulate_variants",
    "warm_up",
]
