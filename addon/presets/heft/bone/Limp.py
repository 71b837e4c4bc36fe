"""Hangs and falls by physics alone"""

import bpy

bone = bpy.context.active_pose_bone.heft

bone.behaviour = "LIMP"
