"""Heft's dynamics engine: rigs in motion, without Blender.

    model  = engine.Model.from_tree(...)
    motion = engine.Motion.build(model, fps, rotations)
    result = engine.simulate(model, motion, engine.Follow(settle_time=0.2))

SI units, Z up, quaternions w first. Never imports Blender.
"""

from .anatomy.strengths import STRENGTH_OF_ROLE, strength_limits
from .collision.broad_phase import overlapping_at_rest
from .compile.decorators import NO_NUMBA, is_compiled
from .compile.gc_pause import without_gc
from .compile.precompile import build_progress
from .controllers import (
    ARRIVAL_SHAPES,
    BEHAVIOURS,
    CONTROLLERS,
    ROOTS,
    Channel,
    Controller,
    Follow,
    Limp,
    OnTime,
    Setting,
)
from .errors import HeftError, LibraryError, ModelError, MotionError, SettingError, SimulationError
from .geometry.shapes import Box, Capsule, Grid, Hull, Plane, Shape, Sphere
from .memo import derived
from .model.keys import Keys
from .model.model import BALL, HINGE, Model
from .model.motion import Motion
from .model.result import Arrivals, ChannelValues, Contacts, Progress, Result
from .model.scene import MOVES, RESPONSES, TIES, Collider, Ground, Push, Scene, Tie, Wind
from .posing.posing import Lock, Pin, Posing, warm_up as warm_up_posing
from .simulation.assemble import Actor
from .simulation.checkpoints import Memory
from .simulation.loop import simulate_loop, simulate_loop_iter
from .simulation.simulate import (
    simulate,
    simulate_iter,
    simulate_together,
    simulate_together_iter,
    simulate_variants,
    warm_up,
)
from .simulation.unmet_contacts import USE_ASSISTED

ENGINE_VERSION = "0.2.0"

__all__ = [
    "ARRIVAL_SHAPES",
    "BALL",
    "BEHAVIOURS",
    "CONTROLLERS",
    "ENGINE_VERSION",
    "HINGE",
    "MOVES",
    "NO_NUMBA",
    "RESPONSES",
    "ROOTS",
    "STRENGTH_OF_ROLE",
    "TIES",
    "USE_ASSISTED",
    "Actor",
    "Arrivals",
    "Box",
    "Capsule",
    "Channel",
    "ChannelValues",
    "Collider",
    "Contacts",
    "Controller",
    "Follow",
    "Grid",
    "Ground",
    "HeftError",
    "Hull",
    "Keys",
    "LibraryError",
    "Limp",
    "Lock",
    "Memory",
    "Model",
    "ModelError",
    "Motion",
    "MotionError",
    "OnTime",
    "Pin",
    "Plane",
    "Posing",
    "Progress",
    "Push",
    "Result",
    "Scene",
    "Setting",
    "SettingError",
    "Shape",
    "SimulationError",
    "Sphere",
    "Tie",
    "Wind",
    "build_progress",
    "derived",
    "is_compiled",
    "overlapping_at_rest",
    "simulate",
    "simulate_iter",
    "simulate_loop",
    "simulate_loop_iter",
    "simulate_together",
    "simulate_together_iter",
    "simulate_variants",
    "strength_limits",
    "warm_up",
    "warm_up_posing",
    "without_gc",
]
