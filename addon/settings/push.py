"""A push: its bone, direction, strength and frame.

Owns names, ranges, units and tooltips.
"""

import bpy
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from ..declare import NOT_KEYED, OVERRIDABLE, changed


class HeftPush(bpy.types.PropertyGroup):
    """One of `Object.heft.pushes`: a blow from nowhere."""

    bone: StringProperty(
        name="Bone",
        description="The bone that is pushed, at its centre of mass or where Along the Bone says",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    direction: FloatVectorProperty(
        name="Direction",
        description="Where to, in the world's axes; its length does not matter",
        default=(0.0, 1.0, 0.0),
        size=3,
        soft_min=-1.0,
        soft_max=1.0,
        subtype="XYZ",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    impulse: FloatProperty(
        name="Impulse (N s)",
        description="How hard, in newton seconds: mass times speed. A ball of 5 kg at 4 m/s carries 20",
        default=20.0,
        min=0.0,
        soft_max=500.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    use_place: BoolProperty(
        name="At a Place",
        description="Pushed at a place along the bone, so that it spins, instead of at its centre of mass",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    place: FloatProperty(
        name="Along the Bone",
        description="Where it is pushed: 0 at its head, 1 at its tail",
        default=0.5,
        soft_min=0.0,
        soft_max=1.0,
        subtype="FACTOR",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    frame: IntProperty(
        name="Frame",
        description="When",
        default=1,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
