"""Frames at which the source jumps: keys with constant interpolation, in the action and in NLA strips.

Owns the search for those frames. Must not know poses or physics.

The edge of a strip is a cut, not a key: it is sampled as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import bpy

from ..blender import actions, nla_layers

ROTATION_PATHS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")


def jumps_of(rig: bpy.types.Object) -> dict[str, set[int]]:
    """Whole frames on which the target jumps, by bone name; "" for the object itself."""
    names = dict.fromkeys((*ROTATION_PATHS, "location"), "")
    for bone in rig.pose.bones:
        base = bone.path_from_id()
        names.update({f"{base}.{name}": bone.name for name in (*ROTATION_PATHS, "location")})
    jumps: dict[str, set[int]] = {}
    at_work = nla_layers.layers_of(rig)
    for depth, layer in enumerate(at_work):
        for key, curve in layer.curves.items():
            name = names.get(key[0])
            if name is None or curve.mute:
                continue
            above = at_work[depth + 1 :]
            for frame in actions.step_frames(curve):
                found = {f for f in _arrivals(layer, frame) if not nla_layers.covered(above, key, f)}
                if found:
                    jumps.setdefault(name, set()).update(found)
    return jumps


def _arrivals(layer: nla_layers.Layer, frame: float) -> Iterator[int]:
    """The first whole frames after a jump at one of the layer's own frames."""
    if frame <= layer.first:
        return
    for time in layer.times_of(frame):
        # Played backwards, a key's value lasts up to its frame, and the held value follows.
        arrival = math.floor(time + 1e-4) + 1 if layer.reversed else math.ceil(time - 1e-4)
        if layer.begin < arrival <= layer.stop:
            yield arrival
