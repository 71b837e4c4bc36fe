"""Collections of this file to which new objects can be linked.

Owns the choice. Blender does not allow linking to a linked collection, nor to a library override of one. Must not know
what is linked.
"""

from __future__ import annotations

import bpy


def is_open(group: bpy.types.Collection) -> bool:
    """True if objects can be linked to the collection and unlinked."""
    return group.library is None and group.override_library is None


def beside(rig: bpy.types.Object) -> bpy.types.Collection:
    """The collection for new objects that belong to a rig: one that the rig is in, else the scene's."""
    return next((group for group in rig.users_collection if is_open(group)), bpy.context.scene.collection)
