"""A missed key: one of `Object.heft.misses`."""

import bpy
from bpy.props import FloatProperty, StringProperty

from ..declare import remembered, settings_group


@settings_group()
class HeftMiss(bpy.types.PropertyGroup):
    """One of `Object.heft.misses`: a key that could not be met."""

    bone: remembered(
        StringProperty,
        name="Bone",
        description="Whose key it is",
        hidden=False,
    )
    frame: remembered(
        FloatProperty,
        name="Frame",
        description="When the key is",
        hidden=False,
    )
    degrees: remembered(
        FloatProperty,
        name="Degrees",
        description="How far off the pose was",
        hidden=False,
    )
