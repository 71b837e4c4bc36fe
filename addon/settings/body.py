"""A character's body: size and weight, detail, joint ranges.

Owns names, ranges, units and tooltips.
"""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty

from ..declare import changed, detail_changed, settings_group, simulated

DETAILS = (
    ("FULL", "Full", "Fingers and toes are bodies of their own", 0),
    ("HANDS_AND_FEET", "Hands and Feet", "Fingers and toes ride on hands and feet; they still move as keyed", 1),
    ("LIMBS", "Limbs", "Hands and feet ride on forearms and shanks with all their bones; they still move as keyed", 2),
)


@settings_group(update=changed, manual="bones.html#the-whole-body")
class BodySettings:
    """Part of `Object.heft`: the whole body."""

    meters_per_unit: simulated(
        FloatProperty,
        name="Metres per Unit",
        description="How many metres one unit of the scene means for this rig; a rig drawn in centimetres takes 0.01",
        default=1.0,
        min=1e-6,
        max=1e6,
        soft_min=0.001,
        soft_max=100.0,
        precision=4,
        body=True,
        short="metres",
        of_shot=True,
    )
    total_mass: simulated(
        FloatProperty,
        name="Total Mass",
        description="Mass of the whole character in kilograms, shared out by what the skin holds around each bone, "
        "without a skin as a person's, or else by the size of the bones",
        default=70.0,
        min=1e-4,
        max=1e6,
        soft_min=0.1,
        soft_max=500.0,
        unit="MASS",
        structure=True,
        body=True,
        short="mass",
    )
    gravity: simulated(
        FloatVectorProperty,
        name="Gravity",
        description="Acceleration that pulls every body, in metres per second squared",
        default=(0.0, 0.0, -9.81),
        size=3,
        soft_min=-50.0,
        soft_max=50.0,
        subtype="ACCELERATION",
        unit="ACCELERATION",
        manual="contacts.html#gravity",
        of_shot=True,
    )
    detail: simulated(
        EnumProperty,
        name="Detail",
        description="Which parts of the body are simulated by themselves. What you gave another behaviour keeps it",
        items=DETAILS,
        default="FULL",
        update=detail_changed,
        manual="bones.html#detail",
    )
    natural_limits: simulated(
        BoolProperty,
        name="Natural Limits",
        description="Every joint has a range: the rig's Limit Rotation constraints and IK limits, or else what joints "
        "of people and animals allow, or bones of its kind. What the keys do is always allowed",
        default=True,
        structure=True,
    )
