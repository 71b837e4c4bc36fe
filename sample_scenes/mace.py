"""A mace swung at a crate: the hand is keyed, the chain and the heavy head are limp.

Shows Limp against a free body: the head trails, comes round, and knocks the crate away.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import stage
from .skin import Skin

LINKS = 5
LINK_LENGTH = 0.13  # [m]
HAND = Vector((-0.55, 0, 1.45))  # where the handle is held
FRAMES = 72
# frame: sideways and upward place of the hand [m], turn of the handle about y [°]
HAND_KEYS = {
    1: (-0.45, 0, 0), 8: (-0.45, 0, 0), 15: (-0.1, 0.05, 0), 26: (0.4, 0, -12), 44: (0.4, 0, -12), 72: (0, 0, 0),
}  # fmt: skip
PICTURE_FRAMES = (8, 18, 27, 32, 42)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    joints = [HAND + Vector((0, 0, -0.3 - i * LINK_LENGTH)) for i in range(LINKS + 1)]
    bones = [("hand", None, HAND, joints[0])]
    for i in range(LINKS):
        bones.append((f"link.{i + 1}", f"link.{i}" if i else "hand", joints[i], joints[i + 1]))
    bones.append(("head", f"link.{LINKS}", joints[-1], joints[-1] + Vector((0, 0, -0.24))))
    rig = stage.rig("Mace", bones)

    skin = Skin(rig)
    skin.capsule_between("hand", HAND + Vector((0, 0, 0.12)), joints[0] + Vector((0, 0, 0.04)), 0.035, material="wood")
    skin.ellipsoid("hand", HAND, (0.075, 0.085, 0.085))
    for i in range(LINKS):
        skin.link(f"link.{i + 1}", LINK_LENGTH + 0.04, 0.08, 0.015, across=bool(i % 2), material="steel")
    middle = joints[-1] + Vector((0, 0, -0.13))
    skin.ellipsoid("head", middle, (0.13, 0.13, 0.13), material="joint")
    skin.bind("Mace body")

    for frame, (x, z, turn) in HAND_KEYS.items():
        stage.key_pose(rig, frame, turns={"hand": (0, turn, 0)}, moves={"hand": (x, 0, z)})
    stage.name_action(rig, "Swing")
    limp = dict.fromkeys(["head", *(f"link.{i + 1}" for i in range(LINKS))], "LIMP")
    stage.add_physics(rig, limp, settle_time=0.2, heaviness=0.0, tone=0.0, ground=True)
    if hasattr(bpy.types.Object, "heft"):
        for i in range(LINKS):
            rig.pose.bones[f"link.{i + 1}"].heft.mass = 0.15
        rig.pose.bones["head"].heft.mass = 6.0
    stage.collide(rig, stage.box("Stand", (0.34, 0.5, 0.25), (0.47, 0, 0.125), "steel"))
    crate = stage.box("Crate", (0.3, 0.3, 0.3), (0.45, 0, 0.4), "wood")
    stage.collider(crate, moves="FREE", mass=3.0, friction=0.4)
    stage.collide(rig, crate)
    stage.camera(eye=(0.9, -5.6, 1.7), at=(0.0, 0.0, 0.8), lens=80, size=(440, 420))
    return rig
