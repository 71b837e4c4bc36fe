"""Curves: what the last simulation did to each bone, for the Graph Editor.

Owns names, units and tooltips.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from .. import events
from ..declare import NOT_KEYED, OVERRIDABLE

CURVE_BONES = (
    ("SELECTED", "Selected Bones", "The bones that are selected when this is switched on", 0),
    ("ALL", "All Bodies", "All bones that take part", 1),
)


def _curves_changed(group: bpy.types.PropertyGroup, _context) -> None:
    events.curves_changed(group.id_data)


class CurveSettings:
    """Of an armature's physics. Of no consequence to the simulation."""

    use_curves: BoolProperty(
        name="Curves",
        description="Write what happens to the bones as curves for the Graph Editor, on an empty of the rig's; each "
        "simulation writes them again, switched off they are gone",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_curves_changed,
    )
    curve_torque: BoolProperty(
        name="Torque (N m)",
        description="How hard the joint is driven, in newton metres",
        default=True,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_curves_changed,
    )
    curve_stress: BoolProperty(
        name="Stress (0 to 1)",
        description="The torque in parts of the most that the joint can give: the armature's strength where it is "
        "limited, else that of a strong person",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_curves_changed,
    )
    curve_deviation: BoolProperty(
        name="Deviation (°)",
        description="How far the bone is turned away from the source, in degrees",
        default=True,
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_curves_changed,
    )
    curve_bones: EnumProperty(
        name="Of",
        description="Which bones get curves",
        items=CURVE_BONES,
        default="SELECTED",
        options=NOT_KEYED,
        override=OVERRIDABLE,
        update=_curves_changed,
    )
    # The bones that were selected, as a JSON list.
    curve_names: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
