"""A character: the settings of an armature's physics, and the state that Heft stores on it.

Owns the order of its parts, which saved texts and fingerprints rely on.
"""

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from .. import controllers
from ..declare import changed, remembered, settings_group, simulated, unsaved
from .bake_controls import HeftControl, HeftSwitch
from .body import BodySettings
from .bone_list import BoneList
from .contact import ContactSettings
from .drive import DriveSettings, RootSettings
from .missed_key import HeftMiss
from .overlays import OverlaySettings
from .plot_curves import CurveSettings
from .pose_script import HeftScriptPose
from .push import HeftPush
from .range import RangeSettings, RecordingSettings, RunSettings
from .state import SHOWN, ResultState
from .take import TakeSettings
from .tie import HeftTie

__all__ = ("SHOWN", "HeftArmature")


@settings_group(update=changed, manual="follow.html#sliders")
class CharacterLists:
    """Part of `Object.heft`: its lists."""

    pushes: simulated(
        CollectionProperty,
        name="Pushes",
        description="Blows from nowhere",
        type=HeftPush,
        copied=False,
        active="push_index",
        manual="contacts.html#pushes",
    )
    ties: simulated(
        CollectionProperty,
        name="Ties",
        description="What holds bones besides their joints",
        type=HeftTie,
        copied=False,
        active="tie_index",
        manual="contacts.html#ties",
    )
    misses: remembered(
        CollectionProperty,
        name="Missed Keys",
        description="Keys that the last simulation could not meet, the worst first",
        type=HeftMiss,
        hidden=False,
        active="miss_index",
        manual="on_time.html",
        of_result=True,
    )
    script: remembered(
        CollectionProperty,
        name="Pose Script",
        description="Poses and the seconds between them, to be turned into keys",
        type=HeftScriptPose,
        hidden=False,
        active="script_index",
        manual="on_time.html#pose-scripts",
    )
    controls: remembered(
        CollectionProperty,
        name="Controls",
        description="The bones that Bake to Controls keys; empty: found by trying them out",
        type=HeftControl,
        hidden=False,
        active="control_index",
        manual="result.html#controls",
    )
    switches: remembered(
        CollectionProperty,
        name="Switches",
        description="Properties that Bake to Controls keys so that the controls take effect",
        type=HeftSwitch,
        hidden=False,
        active="switch_index",
        manual="result.html#controls",
    )


@settings_group(manual="follow.html#sliders")
class HeftArmature(
    DriveSettings,
    *controllers.SETTINGS,
    RootSettings,
    RunSettings,
    RangeSettings,
    BodySettings,
    ContactSettings,
    RecordingSettings,
    OverlaySettings,
    ResultState,
    CharacterLists,
    TakeSettings,
    CurveSettings,
    BoneList,
    bpy.types.PropertyGroup,
):
    """`Object.heft`: the settings of one armature's physics."""

    message: unsaved(StringProperty, of_result=True)
    push_index: unsaved(IntProperty)
    tie_index: unsaved(IntProperty)
    script_index: unsaved(IntProperty)
    miss_index: unsaved(IntProperty)
    control_index: unsaved(IntProperty)
    switch_index: unsaved(IntProperty)
