"""Settings of curves for the Graph Editor: which values of the last simulation are plotted.

Owns names, units and tooltips.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from .. import controllers, events
from ..declare import remembered, settings_group

CURVE_BONES = (
    ("SELECTED", "Selected Bones", "The bones that are selected when this is switched on", 0),
    ("ALL", "All Bodies", "All bones that take part", 1),
)


def _curves_changed(group: bpy.types.PropertyGroup, _context) -> None:
    events.curves_changed(group.id_data)


def _channel_switches(curves: tuple[controllers.ChannelCurve, ...]) -> type:
    """A switch for each curve that a controller declares."""
    switches = {
        each.setting: remembered(
            BoolProperty, name=each.label, description=each.text, update=_curves_changed, hidden=False
        )
        for each in curves
    }
    return settings_group(manual="result.html#curves")(type("ChannelCurves", (), {"__annotations__": switches}))


ChannelCurves = _channel_switches(controllers.CURVES)


@settings_group(manual="result.html#curves")
class CurveSettings(ChannelCurves):
    """Part of `Object.heft`: the curves. They do not affect the simulation."""

    use_curves: remembered(
        BoolProperty,
        name="Curves",
        description="Write what happens to the bones as curves for the Graph Editor, on an empty of the rig's; each "
        "simulation writes them again, switched off they are gone",
        update=_curves_changed,
        hidden=False,
    )
    curve_torque: remembered(
        BoolProperty,
        name="Torque (N m)",
        description="How hard the joint is driven, in newton metres",
        default=True,
        update=_curves_changed,
        hidden=False,
    )
    curve_stress: remembered(
        BoolProperty,
        name="Stress (0 to 1)",
        description="The torque in parts of the most that the joint can give: the armature's strength where it is "
        "limited, else that of a strong person",
        update=_curves_changed,
        hidden=False,
    )
    curve_deviation: remembered(
        BoolProperty,
        name="Deviation (°)",
        description="How far the bone is turned away from the source, in degrees",
        default=True,
        update=_curves_changed,
        hidden=False,
    )
    curve_bones: remembered(
        EnumProperty,
        name="Of",
        description="Which bones get curves",
        items=CURVE_BONES,
        default="SELECTED",
        update=_curves_changed,
        hidden=False,
    )
    # The names of the bones that were selected, as a JSON list.
    curve_names: remembered(StringProperty)
