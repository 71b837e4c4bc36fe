"""Drags behind: soft, and feels more of its weight than the rest"""

import bpy

bone = bpy.context.active_pose_bone.heft

bone.settle_scale = 2.5
bone.heaviness_scale = 2.0
