"""Curves for the Graph Editor: which, of which bones.

Owns the layout. Must not change data.
"""

import json
from typing import ClassVar

import bpy

from ...result import plot_curves
from ..operators.base import active_rig
from ..operators.plot_curves import are_listed
from .base import PhysicsPanel


class HEFT_PT_curves(PhysicsPanel, bpy.types.Panel):
    """The switch in the header; kinds and bones below."""

    bl_label = "Curves"
    bl_parent_id = "HEFT_PT_result"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and active_rig(context).heft_result is not None

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(active_rig(context).heft, "use_curves", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        rig = active_rig(context)
        heft = rig.heft
        layout.active = heft.use_curves
        column = layout.column(heading="Plot", align=True)
        for kind in plot_curves.kinds_of(rig):
            column.prop(heft, kind)
        layout.prop(heft, "curve_bones")
        if heft.curve_bones == "SELECTED":
            layout.operator("heft.pick_curve_bones", text=_named(heft), icon="RESTRICT_SELECT_OFF")
        if heft.use_curves and plot_curves.holder_of(rig) is None:
            layout.label(text="Simulate to plot this result", icon="INFO")
        text = "Back to the Keys" if are_listed(context) else "Show in Graph Editor"
        layout.operator("heft.show_curves", text=text, icon="GRAPH")


def _named(heft) -> str:
    names = json.loads(heft.curve_names or "[]")
    if not names:
        return "Plots All Bones: Take the Selected"
    return f"Plots {names[0] if len(names) == 1 else f'{len(names)} Bones'}: Take the Selected"


CLASSES = (HEFT_PT_curves,)
