"""Takes shown side by side: bones that move as a take, next to the character.

Owns those armatures: children of the rig in its collection that can be neither selected nor rendered, named as their
take. They have the take's own action and change nothing. Must not know how a take is kept.
"""

from __future__ import annotations

import bpy
import numpy as np

from ..blender import actions, own_collections
from ..rig import physical_ends

MARK = "heft_take"
# Distance between neighbours [parts of the rig's width]; a rig counts as at least this wide [parts of its height].
STEP, THINNEST = 1.15, 0.25
THICKNESS = 0.12  # of a bone [parts of its physical length]


def shown_of(rig: bpy.types.Object) -> dict[str, bpy.types.Object]:
    """The armatures shown next to the rig, by the uid of their take."""
    return {child[MARK]: child for child in rig.children if child.type == "ARMATURE" and child.get(MARK)}


def apply(rig: bpy.types.Object) -> None:
    """Show the takes that are switched on, and no others. Without a result there are no bones to copy, so none is
    shown."""
    wanted = [
        take for take in rig.heft.takes if take.beside and take.action is not None and rig.heft_result is not None
    ]
    there = shown_of(rig)
    for uid in there.keys() - {take.uid for take in wanted}:
        remove(rig, uid)
    step = rig.heft.beside_distance * _width(rig)
    for k, take in enumerate(wanted, 1):
        ob = there.get(take.uid) or _new(rig, take)
        ob.name = f"{rig.name} {take.name}"
        ob.location = (k * step, 0.0, 0.0)
        if ob.animation_data.action != take.action:
            actions.assign(ob, take.action)


def _new(rig: bpy.types.Object, take) -> bpy.types.Object:
    """A copy of the result armature with the take's motion."""
    ob = rig.heft_result.copy()
    ob.data = rig.heft_result.data.copy()
    ob[MARK] = take.uid
    actions.assign(ob, take.action)
    bag = actions.bag_of(take.action, actions.slot_of(ob))
    ways = physical_ends.vectors(rig, bpy.context.scene)
    moved = {group.name for group in bag.groups if len(group.channels)}
    for bone in ob.pose.bones:
        holder = bone if hasattr(bone, "hide") else bone.bone
        holder.hide = bone.name not in moved
        bone.bone.head_radius = bone.bone.tail_radius = THICKNESS * float(np.linalg.norm(ways[bone.name]))
    for group in ob.data.collections_all:
        group.is_visible = True
    ob.data.display_type, ob.show_name = "ENVELOPE", True
    ob.hide_select = ob.hide_render = True
    own_collections.beside(rig).objects.link(ob)
    return ob


def remove(rig: bpy.types.Object, uid: str) -> None:
    """Delete the armature of a take; the take keeps its action."""
    ob = shown_of(rig).get(uid)
    if ob is not None:
        data = ob.data
        bpy.data.objects.remove(ob)
        bpy.data.armatures.remove(data)


def _width(rig: bpy.types.Object) -> float:
    """The sideways distance between two characters [armature units]."""
    ends = physical_ends.find(rig)[1]
    size = np.ptp(np.concatenate([ends.heads, ends.ends]), axis=0)
    return STEP * max(float(size[0]), THINNEST * float(size.max()))
