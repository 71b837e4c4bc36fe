"""Exactly its keys; pushes the bones that hang on it"""

import bpy

bone = bpy.context.active_pose_bone.heft

bone.behaviour = "ANIMATED"
