"""Read the source before a simulation: is it a recording, and which frames at its ends do not belong to it?

Owns reading it while a result may be shown, and the range without bad ends. Must not change keys.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...engine.analysis import recording_flaws
from ..blender import actions, sample_poses
from ..errors import RigError
from ..read import mend_frames, read_controller, read_rig
from ..read.read_rig import Reading
from ..result import result_armature

# An action with this many keys a frame is a recording, or baked.
DENSE = 0.5


def recording(rig: bpy.types.Object, scene: bpy.types.Scene) -> Reading | None:
    """The reading of the source, if it is a recording: an action with a key on most frames."""
    frames = read_controller.frame_range(rig, scene)
    curves = [curve for curve in actions.active_curves(rig) if len(curve.keyframe_points)]
    span = max((curve.range()[1] - curve.range()[0] for curve in curves), default=0.0)
    least = max(DENSE * min(len(frames), span), recording_flaws.LEAST_FRAMES)
    if not any(len(curve.keyframe_points) > least for curve in curves):
        return None
    return read_source(rig, scene)


def leave_out_ends(rig: bpy.types.Object, scene: bpy.types.Scene) -> tuple[int, int]:
    """Set a range without the frames at the ends that are not part of the motion. Returns its first and last frame."""
    reading = read_source(rig, scene)
    if not reading.flaws.head and not reading.flaws.tail:
        raise RigError(f"All frames at both ends of '{rig.name}' are part of the motion: nothing to leave out.")
    first = int(reading.frames[reading.flaws.head])
    last = int(reading.frames[len(reading.frames) - 1 - reading.flaws.tail])
    rig.heft.frame_start, rig.heft.frame_end, rig.heft.range = first, last, "CUSTOM"
    rig.heft.flaws = "\n".join(mend_frames.sentences(read_source(rig, scene)))
    return first, last


def read_source(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray | None = None) -> Reading:
    """The reading of the source on the frames that are simulated, or on the given ones."""
    frames = read_controller.frame_range(rig, scene) if frames is None else frames
    with result_armature.exposed(rig, "SOURCE"):
        samples = sample_poses.finish(sample_poses.sample(rig, scene, frames))
    return read_rig.read(rig, scene, samples)
