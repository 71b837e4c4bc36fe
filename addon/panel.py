"""The sidebar tab: physics, controller, selected bones, what the character meets, result.

Owns the layout and the warnings shown above the buttons. Must not change data.
"""

from typing import ClassVar

import bpy

from ..engine import HeftError
from . import flaws, handlers, limits, mending, panel_on_time, panel_roles, properties, session, shot, showing, warmup
from .operators import NOTHING_TO_SEE, active_rig
from .panel_copying import draw_copy_to_armatures, draw_mirror
from .panel_lead_in import draw_lead_in
from .panel_parts import HeftPanel, PhysicsPanel, details, draw_list, note
from .properties import has_physics

# Outside these heights [m] a rig is hardly meant in metres.
SHORTEST, TALLEST = 0.05, 12.0
# Colliders listed by name; more than these are only counted.
MOST_LISTED = 8
# What each controller listens to, in the panel's order.
SETTINGS = {
    "FOLLOW": ("settle_time", "damping_ratio", "heaviness", "recovery_time", "use_strength"),
    "ON_TIME": ("key_type", "arrival", "shape", "heaviness", "recovery_time", "use_strength"),
    "LIMP": (),
}


class HEFT_PT_main(HeftPanel, bpy.types.Panel):
    """Add Physics, or the controller and its sliders."""

    bl_label = "Heft"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = True
        rig = active_rig(context)
        if rig is None:
            if not shots_with(context.object):
                layout.label(text="Select an armature", icon="INFO")
            return
        if not has_physics(rig):
            layout.operator("heft.add", icon="PHYSICS")
            return
        heft = rig.heft
        layout.prop(heft, "controller")
        for name in SETTINGS[heft.controller]:
            layout.prop(heft, name, slider=name == "shape")
        if heft.use_strength and "use_strength" in SETTINGS[heft.controller]:
            layout.prop(heft, "strength")
        layout.prop(heft, "root")
        if heft.root == "ASSISTED":
            layout.prop(heft, "assist")
        draw_copy_to_armatures(layout, context)


class HEFT_PT_result(PhysicsPanel, bpy.types.Panel):
    """Warnings, Simulate, Live, source and result, mix, Bake, Remove."""

    bl_label = "Result"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        heft = rig.heft
        draw_warnings(layout, rig, context)
        row = layout.row(align=True)
        row.scale_y = 1.4
        together = shot.members(rig).rigs
        text = {1: "Simulate", 2: "Simulate Both"}.get(len(together), f"Simulate All {len(together)}")
        row.operator("heft.simulate", text=text, icon="PLAY")
        row.prop(heft, "live", toggle=True, icon="FILE_REFRESH")
        if len(together) > 1:
            note(layout, context, f"One shot with {_named(each for each in together if each != rig)}", "COMMUNITY")
        if rig.heft_result is not None:
            draw_status(layout, rig, context)
            panel_on_time.draw_misses(layout, rig)
            row = layout.row(align=True)
            for which, text in (("SOURCE", "Source"), ("RESULT", "Result")):
                row.operator("heft.show", text=text, depress=heft.shown == which).which = which
            column = layout.column()
            column.use_property_split = True
            column.prop(heft, "mix", slider=True)
            layout.operator("heft.bake", icon="KEY_HLT")
        layout.operator("heft.remove", icon="X")


class HEFT_PT_bones(PhysicsPanel, bpy.types.Panel):
    """The active bone's part; a button copies it to the selected ones."""

    bl_label = "Selected Bones"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        if context.mode != "POSE":
            layout.label(text="Set bones in Pose Mode", icon="INFO")
            draw_mirror(layout, 0)
            return
        bone = context.active_pose_bone
        selected = len(context.selected_pose_bones or ())
        if bone is None:
            layout.label(text="Click a bone", icon="BONE_DATA")
            draw_mirror(layout, selected)
            return
        layout.label(text=bone.name, icon="BONE_DATA")
        selected = len(context.selected_pose_bones or ())
        panel_roles.draw_role(layout, bone, selected)
        layout.prop(bone.heft, "behaviour")
        column = layout.column()
        column.active = bone.heft.behaviour == "SIMULATED"
        heft = bone.id_data.heft
        if heft.controller != "LIMP":
            column.prop(bone.heft, "settle_scale")
            column.prop(bone.heft, "heaviness_scale")
            if heft.use_strength:
                column.prop(bone.heft, "strength_scale")
        layout.prop(bone.heft, "mass")
        layout.prop(bone.heft, "mix", slider=True)
        if selected > 1:
            layout.operator("heft.copy_to_selected", text=f"Copy to {selected} Selected Bones", icon="COPYDOWN")
        draw_mirror(layout, selected)


class HEFT_PT_bone_contact(PhysicsPanel, bpy.types.Panel):
    """The active bone's shape and the limits of its joint."""

    bl_label = "Shape and Limits"
    bl_parent_id = "HEFT_PT_bones"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and context.mode == "POSE" and context.active_pose_bone is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        bone = context.active_pose_bone
        look = bone.heft
        layout.prop(look, "shape")
        layout.prop(look, "overlap_group")
        if bone.parent is None:
            layout.label(text="A root has no joint to limit", icon="INFO")
            return
        layout.prop(look, "use_limits")
        if not look.use_limits:
            return
        layout.prop(look, "limits_from")
        if look.limits_from == "NONE":
            return
        column = layout.column(align=True)
        column.enabled = look.limits_from == "OWN" or limits.of_rig(bone) is None
        hinge = sum(bone.lock_rotation) == 2
        if not hinge:
            column.prop(look, "limit_swing")
        column.prop(look, "limit_low", text="Turn From" if hinge else "Twist From")
        column.prop(look, "limit_high", text="To")


class HEFT_PT_contact(PhysicsPanel, bpy.types.Panel):
    """The ground, what the character meets, and its own surface."""

    bl_label = "Ground and Colliders"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        rig = active_rig(context)
        heft = rig.heft
        group = shot.members(rig)
        layout.prop(heft, "ground")
        if group.grounded not in (None, rig):
            note(layout, context, f"The shot stands on the ground of '{group.grounded.name}'", "INFO")
        if heft.ground:
            column = layout.column(align=True)
            row = column.row(align=True)
            row.prop(heft, "ground_height")
            row.operator("heft.fit_ground", text="", icon="TRIA_DOWN_BAR")
            column.active = group.grounded == rig
            column.prop(heft, "ground_friction")
            column.prop(heft, "ground_bounce")
        layout.prop(heft, "colliders")
        draw_colliders(layout, rig)
        layout.operator("heft.add_colliders", icon="ADD")
        layout.label(text="The character's own surface")
        column = layout.column(align=True)
        column.prop(heft, "friction")
        column.prop(heft, "bounce")
        layout.prop(heft, "touch_self")


class HEFT_UL_pushes(bpy.types.UIList):
    """The pushes: bone, strength, frame."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row(align=True)
        row.label(text=item.bone or "no bone", icon="FORCE_FORCE")
        row.label(text=f"{item.impulse:.4g} N s")
        row.label(text=f"frame {item.frame}")


class HEFT_UL_ties(bpy.types.UIList):
    """The ties: bone, kind, what holds it, on."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row(align=True)
        row.label(text=item.bone or "no bone", icon="LINKED" if item.on else "UNLINKED")
        row.label(text=item.target.name if item.target else "World")
        row.prop(item, "on", text="")


class HEFT_PT_forces(PhysicsPanel, bpy.types.Panel):
    """Blows from nowhere, and what holds bones besides their joints."""

    bl_label = "Pushes, Ties and Wind"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        layout.label(text="Pushes")
        push = draw_list(layout, rig, "pushes", "push_index", "HEFT_UL_pushes")
        if push is not None:
            column = details(layout)
            column.prop_search(push, "bone", rig.data, "bones")
            for name in ("direction", "impulse", "frame"):
                column.prop(push, name)
        layout.label(text="Ties")
        tie = draw_list(layout, rig, "ties", "tie_index", "HEFT_UL_ties")
        if tie is not None:
            column = details(layout)
            column.use_property_decorate = True
            column.prop(tie, "on")
            column.prop_search(tie, "bone", rig.data, "bones")
            for name in ("end", "kind", "target"):
                column.prop(tie, name)
            if tie.target is not None and tie.target.type == "ARMATURE":
                column.prop_search(tie, "target_bone", tie.target.data, "bones")
            column.prop(tie, "response")
        column = layout.column()
        column.use_property_split = True
        column.prop(rig.heft, "wind")
        if any(rig.heft.wind):
            column.prop(rig.heft, "wind_strength")


class HEFT_PT_collider(HeftPanel, bpy.types.Panel):
    """How the active mesh object meets the characters whose shot it is in."""

    bl_label = "Collider"
    bl_parent_id = "HEFT_PT_main"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(shots_with(context.object))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        ob = context.object
        rigs, carried = zip(*shots_with(ob), strict=True)
        look = ob.heft_collider
        names = ", ".join(f"'{rig.name}'" for rig in rigs)
        layout.label(text=f"Part of {names}" if any(carried) else f"Meets {names}", icon="ARMATURE_DATA")
        layout.prop(look, "shape")
        if not any(carried):
            layout.prop(look, "moves")
            if look.moves == "FREE":
                layout.prop(look, "free_from")
        if look.moves == "FREE" or any(carried):
            layout.prop(look, "mass")
            if look.mass == 0.0:
                layout.label(text="Weighs as much as water", icon="INFO")
        if not any(carried):
            layout.prop(look, "response")
            column = layout.column(align=True)
            column.prop(look, "friction")
            column.prop(look, "bounce")


class HEFT_PT_world(PhysicsPanel, bpy.types.Panel):
    """Size, mass, gravity, range and steps."""

    bl_label = "Body and Time"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        rig = active_rig(context)
        heft, leader = rig.heft, shot.leader(rig)
        if leader != rig:
            text = f"Metres, gravity, wind, range, loop and steps of the shot are those of '{leader.name}'"
            note(layout, context, text, "INFO")
        layout.prop(heft, "total_mass")
        layout.prop(heft, "meters_per_unit")
        row = layout.split(factor=0.4)
        row.label(text="")
        row.label(text=f"The rig is {session.height_in_meters(rig, context.scene):.3g} m")
        for name in ("natural_limits", "gravity", "bad_frames", "range"):
            layout.prop(heft, name)
        if heft.range == "CUSTOM":
            layout.prop(heft, "frame_start")
            layout.prop(heft, "frame_end")
        draw_lead_in(layout, rig, context)
        layout.prop(heft, "steps_per_second")


def shots_with(ob: bpy.types.Object | None) -> list[tuple[bpy.types.Object, bool]]:
    """The armatures whose shot a mesh object is in, and whether a bone of theirs carries it."""
    if ob is None or ob.type != "MESH":
        return []
    found = []
    for group in map(shot.members, shot.leaders(session.rigs())):
        for rig in group.rigs:
            if any(load.ob == ob for load in shot.loads(rig)):
                found.append((rig, True))
            elif ob in group.objects:
                found.append((rig, False))
    return found


def draw_colliders(layout: bpy.types.UILayout, rig: bpy.types.Object) -> None:
    """The first of the rig's own colliders, each with what it does and a button that takes it out."""
    group, own = shot.members(rig), shot.colliders(rig)
    listed = [ob for ob in (*group.rigs, *group.objects) if ob in own and ob != rig]
    if not listed:
        return
    column = layout.box().column(align=True)
    for ob in listed[:MOST_LISTED]:
        row = column.row(align=True)
        look = None if ob.type == "ARMATURE" else properties.collider_of(ob)
        word = "simulated too" if look is None else "free" if look.moves == "FREE" else "animated"
        row.label(text=ob.name, icon="ARMATURE_DATA" if look is None else "MESH_DATA")
        row.label(text=word)
        row.operator("heft.remove_collider", text="", icon="X", emboss=False).name = ob.name
    if len(listed) > MOST_LISTED:
        column.label(text=f"and {len(listed) - MOST_LISTED} more")


def _named(rigs) -> str:
    """The names, for a sentence; many are counted."""
    names = [f"'{rig.name}'" for rig in rigs]
    return " and ".join(names) if len(names) <= 2 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def draw_warnings(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """What the animator should know before pressing Simulate, with the fix beside it."""
    tall = session.height_in_meters(rig, context.scene)
    if not SHORTEST <= tall <= TALLEST:
        box = note(layout, context, f"The rig is {tall:.3g} m tall for physics.")
        box.operator("heft.set_size")
    if rig.heft.flaws:
        draw_flaws(layout, rig, context)
    for text in (warmup.problem(), rig.heft.message):
        if text:
            note(layout, context, text)


def draw_flaws(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """Where the source breaks, and the ways to read those frames."""
    kept = rig.heft.bad_frames == "KEEP"
    box = note(layout, context, mending.told(rig), "ERROR" if kept else "INFO")
    row = box.row(align=True)
    for item in rig.heft.bl_rna.properties["bad_frames"].enum_items:
        way = item.identifier
        row.operator("heft.fix_motion", text=item.name, depress=rig.heft.bad_frames == way).method = way
    if flaws.NO_PART in rig.heft.flaws:
        box.operator("heft.leave_out")


def draw_status(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """What became of the result; below the buttons, which shall not jump while a slider is dragged."""
    try:
        current = handlers.is_current(rig, context.scene)
    except HeftError as error:
        note(layout, context, str(error))
        return
    if showing.standing_back(rig):
        text = "The rig has another action than the simulated one: Simulate takes the new one."
        if current and rig.heft.baked:
            text = "Baked: the rig plays its new keys. Simulate would give them weight once more."
        note(layout, context, text, "INFO")
    elif not current:
        note(layout, context, "The result is out of date: press Simulate.", "FILE_REFRESH")
    elif rig.heft.undisturbed:
        note(layout, context, NOTHING_TO_SEE, "INFO")


CLASSES = (
    HEFT_UL_pushes,
    HEFT_UL_ties,
    panel_on_time.HEFT_UL_misses,
    panel_on_time.HEFT_UL_script,
    HEFT_PT_main,
    panel_on_time.HEFT_PT_advanced,
    HEFT_PT_collider,
    HEFT_PT_result,
    HEFT_PT_bones,
    HEFT_PT_bone_contact,
    HEFT_PT_contact,
    HEFT_PT_forces,
    panel_on_time.HEFT_PT_script,
    HEFT_PT_world,
)
