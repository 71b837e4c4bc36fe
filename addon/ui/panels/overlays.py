"""The panel of the overlays: what is drawn over the 3D View.

Owns its layout. Must not change data.
"""

from typing import ClassVar

import bpy

from ... import controllers
from ...simulate import session
from ..operators.base import active_rig
from ..overlays import FORCES, MOTION, switched_on
from .base import PhysicsPanel, note

# Switches in rows, with their icons.
SWITCHES = (
    (("show_shapes", "MESH_CAPSULE"), ("show_limits", "CON_ROTLIMIT")),
    (("show_mass", "PIVOT_CURSOR"), ("show_support", "SNAP_FACE")),
    (("show_contacts", "FORCE_FORCE"), ("show_stress", "MOD_VERTEX_WEIGHT")),
    (("show_ghost", "GHOST_ENABLED"), ("show_onion", "ONIONSKIN_ON")),
    (("show_arcs", "CURVE_PATH"),),
)
# The options of an overlay, shown while it is on.
DETAILS = (
    ("show_mass", ("ballistic",)),
    ("show_arcs", ("arc_bones",)),
    ("show_contacts", ("force_scale",)),
    ("show_stress", ("stress_top",)),
)


class HEFT_PT_overlays(PhysicsPanel, bpy.types.Panel):
    """A switch for each overlay, and the settings of those that are on."""

    bl_label = "Overlays"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(active_rig(context).heft, "show_overlays", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        heft = rig.heft
        layout.active = heft.show_overlays
        column = layout.column(align=True)
        for pair in SWITCHES:
            row = column.row(align=True)
            for name, icon in pair:
                row.prop(heft, name, toggle=True, icon=icon)
        for colors in controllers.entry(heft.controller).colors:
            column.prop(heft, colors.setting, toggle=True, icon="COLOR")
        _draw_details(layout, heft)
        _draw_missing(layout, context, rig)


def _draw_details(layout: bpy.types.UILayout, heft) -> None:
    column = layout.column()
    column.use_property_split = True
    column.use_property_decorate = False
    for switch, names in DETAILS:
        for name in names if getattr(heft, switch) else ():
            column.prop(heft, name)
    if heft.show_mass or heft.show_arcs:
        column.prop(heft, "path_frames")
    if heft.show_onion:
        part = column.column(align=True)
        for name, text in (("onion_before", "Onion Before"), ("onion_after", "After"), ("onion_step", "Step")):
            part.prop(heft, name, text=text)


def _draw_missing(layout: bpy.types.UILayout, context: bpy.types.Context, rig: bpy.types.Object) -> None:
    """Tell what has to be done before all overlays that are switched on can be seen."""
    on = switched_on(rig.heft)
    space = context.space_data
    if on and space is not None and not space.overlay.show_overlays:
        note(layout, context, "Overlays are off in this 3D View: switch them on in its header.", "INFO")
    needs = {overlay.needs for overlay in on}
    if FORCES in needs and session.last_shown(rig) is None:
        box = note(layout, context, "Forces and stress are not kept in the file: simulate to see them.", "INFO")
        box.operator("heft.simulate", text="Simulate to See Forces", icon="PLAY")
    elif FORCES in needs and rig.heft.shown != "RESULT":
        box = note(layout, context, "Forces and stress are the result's, and the source is shown.", "INFO")
        box.operator("heft.show", text="Show the Result", icon="HIDE_OFF").which = "RESULT"
    elif MOTION in needs and rig.heft_result is None and (rig.heft.is_property_set("show_ghost") or rig.heft.show_arcs):
        note(layout, context, "Only the source is known: simulate to see the result beside it.", "INFO")


CLASSES = (HEFT_PT_overlays,)
