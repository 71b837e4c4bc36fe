"""Slow, sinking, and too weak for hard poses: joints give little more than half of a person's strength"""

import bpy

heft = bpy.context.object.heft

heft.settle_time = 0.6
heft.damping_ratio = 2.5
heft.heaviness = 0.45
heft.use_strength = True
heft.strength = 0.6
