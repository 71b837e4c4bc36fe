"""Which frames are simulated, how finely, what comes before them, and how much of the result shows.

Owns names, ranges, units and tooltips.
"""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..declare import changed, mix_changed, settings_group, shown, simulated

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


@settings_group(update=changed, manual="result.html")
class RunSettings:
    """Part of `Object.heft`: how a simulation is run and shown."""

    mix: shown(
        FloatProperty,
        name="Mix",
        description="0 shows the source, 1 the result; can be keyed",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        update=mix_changed,
        keyable=True,
        taken=True,
    )
    live: shown(
        BoolProperty,
        name="Live",
        description="Simulate again at once whenever a setting or the source's keys change",
        default=False,
        update=changed,
    )
    steps_per_second: simulated(
        IntProperty,
        name="Steps per Second",
        description="How finely time is cut where things touch or hang limp; elsewhere three in ten of these suffice "
        "and are taken. Limp bodies fall with 480 at least. More is slower and more exact",
        default=240,
        min=24,
        max=10000,
        soft_max=1920,
        short="steps",
        of_shot=True,
    )


@settings_group(update=changed, manual="result.html#range-and-loops")
class RangeSettings:
    """Part of `Object.heft`: the frames."""

    range: simulated(
        EnumProperty,
        name="Range",
        description="Which frames are simulated",
        items=RANGES,
        default="SCENE",
        of_shot=True,
    )
    frame_start: simulated(
        IntProperty,
        name="Start",
        description="First frame of a Custom range",
        default=1,
    )
    frame_end: simulated(
        IntProperty,
        name="End",
        description="Last frame of a Custom range",
        default=250,
    )
    pre_roll: simulated(
        IntProperty,
        name="Pre-Roll",
        description="Frames simulated before the range and not shown, so that the motion is settled where it starts: "
        "with the source's own motion there, or holding its first pose where it has none",
        default=0,
        min=0,
        max=100000,
        soft_max=100,
        of_shot=True,
    )
    loop: simulated(
        EnumProperty,
        name="Loop",
        description="Simulate a cycle until it repeats, so that its last frame is its first again",
        items=LOOPS,
        default="AUTO",
        of_shot=True,
    )


@settings_group(update=changed, manual="result.html#range-and-loops")
class RecordingSettings:
    """Part of `Object.heft`: how the source is read."""

    bad_frames: simulated(
        EnumProperty,
        name="Bad Frames",
        description="How frames are read on which a recording jumps: a root that leaps, a joint that flips, a rest "
        "pose before the motion. The source's keys stay as they are",
        items=BAD_FRAMES,
        default="KEEP",
        structure=True,
    )
