"""Rigid joints: exact poses without weight or swing; a blow moves it least and it is back at once"""

import bpy

heft = bpy.context.object.heft

heft.settle_time = 0.03
