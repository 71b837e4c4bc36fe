"""A chain on a hook that darts sideways and stops: only the hook is keyed, the links get weight.

Shows Follow with heaviness: stiff and straight in the source, swinging and whipping in the result.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import stage
from .skin import Skin

LINKS = 11
LINK_LENGTH = 0.15  # [m] from joint to joint
TOP = 2.35  # [m] height of the hook
FRAMES = 72
# frame: sideways place of the hook [m]
HOOK_KEYS = {1: -0.55, 10: -0.55, 22: 0.55, 36: 0.55, 48: -0.1, 72: -0.1}
PICTURE_FRAMES = (10, 17, 24, 29, 37)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    joints = [Vector((0, 0, TOP - i * LINK_LENGTH)) for i in range(LINKS + 1)]
    bones = [("hook", None, Vector((0, 0, TOP + 0.3)), joints[0])]
    for i in range(LINKS):
        bones.append((f"link.{i + 1:02d}", f"link.{i:02d}" if i else "hook", joints[i], joints[i + 1]))
    rig = stage.rig("Chain", bones)

    skin = Skin(rig)
    skin.capsule_between("hook", (0, 0, TOP + 0.3), (0, 0, TOP + 0.09), 0.03, material="joint")
    skin.capsule_between("hook", (-0.12, 0, TOP + 0.33), (0.12, 0, TOP + 0.33), 0.055, material="joint")
    skin.link("hook", 0.17, 0.11, 0.02, across=True, material="joint")
    for i in range(LINKS):
        material = "steel" if i % 2 else "clay"
        skin.link(f"link.{i + 1:02d}", LINK_LENGTH + 0.055, 0.11, 0.021, across=bool(i % 2), material=material)
    skin.bind("Links")

    for frame, x in HOOK_KEYS.items():
        stage.key_pose(rig, frame, moves={"hook": (x, 0, 0)})
    stage.name_action(rig, "Dart and stop")
    stage.add_physics(rig, settle_time=0.3, damping_ratio=0.35, heaviness=0.5)
    stage.camera(eye=(1.2, -5.6, 2.2), at=(0.0, 0.0, 1.62), lens=68, size=(480, 420))
    return rig
