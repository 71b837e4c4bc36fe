"""A bone's settings: its differences from the character's.

Owns names, ranges, units and tooltips.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ...engine.anatomy.role_list import LEFT, MIDDLE, RIGHT, ROLES
from .. import controllers
from ..declare import bone_changed, role_changed, settings_group, shown, simulated
from .posing_role import PosingBone

BEHAVIOURS = (
    ("ANIMATED", "Animated", "Exactly the keys; pushes the bones that hang on it", "KEYFRAME_HLT", 0),
    ("SIMULATED", "Simulated", "Moved by physics towards the keys", "PHYSICS", 1),
    ("LIMP", "Limp", "Moved by physics alone", "FORCE_DRAG", 2),
    ("IGNORED", "Ignored", "No body of its own: rides on its parent, with its own keys", "RADIOBUT_OFF", 3),
)
BONE_SHAPES = (
    ("AUTO", "Auto", "The capsule or box that lies closest to the skin that follows the bone", 0),
    ("CAPSULE", "Capsule", "A rod with round ends", 1),
    ("BOX", "Box", "A straight box", 2),
    ("HULL", "Hull", "The skin's convex hull", 3),
    ("NONE", "None", "Touches nothing", 4),
)
LIMITS_FROM = (
    ("RIG", "Rig", "The bone's Limit Rotation constraint or IK limits where it has them, else the values here", 0),
    ("OWN", "Own", "The values here", 1),
    ("NONE", "None", "This joint has no limits, not even those it would have by itself", 2),
)
# Numbered in the order of `role_list.ROLES`, which files rely on: a new role is appended.
ROLE_ITEMS = (
    ("AUTO", "Auto", "Found from the bone's name and the rig's shape", 0),
    *((name, label, f"The bone is: {label}", i) for i, (name, label) in enumerate(ROLES, 1)),
)
SIDE_ITEMS = (
    ("AUTO", "Auto", "Found from the bone's name and the way the rig faces", 0),
    (LEFT, "Left", "The character's left", 1),
    (RIGHT, "Right", "The character's right", 2),
    (MIDDLE, "Middle", "On neither side", 3),
)


def _is_ignored(behaviour: str) -> bool:
    """The part of a bone's behaviour that the model depends on: whether it is a body."""
    return behaviour == "IGNORED"


@settings_group(update_of=bone_changed, manual="bones.html#multipliers")
class BoneSettings:
    """Part of `PoseBone.heft`: a bone's settings for the simulation."""

    behaviour: simulated(
        EnumProperty,
        name="Behaviour",
        description="How this bone takes part",
        items=BEHAVIOURS,
        default="SIMULATED",
        keyable=True,
        preset=True,
        structure=_is_ignored,
        manual="bones.html#behaviour",
    )
    settle_scale: simulated(
        FloatProperty,
        name="Settle Time",
        description="Times the armature's settle time: 2 makes this bone half as stiff",
        default=1.0,
        min=0.001,
        max=1000.0,
        soft_min=0.1,
        soft_max=10.0,
        keyable=True,
        preset=True,
    )
    heaviness_scale: simulated(
        FloatProperty,
        name="Heaviness",
        description="Times the armature's heaviness (the product is kept between 0 and 1)",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=2.0,
        keyable=True,
        preset=True,
    )
    strength_scale: simulated(
        FloatProperty,
        name="Strength",
        description="Times the armature's strength, where strength is limited",
        default=1.0,
        min=0.0,
        max=1000.0,
        soft_max=3.0,
        keyable=True,
        preset=True,
    )
    tone_scale: simulated(
        FloatProperty,
        name="Tone",
        description="Times the armature's tone: how much this joint damps itself and pulls to the middle of its range "
        "while nothing drives it; 0 is a rag",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=3.0,
        keyable=True,
    )
    mass: simulated(
        FloatProperty,
        name="Mass",
        description="Mass of this bone in kilograms; 0 takes its share of the total mass",
        default=0.0,
        min=0.0,
        max=1e6,
        soft_max=50.0,
        unit="MASS",
        structure=True,
        body=True,
    )
    mix: shown(
        FloatProperty,
        name="Mix",
        description="Times the armature's mix: 0 shows this bone as it is keyed; can be keyed",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        update=bone_changed("mix"),
        keyable=True,
        taken=True,
        copied=True,
    )
    shape: simulated(
        EnumProperty,
        name="Shape",
        description="What others touch of this bone",
        items=BONE_SHAPES,
        default="AUTO",
        structure=True,
        manual="bones.html#shapes",
    )
    overlap_group: simulated(
        IntProperty,
        name="Overlap Group",
        description="Bones with the same number never touch one another; 0 is no group",
        default=0,
        min=0,
        manual="bones.html#shapes",
    )
    use_limits: simulated(
        BoolProperty,
        name="Own Joint Limits",
        description="The joint does not turn farther than its limits; keys beyond them are not reached. Without "
        "this it has the armature's Natural Limits",
        default=False,
        structure=True,
        manual="bones.html#limits",
    )
    limits_from: simulated(
        EnumProperty,
        name="Limits From",
        description="Where the limits stand",
        items=LIMITS_FROM,
        default="RIG",
        structure=True,
        structure_if="use_limits",
        manual="bones.html#limits",
    )
    limit_swing: simulated(
        FloatProperty,
        name="Swing",
        description="How far the bone may lean from its rest direction, to any side",
        default=1.5707963,
        min=0.0,
        max=3.1415926,
        subtype="ANGLE",
        structure=True,
        structure_if="use_limits",
        manual="bones.html#limits",
    )
    limit_low: simulated(
        FloatProperty,
        name="From",
        description="How far the bone may twist about its length, or a hinge (a bone with two locked axes) may turn: "
        "the lower end",
        default=-0.7853982,
        min=-3.1415926,
        max=0.0,
        subtype="ANGLE",
        structure=True,
        structure_if="use_limits",
        manual="bones.html#limits",
    )
    limit_high: simulated(
        FloatProperty,
        name="To",
        description="How far the bone may twist about its length, or a hinge (a bone with two locked axes) may turn: "
        "the upper end",
        default=0.7853982,
        min=0.0,
        max=3.1415926,
        subtype="ANGLE",
        structure=True,
        structure_if="use_limits",
        manual="bones.html#limits",
    )
    role: simulated(
        EnumProperty,
        name="Role",
        description="What this bone is in the body: tells how strong its joint is and how heavy it is",
        items=ROLE_ITEMS,
        default="AUTO",
        update=role_changed,
        structure=True,
        identity=True,
        manual="bones.html#roles",
    )
    side: simulated(
        EnumProperty,
        name="Side",
        description="On which side of the body this bone is",
        items=SIDE_ITEMS,
        default="AUTO",
        update=role_changed,
        structure=True,
        identity=True,
        mirrored=False,
        manual="bones.html#roles",
    )


@settings_group(manual="bones.html#multipliers")
class HeftBone(BoneSettings, *controllers.BONE_SETTINGS, PosingBone, bpy.types.PropertyGroup):
    """`PoseBone.heft`: one bone's settings."""
