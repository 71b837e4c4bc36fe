"""The settings: on the armature object, on each pose bone, on colliders, and the flat pointers that survive overrides.

Owns their registration, and how they are read and deleted without creating ID properties. The settings themselves are
in one file for each concept. Must not know how a simulation runs.
"""

from types import SimpleNamespace

import bpy
from bpy.props import PointerProperty, StringProperty

from ..declare import OVERRIDABLE
from . import keyable_bone
from .bake_controls import HeftControl, HeftSwitch
from .bone import HeftBone
from .character import SHOWN, HeftArmature
from .collider import HeftCollider
from .missed_key import HeftMiss
from .pose_script import HeftScriptPose
from .push import HeftPush
from .take import HeftTake, HeftTakenObject
from .tie import HeftTie

__all__ = ("CLASSES", "SHOWN", "HeftArmature", "collider_of", "forget", "has_physics", "register", "unregister")

CLASSES = (
    HeftPush,
    HeftTie,
    HeftScriptPose,
    HeftMiss,
    HeftControl,
    HeftSwitch,
    HeftTakenObject,
    HeftTake,
    HeftArmature,
    HeftBone,
    HeftCollider,
)


def register() -> None:
    """Register the settings on Blender's types."""
    bpy.types.Object.heft = PointerProperty(type=HeftArmature, override=OVERRIDABLE)
    bpy.types.PoseBone.heft = PointerProperty(type=HeftBone, override=OVERRIDABLE)
    keyable_bone.register()
    bpy.types.Object.heft_collider = PointerProperty(type=HeftCollider, override=OVERRIDABLE)
    bpy.types.Object.heft_result = PointerProperty(
        name="Heft Result",
        description="The armature, or for a free object the empty, that carries the simulated motion",
        type=bpy.types.Object,
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    bpy.types.Object.heft_store = StringProperty(
        name="Heft Settings", options={"HIDDEN"}, override=OVERRIDABLE, description="Settings kept through overrides"
    )


def unregister() -> None:
    """Unregister the settings; the values stay in the file."""
    keyable_bone.unregister()
    for owner, name in (
        (bpy.types.Object, "heft_store"),
        (bpy.types.Object, "heft_result"),
        (bpy.types.Object, "heft_collider"),
        (bpy.types.PoseBone, "heft"),
        (bpy.types.Object, "heft"),
    ):
        delattr(owner, name)


def has_physics(ob: bpy.types.Object | None) -> bool:
    """True if the object has physics. Does not create the property group, as reading `ob.heft` would."""
    return ob is not None and ob.type == "ARMATURE" and ob.is_property_set("heft") and ob.heft.enabled


def collider_of(ob: bpy.types.Object):
    """The object's collider settings; the defaults if it has none. Does not create the property group."""
    if ob.is_property_set("heft_collider"):
        return ob.heft_collider
    properties = HeftCollider.bl_rna.properties
    return SimpleNamespace(**{name: getattr(properties[name], "default", None) for name in HeftCollider.declared})


def forget(holder: bpy.types.bpy_struct, name: str) -> None:
    """Delete a property's stored value, so that the file holds no trace of it.

    Blender 5.0 keeps registered properties apart from custom ones.
    """
    stored = holder.bl_system_properties_get() if hasattr(holder, "bl_system_properties_get") else holder
    if stored is not None and stored.get(name) is not None:
        del stored[name]
