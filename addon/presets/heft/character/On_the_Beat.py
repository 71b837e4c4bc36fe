"""Meets every key on its time, also after a blow, and moves by itself in between"""

import bpy

heft = bpy.context.object.heft

heft.controller = "ON_TIME"
heft.heaviness = 0.3
