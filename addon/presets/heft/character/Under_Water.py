"""Creeps after its poses without ever swinging"""

import bpy

heft = bpy.context.object.heft

heft.settle_time = 1.0
heft.damping_ratio = 4.0
heft.heaviness = 0.25
