"""An arm that takes a box from one table, carries it over and lets it go above another.

Shows a tie between a bone and a free object, keyed on and off.
"""

from __future__ import annotations

import math

import bpy
from mathutils import Euler, Vector

from . import stage
from .skin import Skin

FRAMES = 84
GRAB, LET_GO = 20, 56
BOX = 0.22  # [m] edge
TABLE = 0.5  # [m] height
REACH = 0.85  # [m] from the turret to either table
# frame: turn of the turret [°], upper arm and forearm [°]
POSES = {
    1: (-65, -10, 14), 8: (-65, -10, 14), 17: (-65, 0, 0), 24: (-65, 0, 0), 36: (-40, -22, 14), 46: (40, -22, 14),
    54: (65, -4, 5), 60: (65, -4, 5), 72: (65, -24, 10), 84: (0, -24, 10),
}  # fmt: skip
PICTURE_FRAMES = (8, 22, 40, 55, 76)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    top = TABLE + BOX
    shoulder, elbow, wrist = Vector((0, 0, 0.95)), Vector((0, -0.45, 1.3)), Vector((0, -REACH, top + 0.2))
    rig = stage.rig("Arm", [
        ("turret", None, Vector((0, 0, 0)), shoulder),
        ("upper_arm", "turret", shoulder, elbow),
        ("forearm", "upper_arm", elbow, wrist),
        ("hand", "forearm", wrist, Vector((0, -REACH, top + 0.005))),
    ])  # fmt: skip

    skin = Skin(rig)
    skin.ellipsoid("turret", (0, 0, 0.05), (0.3, 0.3, 0.08), material="joint")
    skin.capsule_between("turret", (0, 0, 0.1), (0, 0, 0.86), 0.13, 0.1, material="steel")
    for bone, radius, end in (("upper_arm", 0.085, 0.07), ("forearm", 0.07, 0.05)):
        skin.capsule(bone, radius, end)
        joint, across = rig.data.bones[bone].head_local, Vector((radius * 1.2, 0, 0))
        skin.capsule_between(bone, joint - across, joint + across, radius * 0.75, material="joint")
    skin.capsule_between("hand", wrist, (0, -REACH, top + 0.08), 0.045)
    skin.ellipsoid("hand", (0, -REACH, top + 0.03), (0.09, 0.09, 0.025), material="joint")
    skin.bind("Arm body")

    for frame, (turn, upper, fore) in POSES.items():
        level = -upper - fore  # keeps the hand upright
        stage.key_pose(rig, frame, turns={
            "turret": (0, 0, turn), "upper_arm": (upper, 0, 0), "forearm": (fore, 0, 0), "hand": (level, 0, 0),
        })  # fmt: skip
    stage.add_physics(rig, settle_time=0.2, heaviness=0.0, total_mass=40.0, ground=True)
    tables = []
    for name, turn in (("Table from", -65), ("Table to", 65)):
        spot = Vector((0, -REACH, 0))
        spot.rotate(Euler((0, 0, math.radians(turn))))
        tables.append(stage.box(name, (0.46, 0.46, TABLE), (spot.x, spot.y, TABLE / 2), "wood"))
        tables[-1].rotation_euler.z = math.radians(turn)
    spot = tables[0].location
    box = stage.box("Box", (BOX,) * 3, (spot.x, spot.y, TABLE + BOX / 2), "moss")
    box.rotation_euler = tables[0].rotation_euler
    stage.collider(box, moves="FREE", mass=3.0)
    stage.collide(rig, *tables, box)
    stage.tie(rig, {1: False, GRAB: True, LET_GO: False}, bone="hand", kind="WELD", target=box, response="BRACES")
    stage.name_action(rig, "Fetch and carry")
    stage.camera(eye=(0.4, -5.6, 2.4), at=(0.0, -0.3, 0.66), lens=82, size=(440, 400))
    return rig
