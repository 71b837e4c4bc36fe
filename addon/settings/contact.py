"""What a character meets: ground, colliders, itself, the air.

Owns names, ranges, units and tooltips.
"""

import bpy
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, PointerProperty

from ..declare import changed, settings_group, simulated


@settings_group(update=changed, manual="contacts.html#ground")
class ContactSettings:
    """Part of `Object.heft`: contacts and wind."""

    ground: simulated(
        BoolProperty,
        name="Ground",
        description="A level floor that the character stands and falls on",
        default=False,
    )
    ground_height: simulated(
        FloatProperty,
        name="Height",
        description="Where the ground is, along the world's Z axis",
        default=0.0,
        soft_min=-10.0,
        soft_max=10.0,
        precision=3,
        subtype="DISTANCE",
        unit="LENGTH",
    )
    ground_friction: simulated(
        FloatProperty,
        name="Friction",
        description="How rough the ground is: 0 is ice, 0.6 a wooden floor, 1 rubber. What touches it counts as much",
        default=0.6,
        min=0.0,
        soft_max=2.0,
    )
    ground_bounce: simulated(
        FloatProperty,
        name="Bounce",
        description="How much of its speed a thing keeps that falls on the ground: 0 nothing, 1 all of it",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    colliders: simulated(
        PointerProperty,
        name="Colliders",
        description="The collection of what the character meets: mesh objects, each with its settings, and other "
        "armatures with physics, which are simulated together with this one",
        type=bpy.types.Collection,
        copied=False,
        manual="contacts.html#colliders",
    )
    touch_self: simulated(
        BoolProperty,
        name="Touch Itself",
        description="The character's bones touch one another, but for neighbours and those that overlap at rest",
        default=False,
        manual="contacts.html#the-characters-own-surface",
    )
    touch_self_limp: simulated(
        BoolProperty,
        name="When It Falls",
        description="Limp bones of a character with a Free root touch one another, but for neighbours, those that "
        "overlap when they go limp, and those of one hand or foot. Without it arms and legs pass through the body",
        default=True,
        manual="contacts.html#the-characters-own-surface",
    )
    friction: simulated(
        FloatProperty,
        name="Friction",
        description="How rough the character is: 0 is ice, 0.6 shoes on wood, 1 rubber",
        default=0.6,
        min=0.0,
        soft_max=2.0,
        structure=True,
        manual="contacts.html#the-characters-own-surface",
    )
    bounce: simulated(
        FloatProperty,
        name="Bounce",
        description="How much of its speed a thing keeps that hits the character: 0 nothing, 1 all of it",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        structure=True,
        manual="contacts.html#the-characters-own-surface",
    )
    wind: simulated(
        FloatVectorProperty,
        name="Wind",
        description="How the air moves, in metres a second; it drags every bone along",
        default=(0.0, 0.0, 0.0),
        subtype="VELOCITY",
        manual="contacts.html#wind",
        of_shot=True,
    )
    wind_strength: simulated(
        FloatProperty,
        name="Wind Strength",
        description="Times the drag of plain air: more for hair, cloth and leaves; can be keyed for gusts",
        default=1.0,
        min=0.0,
        max=1e4,
        soft_max=20.0,
        keyable=True,
        manual="contacts.html#wind",
    )
