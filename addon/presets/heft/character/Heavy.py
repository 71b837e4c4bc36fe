"""Feels much of its weight on soft joints: sags, lags behind and comes to rest late"""

import bpy

heft = bpy.context.object.heft

heft.settle_time = 0.35
heft.damping_ratio = 1.5
heft.heaviness = 0.6
