"""A file in which no setting has its default, and the texts that Heft makes of it.

Nothing is simulated: what a simulation would leave behind is filled in, so that the texts are the same on all machines.
"""

from __future__ import annotations

from types import SimpleNamespace

import bpy

import rigs
from heft.addon import events, settings
from heft.addon.read import inputs, shot

# Not values of their own: the panel's active row is the active bone.
NOT_FILLED = ("rna_type", "bone_index")
# Texts that Heft reads as JSON.
TEXTS = {"muted": '[["bone.001", "IK"]]', "curve_names": '["bone.000"]', "take": "uid 0", "uid": "uid 0",
         "state": '{"fingerprint": "f", "written": "w", "misses": []}',
         "settings": '{"armature": {}, "lists": {}, "bones": {}, "objects": {}}'}  # fmt: skip


def file() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A rig and a ball whose every setting was changed, as well as what Heft keeps for itself."""
    rigs.new_file()
    rig = rigs.post(3)
    bpy.ops.heft.add()
    ball = rigs.ball(radius=0.1)
    bpy.data.collections.new("Things")
    bpy.data.actions.new("Source")
    with events.paused():
        fill(rig.heft)
        for bone in rig.pose.bones[:2]:
            fill(bone.heft)
        rig.pose.bones[2].property_unset("heft")
        fill(ball.heft_collider)
    return rig, ball


def fill(group: bpy.types.PropertyGroup) -> None:
    """Give each of the group's properties a value that is not its default."""
    for prop in sorted(group.bl_rna.properties, key=lambda each: each.identifier):
        name = prop.identifier
        if name in NOT_FILLED:
            continue
        if prop.type == "COLLECTION":
            items = getattr(group, name)
            items.clear()
            for _ in range(2):
                fill(items.add())
        elif prop.type == "POINTER":
            setattr(group, name, _block(prop))
        else:
            setattr(group, name, unusual(prop))


def _block(prop) -> bpy.types.ID | None:
    return {
        "Object": lambda: bpy.data.objects["Ball"],
        "Action": lambda: bpy.data.actions["Source"],
        "Collection": lambda: bpy.data.collections["Things"],
    }[prop.fixed_type.identifier]()


def unusual(prop: bpy.types.Property):
    """A value that is not the property's default, always the same."""
    if prop.type == "BOOLEAN":
        return not prop.default
    if prop.type == "STRING":
        return TEXTS.get(prop.identifier, f'["{prop.identifier}"]')
    if prop.type == "ENUM":
        names = [item.identifier for item in prop.enum_items]
        return names[(names.index(prop.default) + 1) % len(names)]
    if prop.is_array:
        return [_number(prop, value) + 0.125 * i for i, value in enumerate(prop.default_array)]
    return _number(prop, prop.default)


def _number(prop: bpy.types.Property, default: float) -> float:
    top = min(prop.soft_max, default + 7.0)
    value = default + 0.375 * (top - default) if top > default else default - 0.375
    return max(round(value), 1) if prop.type == "INT" else value


class Recorder:
    """In place of a digest: what goes into it, as text."""

    def __init__(self, **_options) -> None:
        self.texts: list[str] = []

    def update(self, data: bytes) -> None:
        self.texts.append(data.decode("utf-8", "replace"))

    def hexdigest(self) -> str:
        return ""


def texts(monkeypatch, saved, take_settings, fingerprint) -> dict[str, object]:
    """All texts of the settings: as saved, as in a take, and what goes into the digests."""
    rig, ball = file()
    saved.pack(rig)
    saved.pack_collider(ball)
    out = {"rig": rig.heft_store, "collider": ball.heft_store}

    def packed() -> str:
        return take_settings.packed(rig, shot.of(rig))

    settings_text = fingerprint.settings_text(rig).decode()
    model = Recorder()
    now = inputs.of(rig, bpy.context.scene).rigs[rig]
    monkeypatch.setattr(fingerprint, "hashlib", SimpleNamespace(blake2b=lambda **_options: model))
    fingerprint.structure(rig, now.loads, now.skin)
    rig.heft.colliders.objects.link(ball)
    out |= {"take": packed(), "settings": settings_text, "structure": "".join(model.texts)}
    rig.keyframe_insert("heft.settle_time", frame=1)
    rig.keyframe_insert('pose.bones["bone.001"].heft.mix', frame=1)
    rig.keyframe_insert('pose.bones["bone.000"].heft.settle_scale', frame=1)
    return out | {"take, keyed": packed(), "settings, keyed": fingerprint.settings_text(rig).decode()}


def lose(*objects: bpy.types.Object) -> None:
    """The settings are gone as from a library override, but for the store."""
    for ob in objects:
        for name in ("heft", "heft_collider"):
            settings.forget(ob, name)
        for bone in ob.pose.bones if ob.pose else ():
            settings.forget(bone, "heft")
