"""Swings through its poses and back before it rests on them"""

import bpy

heft = bpy.context.object.heft

heft.settle_time = 0.4
heft.damping_ratio = 0.2
heft.heaviness = 0.35
