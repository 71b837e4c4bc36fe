"""Nudge: turn a mouse drag into a push on a bone.

Owns the strength of the push and the entry in the rig's pushes. Must not know mouse, events or regions.
"""

from __future__ import annotations

import bpy
import numpy as np

from .. import events
from ..errors import RigError
from ..result import result_armature
from ..simulate import session

# A drag of the rig's height gives the mass that the bone carries this speed [m/s]. That mass is at least this share of
# the character, because a hand moves its arm too.
SPEED, LEAST_SHARE = 8.0, 0.05


def check(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Raise an error if there is no result to nudge."""
    if rig.heft_result is None:
        raise RigError(f"'{rig.name}' has no result to nudge: press Simulate first.")
    if not result_armature.is_visible(rig):
        raise RigError(f"'{rig.name}' shows its source: switch to Result, then nudge it.")
    first, last = rig.heft.result_start, rig.heft.result_end
    if not first <= scene.frame_current < last:
        raise RigError(f"Frame {scene.frame_current} has no result after it: go to one from {first} to {last - 1}.")


def reading_of(rig: bpy.types.Object, scene: bpy.types.Scene):
    """The reading of the rig's last simulation; simulated again if it was not in this session."""
    shown = session.last_shown(rig)
    if shown is None:
        with events.paused():
            session.simulate(rig, scene, fresh=False)
        shown = session.last_shown(rig)
    return shown.reading


def newton_seconds(reading, bone: str, length: float) -> float:
    """The impulse [N s] of a drag of this length [units of the rig's armature] on a bone."""
    model = reading.model
    b = model.index(reading.spots[bone][0])
    carried = [k for k in range(len(model)) if _hangs_on(model.parents, k, b)]
    mass = max(float(model.masses[carried].sum()), LEAST_SHARE * model.total_mass)
    return mass * SPEED * length / reading.height


def _hangs_on(parents: np.ndarray, body: int, other: int) -> bool:
    while body >= 0 and body != other:
        body = int(parents[body])
    return body == other


def add(rig: bpy.types.Object, bone: str, place: float, frame: int) -> int:
    """Add a push without impulse to the bone; returns its index."""
    with events.paused():
        push = rig.heft.pushes.add()
        push.bone, push.frame, push.impulse = bone, frame, 0.0
        push.use_place, push.place = True, place
        rig.heft.push_index = len(rig.heft.pushes) - 1
    return rig.heft.push_index


def aim(rig: bpy.types.Object, index: int, way, impulse: float) -> None:
    """Set the direction of a push in world axes and its impulse [N s]."""
    size = float(np.linalg.norm(way))
    with events.paused():
        push = rig.heft.pushes[index]
        if size > 1e-9:
            push.direction = np.asarray(way) / size
        push.impulse = impulse


def remove(rig: bpy.types.Object, index: int, before: int) -> None:
    """Remove a push. before: the index that was active."""
    with events.paused():
        rig.heft.pushes.remove(index)
        rig.heft.push_index = before
