"""A toy controller in Blender, as it is copied to `addon/controllers/pull.py`."""

from bpy.props import FloatProperty

from ... import engine
from ...engine.controllers.pull import Pull  # the façade would name it, were it no toy
from ..declare import bone_changed, changed, settings_group, simulated
from .base import ChannelColors, ChannelCurve, ControllerEntry, Values


@settings_group(update=changed, manual="follow.html#sliders")
class PullSettings:
    """Of an armature."""

    pull: simulated(
        FloatProperty, name="Pull", description="Times the heaviness", default=1.0, min=0.0, max=1.0, keyable=True,
        preset=True,
    )  # fmt: skip


@settings_group(update_of=bone_changed, manual="bones.html#multipliers")
class PullBoneSettings:
    """Of a bone."""

    pull_scale: simulated(
        FloatProperty, name="Pull", description="Times the armature's pull", default=1.0, min=0.0, max=1.0,
        keyable=True, preset=True,
    )  # fmt: skip


def build(values: Values) -> engine.Controller:
    return Pull(pull=values.per_body("pull", "pull_scale"), **values.common, **values.following)


PULL = ControllerEntry(
    id="PULL",
    number=77,
    label="Pull",
    text="A toy",
    page="FOLLOW",
    rows=("settle_time", "heaviness", "pull"),
    bone_rows=("settle_scale", "pull_scale"),
    build=build,
    settings=PullSettings,
    bone_settings=PullBoneSettings,
    curves=(ChannelCurve("pull", "Pull", "How much each bone is pulled", "times"),),
    colors=(ChannelColors("pull", "Pull", "The bones coloured by their pull"),),
)
