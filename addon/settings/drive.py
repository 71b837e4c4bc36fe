"""What drives a character: the controller and its sliders, and what holds the root.

Owns names, ranges, units and tooltips.
"""

from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .. import controllers
from ..declare import changed, remembered, settings_group, simulated

ROOTS = (
    ("ANIMATED", "Animated", "The root goes exactly where it is keyed", 0),
    ("ASSISTED", "Assisted", "The root is guided to its keys with limited force", 1),
    ("FREE", "Free", "Nothing holds the root: the character may fall", 2),
)


@settings_group(update=changed, manual="follow.html#sliders")
class DriveSettings:
    """Part of `Object.heft`: the controller and the settings that all controllers use."""

    enabled: remembered(
        BoolProperty,
        name="Physics",
        description="This armature has Heft physics",
        hidden=False,
    )
    controller: simulated(
        EnumProperty,
        name="Controller",
        description="What moves the joints",
        items=controllers.ITEMS,
        default="FOLLOW",
        preset=True,
    )
    settle_time: simulated(
        FloatProperty,
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
        keyable=True,
        preset=True,
        short="settle",
    )
    damping_ratio: simulated(
        FloatProperty,
        name="Damping Ratio",
        description="1 settles without swinging, below 1 swings through, above 1 creeps",
        default=1.0,
        min=0.01,
        max=10.0,
        soft_min=0.1,
        soft_max=2.0,
        keyable=True,
        preset=True,
        short="damping",
    )
    heaviness: simulated(
        FloatProperty,
        name="Heaviness",
        description="How much of its load a bone feels: 0 is effortless, 1 is its full weight",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        keyable=True,
        preset=True,
    )
    even_weight: simulated(
        BoolProperty,
        name="Even Weight",
        description="Settle time goes by a joint's size: shorter for fingers, toes and heads than for hips and "
        "shoulders, so that heaviness bends all joints alike. Off: the same settle time for all, small joints flop",
        default=True,
        preset=True,
    )
    recovery_time: simulated(
        FloatProperty,
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
        keyable=True,
        preset=True,
        short="recovery",
    )
    use_strength: simulated(
        BoolProperty,
        name="Limit Strength",
        description="Joints can give only so much: a load or blow beyond it makes them give way",
        default=False,
        keyable=True,
        preset=True,
        short="limited",
    )
    strength: simulated(
        FloatProperty,
        name="Strength",
        description="Times what the joints of a strong person of this mass give, told by the bones' roles (arm, leg, "
        "spine …); other joints hold three times what hangs on them. 0 is a faint",
        default=1.0,
        min=0.0,
        max=1000.0,
        soft_max=3.0,
        keyable=True,
        preset=True,
    )
    tone: simulated(
        FloatProperty,
        name="Tone",
        description="What joints do where nothing drives them: 1 damps a limp limb and pulls it weakly to the "
        "middle of its range, as a relaxed body does; 0 is a rag. Joints whose strength is spent have it too",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=3.0,
        keyable=True,
        manual="limp.html#settings",
    )


@settings_group(update=changed, manual="follow.html#root")
class RootSettings:
    """Part of `Object.heft`: the root."""

    root: simulated(
        EnumProperty,
        name="Root",
        description="What holds the root of the character",
        items=ROOTS,
        default="ANIMATED",
        keyable=True,
        preset=True,
    )
    assist: simulated(
        FloatProperty,
        name="Assist",
        description="The most force that guides an Assisted root, in body weights",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=5.0,
        keyable=True,
        preset=True,
    )
    let_go: simulated(
        BoolProperty,
        name="Let Go",
        description="The whole body is limp and its root free while this is on, whatever the controller is. Key it: "
        "from that frame on the body falls with the speed it has, and where it is keyed off it returns to its motion "
        "within the Recovery Time",
        default=False,
        keyable=True,
        manual="limp.html#let-go",
    )
