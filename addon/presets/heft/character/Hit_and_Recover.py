"""Keeps a recording as it is; what is struck swings out far and takes a second to come back"""

import bpy

heft = bpy.context.object.heft

heft.settle_time = 0.3
heft.recovery_time = 1.0
