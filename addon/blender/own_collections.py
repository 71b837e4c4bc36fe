"""Collections of this file in which new objects can be put.

Owns which they are. Blender lets nobody add to a linked collection, nor to a library override of one. Must not know
what is put there.
"""

from __future__ import annotations

import bpy


def is_open(group: bpy.types.Collection) -> bool:
    """Can objects be put into the collection, and taken out?"""
    return group.library is None and group.override_library is None


def beside(rig: bpy.types.Object) -> bpy.types.Collection:
    """The collection for what is made beside a rig: one of its own, or else the scene's."""
    return next((group for group in rig.users_collection if is_open(group)), bpy.context.scene.collection)
