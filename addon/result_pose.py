"""The channels of the result armature: what physics leaves alone, and what a simulated motion makes of the rest.

Owns the way from bodies back to bones that inherit no scale. Must not know how results are shown.

Bones that are no bodies rest there relative to their parents, but for riders: those that a
connected body hangs on (it has no location of its own), those that IK solves together with a
body (it is muted while the result shows), and those that hang on a sheared bone (no bone can be
posed so: heads and the way bones point stay, and what would inherit the shear has to be told). A
rider keeps the pose it has on the body that carries it, or in armature space where nothing does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..engine import Model, Motion
from . import constraints, rotations
from .errors import RigError

if TYPE_CHECKING:
    from .reader import Reading, Skeleton

# The group of riders that are keyed, but not shown on the rig: they have their own keys there.
UNSHOWN = "Heft riders"
# A bone scaled to less than this is shown so: Blender cannot tell which way it points, if it has no length at all.
NO_SCALE = 1e-5
# The cosine between two axes from which on a bone counts as sheared; what is seen of it from which on it is told.
SHEARED, SHEAR_SEEN = 2e-5, 0.02


@dataclass(frozen=True, eq=False)
class Channels:
    """What the result armature is keyed with: the bodies in the model's order, then the riders.

    names, groups   (m,) bones, and the groups of their curves: a bone's own name, where it is shown
    above           (m,) the nearest of them above each, -1 for none
    links           (m,) rest matrices from there down to the bone, each relative to the one above
    connected       (m,) the bone cannot move from its parent's tail
    quats, heads, sizes   (frames, m, ...) the source in armature space; mirrored bones have negative sizes
    rotations, locations, scales   (frames, m, ...) the source as channels
    leads           by body below a rider: (frames, 4) what turns its joint's rotation into its channel
    sheared         bodies whose shear is seen, the worst first: name and index of its worst frame
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    above: np.ndarray
    links: tuple[tuple[np.ndarray, ...], ...]
    connected: np.ndarray
    quats: np.ndarray
    heads: np.ndarray
    sizes: np.ndarray
    rotations: np.ndarray
    locations: np.ndarray
    scales: np.ndarray
    leads: dict[int, np.ndarray]
    sheared: tuple[tuple[str, int], ...]

    def turn(self, k: int, quats: np.ndarray) -> np.ndarray:
        """(frames, 4) the channel that turns the k-th so in armature space, with what is above it as in the source."""
        a = int(self.above[k])
        over = rotations.multiply(self.quats[:, a], _turn_of(self.links[k])) if a >= 0 else _turn_of(self.links[k])
        return rotations.multiply(rotations.conjugate(over), quats)

    def location(self, k: int, heads: np.ndarray) -> np.ndarray:
        """(frames, 3) the channel that puts the k-th's head there (frames, 3) in armature space; the same holds."""
        a = int(self.above[k])
        chain = self.links[k]
        turn = np.linalg.multi_dot([link[:3, :3] for link in chain]) if len(chain) > 1 else chain[0][:3, :3]
        back = np.linalg.inv(turn).T  # the rest matrices of tiny bones are no pure rotations
        if a < 0:
            return (heads - _spot(chain, 1.0, 1.0)) @ back
        anchor = rotations.rotate(rotations.conjugate(self.quats[:, a]), heads - self.heads[:, a])
        size = self.sizes[:, a]
        sign = np.where(size[:, :1] < 0.0, -1.0, 1.0)
        shift = anchor - _spot(chain, size, sign)
        return (shift / (size if len(chain) == 1 else sign)) @ back


def _spot(chain: tuple[np.ndarray, ...], size, sign) -> np.ndarray:
    """Where the chain's end is below a bone of that size: the first bone feels it, the ones after only a mirroring."""
    spot, turn = chain[0][:3, 3] * size, chain[0][:3, :3]
    for link in chain[1:]:
        spot = spot + (turn @ link[:3, 3]) * sign
        turn = turn @ link[:3, :3]
    return spot


def _turn_of(chain: tuple[np.ndarray, ...]) -> np.ndarray:
    turn = np.eye(3)
    for link in chain:
        turn = turn @ link[:3, :3]
    return rotations.from_matrix(rotations.split(turn)[0])


def channels(rig: bpy.types.Object, model: Model, skeleton: Skeleton, order: list[int], poses: np.ndarray) -> Channels:
    """The source as channels of the result armature; poses (frames, bones, 4, 4) of the whole rig."""
    shear = shears(poses)
    shown, hung = riders(rig, skeleton, order, shear)
    bones = [*order, *shown, *hung]
    place = {bone: k for k, bone in enumerate(bones)}
    above, links = zip(*(_upwards(skeleton, bone, place) for bone in bones), strict=True)
    chosen = poses[:, bones].astype(np.float64)
    turns, sizes = rotations.split(chosen[..., :3, :3])
    sizes = np.where(np.abs(sizes) < NO_SCALE, np.where(sizes[..., :1] < 0.0, -NO_SCALE, NO_SCALE), sizes)
    names = tuple(skeleton.names[bone] for bone in bones)
    out = Channels(
        names=names,
        groups=(*names[: len(order) + len(shown)], *[_unshown(skeleton)] * len(hung)),
        above=np.array(above),
        links=links,
        connected=skeleton.connected[bones],
        quats=rotations.from_matrix(turns),
        heads=chosen[..., :3, 3],
        sizes=sizes,
        rotations=np.empty((*sizes.shape[:2], 4)),
        locations=np.zeros_like(sizes),
        scales=sizes.copy(),
        leads={},
        sheared=_sheared(skeleton, order, shear),
    )
    for k in range(len(bones)):
        out.rotations[:, k] = out.turn(k, out.quats[:, k])
        if not out.connected[k]:
            out.locations[:, k] = out.location(k, out.heads[:, k])
        if above[k] >= 0:
            out.scales[:, k] *= np.where(sizes[:, above[k], :1] < 0.0, -1.0, 1.0)
    for b, parent in enumerate(model.parents):
        if parent >= 0 and above[b] != parent:
            within = rotations.multiply(rotations.conjugate(out.quats[:, parent]), out.quats[:, above[b]])
            over = rotations.multiply(within, _turn_of(links[b]))
            out.leads[b] = rotations.multiply(rotations.conjugate(over), model.rest_rotations[b])
    return out


def _unshown(skeleton: Skeleton) -> str:
    """A group's name that no bone has."""
    name = UNSHOWN
    while name in skeleton.names:
        name += "_"
    return name


def _upwards(skeleton: Skeleton, bone: int, place: dict[int, int]) -> tuple[int, tuple[np.ndarray, ...]]:
    """The nearest keyed bone above, -1 for none, and the rest matrices from there down."""
    chain = []
    while True:
        parent = skeleton.parents[bone]
        local = skeleton.rests[bone] if parent < 0 else np.linalg.inv(skeleton.rests[parent]) @ skeleton.rests[bone]
        chain.append(local)
        if parent < 0 or parent in place:
            return place.get(parent, -1), tuple(chain[::-1])
        bone = parent


def shears(poses: np.ndarray) -> np.ndarray:
    """(frames, bones) how far bones (frames, bones, 4, 4) are sheared: the largest cosine between two of their axes."""
    x, y, z = np.moveaxis(poses[..., :3, :3].astype(np.float64), -1, 0)
    long = [np.maximum(np.linalg.norm(axis, axis=-1), 1e-12) for axis in (x, y, z)]
    pairs = ((x, y, long[0] * long[1]), (y, z, long[1] * long[2]), (z, x, long[2] * long[0]))
    return np.max([np.abs((a * b).sum(axis=-1)) / size for a, b, size in pairs], axis=0)


def _sheared(skeleton: Skeleton, order: list[int], shear: np.ndarray) -> tuple[tuple[str, int], ...]:
    seen = [bone for bone in order if shear[:, bone].max() > SHEAR_SEEN]
    seen.sort(key=lambda bone: -shear[:, bone].max())
    return tuple((skeleton.names[bone], int(shear[:, bone].argmax())) for bone in seen)


def notes(reading: Reading) -> list[str]:
    """A sentence on bodies that the result cannot show as they are."""
    sheared = reading.channels.sheared
    if not sheared:
        return []
    name, frame = sheared[0]
    more = f" So are {len(sheared) - 1} more." if len(sheared) > 1 else ""
    return [
        f"Bone '{name}' is sheared at frame {reading.frames[frame]} by a bone above it that is scaled unevenly: "
        f"the result shows it without. Set its Inherit Scale to Aligned, or scale evenly.{more}"
    ]


def riders(rig: bpy.types.Object, skeleton: Skeleton, order: list[int], shear: np.ndarray):
    """Ignored bones to be keyed: those to be shown too (IK solves them with a body, or they hang on a sheared bone),
    and those that connected ones hang on. `shear`: (frames, bones) of the source."""
    bodies, index = set(order), {name: i for i, name in enumerate(skeleton.names)}
    shown = set()
    for bone, constraint in constraints.solvers_of(rig):
        chain = [index[each.name] for each in constraints.solved_by(bone, constraint)]
        if bodies.intersection(chain):
            shown.update(i for i in chain if i not in bodies)
    sheared = shear.max(axis=0) > SHEARED
    for bone, parent in enumerate(skeleton.parents):  # parents come first
        if parent >= 0 and bone not in bodies and sheared[parent] and (parent in bodies or parent in shown):
            shown.add(bone)
    hung = set()
    for bone in (*order, *shown):
        while skeleton.connected[bone]:
            bone = skeleton.parents[bone]
            if bone in bodies or bone in shown:
                break
            hung.add(bone)
    return sorted(shown), sorted(hung)


def check_roots(rig: bpy.types.Object, reading: Reading) -> None:
    """Refuse a root that should leave the bone it is connected to: Blender lets no constraint do that."""
    if rig.heft.root == "ANIMATED":
        return
    for root in np.flatnonzero(reading.model.parents < 0):
        if reading.channels.connected[root]:
            one = reading.names[root]
            other = rig.data.bones[one].parent.name
            raise RigError(
                f"Bone '{one}' is connected to the ignored bone '{other}' and cannot leave it: give '{other}' physics, "
                f"disconnect '{one}' in Edit Mode, or set Root to Animated."
            )


def of_motion(reading: Reading, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(frames, m, 4) rotations and (frames, m, 3) locations of a simulated motion on the result armature."""
    own = reading.channels
    quats, locations = own.rotations.copy(), own.locations.copy()
    quats[:, : len(reading.names)] = motion.rotations
    for body, lead in own.leads.items():
        quats[:, body] = rotations.multiply(lead, motion.rotations[:, body])
    roots = np.flatnonzero(reading.model.parents < 0)
    world = rotations.multiply(reading.model.rest_rotations[None, roots], motion.rotations[:, roots])
    turned = reading.placement.rotations_to_rig(world)
    heads = reading.placement.points_to_rig(motion.positions[:, roots])
    for r, root in enumerate(roots):
        quats[:, root] = own.turn(root, turned[:, r])
        if not own.connected[root]:
            locations[:, root] = own.location(root, heads[:, r])
    return rotations.continuous(quats), locations
