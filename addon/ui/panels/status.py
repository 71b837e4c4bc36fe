"""State of a result: a badge in its header, and one line below its buttons.

Must not change data. The line is always one row high, so that no button moves while a slider is dragged.
"""

import bpy

from ....engine import HeftError
from ...bake import unbake
from ...result import result_armature
from ...simulate import jobs, timing
from .. import answers, up_to_date
from ..operators.simulate import NOTHING_TO_SEE
from .base import note


def leader_of(rig: bpy.types.Object) -> bpy.types.Object:
    """The leader of the rig's shot."""
    return answers.shot_of(rig).leader


def badge_of(rig: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Why a result does not match its settings, in a few words; empty if it does."""
    if rig.heft_result is None or result_armature.standing_back(rig):
        return ""
    job = jobs.of(leader_of(rig))
    if job is not None and rig.heft.live:
        return "simulating"
    try:
        return "" if up_to_date.is_current(rig, scene) else "out of date"
    except HeftError:
        return "out of date"


def draw_badge(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """Drawn in the header, so it is also visible while the panel is closed."""
    text = badge_of(rig, context.scene).capitalize()
    if text == "Out of date":
        row = layout.row(align=True)
        row.alert = True
        row.label(text=text, icon="ERROR")
        row.operator("heft.simulate", text="", icon="PLAY")
    elif text:
        layout.label(text=f"{text}…", icon="SORTTIME")


def draw_status(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """The simulation's progress, the duration of the last one, and notes on its result."""
    try:
        current = up_to_date.is_current(rig, context.scene)
    except HeftError as error:
        note(layout, context, str(error))
        return
    _draw_line(layout, rig, current)
    if result_armature.standing_back(rig):
        text = "The rig has another action than the simulated one: Simulate takes the new one."
        if current and rig.heft.baked:
            text = "Baked: the rig plays its new keys. Simulate would give them weight once more."
        box = note(layout, context, text, "INFO")
        if unbake.can_go_back(rig):
            box.operator("heft.back_to_source", icon="LOOP_BACK")
    elif current and rig.heft.undisturbed:
        note(layout, context, NOTHING_TO_SEE, "INFO")


def _draw_line(layout: bpy.types.UILayout, rig: bpy.types.Object, current: bool) -> None:
    leader = leader_of(rig)
    job = jobs.of(leader)
    if job is not None and rig.heft.live:
        step = job.latest
        text = (step.text or f"{step.label}…".capitalize()) if step is not None else "Starting…"
        layout.progress(factor=step.done if step is not None else 0.0, text=text)
        return
    row = layout.row()
    if not current and not result_armature.standing_back(rig):
        row.alert = True
        row.label(text="Out of date: press Simulate", icon="FILE_REFRESH")
        return
    row.active = False
    row.label(text=took(leader), icon="CHECKMARK")


def took(leader: bpy.types.Object) -> str:
    """The duration of the shot's last simulation, in words."""
    cost = timing.last(leader)
    if cost is None:
        return "Simulated in another session"
    count = cost.frames - cost.first
    frames = f"{count:,} frames" if cost.first == 0 else f"{count:,} of {cost.frames:,} frames"
    seconds = cost.reading + cost.simulating
    return f"{frames} in {1000.0 * seconds:.0f} ms" if seconds < 10.0 else f"{frames} in {seconds:.0f} s"
