"""The first minutes after installing: the engine is still being compiled while the user already clicks."""

from __future__ import annotations

from pathlib import Path

from test_way_through import BUILD

COMPILED = 900.0  # [s], on a machine that does other things too


def test_simulate_waits_for_the_engine(blender, window_of, tmp_path, monkeypatch):
    """Simulate, pressed while the engine is compiled, is not lost: it starts by itself, and Esc takes it back."""
    if any(Path(blender.environment["HEFT_CACHE"]).glob("*")):
        monkeypatch.setitem(blender.environment, "HEFT_CACHE", str(tmp_path / "kernels"))
    shot = tmp_path / "shot.blend"
    blender.build(BUILD, shot)
    window = window_of(shot)
    assert window.ask("running()")
    window.open_tab()
    window.click("bpy.ops.heft.add", "rig().heft.enabled")
    window.click("bpy.ops.heft.simulate", "busy()")
    window.picture("0-waiting-for-the-engine")
    window.screen.press("Escape")
    window.wait_for("not busy()")
    assert window.ask("running() and result() == 0 and rig().heft_result is None")

    window.click("bpy.ops.heft.simulate", "busy()")
    assert window.ask("running()")
    window.wait_for("result() != 0 and shown() == 'RESULT on'", COMPILED)
    window.wait_for("not busy() and not running()")
