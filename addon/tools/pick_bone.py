"""The bone under the mouse, and the mouse's position in space.

Owns the conversion between a 3D View's region and bones. Must not know physics or what is done with a bone.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ..rig import physical_ends

# Distance at which a bone counts as under the mouse [pixels at normal size]. Of bones at nearly the same distance, the
# one in front counts.
REACH, HARDLY = 14.0, 4.0
# A tail drawn this many times as far away as the bone's end is an importer's guess.
DRAWN = (0.2, 2.0)


@dataclass(frozen=True)
class View:
    """A region of a 3D View."""

    area: bpy.types.Area
    region: bpy.types.Region
    data: bpy.types.RegionView3D

    @classmethod
    def under(cls, screen: bpy.types.Screen, event: bpy.types.Event) -> View | None:
        """The region under the mouse, in a quad view the quarter; None elsewhere, and where a sidebar or a header
        covers it."""
        for area in screen.areas:
            over = [region for region in area.regions if _holds(region, event)] if area.type == "VIEW_3D" else []
            if over and all(region.type == "WINDOW" for region in over):
                return cls(area, over[0], over[0].data)
        return None

    def mouse(self, event: bpy.types.Event) -> tuple[float, float]:
        """The mouse's position in the region [pixels], in whichever region the operator was started."""
        return event.mouse_x - self.region.x, event.mouse_y - self.region.y

    def on_screen(self, point) -> tuple[float, float] | None:
        """Screen position of a point in the world [pixels]; None behind the camera."""
        found = view3d_utils.location_3d_to_region_2d(self.region, self.data, Vector(point))
        return None if found is None else (found.x, found.y)

    def in_plane(self, mouse: tuple[float, float], through) -> np.ndarray:
        """(3,) the mouse's position in the view plane through a point of the world."""
        return np.array(view3d_utils.region_2d_to_location_3d(self.region, self.data, mouse, Vector(through)))

    def ahead(self, point) -> np.ndarray:
        """(3,) unit vector from the camera to a point."""
        if self.data.is_perspective:
            way = np.array(point) - np.array(self.data.view_matrix.inverted().translation)
        else:
            way = np.array(self.data.view_rotation @ Vector((0.0, 0.0, -1.0)))
        return way / max(float(np.linalg.norm(way)), 1e-12)


def _holds(region: bpy.types.Region, event: bpy.types.Event) -> bool:
    """True if the mouse is over the region. Hidden regions have a size of about 1."""
    x, y = event.mouse_x - region.x, event.mouse_y - region.y
    return min(region.width, region.height) > 1 and 0 <= x < region.width and 0 <= y < region.height


@dataclass(frozen=True)
class Picked:
    """A picked bone. bone: its name; share: position between head (0) and end (1); point (3,) in the world."""

    bone: str
    share: float
    point: np.ndarray


def is_visible(rig: bpy.types.Object, bone: bpy.types.PoseBone) -> bool:
    """True if the bone is visible in Pose Mode."""
    hidden = bone.hide if hasattr(bone, "hide") else bone.bone.hide
    collections = bone.bone.collections
    return not hidden and (not len(collections) or any(each.is_visible_effectively for each in collections))


def pick(rig: bpy.types.Object, graph: bpy.types.Depsgraph, view: View, mouse, names=None) -> Picked | None:
    """The visible bone nearest to the mouse, the one in front if there are several; None if none is near.

    names: the bones to choose from; None for all.
    """
    evaluated = rig.evaluated_get(graph)
    world = evaluated.matrix_world
    ways = physical_ends.vectors(rig, bpy.context.scene)
    found = []
    for bone in rig.pose.bones:
        if (names is not None and bone.name not in names) or not is_visible(rig, bone):
            continue
        shown = evaluated.pose.bones[bone.name]
        ends = world @ shown.head, world @ _shown_end(shown, ways[bone.name], drawn=names is None)
        spots = [view.on_screen(end) for end in ends]
        if None in spots:
            continue
        a, b = np.array(spots)
        along = b - a
        share = float(np.clip((np.array(mouse) - a) @ along / max(float(along @ along), 1e-9), 0.0, 1.0))
        far = float(np.linalg.norm(a + share * along - mouse))
        point = np.array(ends[0].lerp(ends[1], share))
        depth = float(view.ahead(point) @ point)
        found.append((far, depth, Picked(bone.name, share, point)))
    scale = bpy.context.preferences.system.ui_scale or 1.0  # 0 without a window
    nearest = min((far for far, _, _ in found), default=np.inf)
    if nearest > REACH * scale:
        return None
    close = [each for each in found if each[0] <= nearest + HARDLY * scale]
    return min(close, key=lambda each: each[1])[2]


def _shown_end(bone: bpy.types.PoseBone, way: np.ndarray, drawn: bool) -> Vector:
    """The end of a posed bone in armature space: `way` (3,) from its head in its own frame; with `drawn` the drawn
    tail, if that is plausible."""
    long = float(np.linalg.norm(way))
    if drawn and (long == 0.0 or DRAWN[0] * long <= bone.bone.length <= DRAWN[1] * long):
        return bone.tail
    return bone.matrix @ Vector(way)
