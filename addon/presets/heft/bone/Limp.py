"""Hangs and falls by physics alone"""

import bpy

bone = bpy.context.active_pose_bone.heft

bone.behaviour = "LIMP"
bone.settle_scale = 1.0
bone.heaviness_scale = 1.0
bone.strength_scale = 1.0
