"""What comes before the frames that are shown: a pre-roll, or the rounds of a loop.

Owns names, ranges, units and tooltips.
"""

from bpy.props import EnumProperty, IntProperty

from ..declare import NOT_KEYED, OVERRIDABLE, changed

LOOPS = (
    (
        "AUTO",
        "As the Source",
        "Loops where all that moves the rig has Cycles modifiers, its action is marked as Cyclic Animation, or a "
        "repeated NLA strip plays it",
        0,
    ),
    ("RANGE", "The Range", "The range is one cycle: its last frame is its first again", 1),
    ("OFF", "Off", "Nothing loops", 2),
)


class LeadInSettings:
    """Of an armature's physics."""

    pre_roll: IntProperty(
        name="Pre-Roll",
        description="Frames simulated before the range and not shown, so that the motion is settled where it starts: "
        "with the source's own motion there, or holding its first pose where it has none",
        default=0,
        min=0,
        max=100000,
        soft_max=100,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
    loop: EnumProperty(
        name="Loop",
        description="Simulate a cycle until it repeats, so that its last frame is its first again",
        items=LOOPS,
        default="AUTO",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=changed,
    )
