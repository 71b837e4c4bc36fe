"""The commands that take bones with the mouse: whatever happens, all is put back and the mouse given back."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from heft.addon import events
from heft.addon.errors import RigError
from heft.addon.result import result_armature
from heft.addon.simulate import compile_engine, session
from heft.addon.tools import nudge, pick_bone, pull_pose, view_marks
from heft.addon.ui.operators import nudge as nudge_operator, pull_pose as pull_pose_operator
from posed import channels, region, world


class Hands:
    """A window's context, as far as the commands look at it; notes who was given the mouse."""

    def __init__(self) -> None:
        self.area = SimpleNamespace(
            type="VIEW_3D", header_text_set=self.heads.append, tag_redraw=lambda: None,
            regions=[region("WINDOW", 0, 0, 400, 400)],
        )  # fmt: skip
        self.window = SimpleNamespace(
            screen=SimpleNamespace(areas=[self.area], is_animation_playing=False),
            cursor_modal_set=lambda _: None,
            cursor_modal_restore=lambda: None,
        )
        self.workspace = SimpleNamespace(status_text_set=lambda _: None)
        self.window_manager = SimpleNamespace(
            event_timer_add=lambda *_, **__: "timer", event_timer_remove=self.timers.append,
            modal_handler_add=self.handlers.append,
        )  # fmt: skip

    @property
    def heads(self) -> list:
        return self.__dict__.setdefault("_heads", [])

    @property
    def timers(self) -> list:
        return self.__dict__.setdefault("_timers", [])

    @property
    def handlers(self) -> list:
        return self.__dict__.setdefault("_handlers", [])

    def __getattr__(self, name: str):
        return getattr(bpy.context, name)


def event(kind: str = "MOUSEMOVE", value: str = "PRESS", x: float = 0.0, y: float = 0.0):
    return SimpleNamespace(
        type=kind, value=value, mouse_x=x, mouse_y=y, ctrl=False, oskey=False, shift=False, alt=False
    )


def bare(command: type) -> type:
    """A command without Blender's own part, which only a window makes."""
    kept = {name: value for name, value in vars(command).items() if name not in ("__dict__", "__weakref__", "bl_rna")}
    bases = tuple(base for base in command.__bases__ if base is not bpy.types.Operator)
    return type(command.__name__, bases, kept)


@pytest.fixture
def hands(monkeypatch):
    """Makes a command that can be driven without a window."""
    monkeypatch.setattr(compile_engine, "is_posing_ready", lambda: True)
    monkeypatch.setattr(view_marks.Marks, "__init__", lambda self, *_: None)
    monkeypatch.setattr(view_marks.Marks, "remove", lambda self: None)
    monkeypatch.setattr(pick_bone.View, "on_screen", lambda _self, point: (200.0 + 100.0 * point[0], 100.0 * point[2]))
    monkeypatch.setattr(pick_bone.View, "ahead", lambda _self, _point: np.array([0.0, 1.0, 0.0]))
    monkeypatch.setattr(
        pick_bone.View, "in_plane",
        lambda _self, mouse, through: np.array([0.01 * mouse[0] - 2.0, through[1], 0.01 * mouse[1]]),
    )  # fmt: skip

    def made(command: type, once: bool = False):
        found = bare(command)()
        found.once, found.gravity, found.reports = once, False, []
        found.report = lambda kinds, text: found.reports.append((*kinds, text))
        return found

    assert not events.is_paused()
    yield made
    assert events._pause.depth == 0, "what was held is released, once"


def hold(command, context, rig, bone: str) -> None:
    """Take a bone by its tail and move the mouse."""
    at = command._view.on_screen(world(rig, bone, "tail"))
    assert command.modal(context, event("LEFTMOUSE", "PRESS", *at)) == {"RUNNING_MODAL"}
    assert command._drag is not None
    command.modal(context, event("MOUSEMOVE", "NOTHING", at[0] + 30, at[1] + 20))
    command.modal(context, event("TIMER"))


def test_esc_and_errors_put_every_channel_back_and_end_the_command(body, hands, monkeypatch):
    before = channels(body)
    command, context = hands(pull_pose_operator.HEFT_OT_pull_pose), Hands()
    assert command.invoke(context, event(x=200, y=100)) == {"RUNNING_MODAL"}
    hold(command, context, body, "hand.L")
    assert channels(body) != before
    command.modal(context, event("ESC"))
    assert channels(body) == before
    hold(command, context, body, "hand.L")
    monkeypatch.setattr(pull_pose.Pull, "pull", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        command.modal(context, event("MOUSEMOVE", "NOTHING", 250, 120)), command.modal(context, event("TIMER"))
    assert channels(body) == before and context.timers == ["timer"]
    assert command.modal(context, event()) == {"CANCELLED"}, "where Blender asks once more"
    command.cancel(context)
    assert context.timers == ["timer"]


def test_a_window_that_is_gone_is_no_obstacle(body, hands, monkeypatch):
    before = channels(body)
    command, context = hands(pull_pose_operator.HEFT_OT_pull_pose), Hands()
    command.invoke(context, event(x=200, y=100))
    hold(command, context, body, "hand.L")
    context.window = context.workspace = None
    command.cancel(context)
    assert channels(body) == before and context.timers == ["timer"]


def test_a_click_beside_all_bones_never_takes_the_mouse(body, hands):
    """Blender frees a command that ends as it begins, but not the handler that it had added."""
    command, context = hands(pull_pose_operator.HEFT_OT_pull_pose, once=True), Hands()
    assert command.invoke(context, event("LEFTMOUSE", x=390, y=30)) == {"CANCELLED"}
    assert context.handlers == []


def test_the_result_is_shown_again_where_nothing_can_be_pulled(rig, hands):
    bpy.ops.heft.simulate()
    rig.data.pose_position = "REST"
    command, context = hands(pull_pose_operator.HEFT_OT_pull_pose), Hands()
    assert command.invoke(context, event(x=200, y=100)) == {"CANCELLED"}
    assert "Pose Position" in command.reports[-1][1]
    assert result_armature.is_visible(rig) and context.handlers == []


def test_a_pin_that_cannot_be_does_not_end_the_command(body, hands):
    bpy.ops.heft.add()
    for bone in body.pose.bones:
        bone.heft.behaviour = "IGNORED" if bone.name == "hips" else "SIMULATED"
    command, context = hands(pull_pose_operator.HEFT_OT_pull_pose), Hands()
    assert command.invoke(context, event(x=200, y=100)) == {"RUNNING_MODAL"}
    at = command._view.on_screen(world(body, "hips"))
    assert command.modal(context, event("P", "PRESS", *at)) == {"RUNNING_MODAL"}
    assert "hangs on no body" in command.reports[-1][1]
    command.modal(context, event("RET", x=200, y=100))


def test_a_nudge_taken_back_takes_no_other_with_it(rig, hands, monkeypatch):
    """Also if the shot cannot be simulated without it."""
    bpy.ops.heft.simulate()
    bpy.context.scene.frame_set(5)
    nudge.add(rig, "bone.001", 0.5, 3)
    command, context = hands(nudge_operator.HEFT_OT_nudge), Hands()
    assert command.invoke(context, event(x=200, y=100)) == {"RUNNING_MODAL"}
    rig.heft.live = True
    hold(command, context, rig, "bone.002")
    assert len(rig.heft.pushes) == 2

    def broken(*_args, **_more):
        raise RigError("no")

    monkeypatch.setattr(session, "simulate", broken)
    command.modal(context, event("ESC"))
    assert [push.frame for push in rig.heft.pushes] == [3] and context.timers == ["timer"]
