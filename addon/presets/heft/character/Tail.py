"""Drags behind what moves it and overshoots when that stops: tails, ears, ropes, long hair"""

import bpy

heft = bpy.context.object.heft

heft.settle_time = 0.6
heft.damping_ratio = 0.6
heft.heaviness = 0.4
