"""Top of the tab: the steps to a first character, the compiler's progress, the armature in use.

Owns its layout. Must not change data.
"""

import bpy

from ...settings import has_physics
from ...simulate import compile_engine
from .. import answers
from ..operators import start
from ..operators.base import active_rig
from .base import note
from .pull_pose import draw_pull


def draw_start(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Add Physics, or the steps before it; and Pull Pose, which needs no physics."""
    rig = active_rig(context)
    if not has_physics(rig):
        draw_compiling(layout, context)  # later below Simulate, which must not move when it ends
    if rig is None:
        _draw_no_armature(layout, context)
    elif not has_physics(rig):
        row = layout.row()
        row.scale_y = 1.4
        row.operator("heft.add", icon="PHYSICS")
    if rig is not None:
        draw_pull(layout)


def _draw_no_armature(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    if answers.shots_with(context.object):
        return
    near = start.nearest_armature(context)
    if near is None:
        note(layout, context, "Physics needs an armature with keys: import or add one, or try this one.", "INFO")
        layout.operator("heft.add_sample", icon="OUTLINER_OB_ARMATURE")
    else:
        note(layout, context, "No armature is active.", "INFO")
        layout.operator("heft.select_armature", text=f"Select '{near.name}'", icon="RESTRICT_SELECT_OFF")


def draw_compiling(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """The compiler's progress, while it runs."""
    progress = compile_engine.progress()
    if progress is not None:
        column = note(layout, context, progress.told, "TIME")
        column.progress(factor=progress.done, text=progress.left)
