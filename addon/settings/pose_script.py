"""A pose script: which pose, and how long it takes to get there.

Owns names, ranges, units and tooltips.
"""

import bpy
from bpy.props import FloatProperty, StringProperty

from ..blender import pose_library
from ..declare import remembered, settings_group


def _suggested(entry: bpy.types.PropertyGroup, _context, _text) -> list[str]:
    return pose_library.names(entry.id_data)


@settings_group(manual="on_time.html#pose-scripts")
class HeftScriptPose(bpy.types.PropertyGroup):
    """One of `Object.heft.script`: a pose and the seconds it takes."""

    pose: remembered(
        StringProperty,
        name="Pose",
        description="A pose marker of an action, or a pose of the library in this file",
        search=_suggested,
        hidden=False,
    )
    seconds: remembered(
        FloatProperty,
        name="Seconds",
        description="Time from the pose before to this one",
        default=0.5,
        min=0.001,
        soft_max=5.0,
        precision=3,
        step=5,
        hidden=False,
    )
