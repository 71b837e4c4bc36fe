"""The settings that physics starts with: follows the keys without weight, and yields to what it meets"""

import bpy

heft = bpy.context.object.heft

heft.controller = "FOLLOW"
heft.settle_time = 0.2
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
