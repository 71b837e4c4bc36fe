"""Keeps to its keys more than the rest: a quarter of the settle time, no heaviness, three times the strength"""

import bpy

bone = bpy.context.active_pose_bone.heft

bone.settle_scale = 0.25
bone.heaviness_scale = 0.0
bone.strength_scale = 3.0
