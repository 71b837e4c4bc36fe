"""A bone's role in the panel: as detected, and its correction.

Must not change data.
"""

import bpy

from ....engine.anatomy.role_list import MIDDLE, ROLES, Part
from .. import answers

LABELS = dict(ROLES)


def draw_role(layout: bpy.types.UILayout, bone: bpy.types.PoseBone, selected: int) -> None:
    """The active bone's role and side, and the detected ones; with several selected, a menu that sets the role of
    all."""
    column = layout.column(align=True)
    column.use_property_decorate = False
    column.prop(bone.heft, "role")
    column.prop(bone.heft, "side")
    # A bone renamed a moment ago is not in the cache yet.
    found = answers.found(bone.id_data).get(bone.name)
    if found is not None and "AUTO" in (bone.heft.role, bone.heft.side):
        row = layout.split(factor=0.4)
        row.label(text="")
        row.label(text=f"Found: {sentence(found)}")
    if selected > 1:
        layout.operator_menu_enum("heft.set_role", "role", text=f"Set Role of {selected} Selected Bones")


def sentence(part: Part) -> str:
    """ "Left Thigh"."""
    return LABELS[part.role] if part.side == MIDDLE else f"{part.side.title()} {LABELS[part.role]}"
