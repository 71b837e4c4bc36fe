"""What the results of a shot depend on: a small tree of digests, computed once an event.

Owns how the parts combine into the fingerprint that is stamped on results. To test whether something is current,
compare a part: the cache of sources and the overlays compare a rig's source and structure, results the total. A part is
computed when it is first asked for and is valid during this event; the next event builds a new tree.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import bpy
import numpy as np

from ... import engine
from ..rig import skin
from . import fingerprint, frame_plan, physical_keys, shot


class RigInputs:
    """The inputs of one rig of a shot."""

    def __init__(self, inputs: Inputs, rig: bpy.types.Object) -> None:
        self.inputs, self.rig = inputs, rig

    @cached_property
    def source(self) -> str:
        """A digest of the inputs of its motion."""
        return fingerprint.source_fingerprint(self.rig, self.inputs.scene, self.inputs.sampled)

    @cached_property
    def structure(self) -> str:
        """A digest of the inputs of its model, besides the rest pose."""
        return fingerprint.structure(self.rig, self.loads, self.skin)

    @cached_property
    def settings(self) -> bytes:
        """The settings of the rig and its bones, as text."""
        return fingerprint.settings_text(self.rig)

    @cached_property
    def loads(self) -> bytes:
        """What its bones carry, as text."""
        return fingerprint.loads_text(self.inputs.shot.loads[self.rig])

    @cached_property
    def skin(self) -> bytes:
        """The meshes that it deforms, as text."""
        return repr(skin.fingerprint(self.rig)).encode()

    @cached_property
    def moments(self) -> physical_keys.Moments | None:
        """Its physical keys, if its controller uses them. Keyframe types affect nothing else."""
        return physical_keys.wanted(self.rig, self.inputs.scene, self.inputs.sampled)


class Inputs:
    """The inputs of a shot's results, in a scene."""

    def __init__(self, group: shot.Shot, scene: bpy.types.Scene) -> None:
        self.shot, self.scene = group, scene
        self.rigs = {rig: RigInputs(self, rig) for rig in group.rigs}

    @cached_property
    def plan(self) -> frame_plan.Plan:
        """Which frames are sampled and shown."""
        return frame_plan.plan_of(self.shot, self.scene)

    @property
    def sampled(self) -> np.ndarray:
        """(m,) the scene frames that are sampled."""
        return self.plan.sampled

    @cached_property
    def objects(self) -> str:
        """A digest of how the shot's objects move."""
        return fingerprint.objects_fingerprint(self.shot.things, self.scene, self.sampled)

    @cached_property
    def surroundings(self) -> bytes:
        """The properties of the objects that the rigs meet, as text."""
        return b"".join(map(fingerprint.object_text, self.shot.objects))

    @property
    def is_solid(self) -> bool:
        """True if there is anything in the shot that bones could touch."""
        touch_self = any(rig.heft.touch_self for rig in self.rigs)
        return bool(self.shot.grounded or touch_self or self.shot.objects or len(self.rigs) > 1)

    @cached_property
    def total(self) -> str:
        """The fingerprint that is stamped on results. Older files hold it, so order and texts must never change."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(engine.ENGINE_VERSION.encode())
        digest.update(self.plan.digest().encode())
        for each in self.rigs.values():
            digest.update(each.source.encode())
            digest.update(each.settings)
            digest.update(each.loads)
            digest.update(repr(each.moments).encode())
            digest.update(each.skin)
        digest.update(self.objects.encode())
        digest.update(self.surroundings)
        return digest.hexdigest()


def of(rig: bpy.types.Object, scene: bpy.types.Scene) -> Inputs:
    """The inputs of the rig's shot as they are now."""
    return Inputs(shot.of(rig), scene)
