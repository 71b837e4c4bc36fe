"""A push: its bone, direction, strength and frame.

Owns names, ranges, units and tooltips.
"""

import bpy
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from ..declare import changed, settings_group, simulated


@settings_group(update=changed, manual="contacts.html#pushes")
class HeftPush(bpy.types.PropertyGroup):
    """One of `Object.heft.pushes`: an external impulse."""

    bone: simulated(
        StringProperty,
        name="Bone",
        description="The bone that is pushed, at its centre of mass or where Along the Bone says",
    )
    direction: simulated(
        FloatVectorProperty,
        name="Direction",
        description="Where to, in the world's axes; its length does not matter",
        default=(0.0, 1.0, 0.0),
        size=3,
        soft_min=-1.0,
        soft_max=1.0,
        subtype="XYZ",
    )
    impulse: simulated(
        FloatProperty,
        name="Impulse (N s)",
        description="How hard, in newton seconds: mass times speed. A ball of 5 kg at 4 m/s carries 20",
        default=20.0,
        min=0.0,
        soft_max=500.0,
    )
    frame: simulated(
        IntProperty,
        name="Frame",
        description="When",
        default=1,
    )
    use_place: simulated(
        BoolProperty,
        name="At a Place",
        description="Pushed at a place along the bone, so that it spins, instead of at its centre of mass",
        default=False,
    )
    place: simulated(
        FloatProperty,
        name="Along the Bone",
        description="Where it is pushed: 0 at its head, 1 at its tail",
        default=0.5,
        soft_min=0.0,
        soft_max=1.0,
        subtype="FACTOR",
    )
