"""No muscles, and nothing holds the root: the body falls, on a ground below it, and does not fall through itself"""

import bpy

heft = bpy.context.object.heft

heft.controller = "LIMP"
heft.settle_time = 0.2
heft.damping_ratio = 1.0
heft.heaviness = 0.0
heft.even_weight = True
heft.recovery_time = 0.0
heft.use_strength = False
heft.strength = 1.0
heft.arrival = "CURVE"
heft.shape = 3.89
heft.root = "FREE"
heft.assist = 1.0
