"""Warnings and notes, each with the button that fixes it, in a collapsible box below Simulate.

Owns which states are reported. Must not change data. The box is below Simulate, so that no message moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import bpy

from .... import engine
from ....engine.analysis import recording_flaws
from ....engine.anatomy import size_guess
from ...read import mend_frames, read_controller
from ...simulate import compile_engine, frame_rate
from .. import answers
from .base import note


@dataclass(frozen=True)
class Message:
    """A text, its icon (ERROR or INFO), and a function that draws buttons below it."""

    text: str
    icon: str = "ERROR"
    buttons: Callable[[bpy.types.UILayout], None] | None = None


def draw_messages(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """All messages in one collapsible box."""
    found = list(messages(rig, context))
    if not found:
        return
    header, body = layout.panel("HEFT_messages")
    icon = "ERROR" if any(message.icon == "ERROR" for message in found) else "INFO"
    header.label(text="1 Message" if len(found) == 1 else f"{len(found)} Messages", icon=icon)
    if body is None:
        return
    for message in found:
        box = note(body, context, message.text, message.icon)
        if message.buttons is not None:
            message.buttons(box)


def messages(rig: bpy.types.Object, context: bpy.types.Context) -> Iterator[Message]:
    """The present messages on the rig."""
    doubt = answers.doubt(rig, context.scene)
    if doubt is not None:
        yield Message(doubt.text, buttons=lambda box: _draw_mending(box, doubt))
    if falls(rig):
        yield Message(
            "Nothing holds the root, and there is no ground: the character falls and falls.",
            buttons=lambda box: box.operator("heft.fit_ground", text="Add Ground", icon="TRIA_DOWN_BAR"),
        )
    if frame_rate.is_asked(rig, context.scene):
        yield _slow(rig)
    if rig.heft_result is None:
        yield from _cut_short(rig, context)
    if rig.heft.flaws:
        icon = "ERROR" if rig.heft.bad_frames == "KEEP" else "INFO"
        yield Message(mend_frames.told(rig), icon, lambda box: _draw_flaw_buttons(box, rig))
    if compile_engine.problem():
        yield Message(compile_engine.problem())
    if rig.heft.message:
        forced = engine.USE_ASSISTED in rig.heft.message and rig.heft.root == "ANIMATED"
        yield Message(rig.heft.message, buttons=(lambda box: _draw_assist_button(box, rig)) if forced else None)
    if rig.heft_result is not None and rig.heft.pops and answers.shot_of(rig).leader.heft.loop == "AUTO":
        yield Message(
            "The source ends as it began, the result does not: played over and over it jumps there.",
            "INFO",
            lambda box: box.operator("heft.loop", icon="FILE_REFRESH"),
        )


def _draw_mending(box: bpy.types.UILayout, doubt: size_guess.Doubt) -> None:
    """The button that fixes an implausible size or mass."""
    if doubt.mass > 0.0:
        box.operator("heft.set_mass", text=f"Make It {doubt.mass:g} kg").mass = doubt.mass
    else:
        box.operator("heft.set_size")


def falls(rig: bpy.types.Object) -> bool:
    """True if the root is free and there is nothing below it."""
    if not read_controller.has_free_root(rig) or len(rig.heft.ties) or not any(rig.heft.gravity):
        return False
    group = answers.shot_of(rig)
    return group.grounded is None and not group.objects


def _slow(rig: bpy.types.Object) -> Message:
    """The message on a recording that may have been taken at another frame rate."""
    now = rig.heft.slow_at

    def buttons(box: bpy.types.UILayout) -> None:
        row = box.row(align=True)
        for rate in (now, *(rate for rate in frame_rate.RATES if rate != now)):
            row.operator("heft.set_frame_rate", text=f"{rate}").rate = rate

    text = f"This person moves slowly at {now} frames a second. How many samples a second has the recording?"
    return Message(text, "QUESTION", buttons)


def _cut_short(rig: bpy.types.Object, context: bpy.types.Context) -> Iterator[Message]:
    """The action is longer than the scene, as with an imported recording."""
    data = rig.animation_data
    if rig.heft.range != "SCENE" or data is None or data.action is None or data.use_tweak_mode:
        return
    last, end = data.action.frame_range[1], context.scene.frame_end
    if last > end + 0.5:
        text = f"The action goes on to frame {last:.0f}, the scene ends at {end}."
        yield Message(text, "INFO", lambda box: box.operator("heft.take_action", icon="ACTION"))


def _draw_assist_button(box: bpy.types.UILayout, rig: bpy.types.Object) -> None:
    """The button for a character whose keys lead through an obstacle."""
    box.prop_enum(rig.heft, "root", "ASSISTED", text="Set Root to Assisted")


def _draw_flaw_buttons(box: bpy.types.UILayout, rig: bpy.types.Object) -> None:
    """The buttons for reading bad frames in another way."""
    row = box.row(align=True)
    for item in rig.heft.bl_rna.properties["bad_frames"].enum_items:
        way = item.identifier
        row.operator("heft.fix_motion", text=item.name, depress=rig.heft.bad_frames == way).method = way
    if recording_flaws.NO_PART in rig.heft.flaws:
        box.operator("heft.leave_out")
