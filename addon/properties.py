"""The settings: on the armature object, on each pose bone, and the flat links that survive overrides.

Owns names, ranges, units and tooltips. Must not know how a simulation runs: a
changed value is handed to `live`.
"""

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from . import live

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}

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


def _changed(group: bpy.types.PropertyGroup, _context) -> None:
    live.setting_changed(group.id_data)


def _mix_changed(group: bpy.types.PropertyGroup, _context) -> None:
    live.mix_changed(group.id_data)


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


CLASSES = (HeftArmature, HeftBone)


def register() -> None:
    """Hang the settings onto Blender's types."""
    bpy.types.Object.heft = PointerProperty(type=HeftArmature, override=OVERRIDABLE)
    bpy.types.PoseBone.heft = PointerProperty(type=HeftBone, override=OVERRIDABLE)
    bpy.types.Object.heft_result = PointerProperty(
        name="Heft Result",
        description="The armature that carries the simulated motion",
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
        (bpy.types.PoseBone, "heft"),
        (bpy.types.Object, "heft"),
    ):
        delattr(owner, name)


def has_physics(ob: bpy.types.Object | None) -> bool:
    """Is there physics on this object? Asking leaves no trace, as reading `ob.heft` would."""
    return ob is not None and ob.type == "ARMATURE" and ob.is_property_set("heft") and ob.heft.enabled


def forget(holder: bpy.types.bpy_struct, name: str) -> None:
    """Delete a property's stored value, so that the file holds no trace of it.

    Blender 5.0 keeps registered properties apart from custom ones.
    """
    stored = holder.bl_system_properties_get() if hasattr(holder, "bl_system_properties_get") else holder
    if stored is not None and stored.get(name) is not None:
        del stored[name]
