"""First steps: add a sample character, select an armature, open the manual.

Owns the sample character's file. Must not know layout.
"""

from pathlib import Path
from typing import ClassVar

import bpy
from mathutils import Vector

from ...blender import own_collections
from ...settings import has_physics
from .. import answers

SAMPLE = Path(__file__).parents[2] / "sample_character.blend"
# The box that the sample character walks through, relative to its start; and its distance from other objects [m].
WALK = (Vector((-0.4, -9.2, 0.05)), Vector((0.4, 0.5, 1.9)))
GAP = 0.3


class HEFT_OT_add_sample(bpy.types.Operator):
    """Add a person who walks for 250 frames, with skin and keys, to try physics on; stands at the 3D cursor, or beside
    what is there, and the view shows it"""

    bl_idname = "heft.add_sample"
    bl_label = "Add Sample Character"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Leave this mode first: it is added in Object Mode")
            return False
        if context.scene.library is not None:
            cls.poll_message_set("This scene is linked and cannot be edited")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        with bpy.data.libraries.load(str(SAMPLE), link=False) as (there, here):
            here.objects = list(there.objects)
        rig = next(ob for ob in here.objects if ob.type == "ARMATURE")
        for ob in context.selected_objects:
            ob.select_set(False)
        group = context.collection if own_collections.is_open(context.collection) else context.scene.collection
        for ob in here.objects:
            group.objects.link(ob)
        rig.location = _free_place(context, context.scene.cursor.location, set(here.objects))
        rig.select_set(True)
        context.view_layer.objects.active = rig
        rig.update_tag(refresh={"TIME"})  # older Blenders keep the pose that its file was saved in
        context.view_layer.update()
        _frame_views(context)
        self.report({"INFO"}, f"'{rig.name}' is ready: press Add Physics, pick a preset such as Heavy, press Simulate")
        return {"FINISHED"}


class HEFT_OT_select_armature(bpy.types.Operator):
    """Select the armature that physics is, or can be, on"""

    bl_idname = "heft.select_armature"
    bl_label = "Select Armature"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Leave this mode first")
            return False
        if nearest_armature(context) is None:
            cls.poll_message_set("No armature can be seen in this scene")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        rig = nearest_armature(context)
        for ob in context.selected_objects:
            ob.select_set(False)
        rig.select_set(True)
        context.view_layer.objects.active = rig
        return {"FINISHED"}


def _free_place(context: bpy.types.Context, wanted: Vector, own: set[bpy.types.Object]) -> Vector:
    """The position nearest to the wanted one, to its right or left, from which the sample walks through no mesh."""
    boxes = []
    context.view_layer.update()
    for ob in context.view_layer.objects:
        if ob.type == "MESH" and ob not in own and ob.visible_get():
            corners = [ob.matrix_world @ Vector(corner) for corner in ob.bound_box]
            low, high = (Vector(map(pick, zip(*corners, strict=True))) for pick in (min, max))
            boxes.append((low, high))
    # next to each mesh, and where it was wanted
    spots = [wanted.x, *(low.x - WALK[1].x - GAP for low, _ in boxes), *(high.x - WALK[0].x + GAP for _, high in boxes)]
    free = [x for x in spots if not any(_meets(Vector((x, wanted.y, wanted.z)), *box) for box in boxes)]
    nearest = min(free, key=lambda x: (round(abs(x - wanted.x), 4), x < wanted.x), default=wanted.x)
    return Vector((nearest, wanted.y, wanted.z))


def _meets(place: Vector, low: Vector, high: Vector) -> bool:
    """True if the sample walks through this box from there. A floor below its feet does not count."""
    return all(place[k] + WALK[0][k] < high[k] and place[k] + WALK[1][k] > low[k] for k in range(3))


def _frame_views(context: bpy.types.Context) -> None:
    """Frame the selection in every 3D View of the window."""
    for area in context.window.screen.areas if context.window is not None and not bpy.app.background else ():
        region = next((region for region in area.regions if region.type == "WINDOW"), None)
        if area.type == "VIEW_3D" and region is not None:
            with context.temp_override(area=area, region=region):
                bpy.ops.view3d.view_selected()


def nearest_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature most likely meant: that of the active mesh, one that meets it, one with physics, or the first
    selectable one."""
    active = context.object
    if active is not None:
        met = [rig for rig, _ in answers.shots_with(active) if _selectable(rig, context)]
        if met:
            return met[0]
        own = active.find_armature() or (active.parent if active.parent and active.parent.type == "ARMATURE" else None)
        if own is not None and _selectable(own, context):
            return own
    found = [ob for ob in context.view_layer.objects if ob.type == "ARMATURE" and _selectable(ob, context)]
    return next((ob for ob in found if has_physics(ob)), found[0] if found else None)


def _selectable(ob: bpy.types.Object, context: bpy.types.Context) -> bool:
    return ob.visible_get(view_layer=context.view_layer) and not ob.hide_select


CLASSES = (HEFT_OT_add_sample, HEFT_OT_select_armature)
