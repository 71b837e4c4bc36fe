"""Settings of the overlays: a switch for each, and a few options.

Owns names, ranges, units and tooltips. None of it changes a simulation.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from .. import controllers
from ..blender import redraw_views
from ..declare import settings_group, shown

ARC_BONES = (
    ("ENDS", "Hands, Feet, Head", "The paths of hands, feet and head, as the bones' roles tell them", 0),
    ("SELECTED", "Selected", "The paths of the bones that are selected in Pose Mode", 1),
)
BALLISTIC = (
    ("AIR", "In the Air", "While nothing touches the ground, for the whole flight", 0),
    ("ALWAYS", "Always", "On every frame, for half a second ahead", 1),
    ("OFF", "Off", "Never", 2),
)


def redraw(_group: bpy.types.PropertyGroup, _context) -> None:
    """Redraw all 3D Views."""
    redraw_views.views()


def _switch(name: str, description: str, default: bool = False):
    return shown(
        BoolProperty,
        name=name,
        description=description,
        default=default,
        update=redraw,
    )


def _count(name: str, description: str, default: int, lowest: int, most: int):
    return shown(
        IntProperty,
        name=name,
        description=description,
        default=default,
        min=lowest,
        max=100000,
        soft_max=most,
        update=redraw,
    )


def _channel_switches(colors: tuple[controllers.ChannelColors, ...]) -> type:
    """A switch for each channel that a controller shows as colours of bones."""
    switches = {each.setting: _switch(each.label, each.text) for each in colors}
    return settings_group(manual="overlays.html")(type("ChannelColorSwitches", (), {"__annotations__": switches}))


ChannelColorSwitches = _channel_switches(controllers.COLORS)


@settings_group(manual="overlays.html")
class OverlaySettings(ChannelColorSwitches):
    """Part of `Object.heft`: the overlays."""

    show_overlays: _switch("Overlays", "Draw the overlays chosen below over the 3D View", True)
    show_shapes: _switch("Shapes", "What touches: the shapes of bones and colliders, and the ground")
    show_limits: _switch("Limits", "How far the joints may turn, as cones and arcs")
    show_mass: _switch(
        "Centre of Mass",
        "Where the whole body's weight acts, its way through the shot, and the way it would fly: where the two differ, "
        "the motion is not a fall",
    )
    show_support: _switch(
        "Support",
        "What the body stands on, and the zero-moment point: the one place where the ground would have to carry it. "
        "Within the support the body can stand, outside of it the body tips",
    )
    show_contacts: _switch("Contacts", "Where things touch on this frame, and the forces there in body weights")
    show_stress: _switch("Joint Stress", "The bones coloured by how much their joints give of what they can")
    show_ghost: _switch("Ghost", "The source while the result is shown, and the result while the source is", True)
    show_onion: _switch("Onion Skins", "The poses before and after this frame")
    show_arcs: _switch("Motion Arcs", "The paths of the source and of the result")
    ballistic: shown(
        EnumProperty,
        name="Flight Path",
        description="When the path is drawn on which the centre of mass would fly from this frame on",
        items=BALLISTIC,
        default="AIR",
        update=redraw,
    )
    path_frames: _count(
        "Path Frames", "How many frames of a path are drawn before and after this one; 0: all", 24, 0, 100
    )
    force_scale: shown(
        FloatProperty,
        name="Force Scale",
        description="The arrow of a force as large as the body's weight is this many times the body's height long",
        default=0.5,
        min=0.01,
        max=100.0,
        soft_max=2.0,
        update=redraw,
    )
    stress_top: shown(
        FloatProperty,
        name="Red At",
        description="The share of its strength at which a joint is red",
        default=1.0,
        min=0.001,
        max=100.0,
        soft_min=0.05,
        soft_max=2.0,
        subtype="FACTOR",
        update=redraw,
    )
    onion_before: _count("Before", "How many poses are drawn before this frame", 3, 0, 10)
    onion_after: _count("After", "How many poses are drawn after this frame", 3, 0, 10)
    onion_step: _count("Step", "Frames from one pose to the next", 4, 1, 24)
    arc_bones: shown(
        EnumProperty,
        name="Bones",
        description="Whose paths are drawn",
        items=ARC_BONES,
        default="ENDS",
        update=redraw,
    )
