"""Exactly its keys; pushes the bones that hang on it"""

import bpy

bone = bpy.context.active_pose_bone.heft

bone.behaviour = "ANIMATED"
bone.settle_scale = 1.0
bone.heaviness_scale = 1.0
bone.strength_scale = 1.0
