"""Sags more than the rest: twice the heaviness"""

import bpy

bone = bpy.context.active_pose_bone.heft

bone.settle_scale = 1.5
bone.heaviness_scale = 2.0
