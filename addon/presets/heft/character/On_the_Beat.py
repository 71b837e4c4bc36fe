"""Meets every key on its time, also after a blow, and moves by itself in between"""

import bpy

heft = bpy.context.object.heft

heft.controller = "ON_TIME"
heft.settle_time = 0.2
heft.damping_ratio = 1.0
heft.heaviness = 0.3
heft.even_weight = True
heft.recovery_time = 0.0
heft.use_strength = False
heft.strength = 1.0
heft.arrival = "CURVE"
heft.shape = 3.89
heft.root = "ANIMATED"
heft.assist = 1.0
