"""What the panel shows of a bone's role: what was found, and how to correct it.

Must not change data.
"""

import bpy

from . import rig_roles
from .parts import MIDDLE, ROLES, Part

LABELS = dict(ROLES)


def draw_role(layout: bpy.types.UILayout, bone: bpy.types.PoseBone, selected: int) -> None:
    """The active bone's role and side; with several selected, a menu that sets the role of all."""
    column = layout.column()
    column.use_property_decorate = False
    if selected > 1:
        split = column.split(factor=0.4)
        split.alignment = "RIGHT"
        split.label(text="Role")
        part = rig_roles.roles_of(bone.id_data)[bone.name]
        split.operator_menu_enum("heft.set_role", "role", text=f"{sentence(part)}: Set {selected}")
        return
    column.prop(bone.heft, "role")
    if bone.heft.role == "AUTO" or bone.heft.side == "AUTO":
        found = rig_roles.found_in(bone.id_data)[bone.name]
        row = column.split(factor=0.4)
        row.label(text="")
        row.label(text=f"Found: {sentence(found)}")
    if bone.heft.role != "AUTO" or bone.heft.side != "AUTO":
        column.prop(bone.heft, "side")


def sentence(part: Part) -> str:
    """ "Left Thigh"."""
    return LABELS[part.role] if part.side == MIDDLE else f"{part.side.title()} {LABELS[part.role]}"
