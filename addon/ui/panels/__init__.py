"""The sidebar tab, in the order of work: set-up, controller, bones, contacts, result.

Owns that order, the panel on top, and the result panel with the messages below its first buttons. Must not change data.
"""

import bpy

from .. import answers
from ..operators.base import active_rig
from . import bake_controls, bones, contacts, controller, forces, on_time, overlays, plot_curves, presets, setup, takes
from .base import HeftPanel, PhysicsPanel, note
from .pull_pose import draw_nudge
from .start import draw_compiling, draw_start
from .status import draw_badge, draw_status
from .warnings import draw_messages


class HEFT_PT_main(HeftPanel, bpy.types.Panel):
    """What comes before physics; the manual."""

    bl_label = "Heft"
    page = "INDEX"

    def draw(self, context: bpy.types.Context) -> None:
        draw_start(self.layout, context)


class HEFT_PT_result(PhysicsPanel, bpy.types.Panel):
    """Simulate, Live, messages, source and result, mix, Bake, Remove."""

    bl_label = "Result"
    page = "RESULT"

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        draw_badge(self.layout, active_rig(context), context)
        super().draw_header_preset(context)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        heft = rig.heft
        row = layout.row(align=True)
        row.scale_y = 1.4
        together = answers.shot_of(rig).rigs
        text = {1: "Simulate", 2: "Simulate Both"}.get(len(together), f"Simulate All {len(together)}")
        row.operator("heft.simulate", text=text, icon="PLAY")
        row.prop(heft, "live", toggle=True, icon="FILE_REFRESH")
        if rig.heft_result is None or heft.undisturbed:
            # The shortest way to a visible result.
            layout.operator("heft.throw", icon="SPHERE")
        draw_compiling(layout, context)
        draw_messages(layout, rig, context)
        if len(together) > 1:
            note(layout, context, f"One shot with {_named(each for each in together if each != rig)}", "COMMUNITY")
        if rig.heft_result is not None:
            draw_status(layout, rig, context)
            on_time.draw_misses(layout, rig)
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
    """The names joined for a sentence; the rest is counted."""
    names = [f"'{rig.name}'" for rig in rigs]
    return " and ".join(names) if len(names) <= 2 else f"{', '.join(names[:2])} and {len(names) - 2} more"


# Registered in this order, which is the order in the tab.
CLASSES = (
    *presets.CLASSES,
    HEFT_PT_main,
    *contacts.COLLIDER,
    *setup.CLASSES,
    *controller.CLASSES,
    *bones.CLASSES,
    *contacts.CLASSES,
    *forces.CLASSES,
    *on_time.CLASSES,
    HEFT_PT_result,
    *takes.CLASSES,
    *overlays.CLASSES,
    *plot_curves.CLASSES,
    *bake_controls.CLASSES,
)
