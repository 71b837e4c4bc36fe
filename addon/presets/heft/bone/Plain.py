"""As its character: all multipliers at 1"""

import bpy

bone = bpy.context.active_pose_bone.heft

bone.behaviour = "SIMULATED"
bone.settle_scale = 1.0
bone.heaviness_scale = 1.0
bone.strength_scale = 1.0
