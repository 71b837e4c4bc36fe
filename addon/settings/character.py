"""A character: the settings of an armature's physics, and what Heft keeps on it.

Owns names, ranges, units and tooltips.
"""

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

from ..declare import NOT_KEYED, OVERRIDABLE, OVERRIDABLE_LIST, changed, detail_changed, mix_changed
from .bake_controls import HeftControl, HeftSwitch
from .bone_list import BoneList
from .on_time import HeftMiss, OnTimeSettings
from .overlays import OverlaySettings
from .plot_curves import CurveSettings
from .pose_script import HeftScriptPose
from .push import HeftPush
from .range import LeadInSettings
from .take import TakeSettings
from .tie import HeftTie

CONTROLLERS = (
    ("FOLLOW", "Follow", "Joints pull towards the keys like springs tuned by settle time and damping", 0),
    (
        "ON_TIME",
        "On Time",
        "The keys are met on their time, also after a blow; between them the body moves by itself",
        2,
    ),
    ("LIMP", "Limp", "No muscles at all: the body hangs and falls", 1),
)
ROOTS = (
    ("ANIMATED", "Animated", "The root goes exactly where it is keyed", 0),
    ("ASSISTED", "Assisted", "The root is guided to its keys with limited force", 1),
    ("FREE", "Free", "Nothing holds the root: the character may fall", 2),
)
RANGES = (
    ("SCENE", "Scene", "The scene's start and end frame", 0),
    ("PREVIEW", "Preview", "The preview range, or the scene's without one", 1),
    ("ACTION", "Action", "The source action's own frame range, or from its first to its last key", 2),
    ("CUSTOM", "Custom", "The frames given below", 3),
)
BAD_FRAMES = (
    ("KEEP", "Keep", "They are read as they are; a root that jumps is put there, not thrown", 0),
    ("SMOOTH", "Smooth", "They are replaced by a smooth way between the good frames beside them", 1),
    ("SKIP", "Skip", "The pose before them is held until the next good frame", 2),
)
DETAILS = (
    ("FULL", "Full", "Fingers and toes are bodies of their own", 0),
    ("HANDS_AND_FEET", "Hands and Feet", "Fingers and toes ride on hands and feet; they still move as keyed", 1),
    ("LIMBS", "Limbs", "Hands and feet ride on forearms and shanks with all their bones; they still move as keyed", 2),
)
SHOWN = (
    ("SOURCE", "Source", "The rig moves as it is keyed", 0),
    ("RESULT", "Result", "The rig moves as it was simulated", 1),
)


class HeftArmature(
    OnTimeSettings, LeadInSettings, BoneList, TakeSettings, CurveSettings, OverlaySettings, bpy.types.PropertyGroup
):
    """`Object.heft`: the settings of one armature's physics."""

    enabled: BoolProperty(
        name="Physics", description="This armature has Heft physics", options=NOT_KEYED, override=OVERRIDABLE
    )
    controller: EnumProperty(
        name="Controller",
        description="What moves the joints",
        items=CONTROLLERS,
        default="FOLLOW",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
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
        update=changed,
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
        update=changed,
    )
    heaviness: FloatProperty(
        name="Heaviness",
        description="How much of its load a bone feels: 0 is effortless, 1 is its full weight",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
        update=changed,
    )
    even_weight: BoolProperty(
        name="Even Weight",
        description="Settle time goes by a joint's size: shorter for fingers, toes and heads than for hips and "
        "shoulders, so that heaviness bends all joints alike. Off: the same settle time for all, small joints flop",
        default=True,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    recovery_time: FloatProperty(
        name="Recovery Time",
        description="Seconds in which a struck bone, and those from it to the root, are back on their motion, while "
        "the others keep to theirs; 0 lets all of them yield and come back by the settle time",
        default=0.0,
        min=0.0,
        max=100.0,
        soft_max=3.0,
        precision=3,
        step=5,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        override=OVERRIDABLE,
        update=changed,
    )
    use_strength: BoolProperty(
        name="Limit Strength",
        description="Joints can give only so much: a load or blow beyond it makes them give way",
        default=False,
        override=OVERRIDABLE,
        update=changed,
    )
    strength: FloatProperty(
        name="Strength",
        description="Times what the joints of a strong person of this mass give, told by the bones' roles (arm, leg, "
        "spine …); other joints hold three times what hangs on them. 0 is a faint",
        default=1.0,
        min=0.0,
        max=1000.0,
        soft_max=3.0,
        override=OVERRIDABLE,
        update=changed,
    )
    tone: FloatProperty(
        name="Tone",
        description="What joints do where nothing drives them: 1 damps a limp limb and pulls it weakly to the "
        "middle of its range, as a relaxed body does; 0 is a rag. Joints whose strength is spent have it too",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=3.0,
        override=OVERRIDABLE,
        update=changed,
    )
    let_go: BoolProperty(
        name="Let Go",
        description="The whole body is limp and its root free while this is on, whatever the controller is. Key it: "
        "from that frame on the body falls with the speed it has, and where it is keyed off it returns to its motion "
        "within the Recovery Time",
        default=False,
        override=OVERRIDABLE,
        update=changed,
    )
    wind: FloatVectorProperty(
        name="Wind",
        description="How the air moves, in metres a second; it drags every bone along",
        default=(0.0, 0.0, 0.0),
        subtype="VELOCITY",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    wind_strength: FloatProperty(
        name="Wind Strength",
        description="Times the drag of plain air: more for hair, cloth and leaves; can be keyed for gusts",
        default=1.0,
        min=0.0,
        max=1e4,
        soft_max=20.0,
        override=OVERRIDABLE,
        update=changed,
    )
    root: EnumProperty(
        name="Root",
        description="What holds the root of the character",
        items=ROOTS,
        default="ANIMATED",
        override=OVERRIDABLE,
        update=changed,
    )
    assist: FloatProperty(
        name="Assist",
        description="The most force that guides an Assisted root, in body weights",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=5.0,
        override=OVERRIDABLE,
        update=changed,
    )
    mix: FloatProperty(
        name="Mix",
        description="0 shows the source, 1 the result; can be keyed",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
        update=mix_changed,
    )
    live: BoolProperty(
        name="Live",
        description="Simulate again at once whenever a setting or the source's keys change",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    steps_per_second: IntProperty(
        name="Steps per Second",
        description="How finely time is cut where things touch or hang limp; elsewhere three in ten of these suffice "
        "and are taken. Limp bodies fall with 480 at least. More is slower and more exact",
        default=240,
        min=24,
        max=10000,
        soft_max=1920,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    range: EnumProperty(
        name="Range",
        description="Which frames are simulated",
        items=RANGES,
        default="SCENE",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    frame_start: IntProperty(
        name="Start",
        description="First frame of a Custom range",
        default=1,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    frame_end: IntProperty(
        name="End",
        description="Last frame of a Custom range",
        default=250,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    bad_frames: EnumProperty(
        name="Bad Frames",
        description="How frames are read on which a recording jumps: a root that leaps, a joint that flips, a rest "
        "pose before the motion. The source's keys stay as they are",
        items=BAD_FRAMES,
        default="KEEP",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
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
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    total_mass: FloatProperty(
        name="Total Mass",
        description="Mass of the whole character in kilograms, shared out by what the skin holds around each bone, "
        "without a skin as a person's, or else by the size of the bones",
        default=70.0,
        min=1e-4,
        max=1e6,
        soft_min=0.1,
        soft_max=500.0,
        unit="MASS",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    detail: EnumProperty(
        name="Detail",
        description="Which parts of the body are simulated by themselves. What you gave another behaviour keeps it",
        items=DETAILS,
        default="FULL",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=detail_changed,
    )
    natural_limits: BoolProperty(
        name="Natural Limits",
        description="Every joint has a range: the rig's Limit Rotation constraints and IK limits, or else what joints "
        "of people and animals allow, or bones of its kind. What the keys do is always allowed",
        default=True,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
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
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    ground: BoolProperty(
        name="Ground",
        description="A level floor that the character stands and falls on",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
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
        update=changed,
    )
    ground_friction: FloatProperty(
        name="Friction",
        description="How rough the ground is: 0 is ice, 0.6 a wooden floor, 1 rubber. What touches it counts as much",
        default=0.6,
        min=0.0,
        soft_max=2.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
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
        update=changed,
    )
    colliders: PointerProperty(
        name="Colliders",
        description="The collection of what the character meets: mesh objects, each with its settings, and other "
        "armatures with physics, which are simulated together with this one",
        type=bpy.types.Collection,
        override=OVERRIDABLE,
        update=changed,
    )
    touch_self: BoolProperty(
        name="Touch Itself",
        description="The character's bones touch one another, but for neighbours and those that overlap at rest",
        default=False,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    touch_self_limp: BoolProperty(
        name="When It Falls",
        description="Limp bones of a character with a Free root touch one another, but for neighbours, those that "
        "overlap when they go limp, and those of one hand or foot. Without it arms and legs pass through the body",
        default=True,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    friction: FloatProperty(
        name="Friction",
        description="How rough the character is: 0 is ice, 0.6 shoes on wood, 1 rubber",
        default=0.6,
        min=0.0,
        soft_max=2.0,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
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
        update=changed,
    )
    pushes: CollectionProperty(
        name="Pushes", description="Blows from nowhere", type=HeftPush, override=OVERRIDABLE_LIST
    )
    ties: CollectionProperty(
        name="Ties", description="What holds bones besides their joints", type=HeftTie, override=OVERRIDABLE_LIST
    )
    script: CollectionProperty(
        name="Pose Script",
        description="Poses and the seconds between them, to be turned into keys",
        type=HeftScriptPose,
        override=OVERRIDABLE_LIST,
    )
    misses: CollectionProperty(
        name="Missed Keys",
        description="Keys that the last simulation could not meet, the worst first",
        type=HeftMiss,
        override=OVERRIDABLE_LIST,
    )
    controls: CollectionProperty(
        name="Controls",
        description="The bones that Bake to Controls keys; empty: found by trying them out",
        type=HeftControl,
        override=OVERRIDABLE_LIST,
    )
    switches: CollectionProperty(
        name="Switches",
        description="Properties that Bake to Controls keys so that the controls take effect",
        type=HeftSwitch,
        override=OVERRIDABLE_LIST,
    )

    # What Heft keeps for itself: hidden from the panel, saved and undone with the file.
    shown: EnumProperty(items=SHOWN, default="SOURCE", options={"HIDDEN"}, override=OVERRIDABLE)
    fingerprint: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    source_action: PointerProperty(type=bpy.types.Action, options={"HIDDEN"}, override=OVERRIDABLE)
    source_slot: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    detail_before: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    muted: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    bare: BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    result_start: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    result_end: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    result_period: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    written: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    slow_at: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    pops: BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    unbaked: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    flaws: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    message: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    undisturbed: BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    baked: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    own_colliders: BoolProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    lent: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    push_index: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    tie_index: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    script_index: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    miss_index: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    control_index: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    switch_index: IntProperty(options={"HIDDEN"}, override=OVERRIDABLE)
