"""Run by behaviour/test_new_shape.py in a Blender of its own: all that follows from a shape's file and its lines.

Argument: a copy of the project to which the shape `WEDGE` was added.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

# Plain Python: what is tried is the seam, and nothing has to be compiled.
os.environ["NUMBA_DISABLE_JIT"] = "1"

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from toy_setting import load_addon, part

HALF = np.array([0.4, 0.3, 0.2])


def ramp(name: str, location) -> bpy.types.Object:
    """A mesh of a ramp's form, taken for one."""
    mesh = bpy.data.meshes.new(name)
    solid = wedges.Wedge(tuple(HALF)).solid()
    mesh.from_pydata(solid.points.tolist(), [], solid.rings)
    ob = bpy.data.objects.new(name, mesh)
    ob.location = location
    bpy.context.scene.collection.objects.link(ob)
    ob.heft_collider.shape = "WEDGE"
    return ob


def check_object(rig: bpy.types.Object) -> None:
    """Its shape is that of its mesh, and weighs like it."""
    solids = part("read.collision_shapes")
    ob = ramp("Ramp", (0.0, 0.0, 0.0))
    turn, shift = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.array([0.1, 0.2, 0.3])
    shape = solids.object_shape(ob, bpy.context.scene, 1, np.eye(3), turn, shift)
    assert type(shape) is wedges.Wedge
    assert np.allclose(shape.corners(), wedges.Wedge(tuple(HALF)).corners() @ turn.T + shift, atol=1e-6)
    assert np.isclose(solids.mass_of(ob, shape), 1000.0 * 4.0 * HALF.prod())
    bpy.data.objects.remove(ob)


def check_wires(rig: bpy.types.Object) -> None:
    """A collider's nine edges and its five faces are drawn where it is, and a bone's."""
    spot = np.array([2.0, 0.0, 0.5])
    rigs.collide(rig, ramp("Ramp", spot))
    rig.pose.bones[1].heft.shape = "WEDGE"
    pieces, primitives = importlib.import_module("overlay_pieces"), part("ui.overlays.primitives")
    drawn = pieces.drawn(rig, "show_shapes")
    wires = [piece for piece in drawn if isinstance(piece, primitives.Wires)]
    solids = [piece for piece in drawn if isinstance(piece, primitives.Solid)]
    of_bones, of_ramp = wires
    assert len(of_ramp.strings.segments) == 9 and len(solids[1].mesh.triangles) == 8
    corners = wedges.Wedge(tuple(HALF)).corners() + spot
    for points in map(pieces.placed, (of_ramp, solids[1])):
        away = np.linalg.norm(points[:, None] - corners, axis=2)
        assert away.min(axis=1).max() < 1e-5 and away.min(axis=0).max() < 1e-5
    assert (of_bones.strings.bodies == 1).sum() == 9


def check_contacts(rig: bpy.types.Object) -> None:
    """A ball that falls on the slope is thrown down it, and the ground holds it."""
    ball = rigs.ball(radius=0.1, location=(2.1, 0.0, 0.95))
    ball.heft_collider.shape, ball.heft_collider.moves = "SPHERE", "FREE"
    rigs.collide(rig, ball)
    rig.heft.ground, rig.heft.ground_height, rig.heft.steps_per_second = True, -0.5, 48
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    bones = part("simulate.session").last_shown(rig).reading.model.shapes
    assert type(bones[1][0]) is wedges.Wedge
    way = rigs.places(ball, range(1, bpy.context.scene.frame_end + 1))[:, :3, 3]
    above = way[way[:, 0] > 2.0 - HALF[0]]
    gaps = wedges.Wedge(tuple(HALF), (2.0, 0.0, 0.5)).gaps(above) - 0.1
    assert len(above) > 5 and -0.01 < gaps.min() < 0.01, "it meets the slope and stays out"
    assert way[-1, 0] < 2.0 - HALF[0] and way[:, 2].min() > -0.41


if __name__ == "__main__":
    load_addon(Path(sys.argv[1]))
    rigs, wedges = importlib.import_module("rigs"), importlib.import_module("heft.engine.geometry.shapes.wedge")
    rigs.new_file()
    armature = rigs.post(3)
    bpy.context.scene.frame_end = 24
    bpy.ops.heft.add()
    check_object(armature)
    check_wires(armature)
    check_contacts(armature)
    print("all of it follows")
