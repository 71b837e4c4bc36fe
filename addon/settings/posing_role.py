"""Setting of a bone for Pull Pose: whether it is pinned.

Owns names, ranges and tooltips.
"""

from bpy.props import EnumProperty

from ..declare import settings_group, shown

PINS = (
    ("AUTO", "Auto", "A foot that stands on the ground stays, everything else follows", 0),
    ("ON", "Pinned", "Stays where it is, place and turn, while another bone is pulled", 1),
    ("OFF", "Free", "Follows, also if it is a foot on the ground", 2),
)


@settings_group(manual="posing.html#pull-pose")
class PosingBone:
    """Part of `PoseBone.heft`: not used by the simulation."""

    pin: shown(
        EnumProperty,
        name="Pin",
        description="Whether the bone stays where it is while another is pulled with Pull Pose",
        items=PINS,
        default="AUTO",
        copied=True,
        manual="posing.html#pull-pose",
    )
