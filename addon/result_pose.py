"""The channels of the result armature: what physics leaves alone, and what a simulated motion makes of the rest.

Owns the way from bodies back to bones that inherit no scale. Must not know how results are shown.

Besides the bodies some bones have keys there that only ride on one (`riders`): those that the rig itself would leave
behind, and those that a body is connected to. Each is keyed against its nearest ancestor that has keys too, its kin.
Where physics holds the two together as the rig does, the channels are the source's; the others are loose: their
channels follow from where the bodies went.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..engine import Model, Motion
from . import rotations

if TYPE_CHECKING:
    from .reader import Reading, Skeleton


@dataclass(frozen=True, eq=False)
class Keyed:
    """The bones with keys on the result armature: the bodies in the model's order, then the riders.

    names        (k,)
    groups       (k,) the group of each one's curves: its name where the rig shows it
    kin          (k,) place of the nearest ancestor with keys, -1 for none
    chains       (k,) rest matrices from the kin down to the bone, each relative to the one above
    rests        (k, 4) rest rotation against the kin
    holders      (k,) the body that each rides on, itself for bodies
    turns        (frames, r, 4), spots (frames, r, 3) of the riders in their body's frame [armature units]
    loose        (k,) not held to its kin as the source holds it
    traced       the bodies whose way must be known for that, parents first
    connected    (k,) the bone cannot move from its parent's tail
    quats        (frames, k, 4), locations (frames, k, 3), scales (frames, k, 3): the source's channels
    inner        (frames, k, 3) the source's scales, as poses have them
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    kin: np.ndarray
    chains: list[list[np.ndarray]]
    rests: np.ndarray
    holders: np.ndarray
    turns: np.ndarray
    spots: np.ndarray
    loose: np.ndarray
    traced: list[int]
    connected: np.ndarray
    quats: np.ndarray
    locations: np.ndarray
    scales: np.ndarray
    inner: np.ndarray


# The group of curves that the rig does not show.
LINKS = "Links"


def keyed_bones(model: Model, skeleton: Skeleton, order: list[int], poses: np.ndarray) -> Keyed:
    """What the result armature has keys for; order: the bodies' bones; poses (frames, b, 4, 4) sampled of all bones."""
    bones, count = [*order, *skeleton.riders], len(order)
    place = {bone: k for k, bone in enumerate(bones)}
    kin = np.array([_nearest(skeleton.parents, place, bone) for bone in bones])
    holders = np.array([*range(count), *(place[skeleton.holders[bone]] for bone in skeleton.riders)])
    # A rider stays where its body has it, with any kin of that body; a body turns against its parent body alone.
    loose = (kin < 0) | (holders != holders[kin])
    loose[:count] = (kin[:count] < 0) | (kin[:count] != model.parents)
    turns, scales = rotations.split(poses[:, bones][..., :3, :3])
    quats, heads = rotations.from_matrix(turns), poses[:, bones][..., :3, 3].astype(np.float64)
    steps = np.linalg.inv(skeleton.rests[skeleton.parents]) @ skeleton.rests
    chains = [
        _chain(skeleton, steps, bone, bones[kin[k]]) if kin[k] >= 0 else [skeleton.rests[bone]]
        for k, bone in enumerate(bones)
    ]
    wholes = np.array([functools.reduce(np.matmul, chain)[:3, :3] for chain in chains])
    rests = rotations.from_matrix(rotations.split(wholes)[0])
    every = np.arange(len(bones))
    against, anchors = _against_kin(every, kin, quats, heads)
    locations, outer = np.empty_like(heads), scales.copy()
    for k in every:
        locations[:, k] = _location(chains[k], scales[:, kin[k]] if kin[k] >= 0 else None, anchors[:, k])
        if kin[k] >= 0:
            outer[:, k] *= np.where(scales[:, kin[k], :1] < 0.0, -1.0, 1.0)
    connected = skeleton.connected[bones]
    locations[:, connected] = 0.0
    back = rotations.conjugate(quats[:, holders[count:]])
    return Keyed(
        names=tuple(skeleton.names[bone] for bone in bones),
        groups=tuple(skeleton.names[bone] if skeleton.riders.get(bone, True) else LINKS for bone in bones),
        kin=kin,
        chains=chains,
        rests=rests,
        holders=holders,
        turns=rotations.multiply(back, quats[:, count:]),
        spots=rotations.rotate(back, heads[:, count:] - heads[:, holders[count:]]),
        loose=loose,
        traced=_traced(model, kin, holders, loose),
        connected=connected,
        quats=rotations.multiply(rotations.conjugate(rests)[None], against),
        locations=locations,
        scales=outer,
        inner=scales,
    )


def _nearest(parents: Sequence[int], place: dict[int, int], bone: int) -> int:
    """The place of the nearest ancestor that has one."""
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
    """The bodies that carry a loose bone or its kin, and all that these hang on."""
    found: set[int] = set()
    for k in np.flatnonzero(loose):
        for body in (holders[k], holders[kin[k]] if kin[k] >= 0 else -1):
            while body >= 0 and body not in found:
                found.add(int(body))
                body = model.parents[body]
    return sorted(found)


def _against_kin(chosen: np.ndarray, kin: np.ndarray, quats, heads) -> tuple[np.ndarray, np.ndarray]:
    """(frames, c, 4) rotations and (frames, c, 3) heads of the chosen in the frames of their kin, if they have one."""
    turns, anchors = quats[:, chosen], heads[:, chosen]
    held = np.flatnonzero(kin[chosen] >= 0)
    above = kin[chosen[held]]
    back = rotations.conjugate(quats[:, above])
    turns[:, held] = rotations.multiply(back, turns[:, held])
    anchors[:, held] = rotations.rotate(back, anchors[:, held] - heads[:, above])
    return turns, anchors


def _location(chain: list[np.ndarray], scale: np.ndarray | None, anchor: np.ndarray) -> np.ndarray:
    """(frames, 3) location channel of a bone whose head is at `anchor` (frames, 3) in the frame of its kin, scaled by
    `scale` (frames, 3); None: it has no kin."""
    if scale is None:
        return (anchor - chain[0][:3, 3]) @ chain[0][:3, :3]
    sign = np.where(scale[:, :1] < 0.0, -1.0, 1.0)
    # The first bone below feels its kin's scale; the ones after it only its mirroring.
    spot = chain[0][:3, 3] * scale
    turn = chain[0][:3, :3]
    for local in chain[1:]:
        spot = spot + (turn @ local[:3, 3]) * sign
        turn = turn @ local[:3, :3]
    safe = np.where(np.abs(scale) > 1e-9, scale, 1.0)
    return ((anchor - spot) / (safe if len(chain) == 1 else sign)) @ turn


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
        locations[:, k] = _location(keyed.chains[k], scale, anchors[:, i])
    locations[:, keyed.connected] = 0.0
    return rotations.continuous(quats), locations


def _went(reading: Reading, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(frames, k, 4) rotations and (frames, k, 3) heads in armature space of the traced bodies and what rides on
    them; nothing is said of the others."""
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
    riders = keyed.holders[count:]
    turns[:, count:] = rotations.multiply(turns[:, riders], keyed.turns)
    heads[:, count:] = heads[:, riders] + rotations.rotate(turns[:, riders], keyed.spots)
    return turns, heads
