"""Bake the free objects of a shot to keys of their own.

Owns the way from world matrices to an object's channels. Must not know bones.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...engine.math import rotations
from ..blender import actions, nla_strips, sample_poses
from ..result import free_objects, result_armature
from . import write_keys

# A deviation above this part of the object's size is reported.
TELL_OFFSET = 1e-3


@dataclass(frozen=True, eq=False)
class Flight:
    """A free object's world matrices (frames, 4, 4) as shown, and the space (frames, 4, 4) that its channels are in."""

    ob: bpy.types.Object
    matrices: np.ndarray
    above: np.ndarray


def shown(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray) -> list[Flight]:
    """The world matrices of the rig's free objects, as they are shown."""
    obs = free_objects.results_of(rig)
    if not obs:
        return []
    with result_armature.exposed(rig, "RESULT"):
        shown = sample_poses.finish(sample_poses.sample_objects(obs, scene, frames, shown=True))
        above = [sample_poses.sample_parents(ob, scene, frames) for ob in obs]
    return [Flight(ob, matrices, space) for ob, matrices, space in zip(obs, shown, above, strict=True)]


def bake(flight: Flight, frames, played, target: str, reduce: float, tally: write_keys.Tally) -> list[str]:
    """Key a free object in its parent's space. Returns sentences for the user."""
    ob = flight.ob
    source = ob.animation_data.action if ob.animation_data else None
    action, bag = write_keys.new_action(ob, None if target == "NLA" else source)
    places, quats, scales = _without_deltas(ob, np.linalg.inv(flight.above) @ flight.matrices)
    size = max(ob.dimensions) or 1.0
    write_keys.write(write_keys.Target(bag, ob, frames, played, size, reduce, tally), quats, places, scales)
    if target == "NLA":
        nla_strips.push_down(ob)
        nla_strips.add(ob, action, frames)
        return []
    actions.assign(ob, action, actions.same_slot(action, actions.slot_of(ob)))
    return write_keys.keep_source(source, None)


def _without_deltas(ob: bpy.types.Object, local: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Location (frames, 3), rotation (frames, 4) and scale (frames, 3) channels that make local matrices
    (frames, 4, 4) together with the object's delta transforms."""
    turns, scales = rotations.split(local[:, :3, :3])
    if ob.rotation_mode == "QUATERNION":
        delta = ob.delta_rotation_quaternion
    else:
        delta = ob.delta_rotation_euler.to_quaternion()
    before = rotations.conjugate(np.array(delta, dtype=np.float64))
    quats = rotations.continuous(rotations.multiply(before[None], rotations.from_matrix(turns)))
    return local[:, :3, 3] - np.array(ob.delta_location), quats, scales / np.array(ob.delta_scale)


def notes(scene, flights: list[Flight], frames: np.ndarray, mute: bool):
    """Sentences on constraints of the objects themselves that override their keys. With `mute` they are muted."""
    for flight in flights:
        acting = [
            constraint for constraint in flight.ob.constraints if constraint.enabled and constraint.influence > 0.0
        ]
        for constraint in acting if mute else ():
            constraint.mute = True
            yield f"Muted '{constraint.name}' on '{flight.ob.name}': the baked keys take its place."
    now = sample_poses.finish(sample_poses.sample_objects([flight.ob for flight in flights], scene, frames))
    for flight, matrices in zip(flights, now, strict=True):
        off = np.abs(matrices - flight.matrices).max() / max(*flight.ob.dimensions, 1e-9)
        if off > TELL_OFFSET:
            yield f"'{flight.ob.name}' does not go where it was simulated: its constraints or drivers move it."
