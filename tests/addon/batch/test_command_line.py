"""The command line, called as Blender calls it."""

from __future__ import annotations

import bpy
import pytest

import rigs
from heft.addon.batch import command_line


@pytest.fixture
def shot(empty, tmp_path):
    rig = rigs.chain(4)
    rigs.wave(rig, end=20)
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_bake_to_another_file(shot, tmp_path):
    out = tmp_path / "out.blend"
    before = shot.read_bytes()
    code = command_line.run(
        ["bake", "--set", "settle_time=0.35", "heaviness=0.05", "--set", "root=ANIMATED", "--output", str(out)]
    )
    assert code == 0
    assert shot.read_bytes() == before
    bpy.ops.wm.open_mainfile(filepath=str(out))
    rig = bpy.data.objects["Rig"]
    assert rig.heft.settle_time == pytest.approx(0.35)
    assert "baked" in rig.animation_data.action.name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bake", "--armature", "Nobody"], "no armature 'Nobody'"),
        (["bake", "--set", "stiffness=3"], "'stiffness=3' is no setting"),
        (["bake", "--set", "settle_time=soft"], "does not fit the setting 'settle_time'"),
        (["bake", "--set", "root=HANGING"], "does not fit the setting 'root'"),
        (["bake", "--set", "colliders=Nowhere"], "does not fit the setting 'colliders'"),
        (["bake", "--set", "pushes=3"], "'pushes=3' is no setting"),
    ],
)
def test_mistakes_are_named(shot, arguments, message, capsys):
    assert command_line.run(arguments) == 1
    assert message in capsys.readouterr().err


def test_vectors_and_switches(shot):
    rig = bpy.data.objects["Rig"]
    command_line.apply_setting(rig, "gravity=0,0,-1.6")
    command_line.apply_setting(rig, "live=off")
    group = bpy.data.collections.new("Things")
    for pair in ("ground=on", "ground_height=-0.5", "friction=0.2", "touch_self=yes", "colliders=Things"):
        command_line.apply_setting(rig, pair)
    assert rig.heft.ground and rig.heft.ground_height == -0.5 and rig.heft.touch_self
    assert rig.heft.friction == pytest.approx(0.2) and rig.heft.colliders == group
    assert rig.heft.gravity[2] == pytest.approx(-1.6) and rig.heft.live is False
