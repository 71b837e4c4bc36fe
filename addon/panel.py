"""The sidebar tab, in the order of the work: set-up, controller, bones, contacts, result.

Owns that order, what stands on top, and the result with the warnings above its buttons. Must not change data.
"""

import bpy

from ..engine import HeftError
from . import (
    flaws,
    glance,
    handlers,
    mending,
    panel_bones,
    panel_contacts,
    panel_controller,
    panel_controls,
    panel_curves,
    panel_forces,
    panel_on_time,
    panel_presets,
    panel_setup,
    panel_takes,
    showing,
    warmup,
)
from .operators import NOTHING_TO_SEE, active_rig
from .panel_parts import HeftPanel, PhysicsPanel, draw_help, note
from .panel_posing import draw_nudge
from .panel_start import draw_start

# Outside these heights [m] a rig is hardly meant in metres.
SHORTEST, TALLEST = 0.05, 12.0


class HEFT_PT_main(HeftPanel, bpy.types.Panel):
    """What comes before physics; the manual."""

    bl_label = "Heft"

    def draw_header_preset(self, _context: bpy.types.Context) -> None:
        draw_help(self.layout)

    def draw(self, context: bpy.types.Context) -> None:
        draw_start(self.layout, context)


class HEFT_PT_result(PhysicsPanel, bpy.types.Panel):
    """Warnings, Simulate, Live, source and result, mix, Bake, Remove."""

    bl_label = "Result"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        heft = rig.heft
        draw_warnings(layout, rig, context)
        row = layout.row(align=True)
        row.scale_y = 1.4
        together = glance.members(rig).rigs
        text = {1: "Simulate", 2: "Simulate Both"}.get(len(together), f"Simulate All {len(together)}")
        row.operator("heft.simulate", text=text, icon="PLAY")
        row.prop(heft, "live", toggle=True, icon="FILE_REFRESH")
        if len(together) > 1:
            note(layout, context, f"One shot with {_named(each for each in together if each != rig)}", "COMMUNITY")
        if rig.heft_result is not None:
            draw_status(layout, rig, context)
            panel_on_time.draw_misses(layout, rig)
            row = layout.row(align=True)
            for which, text in (("SOURCE", "Source"), ("RESULT", "Result")):
                row.operator("heft.show", text=text, depress=heft.shown == which).which = which
            column = layout.column()
            column.use_property_split = True
            column.prop(heft, "mix", slider=True)
            draw_nudge(layout, rig)
            layout.operator("heft.bake", icon="KEY_HLT")
        layout.operator("heft.remove", icon="X")


def _named(rigs) -> str:
    """The names, for a sentence; many are counted."""
    names = [f"'{rig.name}'" for rig in rigs]
    return " and ".join(names) if len(names) <= 2 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def draw_warnings(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """What the animator should know before pressing Simulate, with the fix beside it."""
    tall = glance.height_in_meters(rig, context.scene)
    if not SHORTEST <= tall <= TALLEST:
        box = note(layout, context, f"The rig is {tall:.3g} m tall for physics.")
        box.operator("heft.set_size")
    if rig.heft.flaws:
        draw_flaws(layout, rig, context)
    for text in (warmup.problem(), rig.heft.message):
        if text:
            note(layout, context, text)


def draw_flaws(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """Where the source breaks, and the ways to read those frames."""
    kept = rig.heft.bad_frames == "KEEP"
    box = note(layout, context, mending.told(rig), "ERROR" if kept else "INFO")
    row = box.row(align=True)
    for item in rig.heft.bl_rna.properties["bad_frames"].enum_items:
        way = item.identifier
        row.operator("heft.fix_motion", text=item.name, depress=rig.heft.bad_frames == way).method = way
    if flaws.NO_PART in rig.heft.flaws:
        box.operator("heft.leave_out")


def draw_status(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """What became of the result; below the buttons, which shall not jump while a slider is dragged."""
    try:
        current = handlers.is_current(rig, context.scene)
    except HeftError as error:
        note(layout, context, str(error))
        return
    if showing.standing_back(rig):
        text = "The rig has another action than the simulated one: Simulate takes the new one."
        if current and rig.heft.baked:
            text = "Baked: the rig plays its new keys. Simulate would give them weight once more."
        note(layout, context, text, "INFO")
    elif not current:
        note(layout, context, "The result is out of date: press Simulate.", "FILE_REFRESH")
    elif rig.heft.undisturbed:
        note(layout, context, NOTHING_TO_SEE, "INFO")


# Registered in this order, which is the order in the tab.
CLASSES = (
    *panel_presets.CLASSES,
    HEFT_PT_main,
    *panel_contacts.COLLIDER,
    *panel_setup.CLASSES,
    *panel_controller.CLASSES,
    *panel_bones.CLASSES,
    *panel_contacts.CLASSES,
    *panel_forces.CLASSES,
    *panel_on_time.CLASSES,
    HEFT_PT_result,
    *panel_takes.CLASSES,
    *panel_curves.CLASSES,
    *panel_controls.CLASSES,
)
