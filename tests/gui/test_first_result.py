"""A new user's first result, by the clicks: from a freshly imported recording to a baked reaction to a thrown ball."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

RECORDING = Path(__file__).resolve().parents[3] / "shared" / "data" / "mocap" / "cmu_02_01.bvh"
# Blender as it comes, with its cube; the importer as it comes.
BUILD = f"bpy.ops.import_anim.bvh(filepath={str(RECORDING)!r})"
MOST_CLICKS = 6
FIRST, LAST = 1, 60


class Clicks:
    """What the hand did, with a picture of what came of it."""

    def __init__(self, window) -> None:
        self.window, self.lines = window, []

    def count(self, words: str) -> None:
        """Write one down, once what it does is done."""
        number = len(self.lines) + 1
        picture = self.window.picture(f"first-result-{number}")
        self.lines.append(f"{number}. {words}\n\n   ![{words}]({picture.name})\n")

    def write(self, path: Path) -> None:
        title = f"# From a recording to a baked reaction, Blender {self.window.version}: {len(self.lines)} clicks\n"
        path.write_text("\n".join([title, *self.lines]), encoding="utf-8")


@pytest.mark.skipif(not RECORDING.exists(), reason=f"no recording at {RECORDING}")
def test_from_a_recording_to_a_baked_reaction(blender, window_of, tmp_path):
    shot, before, after = (tmp_path / name for name in ("recording.blend", "before.npy", "after.npy"))
    blender.build(BUILD, shot)
    window = window_of(shot)
    see_all(window)
    tab = find_tab(window)
    source = window.ask("source()")
    window.ask(f"poses({str(before)!r}, {FIRST}, {LAST})")
    window.rest()
    window.picture("first-result-0")

    clicks = Clicks(window)
    window.screen.press("n")
    window.wait_for("region()['region'].width > 10")
    clicks.count("The key N: the sidebar")
    window.screen.move(*tab)
    window.screen.click()
    window.wait_for("region()['region'].active_panel_category == 'Heft'")
    clicks.count("The tab Heft")
    window.click("bpy.ops.heft.add", "rig().heft.enabled")
    clicks.count("Add Physics")
    window.click("bpy.ops.heft.throw", "not busy() and result() != 0 and shown() == 'RESULT on'", 900.0)
    clicks.count("Throw a Ball")
    window.click("bpy.ops.heft.bake")
    clicks.count("Bake")
    window.screen.press("Return")
    window.wait_for("any('baked' in name for name in source())", 60.0)
    window.rest()
    clicks.count("Return: bake as proposed")
    clicks.write(window.pictures / f"{window.version}-first_result.md")
    assert len(clicks.lines) <= MOST_CLICKS

    assert {name: sum_ for name, sum_ in window.ask("source()").items() if name in source} == source
    assert window.ask("'baked' in rig().animation_data.action.name")
    window.ask(f"poses({str(after)!r}, {FIRST}, {LAST})")
    check_reaction(np.load(before), np.load(after))
    window.ask(f"bpy.context.scene.frame_set({struck(np.load(after)[:, -1]) + 4})")
    window.picture("first-result-7")

    # Two clicks made something: two undos take it back, the ball with its simulation.
    window.rest()
    window.screen.press("ctrl+z")
    window.wait_for("not any('baked' in name for name in source()) and result() != 0")
    window.screen.press("ctrl+z")
    window.wait_for("'Ball' not in bpy.data.objects and rig().heft_result is None and rig().heft.enabled")
    assert window.ask("source()") == source


def check_reaction(source: np.ndarray, baked: np.ndarray) -> None:
    """The ball is thrown off its flight; the body is as recorded until then, and no more from then on.

    (frames, places, 3): the tails of the bones, at last the ball.
    """
    hit = struck(baked[:, -1]) - FIRST
    assert 5 < hit < LAST - 10
    tall = np.ptp(source[0, :, 2])
    off = np.linalg.norm(baked[:, : source.shape[1]] - source, axis=2).max(axis=1) / tall
    assert off[: hit - 1].max() < 1e-4, f"{off[: hit - 1].max():.2e} of the height before the hit"
    assert off[hit:].max() > 0.01, f"{off[hit:].max():.2e} of the height after it"


def struck(ball: np.ndarray) -> int:
    """The last frame on which the ball (frames, 3) falls freely: till then each step differs from the last alike."""
    steps = np.diff(ball, axis=0)
    start = int(np.argmax(np.linalg.norm(steps, axis=1) > 0.0)) + 1
    bends = np.diff(steps, axis=0)[start:]
    off = np.linalg.norm(bends - bends[0], axis=1) / np.linalg.norm(steps[start])
    assert (off > 0.05).any(), "nothing meets the ball"
    return FIRST + start + 1 + int(np.argmax(off > 0.05))


def see_all(window) -> None:
    """A recording is of any size: the view takes it all in, as after Home."""
    window.ask("with bpy.context.temp_override(**region('WINDOW')):\n    bpy.ops.view3d.view_selected()")


def find_tab(window) -> tuple[int, int]:
    """Where the tab is, which an eye sees at once: tried out here, and put back."""
    window.ask("region('WINDOW')['area'].spaces[0].show_region_ui = True")
    window.wait_for("region()['region'].width > 10")
    x, top, width, height = window.box("UI")
    first = window.ask("region()['region'].active_panel_category")
    for y in range(top + 20, top + height, 25):
        window.screen.move(x + width - 8, y)
        window.screen.click()
        if window.ask("region()['region'].active_panel_category == 'Heft'"):
            break
    else:
        raise AssertionError("no tab Heft in the sidebar")
    window.ask(f"region()['region'].active_panel_category = {first!r}")
    window.ask("region('WINDOW')['area'].spaces[0].show_region_ui = False")
    window.wait_for("region()['region'].width <= 10")
    return x + width - 8, y
