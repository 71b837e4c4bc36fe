"""A collider: how a mesh object meets characters.

Owns names, ranges, units and tooltips.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ..declare import RESPONSES, collider_changed, settings_group, simulated, unsaved

SHAPES = (
    ("AUTO", "Auto", "Found from the mesh: a sphere, a box, a hull where it is convex, else the mesh itself", 0),
    ("SPHERE", "Sphere", "A ball around the object", 1),
    ("CAPSULE", "Capsule", "A rod with round ends around the object", 2),
    ("BOX", "Box", "The object's bounding box along its own axes", 3),
    ("HULL", "Hull", "The object's convex hull", 4),
    ("MESH", "Mesh", "The mesh itself, also concave; it must be closed", 5),
)
MOVES = (
    ("ANIMATED", "Animated", "Exactly its own keys; it pushes with its true speed and nothing pushes it", 0),
    ("FREE", "Free", "Thrown with the speed of its keys, then moved by physics alone", 1),
)


@settings_group(update=collider_changed, manual="contacts.html#colliders")
class HeftCollider(bpy.types.PropertyGroup):
    """`Object.heft_collider`: how a mesh object meets characters."""

    shape: simulated(
        EnumProperty,
        name="Shape",
        description="What others touch of this object",
        items=SHAPES,
        default="AUTO",
    )
    friction: simulated(
        FloatProperty,
        name="Friction",
        description="How rough it is: 0 is ice, 0.6 a wooden floor, 1 rubber",
        default=0.6,
        min=0.0,
        soft_max=2.0,
    )
    bounce: simulated(
        FloatProperty,
        name="Bounce",
        description="How much of its speed a thing keeps that hits it: 0 nothing, 1 all of it",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    mass: simulated(
        FloatProperty,
        name="Mass",
        description="Mass in kilograms of a free object, or of one that a bone carries; 0 weighs its shape like water",
        default=0.0,
        min=0.0,
        max=1e6,
        soft_max=100.0,
        unit="MASS",
    )
    response: simulated(
        EnumProperty,
        name="Response",
        description="How the joints of a character take its push",
        items=RESPONSES,
        default="GIVES_WAY",
    )
    moves: simulated(
        EnumProperty,
        name="Moves",
        description="What moves it",
        items=MOVES,
        default="ANIMATED",
    )
    free_from: simulated(
        IntProperty,
        name="Free From",
        description="Up to this frame the object has its own keys, then it flies on with their speed",
        default=1,
    )

    # On the empty with a free object's result: the object it belongs to, and the rig whose simulation made it.
    owner: unsaved(PointerProperty, type=bpy.types.Object)
    rig: unsaved(PointerProperty, type=bpy.types.Object)
    bare: unsaved(BoolProperty)
    # On an object that Heft created, such as a thrown ball: a digest of it at creation.
    made: unsaved(StringProperty)
