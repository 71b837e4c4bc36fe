"""The rig's controls and switches, for Bake to Controls.

Owns names and tooltips. Nothing here changes a simulation.
"""

import bpy
from bpy.props import EnumProperty, FloatProperty, StringProperty

from ..declare import settings_group, shown

# What of a control is keyed: identifier, label, tooltip.
PARTS = (
    ("ROTATION", "Rotation", "Turn the control as the body turns", 0),
    ("ALL", "Location and Rotation", "Move and turn the control as the body", 1),
    ("REST", "What Is Left", "A tweak: takes what the other controls cannot make, keyed only if needed", 2),
)


@settings_group(manual="result.html#controls")
class HeftControl(bpy.types.PropertyGroup):
    """One of `Object.heft.controls`: a control and the body it follows when baked."""

    control: shown(StringProperty, name="Control", description="The bone that gets the keys")
    body: shown(StringProperty, name="Body", description="The simulated bone that it follows")
    part: shown(
        EnumProperty,
        name="Part",
        description="What of the control is keyed",
        items=PARTS,
        default="ROTATION",
    )


@settings_group(manual="result.html#controls")
class HeftSwitch(bpy.types.PropertyGroup):
    """One of `Object.heft.switches`: a property that gives the controls their effect."""

    path: shown(
        StringProperty,
        name="Property",
        description="Data path from the armature object, as Copy Data Path gives it: "
        'pose.bones["upper_arm_parent.L"]["IK_FK"]',
    )
    value: shown(
        FloatProperty,
        name="Value",
        description="What it is keyed to on the baked frames; before and after them it stays what it was",
        default=1.0,
    )
