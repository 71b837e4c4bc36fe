"""Creeps after its poses without ever swinging"""

import bpy

heft = bpy.context.object.heft

heft.controller = "FOLLOW"
heft.settle_time = 1.0
heft.damping_ratio = 4.0
heft.heaviness = 0.25
heft.even_weight = True
heft.recovery_time = 0.0
heft.use_strength = False
heft.strength = 1.0
heft.arrival = "CURVE"
heft.shape = 3.89
heft.root = "ANIMATED"
heft.assist = 1.0
