"""On Time in Blender: which keys are physical, and how a body arrives at them."""

from bpy.props import EnumProperty, FloatProperty

from ... import engine
from ..declare import changed, settings_group, simulated
from .base import ControllerEntry, Values

KEY_TYPES = (
    ("ALL", "All Keys", "Every key of the source", 0),
    ("KEYFRAME", "Keyframes", "Keys of the type Keyframe", "KEYTYPE_KEYFRAME_VEC", 1),
    ("EXTREME", "Extremes", "Keys of the type Extreme", "KEYTYPE_EXTREME_VEC", 2),
    ("BREAKDOWN", "Breakdowns", "Keys of the type Breakdown", "KEYTYPE_BREAKDOWN_VEC", 3),
    ("MOVING_HOLD", "Moving Holds", "Keys of the type Moving Hold", "KEYTYPE_MOVING_HOLD_VEC", 4),
    ("JITTER", "Jitter", "Keys of the type Jitter", "KEYTYPE_JITTER_VEC", 5),
)
ARRIVALS = (
    ("REST", "At Rest", "The body stands still on the key", 0),
    ("CURVE", "As Keyed", "The body passes the key with the speed of the source's curve", 1),
)
LAWS = (
    ("CLOSED_FORM", "Exact", "Every key is hit, whatever pulls or strikes the body on the way", 0),
    (
        "TORQUES",
        "Torques",
        "Torques from the time that is left, as in the paper: gravity and speed bend the way, and it misses the "
        "speeds of keys",
        1,
    ),
)


@settings_group(update=changed, manual="on_time.html#sliders")
class OnTimeSettings:
    """Part of `Object.heft`: the settings of On Time."""

    shape: simulated(
        FloatProperty,
        name="Ease In",
        description="The shape of the way to a key: low leaves late and takes all of the time, high is there early and "
        "eases in. From 3.5 to 9.5; at 3.89 it is the way of Follow",
        default=3.89,
        min=3.5,
        max=9.5,
        precision=2,
        step=10,
        keyable=True,
        preset=True,
    )
    arrival: simulated(
        EnumProperty,
        name="Arrive",
        description="With which speed a key is met",
        items=ARRIVALS,
        default="CURVE",
        keyable=True,
        preset=True,
    )
    key_type: simulated(
        EnumProperty,
        name="Keys",
        description="Which of the source's keys are met; between them the body moves by itself",
        items=KEY_TYPES,
        default="ALL",
    )
    law: simulated(
        EnumProperty,
        name="Law",
        description="What drives the joints to their keys",
        items=LAWS,
        default="CLOSED_FORM",
        manual="on_time.html#advanced",
    )


# The part of a key's speed that a body arrives with.
ARRIVAL_NUMBERS = {"REST": 0.0, "CURVE": 1.0}


def build(values: Values) -> engine.Controller:
    shape = values.per_body("shape").clip(*engine.ARRIVAL_SHAPES)
    arrival = values.keyed_choice("arrival", ARRIVAL_NUMBERS)
    return engine.OnTime(shape=shape, arrival=arrival, law=values.choice("law"), **values.common, **values.following)


ON_TIME = ControllerEntry(
    id="ON_TIME",
    number=2,
    label="On Time",
    text="The keys are met on their time, also after a blow; between them the body moves by itself",
    page="ON_TIME",
    rows=("key_type", "arrival", "shape", "heaviness", "even_weight", "recovery_time", "use_strength"),
    bone_rows=("settle_scale", "heaviness_scale"),
    sliders=("shape",),
    advanced=("law", "Where no key is ahead", "settle_time", "damping_ratio"),
    build=build,
    settings=OnTimeSettings,
    meets_keys=True,
)
