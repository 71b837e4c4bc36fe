"""What the animator should know before pressing Simulate, each with the button that mends it.

Owns which states are warned of. Must not change data.
"""

import bpy

from . import flaws, glance, mending, settings, warmup
from .panel_parts import note

# Outside these heights [m] a rig is hardly meant in metres.
SHORTEST, TALLEST = 0.05, 12.0


def draw_warnings(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """Above the buttons they concern."""
    tall = glance.height_in_meters(rig, context.scene)
    if not SHORTEST <= tall <= TALLEST:
        box = note(layout, context, f"The rig is {tall:.3g} m tall for physics.")
        box.operator("heft.set_size")
    if falls(rig):
        box = note(layout, context, "Nothing holds the root, and there is no ground: the character falls and falls.")
        box.operator("heft.fit_ground", text="Add Ground", icon="TRIA_DOWN_BAR")
    if rig.heft_result is None:
        _draw_cut_short(layout, rig, context)
    if rig.heft.flaws:
        draw_flaws(layout, rig, context)
    for text in (warmup.problem(), rig.heft.message):
        if text:
            note(layout, context, text)


def falls(rig: bpy.types.Object) -> bool:
    """Is the root free with nothing below it?"""
    if not settings.has_free_root(rig) or len(rig.heft.ties) or not any(rig.heft.gravity):
        return False
    group = glance.members(rig)
    return group.grounded is None and not group.objects


def _draw_cut_short(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """The action goes on where the scene ends, as that of an imported recording does."""
    data = rig.animation_data
    if rig.heft.range != "SCENE" or data is None or data.action is None or data.use_tweak_mode:
        return
    last, end = data.action.frame_range[1], context.scene.frame_end
    if last > end + 0.5:
        box = note(layout, context, f"The action goes on to frame {last:.0f}, the scene ends at {end}.", "INFO")
        button = box.operator("wm.context_set_enum", text="Take All of the Action", icon="ACTION")
        button.data_path, button.value = "object.heft.range", "ACTION"


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
