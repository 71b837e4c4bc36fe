"""Trembles quickly and only a little: flesh, bellies, antennae"""

import bpy

heft = bpy.context.object.heft

heft.damping_ratio = 0.1
heft.heaviness = 0.15
