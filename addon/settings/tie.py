"""A tie: the bone it holds, its target, and when it holds.

Owns names, ranges, units and tooltips.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, PointerProperty, StringProperty

from ..declare import RESPONSES, changed, settings_group, simulated

TIES = (
    ("PIN", "Pin", "Holds the place and lets it turn", 0),
    ("WELD", "Weld", "Holds the place and the rotation", 1),
    ("DISTANCE", "Distance", "Keeps the distance to the target's origin", 2),
)
ENDS = (
    ("HEAD", "Head", "At the bone's head", 0),
    ("TAIL", "Tail", "At the bone's tail", 1),
)


@settings_group(update=changed, manual="contacts.html#ties")
class HeftTie(bpy.types.PropertyGroup):
    """One of `Object.heft.ties`: a constraint on a bone besides its joint."""

    bone: simulated(StringProperty, name="Bone", description="The bone that is held")
    end: simulated(
        EnumProperty,
        name="At",
        description="Where on the bone",
        items=ENDS,
        default="TAIL",
    )
    kind: simulated(
        EnumProperty,
        name="Kind",
        description="What is held",
        items=TIES,
        default="PIN",
    )
    target: simulated(
        PointerProperty,
        name="Target",
        description="The object that holds the bone, or the armature of the bone below; empty: the world",
        type=bpy.types.Object,
    )
    target_bone: simulated(
        StringProperty,
        name="Target Bone",
        description="The bone of the target armature that holds this one",
    )
    on: simulated(
        BoolProperty,
        name="On",
        description="The tie takes hold where the bone is when this is switched on, and lets go when it is "
        "switched off; can be keyed",
        default=True,
        keyable=True,
    )
    response: simulated(
        EnumProperty,
        name="Response",
        description="How the joints take what hangs on the tie",
        items=RESPONSES,
        default="GIVES_WAY",
    )
