"""Rigid joints: exact poses without weight or swing; a blow moves it least and it is back at once"""

import bpy

heft = bpy.context.object.heft

heft.controller = "FOLLOW"
heft.settle_time = 0.03
heft.damping_ratio = 1.0
heft.heaviness = 0.0
heft.even_weight = True
heft.recovery_time = 0.0
heft.use_strength = False
heft.strength = 1.0
heft.arrival = "CURVE"
heft.shape = 3.89
heft.root = "ANIMATED"
heft.assist = 1.0
