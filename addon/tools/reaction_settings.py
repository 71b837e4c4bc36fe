"""Settings that a person needs so that a blow is seen; applied by Throw a Ball, Nudge and pushes where none are set.

Owns those settings. Must not know balls, pushes or operators.

- Root Assisted. An Animated root takes all of a blow's momentum: the hips stay where they are keyed, and the walk goes
  on as if nothing had happened. An Assisted one lets the whole body be pushed.
- Recovery Time 1.3 s. In it the hips come back to their place. A ball of 5 kg at 10 m/s gives 70 kg a speed of 0.8 to
  1 m/s, which carries them 0.087 · 0.9 m/s · 1.3 s = 10 cm (METHODS §2, the closed form of an arrival), and the body is
  on its motion again 1.5 s after the blow. Half the time would halve the shift.
- Settle Time 0.7 s. With Even Weight a chest then turns by 15 to 35° under the same ball, head and arms lag by a tenth
  of a second, and all of it swings out within the recovery time. At 0.2 s, which suits weight on an undisturbed motion,
  the trunk is so stiff that it turns a third as far; at 1 s the head whips.
- A ground, for feet to stand on: those that stand in the source then stay where they are while the hips move.
"""

from __future__ import annotations

import bpy

from ..read import read_controller
from ..rig import bone_roles

BLOW = {"root": "ASSISTED", "recovery_time": 1.3, "settle_time": 0.7}
# A rig with all of these roles is a person, or stands like one.
PERSON = {"SPINE", "THIGH", "SHANK", "FOOT", "UPPER_ARM"}


def prepare(rig: bpy.types.Object) -> tuple[str, ...]:
    """Set a person that follows its motion up for a blow, except for settings that the animator has set. Returns the
    names of what was changed."""
    heft = rig.heft
    if heft.controller != "FOLLOW" or not is_person(rig):
        return ()
    keyed = read_controller.keyed_settings(rig)
    wanted = {
        name: value
        for name, value in BLOW.items()
        if not heft.is_property_set(name) and f"heft.{name}" not in keyed and (name != "root" or _can_leave(rig))
    }
    for name, value in wanted.items():
        setattr(heft, name, value)
    return tuple(wanted)


def take_back(rig: bpy.types.Object, names: tuple[str, ...]) -> None:
    """Undo `prepare`."""
    for name in names:
        rig.heft.property_unset(name)


def told(rig: bpy.types.Object, names: tuple[str, ...], grounded: bool) -> str:
    """The end of a sentence on what was changed; empty if nothing was."""
    said = []
    for name in names:
        setting = rig.heft.bl_rna.properties[name]
        value = getattr(rig.heft, name)
        said.append(f"{setting.name} {setting.enum_items[value].name if name == 'root' else f'{value:.2g} s'}")
    said += ["a Ground"] if grounded else []
    return f" (set for it: {', '.join(said)})" if said else ""


def is_person(rig: bpy.types.Object) -> bool:
    """True if the rig has a trunk, arms, and legs that end in feet."""
    return {part.role for part in bone_roles.roles_of(rig).values()} >= PERSON


def _can_leave(rig: bpy.types.Object) -> bool:
    """True if the root can leave its keys: not if it is connected to a bone without a body."""
    bodies = {bone.name for bone in rig.pose.bones if bone.heft.behaviour != "IGNORED"}
    roots = [bone for bone in rig.pose.bones if bone.name in bodies and not bodies & _above(bone)]
    return not any(bone.bone.use_connect and bone.parent is not None for bone in roots)


def _above(bone: bpy.types.PoseBone) -> set[str]:
    return {each.name for each in bone.parent_recursive}
