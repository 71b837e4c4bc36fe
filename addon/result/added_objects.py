"""Objects that Heft added to the scene, such as a thrown ball, and their removal.

Owns the mark that identifies them: a digest of mesh, keys and transform at creation. An object that the user changed,
or uses elsewhere, is the user's and is kept. Must not know what an object is for.
"""

from __future__ import annotations

import hashlib

import bpy
import numpy as np

from ..blender import actions
from ..blender.own_marks import CONSTRAINT
from ..read import curve_digests, shot


def mark(ob: bpy.types.Object) -> None:
    """Mark an object as just created by Heft."""
    ob.heft_collider.made = _digest(ob)


def made_for(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects among the rig's colliders that Heft created, unchanged and without other users."""
    own = shot.colliders(rig)
    others = [other for other in shot.characters() if other != rig]
    shared = {ob for other in others for ob in shot.colliders(other)}
    return [ob for ob in own if ob not in shared and is_as_made(ob) and _is_unused(ob, rig)]


def remove(obs: list[bpy.types.Object]) -> None:
    """Delete objects with their meshes and actions."""
    for ob in obs:
        mesh, action = ob.data, ob.animation_data.action if ob.animation_data else None
        bpy.data.objects.remove(ob)
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)
        if action is not None and action.users == 0:
            bpy.data.actions.remove(action)


def is_as_made(ob: bpy.types.Object) -> bool:
    """True if Heft created the object and it is unchanged."""
    if ob.type != "MESH" or ob.library is not None or not ob.is_property_set("heft_collider"):
        return False
    return bool(ob.heft_collider.made) and ob.heft_collider.made == _digest(ob)


def _digest(ob: bpy.types.Object) -> str:
    """A digest of mesh, material, keys, modifiers and constraints, without the animated transform on this frame."""
    digest = hashlib.blake2b(digest_size=16)
    places = np.empty(3 * len(ob.data.vertices), dtype=np.float32)
    ob.data.vertices.foreach_get("co", places)
    digest.update(places.tobytes())
    data = ob.animation_data
    action = data.action if data is not None else None
    digest.update(repr((action is None, len(data.nla_tracks) if data is not None else 0)).encode())
    if action is not None:
        digest.update(curve_digests.of_bag(action, actions.active_bag(ob)))
    own = [constraint.name for constraint in ob.constraints if constraint.name != CONSTRAINT]
    materials = [slot.material.name for slot in ob.material_slots if slot.material is not None]
    digest.update(repr((own, [each.name for each in ob.modifiers], materials, list(ob.scale))).encode())
    return digest.hexdigest()


def _is_unused(ob: bpy.types.Object, rig: bpy.types.Object) -> bool:
    """True if only the scene and the rig's colliders use the object, its mesh or its action."""
    if ob.children or ob.parent is not None or ob.data.users > 1 or ob.data.use_fake_user:
        return False
    action = ob.animation_data.action if ob.animation_data else None
    if action is not None and (action.users > 1 or action.use_fake_user):
        return False
    known = {rig.heft.colliders, *(scene.collection for scene in ob.users_scene)}
    if set(ob.users_collection) - known:
        return False
    return not any(tie.target == ob for other in shot.characters() for tie in other.heft.ties)
