"""Slow, sinking, and too weak for hard poses: joints give little more than half of a person's strength"""

import bpy

heft = bpy.context.object.heft

heft.controller = "FOLLOW"
heft.settle_time = 0.6
heft.damping_ratio = 2.5
heft.heaviness = 0.45
heft.even_weight = True
heft.recovery_time = 0.0
heft.use_strength = True
heft.strength = 0.6
heft.arrival = "CURVE"
heft.shape = 3.89
heft.root = "ANIMATED"
heft.assist = 1.0
