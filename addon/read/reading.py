"""What reading a rig gives: the engine's data, and the map back to bones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...engine import Model, Motion
from ...engine.analysis import recording_flaws
from ...engine.anatomy.skeleton import Joint
from ...engine.math import rotations
from ..blender.engine_space import Placement
from ..blender.sample_poses import Samples


@dataclass(frozen=True, eq=False)
class Keyed:
    """The bones with keys on the result armature: the bodies in the model's order, then bones that ride on them.

    names        (k,)
    groups       (k,) the group of each one's curves: its name if the rig shows it
    kin          (k,) index of the nearest ancestor with keys, -1 for none
    chains       (k,) rest matrices from the kin down to the bone, each relative to the one above
    backs        (k, 3, 3) from rows in the kin's frame to the bone's at rest
    rests        (k, 4) rest rotation relative to the kin
    holders      (k,) the body that each rides on, itself for bodies, -1 for armature space
    turns        (frames, r, 4), spots (frames, r, 3) of the riding bones in their body's frame [armature units]
    loose        (k,) not attached to its kin as in the source
    traced       the bodies whose world transforms are needed for that, parents first
    turned       (t,) the bodies that do not rotate about their bones' heads
    offsets      (frames, t, 3) from their joints to these heads, in their frames [armature units]
    connected    (k,) the bone cannot move from its parent's tail
    quats        (frames, k, 4), locations (frames, k, 3), scales (frames, k, 3): the source's channels
    inner        (frames, k, 3) the source's scales, as in poses
    sheared      bodies with visible shear, the worst first: name and index of its worst frame
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    kin: np.ndarray
    chains: list[list[np.ndarray]]
    backs: np.ndarray
    rests: np.ndarray
    holders: np.ndarray
    turns: np.ndarray
    spots: np.ndarray
    loose: np.ndarray
    traced: list[int]
    turned: np.ndarray
    offsets: np.ndarray
    connected: np.ndarray
    quats: np.ndarray
    locations: np.ndarray
    scales: np.ndarray
    inner: np.ndarray
    sheared: tuple[tuple[str, int], ...]

    def part(self, rows: np.ndarray) -> Keyed:
        """The same for some of the frames."""
        names = ("turns", "spots", "offsets", "quats", "locations", "scales", "inner")
        sheared = tuple((name, int(np.abs(rows - frame).argmin())) for name, frame in self.sheared)
        return replace(self, sheared=sheared, **{name: getattr(self, name)[rows] for name in names})


@dataclass(frozen=True, eq=False)
class Reading:
    """A rig's reading: the engine's data, and the map back to bones.

    names        (n,) bone of each body, in the model's order
    frames       (frames,) scene frames
    placement    transform from armature space to the engine's world
    rests        (n, 4, 4) rest matrices in armature space, at the joints
    joints       by body, those that do not rotate about their bones' heads
    keyed        the bones with keys on the result armature, and the source's channels
    height       the body's longest side at rest [armature units]
    spots        by bone: the body it belongs to, and its head and end in that body's frame [m]
    flaws        flaws of the source
    bad_frames   how the flawed frames were read: KEEP, SMOOTH or SKIP
    """

    model: Model
    motion: Motion
    names: tuple[str, ...]
    frames: np.ndarray
    placement: Placement
    rests: np.ndarray
    joints: dict[int, Joint]
    keyed: Keyed
    height: float
    spots: dict[str, tuple[str, np.ndarray, np.ndarray]]
    flaws: recording_flaws.Flaws
    bad_frames: str

    def at_rest(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) positions [m] and (n, 4) rotations of the bodies in the rest pose, in armature space."""
        turns = rotations.from_matrix(rotations.split(self.rests[:, :3, :3])[0])
        return self.rests[:, :3, 3] * self.placement.sizes[0], turns

    def at_start(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) positions [m] and (n, 4) rotations of the bodies on the first frame, in the world."""
        model, motion = self.model, self.motion
        places, turns = np.empty((len(model), 3)), np.empty((len(model), 4))
        for b, parent in enumerate(model.parents):
            own = rotations.multiply(model.rest_rotations[b], motion.rotations[0, b])
            places[b], turns[b] = motion.positions[0, b], own
            if parent >= 0:
                places[b] = places[parent] + rotations.rotate(turns[parent], places[b])
                turns[b] = rotations.multiply(turns[parent], own)
        return places, turns

    def placed(self, samples: Samples, body: int) -> tuple[np.ndarray, np.ndarray]:
        """A body's sampled transforms in the engine's world: positions (frames, 3) [m], rotations (frames, 3, 3)."""
        quats, _, heads = self.channels(samples, [body])
        turns = rotations.to_matrix(self.placement.rotations_to_world(quats)[:, 0])
        return self.placement.points_to_world(heads)[:, 0], turns

    def channels(self, samples: Samples, bodies: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `body_channels`, of some bodies."""
        order = [samples.names.index(self.names[body]) for body in bodies]
        joints = {k: self.joints[body] for k, body in enumerate(bodies) if body in self.joints}
        return body_channels(samples.poses, order, joints)


def body_channels(
    poses: np.ndarray, order: Sequence[int], joints: Mapping[int, Joint]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotations (frames, k, 4), scales (frames, k, 3) and joints' places (frames, k, 3) of bodies in armature space.

    poses (frames, b, 4, 4) sampled of all bones; order (k,): the bodies' bones; joints: by place in the order, those
    that do not turn about their bones' heads.
    """
    quats, scales, heads = rotations.placed(poses[:, order])
    if joints:
        heads = heads.copy()
    for k, joint in joints.items():
        poses_of = poses[:, joint.bone].astype(np.float64)
        heads[:, k] = poses_of[:, :3, 3] + poses_of[:, :3, :3] @ joint.point
    return quats, scales, heads
