"""Feels much of its weight on soft joints: sags, lags behind and comes to rest late"""

import bpy

heft = bpy.context.object.heft

heft.controller = "FOLLOW"
heft.settle_time = 0.35
heft.damping_ratio = 1.5
heft.heaviness = 0.6
heft.even_weight = True
heft.recovery_time = 0.0
heft.use_strength = False
heft.strength = 1.0
heft.arrival = "CURVE"
heft.shape = 3.89
heft.root = "ANIMATED"
heft.assist = 1.0
