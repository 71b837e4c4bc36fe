"""Channels of the result armature: which bones have keys, and their values from a simulated motion.

Owns the conversion from bodies back to bones that inherit no scale. Must not know how results are shown.

Some bones have keys there besides the bodies: bones that ride on one (`riding_bones`), or that stay with the source if
nothing carries them. So do children of a sheared bone: the sheared bone itself cannot be posed with shear (only its
head and direction), so what its children would inherit has to be keyed. Each keyed bone is relative to its nearest
ancestor with keys, its kin. If physics keeps the two together as in the rig, the channels are the source's. All others
are loose: their channels are computed from the bodies' transforms.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import bpy
import numpy as np

from ...engine import Model, Motion
from ...engine.anatomy.skeleton import Skeleton
from ...engine.math import rotations
from ..errors import RigError
from . import read_controller
from .reading import Keyed, Reading

# The group of curves that the rig does not show.
LINKS = "Heft links"
# The smallest scale that is shown: Blender cannot determine a bone's direction at length 0.
NO_SCALE = 1e-5
# A bone counts as sheared above this cosine between two of its axes. Above the second it is reported.
SHEARED, SHEAR_SEEN = 2e-5, 0.02


def keyed_bones(model: Model, skeleton: Skeleton, order: list[int], poses: np.ndarray, bodies: tuple) -> Keyed:
    """The bones with keys on the result armature. order: the bodies' bones; poses (frames, b, 4, 4) sampled of all
    bones; bodies: rotations (frames, n, 4), scales (frames, n, 3) and joints (frames, n, 3) of the bodies."""
    shear = shears(poses)
    riders = skeleton.riders | dict.fromkeys(_on_sheared(skeleton, order, shear), True)
    bones, count = [*order, *riders], len(order)
    place = {bone: k for k, bone in enumerate(bones)}
    kin = np.array([_nearest(skeleton.parents, place, bone) for bone in bones])
    holders = np.array([*range(count), *(place.get(skeleton.holders[bone], -1) for bone in riders)])
    # A riding bone is fixed to its body and to any kin on that body. A body turns only relative to its parent body.
    loose = (kin < 0) | (holders != holders[kin])
    loose[:count] = (kin[:count] < 0) | (kin[:count] != model.parents)
    riding = rotations.placed(poses[:, list(riders)])
    quats, scales, joints = (np.concatenate(both, axis=1) for both in zip(bodies, riding, strict=True))
    turned = np.array([b for b, bone in enumerate(order) if bone in skeleton.joints], dtype=int)
    loose[turned] = True
    heads = joints.copy() if len(turned) else joints
    heads[:, turned] = poses[:, [order[b] for b in turned]][..., :3, 3]
    scales = np.where(np.abs(scales) < NO_SCALE, np.where(scales[..., :1] < 0.0, -NO_SCALE, NO_SCALE), scales)
    steps = rotations.inverse(skeleton.rests[skeleton.parents]) @ skeleton.rests
    chains = [
        _chain(skeleton, steps, bone, bones[kin[k]]) if kin[k] >= 0 else [skeleton.rests[bone]]
        for k, bone in enumerate(bones)
    ]
    wholes = np.array([functools.reduce(np.matmul, chain)[:3, :3] for chain in chains])
    # not the transposed: rest matrices of tiny bones are not orthogonal
    backs = rotations.inverse(wholes).transpose(0, 2, 1)
    rests = rotations.from_matrix(rotations.split(wholes)[0])
    every = np.arange(len(bones))
    against, anchors = _against_kin(every, kin, quats, heads)
    locations, outer = np.empty_like(heads), scales.copy()
    for k in every:
        locations[:, k] = _location(chains[k], backs[k], scales[:, kin[k]] if kin[k] >= 0 else None, anchors[:, k])
        if kin[k] >= 0:
            outer[:, k] *= np.where(scales[:, kin[k], :1] < 0.0, -1.0, 1.0)
    connected = skeleton.connected[bones]
    locations[:, connected] = 0.0
    turn, spot = _frames_of(holders[count:], quats, heads)
    back = rotations.conjugate(turn)
    return Keyed(
        names=tuple(skeleton.names[bone] for bone in bones),
        groups=tuple(skeleton.names[bone] if riders.get(bone, True) else _links(skeleton) for bone in bones),
        kin=kin,
        chains=chains,
        backs=backs,
        rests=rests,
        holders=holders,
        turns=rotations.multiply(back, quats[:, count:]),
        spots=rotations.rotate(back, heads[:, count:] - spot),
        loose=loose,
        traced=_traced(model, kin, holders, loose),
        turned=turned,
        offsets=rotations.rotate(rotations.conjugate(quats[:, turned]), heads[:, turned] - joints[:, turned]),
        connected=connected,
        quats=rotations.multiply(rotations.conjugate(rests)[None], against),
        locations=locations,
        scales=outer,
        inner=scales,
        sheared=_sheared(skeleton, order, shear),
    )


def _links(skeleton: Skeleton) -> str:
    """A group's name that is no bone's."""
    name = LINKS
    while name in skeleton.names:
        name += "_"
    return name


def _frames_of(holders: np.ndarray, quats: np.ndarray, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(frames, r, 4) rotations and (frames, r, 3) origins of the holders' frames; armature space if there is none."""
    turns, spots = quats[:, holders], heads[:, holders]
    turns[:, holders < 0], spots[:, holders < 0] = (1.0, 0.0, 0.0, 0.0), 0.0
    return turns, spots


def _nearest(parents: Sequence[int], place: dict[int, int], bone: int) -> int:
    """Index of the nearest ancestor that has one."""
    bone = parents[bone]
    while bone >= 0 and bone not in place:
        bone = parents[bone]
    return place.get(bone, -1)


def _chain(skeleton: Skeleton, steps: np.ndarray, bone: int, ancestor: int) -> list[np.ndarray]:
    """Rest matrices from the ancestor down to the bone, each relative to the one above."""
    chain = []
    while bone != ancestor:
        chain.append(steps[bone])
        bone = skeleton.parents[bone]
    return chain[::-1]


def _traced(model: Model, kin: np.ndarray, holders: np.ndarray, loose: np.ndarray) -> list[int]:
    """The bodies that carry a loose bone or its kin, and all their ancestors."""
    found: set[int] = set()
    for k in np.flatnonzero(loose):
        for body in (holders[k], holders[kin[k]] if kin[k] >= 0 else -1):
            while body >= 0 and body not in found:
                found.add(int(body))
                body = model.parents[body]
    return sorted(found)


def _against_kin(chosen: np.ndarray, kin: np.ndarray, quats, heads) -> tuple[np.ndarray, np.ndarray]:
    """(frames, c, 4) rotations and (frames, c, 3) heads of the chosen bones in the frames of their kin, if they have
    one."""
    turns, anchors = quats[:, chosen], heads[:, chosen]
    held = np.flatnonzero(kin[chosen] >= 0)
    above = kin[chosen[held]]
    back = rotations.conjugate(quats[:, above])
    turns[:, held] = rotations.multiply(back, turns[:, held])
    anchors[:, held] = rotations.rotate(back, anchors[:, held] - heads[:, above])
    return turns, anchors


def _location(chain: list[np.ndarray], back: np.ndarray, scale: np.ndarray | None, anchor: np.ndarray) -> np.ndarray:
    """(frames, 3) location channel of a bone whose head is at `anchor` (frames, 3) in the frame of its kin, which is
    scaled by `scale` (frames, 3). scale is None without kin."""
    if scale is None:
        return (anchor - chain[0][:3, 3]) @ back
    sign = np.where(scale[:, :1] < 0.0, -1.0, 1.0)
    # The first bone below inherits its kin's scale, later ones only its mirroring.
    spot = chain[0][:3, 3] * scale
    turn = chain[0][:3, :3]
    for local in chain[1:]:
        spot = spot + (turn @ local[:3, 3]) * sign
        turn = turn @ local[:3, :3]
    safe = np.where(np.abs(scale) > 1e-9, scale, 1.0)
    return ((anchor - spot) / (safe if len(chain) == 1 else sign)) @ back


def of_motion(reading: Reading, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(frames, k, 4) rotations and (frames, k, 3) locations of a simulated motion on the result armature."""
    keyed = reading.keyed
    quats, locations = keyed.quats.copy(), keyed.locations.copy()
    quats[:, : len(reading.names)] = motion.rotations
    turns, heads = _went(reading, motion)
    loose = np.flatnonzero(keyed.loose)
    against, anchors = _against_kin(loose, keyed.kin, turns, heads)
    quats[:, loose] = rotations.multiply(rotations.conjugate(keyed.rests[loose])[None], against)
    for i, k in enumerate(loose):
        scale = keyed.inner[:, keyed.kin[k]] if keyed.kin[k] >= 0 else None
        locations[:, k] = _location(keyed.chains[k], keyed.backs[k], scale, anchors[:, i])
    locations[:, keyed.connected] = 0.0
    return rotations.continuous(quats), locations


def _went(reading: Reading, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(frames, k, 4) rotations and (frames, k, 3) heads in armature space of the traced bodies and the bones that ride
    on them. Other entries are undefined."""
    keyed, model, place = reading.keyed, reading.model, reading.placement
    frames, count = len(motion.rotations), len(model)
    turns, heads = np.zeros((frames, len(keyed.names), 4)), np.zeros((frames, len(keyed.names), 3))
    for b in keyed.traced:
        parent = model.parents[b]
        turns[:, b] = rotations.multiply(model.rest_rotations[b][None], motion.rotations[:, b])
        heads[:, b] = motion.positions[:, b]
        if parent >= 0:
            heads[:, b] = heads[:, parent] + rotations.rotate(turns[:, parent], heads[:, b])
            turns[:, b] = rotations.multiply(turns[:, parent], turns[:, b])
    turns[:, keyed.traced] = place.rotations_to_rig(turns[:, keyed.traced])
    heads[:, keyed.traced] = place.points_to_rig(heads[:, keyed.traced])
    heads[:, keyed.turned] += rotations.rotate(turns[:, keyed.turned], keyed.offsets)
    turn, spot = _frames_of(keyed.holders[count:], turns, heads)
    turns[:, count:] = rotations.multiply(turn, keyed.turns)
    heads[:, count:] = spot + rotations.rotate(turn, keyed.spots)
    return turns, heads


# --- shear and roots -----------------------------------------------------------------


def shears(poses: np.ndarray) -> np.ndarray:
    """(frames, bones) the shear of bones (frames, bones, 4, 4): the largest cosine between two of their axes."""
    x, y, z = np.moveaxis(poses[..., :3, :3].astype(np.float64), -1, 0)
    long = [np.maximum(np.sqrt(rotations.dot(axis, axis)), 1e-12) for axis in (x, y, z)]
    pairs = ((x, y, long[0] * long[1]), (y, z, long[1] * long[2]), (z, x, long[2] * long[0]))
    return np.max([np.abs(rotations.dot(a, b)) / size for a, b, size in pairs], axis=0)


def _sheared(skeleton: Skeleton, order: list[int], shear: np.ndarray) -> tuple[tuple[str, int], ...]:
    seen = [bone for bone in order if shear[:, bone].max() > SHEAR_SEEN]
    seen.sort(key=lambda bone: -shear[:, bone].max())
    return tuple((skeleton.names[bone], int(shear[:, bone].argmax())) for bone in seen)


def _on_sheared(skeleton: Skeleton, order: list[int], shear: np.ndarray) -> list[int]:
    """Ignored children of a sheared bone that has keys. shear (frames, bones): of the source."""
    bodies, keyed, found = set(order), {*order, *skeleton.riders}, []
    sheared = shear.max(axis=0) > SHEARED
    for bone, parent in enumerate(skeleton.parents):  # parents first
        if parent >= 0 and bone not in bodies and sheared[parent] and parent in keyed:
            keyed.add(bone)
            found.append(bone)
    return found


def notes(reading: Reading) -> list[str]:
    """A sentence on bodies that the result cannot show exactly."""
    sheared = reading.keyed.sheared
    if not sheared:
        return []
    name, frame = sheared[0]
    more = f" So are {len(sheared) - 1} more." if len(sheared) > 1 else ""
    return [
        f"Bone '{name}' is sheared at frame {reading.frames[frame]} by a bone above it that is scaled unevenly: "
        f"the result shows it without. Set its Inherit Scale to Aligned, or scale evenly.{more}"
    ]


def check_roots(rig: bpy.types.Object, reading: Reading) -> None:
    """Raise an error for a simulated root that is connected to its parent bone: no constraint can move it away from
    there."""
    if read_controller.is_root_animated(rig, reading.frames):
        return
    for root in np.flatnonzero(reading.model.parents < 0):
        if reading.keyed.connected[root]:
            one = reading.names[root]
            other = rig.data.bones[one].parent.name
            raise RigError(
                f"Bone '{one}' is connected to the ignored bone '{other}' and cannot leave it: give '{other}' physics, "
                f"disconnect '{one}' in Edit Mode, or set Root to Animated."
            )
