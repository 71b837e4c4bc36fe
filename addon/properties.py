"""The settings: on the armature object, on each pose bone, and the flat links that survive overrides.

Owns names, ranges, units and tooltips. Must not know how a simulation runs: a
changed value is handed to `live`.
"""

from types import SimpleNamespace

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from . import live

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
OVERRIDABLE_LIST = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
# For settings that hold for the whole shot: a key on them would do nothing.
NOT_KEYED: set[str] = set()

CONTROLLERS = (
    ("FOLLOW", "Follow", "Joints pull towards the keys like springs tuned by settle time and damping", 0),
    ("LIMP", "Limp", "No muscles at all: the body hangs and falls", 1),
)
BEHAVIOURS = (
    ("ANIMATED", "Animated", "Exactly the keys; pushes the bones that hang on it", 0),
    ("SIMULATED", "Simulated", "Moved by physics towards the keys", 1),
    ("LIMP", "Limp", "Moved by physics alone", 2),
    ("IGNORED", "Ignored", "No body of its own: rides on its parent, with its own keys", 3),
)
ROOTS = (
    ("ANIMATED", "Animated", "The root goes exactly where it is keyed", 0),
    ("ASSISTED", "Assisted", "The root is guided to its keys with limited force", 1),
    ("FREE", "Free", "Nothing holds the root: the character may fall", 2),
)
RANGES = (
    ("SCENE", "Scene", "The scene's start and end frame", 0),
    ("PREVIEW", "Preview", "The preview range, or the scene's without one", 1),
    ("ACTION", "Action", "From the first to the last key of the source action", 2),
    ("CUSTOM", "Custom", "The frames given below", 3),
)
SHOWN = (
    ("SOURCE", "Source", "The rig moves as it is keyed", 0),
    ("RESULT", "Result", "The rig moves as it was simulated", 1),
)
BONE_SHAPES = (
    ("AUTO", "Auto", "The capsule or box that lies closest to the skin that follows the bone", 0),
    ("CAPSULE", "Capsule", "A rod with round ends", 1),
    ("BOX", "Box", "A straight box", 2),
    ("HULL", "Hull", "The skin's convex hull", 3),
    ("NONE", "None", "Touches nothing", 4),
)
SHAPES = (
    ("AUTO", "Auto", "Found from the mesh: a sphere, a box, a hull where it is convex, else the mesh itself", 0),
    ("SPHERE", "Sphere", "A ball around the object", 1),
    ("CAPSULE", "Capsule", "A rod with round ends around the object", 2),
    ("BOX", "Box", "The object's bounding box along its own axes", 3),
    ("HULL", "Hull", "The object's convex hull", 4),
    ("MESH", "Mesh", "The mesh itself, also concave; it must be closed", 5),
)
RESPONSES = (
    ("GIVES_WAY", "Gives Way", "The character's joints yield to it", 0),
    ("BRACES", "Braces", "The character's joints hold against it without sagging", 1),
)
MOVES = (
    ("ANIMATED", "Animated", "Exactly its own keys; it pushes with its true speed and nothing pushes it", 0),
    ("FREE", "Free", "Thrown with the speed of its keys, then moved by physics alone", 1),
)
LIMITS_FROM = (
    ("RIG", "Rig", "The bone's Limit Rotation constraint or IK limits where it has them, else the values here", 0),
    ("OWN", "Own", "The values here", 1),
)
TIES = (
    ("PIN", "Pin", "Holds the place and lets it turn", 0),
    ("WELD", "Weld", "Holds the place and the rotation", 1),
    ("DISTANCE", "Distance", "Keeps the distance to the target's origin", 2),
)
ENDS = (
    ("HEAD", "Head", "At the bone's head", 0),
    ("TAIL", "Tail", "At the bone's tail", 1),
)


def _changed(group: bpy.types.PropertyGroup, _context) -> None:
    live.setting_changed(group.id_data)


def _mix_changed(group: bpy.types.PropertyGroup, _context) -> None:
    live.mix_changed(group.id_data)


def _collider_changed(group: bpy.types.PropertyGroup, _context) -> None:
    live.collider_changed(group.id_data)


def _redraw(_group: bpy.types.PropertyGroup, context) -> None:
    for area in context.screen.areas if context.screen else ():
        area.tag_redraw()


class HeftPush(bpy.types.PropertyGroup):
    """One of `Object.heft.pushes`: a blow from nowhere."""

    bone: StringProperty(
        name="Bone",
        description="The bone that is pushed, at its centre of mass",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
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
        update=_changed,
    )
    impulse: FloatProperty(
        name="Impulse (N s)",
        description="How hard, in newton seconds: mass times speed. A ball of 5 kg at 4 m/s carries 20",
        default=20.0,
        min=0.0,
        soft_max=500.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    frame: IntProperty(
        name="Frame",
        description="When",
        default=1,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )


class HeftTie(bpy.types.PropertyGroup):
    """One of `Object.heft.ties`: what holds a bone besides its joint."""

    bone: StringProperty(
        name="Bone", description="The bone that is held", options=NOT_KEYED, override=OVERRIDABLE, update=_changed
    )
    end: EnumProperty(
        name="At",
        description="Where on the bone",
        items=ENDS,
        default="TAIL",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    kind: EnumProperty(
        name="Kind",
        description="What is held",
        items=TIES,
        default="PIN",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    target: PointerProperty(
        name="Target",
        description="The object that holds the bone, or the armature of the bone below; empty: the world",
        type=bpy.types.Object,
        override=OVERRIDABLE,
        update=_changed,
    )
    target_bone: StringProperty(
        name="Target Bone",
        description="The bone of the target armature that holds this one",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    on: BoolProperty(
        name="On",
        description="The tie takes hold where the bone is when this is switched on, and lets go when it is "
        "switched off; can be keyed",
        default=True,
        override=OVERRIDABLE,
        update=_changed,
    )
    response: EnumProperty(
        name="Response",
        description="How the joints take what hangs on the tie",
        items=RESPONSES,
        default="GIVES_WAY",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )


class HeftArmature(bpy.types.PropertyGroup):
    """`Object.heft`: the settings of one armature's physics."""

    enabled: BoolProperty(name="Physics", description="This armature has Heft physics", override=OVERRIDABLE)
    controller: EnumProperty(
        name="Controller",
        description="What moves the joints",
        items=CONTROLLERS,
        default="FOLLOW",
        override=OVERRIDABLE,
        update=_changed,
    )
    settle_time: FloatProperty(
        name="Settle Time",
        description="Stiffness, in seconds: the time until an error has fallen to 10 %. Short is stiff, long is soft; "
        "where the motion ends up does not change",
        default=0.2,
        min=0.001,
        max=100.0,
        soft_min=0.02,
        soft_max=2.0,
        precision=3,
        step=1,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        override=OVERRIDABLE,
        update=_changed,
    )
    damping_ratio: FloatProperty(
        name="Damping Ratio",
        description="1 settles without swinging, below 1 swings through, above 1 creeps",
        default=1.0,
        min=0.01,
        max=10.0,
        soft_min=0.1,
        soft_max=2.0,
        override=OVERRIDABLE,
        update=_changed,
    )
    heaviness: FloatProperty(
        name="Heaviness",
        description="How much of its load a bone feels: 0 is effortless, 1 is its full weight",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
        update=_changed,
    )
    use_strength: BoolProperty(
        name="Limit Strength",
        description="Joints can give only so much: a load or blow beyond it makes them give way",
        default=False,
        override=OVERRIDABLE,
        update=_changed,
    )
    strength: FloatProperty(
        name="Strength",
        description="Times what a strong body's joints give (they hold three times what hangs on them); 0 is a faint",
        default=1.0,
        min=0.0,
        max=1000.0,
        soft_max=3.0,
        override=OVERRIDABLE,
        update=_changed,
    )
    wind: FloatVectorProperty(
        name="Wind",
        description="How the air moves, in metres a second; it drags every bone along",
        default=(0.0, 0.0, 0.0),
        subtype="VELOCITY",
        override=OVERRIDABLE,
        update=_changed,
    )
    wind_strength: FloatProperty(
        name="Wind Strength",
        description="Times the drag of plain air: more for hair, cloth and leaves; can be keyed for gusts",
        default=1.0,
        min=0.0,
        max=1e4,
        soft_max=20.0,
        override=OVERRIDABLE,
        update=_changed,
    )
    root: EnumProperty(
        name="Root",
        description="What holds the root of the character",
        items=ROOTS,
        default="ANIMATED",
        override=OVERRIDABLE,
        update=_changed,
    )
    assist: FloatProperty(
        name="Assist",
        description="The most force that guides an Assisted root, in body weights",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=5.0,
        override=OVERRIDABLE,
        update=_changed,
    )
    mix: FloatProperty(
        name="Mix",
        description="0 shows the source, 1 the result; can be keyed",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
        update=_mix_changed,
    )
    live: BoolProperty(
        name="Live",
        description="Simulate again at once whenever a setting or the source's keys change",
        default=False,
        override=OVERRIDABLE,
        update=_changed,
    )
    steps_per_second: IntProperty(
        name="Steps per Second",
        description="How finely time is cut; more is slower and more exact",
        default=240,
        min=24,
        max=10000,
        soft_max=1920,
        override=OVERRIDABLE,
        update=_changed,
    )
    range: EnumProperty(
        name="Range",
        description="Which frames are simulated",
        items=RANGES,
        default="SCENE",
        override=OVERRIDABLE,
        update=_changed,
    )
    frame_start: IntProperty(
        name="Start", description="First frame of a Custom range", default=1, override=OVERRIDABLE, update=_changed
    )
    frame_end: IntProperty(
        name="End", description="Last frame of a Custom range", default=250, override=OVERRIDABLE, update=_changed
    )
    meters_per_unit: FloatProperty(
        name="Metres per Unit",
        description="How many metres one unit of the scene means for this rig; a rig drawn in centimetres takes 0.01",
        default=1.0,
        min=1e-6,
        max=1e6,
        soft_min=0.001,
        soft_max=100.0,
        precision=4,
        override=OVERRIDABLE,
        update=_changed,
    )
    total_mass: FloatProperty(
        name="Total Mass",
        description="Mass of the whole character in kilograms, shared out by the size of the bones",
        default=70.0,
        min=1e-4,
        max=1e6,
        soft_min=0.1,
        soft_max=500.0,
        unit="MASS",
        override=OVERRIDABLE,
        update=_changed,
    )
    gravity: FloatVectorProperty(
        name="Gravity",
        description="Acceleration that pulls every body, in metres per second squared",
        default=(0.0, 0.0, -9.81),
        size=3,
        soft_min=-50.0,
        soft_max=50.0,
        subtype="ACCELERATION",
        unit="ACCELERATION",
        override=OVERRIDABLE,
        update=_changed,
    )
    ground: BoolProperty(
        name="Ground",
        description="A level floor that the character stands and falls on",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    ground_height: FloatProperty(
        name="Height",
        description="Where the ground is, along the world's Z axis",
        default=0.0,
        soft_min=-10.0,
        soft_max=10.0,
        precision=3,
        subtype="DISTANCE",
        unit="LENGTH",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    ground_friction: FloatProperty(
        name="Friction",
        description="How rough the ground is: 0 is ice, 0.6 a wooden floor, 1 rubber. What touches it counts as much",
        default=0.6,
        min=0.0,
        soft_max=2.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    ground_bounce: FloatProperty(
        name="Bounce",
        description="How much of its speed a thing keeps that falls on the ground: 0 nothing, 1 all of it",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    colliders: PointerProperty(
        name="Colliders",
        description="The collection of what the character meets: mesh objects, each with its settings, and other "
        "armatures with physics, which are simulated together with this one",
        type=bpy.types.Collection,
        override=OVERRIDABLE,
        update=_changed,
    )
    touch_self: BoolProperty(
        name="Touch Itself",
        description="The character's bones touch one another, but for neighbours and those that overlap at rest",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    friction: FloatProperty(
        name="Friction",
        description="How rough the character is: 0 is ice, 0.6 shoes on wood, 1 rubber",
        default=0.6,
        min=0.0,
        soft_max=2.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    bounce: FloatProperty(
        name="Bounce",
        description="How much of its speed a thing keeps that hits the character: 0 nothing, 1 all of it",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    show_shapes: BoolProperty(
        name="Show Shapes",
        description="Draw what touches in the 3D View: the shapes of bones and colliders, the ground and joint limits",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_redraw,
    )
    pushes: CollectionProperty(
        name="Pushes", description="Blows from nowhere", type=HeftPush, override=OVERRIDABLE_LIST
    )
    ties: CollectionProperty(
        name="Ties", description="What holds bones besides their joints", type=HeftTie, override=OVERRIDABLE_LIST
    )

    # What Heft keeps for itself: hidden from the panel, saved and undone with the file.
    shown: EnumProperty(items=SHOWN, default="SOURCE", options={"HIDDEN"}, override=OVERRIDABLE)
    fingerprint: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    source_action: PointerProperty(type=bpy.types.Action, options={"HIDDEN"}, override=OVERRIDABLE)
    source_slot: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    muted: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    bare: BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    result_start: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    result_end: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    written: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    message: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    undisturbed: BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    leader: PointerProperty(type=bpy.types.Object, options={"HIDDEN"}, override=OVERRIDABLE)
    own_colliders: BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    push_index: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    tie_index: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)


class HeftBone(bpy.types.PropertyGroup):
    """`PoseBone.heft`: what one bone does differently."""

    behaviour: EnumProperty(
        name="Behaviour",
        description="How this bone takes part",
        items=BEHAVIOURS,
        default="SIMULATED",
        override=OVERRIDABLE,
        update=_changed,
    )
    settle_scale: FloatProperty(
        name="Settle Time",
        description="Times the armature's settle time: 2 makes this bone half as stiff",
        default=1.0,
        min=0.001,
        max=1000.0,
        soft_min=0.1,
        soft_max=10.0,
        override=OVERRIDABLE,
        update=_changed,
    )
    heaviness_scale: FloatProperty(
        name="Heaviness",
        description="Times the armature's heaviness (the product is kept between 0 and 1)",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=2.0,
        override=OVERRIDABLE,
        update=_changed,
    )
    strength_scale: FloatProperty(
        name="Strength",
        description="Times the armature's strength, where strength is limited",
        default=1.0,
        min=0.0,
        max=1000.0,
        soft_max=3.0,
        override=OVERRIDABLE,
        update=_changed,
    )
    mass: FloatProperty(
        name="Mass",
        description="Mass of this bone in kilograms; 0 takes its share of the total mass",
        default=0.0,
        min=0.0,
        max=1e6,
        soft_max=50.0,
        unit="MASS",
        override=OVERRIDABLE,
        update=_changed,
    )
    mix: FloatProperty(
        name="Mix",
        description="Times the armature's mix: 0 shows this bone as it is keyed; can be keyed",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
        update=_mix_changed,
    )
    shape: EnumProperty(
        name="Shape",
        description="What others touch of this bone",
        items=BONE_SHAPES,
        default="AUTO",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    overlap_group: IntProperty(
        name="Overlap Group",
        description="Bones with the same number never touch one another; 0 is no group",
        default=0,
        min=0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    use_limits: BoolProperty(
        name="Joint Limits",
        description="The joint does not turn farther than its limits; keys beyond them are not reached",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    limits_from: EnumProperty(
        name="Limits From",
        description="Where the limits stand",
        items=LIMITS_FROM,
        default="RIG",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    limit_swing: FloatProperty(
        name="Swing",
        description="How far the bone may lean from its rest direction, to any side",
        default=1.5707963,
        min=0.0,
        max=3.1415926,
        subtype="ANGLE",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    limit_low: FloatProperty(
        name="From",
        description="How far the bone may twist about its length, or a hinge (a bone with two locked axes) may turn: "
        "the lower end",
        default=-0.7853982,
        min=-3.1415926,
        max=0.0,
        subtype="ANGLE",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )
    limit_high: FloatProperty(
        name="To",
        description="How far the bone may twist about its length, or a hinge (a bone with two locked axes) may turn: "
        "the upper end",
        default=0.7853982,
        min=0.0,
        max=3.1415926,
        subtype="ANGLE",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_changed,
    )


class HeftCollider(bpy.types.PropertyGroup):
    """`Object.heft_collider`: how a mesh object meets characters."""

    shape: EnumProperty(
        name="Shape",
        description="What others touch of this object",
        items=SHAPES,
        default="AUTO",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_collider_changed,
    )
    friction: FloatProperty(
        name="Friction",
        description="How rough it is: 0 is ice, 0.6 a wooden floor, 1 rubber",
        default=0.6,
        min=0.0,
        soft_max=2.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_collider_changed,
    )
    bounce: FloatProperty(
        name="Bounce",
        description="How much of its speed a thing keeps that hits it: 0 nothing, 1 all of it",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_collider_changed,
    )
    mass: FloatProperty(
        name="Mass",
        description="Mass in kilograms of a free object, or of one that a bone carries; 0 weighs its shape like water",
        default=0.0,
        min=0.0,
        max=1e6,
        soft_max=100.0,
        unit="MASS",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_collider_changed,
    )
    response: EnumProperty(
        name="Response",
        description="How the joints of a character take its push",
        items=RESPONSES,
        default="GIVES_WAY",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_collider_changed,
    )
    moves: EnumProperty(
        name="Moves",
        description="What moves it",
        items=MOVES,
        default="ANIMATED",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_collider_changed,
    )
    free_from: IntProperty(
        name="Free From",
        description="Up to this frame the object has its own keys, then it flies on with their speed",
        default=1,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_collider_changed,
    )

    # On the empty that carries a free object's result: whose it is, and whose simulation made it.
    owner: PointerProperty(type=bpy.types.Object, options={"HIDDEN"}, override=OVERRIDABLE)
    rig: PointerProperty(type=bpy.types.Object, options={"HIDDEN"}, override=OVERRIDABLE)
    bare: BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)


CLASSES = (HeftPush, HeftTie, HeftArmature, HeftBone, HeftCollider)


def register() -> None:
    """Hang the settings onto Blender's types."""
    bpy.types.Object.heft = PointerProperty(type=HeftArmature, override=OVERRIDABLE)
    bpy.types.PoseBone.heft = PointerProperty(type=HeftBone, override=OVERRIDABLE)
    bpy.types.Object.heft_collider = PointerProperty(type=HeftCollider, override=OVERRIDABLE)
    bpy.types.Object.heft_result = PointerProperty(
        name="Heft Result",
        description="The armature, or for a free object the empty, that carries the simulated motion",
        type=bpy.types.Object,
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    bpy.types.Object.heft_store = StringProperty(
        name="Heft Settings", options={"HIDDEN"}, override=OVERRIDABLE, description="Settings kept through overrides"
    )


def unregister() -> None:
    """Take them off again; the values stay in the file."""
    for owner, name in (
        (bpy.types.Object, "heft_store"),
        (bpy.types.Object, "heft_result"),
        (bpy.types.Object, "heft_collider"),
        (bpy.types.PoseBone, "heft"),
        (bpy.types.Object, "heft"),
    ):
        delattr(owner, name)


def has_physics(ob: bpy.types.Object | None) -> bool:
    """Is there physics on this object? Asking leaves no trace, as reading `ob.heft` would."""
    return ob is not None and ob.type == "ARMATURE" and ob.is_property_set("heft") and ob.heft.enabled


def collider_of(ob: bpy.types.Object):
    """The object's collider settings; the defaults where it has none. Asking leaves no trace."""
    if ob.is_property_set("heft_collider"):
        return ob.heft_collider
    names = HeftCollider.__annotations__
    return SimpleNamespace(**{name: getattr(HeftCollider.bl_rna.properties[name], "default", None) for name in names})


def forget(holder: bpy.types.bpy_struct, name: str) -> None:
    """Delete a property's stored value, so that the file holds no trace of it.

    Blender 5.0 keeps registered properties apart from custom ones.
    """
    stored = holder.bl_system_properties_get() if hasattr(holder, "bl_system_properties_get") else holder
    if stored is not None and stored.get(name) is not None:
        del stored[name]
