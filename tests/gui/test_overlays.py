"""Overlays in the real window: each can be seen, none complains, and none is left when it is off."""

from __future__ import annotations

import time
from pathlib import Path

import overlay_pictures
from overlay_pictures import SWITCHES, show

WALKER = Path(__file__).resolve().parents[2] / "sample_scenes" / "ball_hits_walker.blend"


def test_every_overlay_is_seen(window_of):
    window = window_of(WALKER)
    window.ask(f"SWITCHES = {SWITCHES!r}\n{overlay_pictures.HELP}")
    window.wait_for("ready()", 900.0)
    window.ask("wide()")
    time.sleep(1.0)
    window.ask("look(3.0, (0.0, 0.15, 0.85), (1.40, 0.0, 0.6))")
    window.ask("simulate()", 600.0)
    window.ask("bpy.context.scene.frame_set(29)")
    show(window)
    plain = window.picture("overlays-none").read_bytes()
    seen = {}
    for switch in SWITCHES:
        show(window, switch)
        seen[switch] = window.picture(f"overlays-{switch.removeprefix('show_')}").read_bytes()
        assert seen[switch] != plain, switch
    assert len(set(seen.values())) == len(SWITCHES), "each looks like nothing else"
    # all off again, by the rig's switch and by Blender's own
    window.ask("rig().heft.show_overlays = False")
    show(window, *SWITCHES)
    assert window.picture("overlays-switched-off").read_bytes() == plain
    window.ask("rig().heft.show_overlays = True")
    show(window)
    assert window.picture("overlays-none-again").read_bytes() == plain
    told = "list(__import__('sys').modules['bl_ext.user_default.heft.addon.blender.safe_draw']._told)"
    assert window.ask(told) == []
