"""Detect a recording that is played at another frame rate than it was recorded at.

Importers put every sample on a frame and leave the scene at its own rate. A capture of 120 samples a second then runs
at a fifth of its speed, and gravity is five times too fast for it. Nothing in the action stores the rate, so the
animator is asked if a person moves slower than people do. Owns that test. Must not change the source.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...engine.math import rotations
from ..blender import engine_space
from ..read import read_controller
from ..read.read_rig import Reading
from ..rig import bone_roles
from . import recordings

# People in motion turn the fastest of their large joints by more than this on one frame in ten [°/s]. Of 17 recordings
# of 120 samples a second the slowest has 273 at its own rate, and the fastest 175 at 24 frames a second.
SLOW = 200.0
QUICKEST = 90.0  # [%]
# Roles that are large and known to move: noise makes fingers and toes fast at any rate.
LARGE = {"PELVIS", "SPINE", "NECK", "COLLAR", "UPPER_ARM", "LOWER_ARM", "THIGH", "SHANK", "FOOT"}
PERSON = {"UPPER_ARM", "THIGH"}
LEAST_FRAMES = 120
RATES = (30, 60, 120)


def look(rig: bpy.types.Object, scene: bpy.types.Scene, reading: Reading | None) -> None:
    """Store the frame rate at which the recording seems slow, or 0."""
    slow = reading is not None and seems_slow(rig, reading)
    span = read_controller.action_range(rig)
    if slow and span is not None and span[1] > reading.frames[-1]:
        # a person who stands still in the played range may move in the rest of the recording
        slow = seems_slow(rig, recordings.read_source(rig, scene, np.arange(span[0], span[1] + 1)))
    rig.heft.slow_at = of_scene(scene) if slow else 0


def of_scene(scene: bpy.types.Scene) -> int:
    """The scene's frames a second, rounded."""
    return round(engine_space.frames_per_second(scene.render.fps, scene.render.fps_base))


def is_asked(rig: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """True if the animator should be asked. A change of the scene's rate counts as an answer."""
    return rig.heft.slow_at > 0 and rig.heft.slow_at == of_scene(scene)


def seems_slow(rig: bpy.types.Object, reading: Reading) -> bool:
    """True if the rig is a person who moves, but slower than people do."""
    parts = bone_roles.roles_of(rig)
    roles = [parts[name].role if name in parts else "" for name in reading.names]
    if not set(roles) >= PERSON or len(reading.frames) < LEAST_FRAMES:
        return False
    large = [role in LARGE for role in roles]
    turns = reading.motion.rotations[:, large]
    steps = np.degrees(rotations.angle_between(turns[:-1], turns[1:])).max(axis=1) * reading.motion.fps
    span = read_controller.action_range(rig)
    if span is not None:  # ignore the held poses before and after the recording
        steps = steps[(reading.frames[:-1] >= span[0]) & (reading.frames[1:] <= span[1])]
    return len(steps) >= LEAST_FRAMES and float(np.percentile(steps, QUICKEST)) < SLOW
