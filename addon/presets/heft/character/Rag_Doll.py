"""No muscles, and nothing holds the root: the body falls, on a ground below it, and does not fall through itself"""

import bpy

heft = bpy.context.object.heft

heft.controller = "LIMP"
heft.root = "FREE"
