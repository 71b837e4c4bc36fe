"""Trembles: a little softer than the rest, and feels more of its weight"""

import bpy

bone = bpy.context.active_pose_bone.heft

bone.settle_scale = 1.5
bone.heaviness_scale = 1.5
