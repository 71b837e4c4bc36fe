"""Some of the real rigs, a few frames each: the whole menagerie is `python3 dev.py rigs`."""

from __future__ import annotations

import addon_utils
import bpy
import pytest

import menagerie
import rigs
import state

FRAMES = 8
SOME = ("rigs/CesiumMan", "rigs/gdquest_bee_bot", "rigify/bird", "rigify/shark")


@pytest.fixture(autouse=True)
def without_rigify():
    """Blender as it comes, for those who follow."""
    yield
    addon_utils.disable("rigify", default_set=True)


@pytest.mark.parametrize("name", SOME)
def test_the_result_is_the_source_whichever_bones_are_bodies(empty, tmp_path, name):
    if name not in menagerie.names():
        pytest.skip(f"no {name} in {rigs.DATA}")
    menagerie.open_rig(name, tmp_path)
    rig, _ = next(menagerie.shots())
    bpy.context.scene.frame_end = bpy.context.scene.frame_start + FRAMES
    before = state.snapshot(rig, pose=False)
    for ignoring in (False, True):
        offset, angle, where = menagerie.identity(rig, ignoring)
        print(f"{name}: {offset:.1e} of the height, {angle:.4f} deg, {where}")
        assert offset < menagerie.OFFSET and angle < menagerie.ANGLE, where
        bpy.ops.heft.remove()
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
