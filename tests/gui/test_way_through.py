"""An animator's way through, by mouse and keyboard: set up, simulate, tune by dragging, take back, bake, leave."""

from __future__ import annotations

from pathlib import Path

ADDON_TESTS = Path(__file__).resolve().parents[1] / "addon"
BUILD = f"""
import sys
sys.path.insert(0, {str(ADDON_TESTS)!r})
import rigs
rigs.new_file()
_rig = rigs.chain(8, connected=True)
rigs.wave(_rig, end=60, step=6)
bpy.context.scene.frame_end = 60
_rig.select_set(True)
bpy.context.view_layer.objects.active = _rig
"""
STEPS = 8


def test_an_animators_way_through(blender, window_of, tmp_path):
    shot, before = tmp_path / "shot.blend", tmp_path / "before.pickle"
    blender.build(BUILD, shot)
    window = window_of(shot)
    window.open_tab()
    window.ask(f"remember({str(before)!r})")
    source = window.ask("source()")
    window.picture("1-empty")
    window.click("bpy.ops.heft.add", "rig().heft.enabled")
    window.picture("2-physics")

    simulate(window)
    drag_the_slider(window)
    flip_and_mix(window)
    assert window.ask("source()") == source

    bake(window, source)
    save_and_reopen(window, shot)
    remove(window, before)


def simulate(window) -> None:
    """Weight, typed in as a user does, then Simulate; Esc half way leaves nothing behind."""
    type_in(window, "heft.heaviness", "0.4")
    window.wait_for("abs(rig().heft.heaviness - 0.4) < 1e-6")
    window.click("bpy.ops.heft.simulate", "result() != 0 and shown() == 'RESULT on'", 240.0)
    window.wait_for("not busy()")
    window.picture("3-simulated")
    # A long shot takes a while: time to think better of it. The result of the short one stays.
    kept = window.ask("result()")
    window.ask("rig().heft.steps_per_second = 9600")
    window.click("bpy.ops.heft.simulate", "busy()")
    window.screen.press("Escape")
    window.wait_for("not busy()")
    assert window.ask("result()") == kept
    window.ask("rig().heft.steps_per_second = 240")


def drag_the_slider(window) -> None:
    """Live: keys change while the button is still down, Esc takes them back, and so does undo, ten times."""
    window.click("heft.live", "rig().heft.live")
    window.wait_for("not busy()")
    before = window.ask("shape()")
    seen = window.drag("heft.settle_time", 48, STEPS, "shape()")
    window.picture("4-dragging")
    assert len({result for *_, result in seen}) >= STEPS // 2, "the result follows the mouse"
    assert seen[-1][-1] != before[-1]
    window.screen.press("Escape")
    window.screen.let_go()
    window.wait_for(f"shape() == {before}", 20.0)
    window.picture("5-cancelled")

    window.drag("heft.settle_time", 48, STEPS, "shape()")
    window.screen.let_go()
    after = window.ask("shape()")
    assert after != before
    window.rest()
    for _ in range(10):
        window.screen.press("ctrl+z")
        window.wait_for(f"shape() == {before}", 30.0)
        window.screen.press("ctrl+shift+z")
        window.wait_for(f"shape() == {after}", 30.0)
    window.picture("6-undone-and-redone")


def flip_and_mix(window) -> None:
    """Source and result by button and by key, and half of each; all of it taken back by undo."""
    before = window.ask("result()")
    window.click("bpy.ops.heft.show(which='SOURCE')", "shown() == 'SOURCE off'")
    window.picture("7-source")
    window.rest()
    window.screen.press("shift+alt+h")
    window.wait_for("shown() == 'RESULT on'")
    window.click("bpy.ops.heft.show(which='SOURCE')", "shown() == 'SOURCE off'")
    window.click("bpy.ops.heft.show(which='RESULT')", "shown() == 'RESULT on'")
    window.drag("heft.mix", -60, 4, "rig().heft.mix")
    window.screen.let_go()
    window.wait_for("0.1 < rig().heft.mix < 0.9")
    window.picture("8-mix")
    window.rest()
    window.screen.press("ctrl+z")
    window.wait_for("rig().heft.mix == 1.0")
    assert window.ask("result()") == before


def bake(window, source: dict) -> None:
    """A new action; those there were are as they were."""
    window.click("bpy.ops.heft.bake")
    window.picture("9-bake")
    window.screen.press("Return")
    window.wait_for("any('baked' in name for name in source())", 30.0)
    now = window.ask("source()")
    assert {name: sum_ for name, sum_ in now.items() if name in source} == source
    assert len(now) == len(source) + 1
    window.rest()
    window.picture("10-baked")


def save_and_reopen(window, shot: Path) -> None:
    """The result is there again, and still the one of its settings."""
    kept = window.ask("[shape(), shown(), rig().heft.fingerprint, source()]")
    window.rest()
    window.screen.press("ctrl+s")
    window.wait_for("not bpy.data.is_dirty", 20.0)
    window.close()
    window.open(str(shot))
    assert window.ask("[shape(), shown(), rig().heft.fingerprint, source()]") == kept
    window.open_tab()
    window.picture("11-reopened")


def remove(window, before: Path) -> None:
    """The file is as it was found, but for what Bake was asked for: a new action that the rig plays, and the source's
    own is kept (a fake user) though nobody plays it."""
    window.click("bpy.ops.heft.remove", "rig().heft_result is None and not rig().is_property_set('heft')")
    window.picture("12-removed")
    left = window.ask(f"changes({str(before)!r})")
    assert all("baked" in line or line == " action RigAction[0]: False -> True" for line in left), left
    assert window.ask("[ob.name for ob in bpy.data.objects if ob.name.endswith('result')]") == []


def type_in(window, name: str, text: str) -> None:
    """Double-click a field and type."""
    window.to(name)
    window.screen.hands("click", "--repeat", 2, "--delay", 60, 1)
    window.screen.type(text)
    window.screen.press("Return")
