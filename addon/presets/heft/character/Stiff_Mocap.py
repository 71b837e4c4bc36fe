"""Keeps a recording as it is; what is struck gives way a little and is back within half a second"""

import bpy

heft = bpy.context.object.heft

heft.settle_time = 0.08
heft.recovery_time = 0.5
