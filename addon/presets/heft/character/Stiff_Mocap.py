"""Keeps a recording as it is; what is struck gives way a little and is back within half a second"""

import bpy

heft = bpy.context.object.heft

heft.controller = "FOLLOW"
heft.settle_time = 0.08
heft.damping_ratio = 1.0
heft.heaviness = 0.0
heft.even_weight = True
heft.recovery_time = 0.5
heft.use_strength = False
heft.strength = 1.0
heft.arrival = "CURVE"
heft.shape = 3.89
heft.root = "ANIMATED"
heft.assist = 1.0
