"""Recognise a body by the shape of its bone tree: two pairs of limbs on a trunk, up and forward.

Owns the measures of bodies for that. Must not know Blender or names.

People and four-legged animals have the same features: a plane that mirrors most of the bones, and two pairs of long
chains that start at bones in that plane. Legs are the pair nearer to the root, arms the pair whose bone carries a head.
The halves of a limb are distinguished by their lengths, a hand by its fingers.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .role_list import LEFT, RIGHT

# Distances in parts of the rig's size: tolerance for mirrored positions, tolerance for the middle, and what counts as
# no distance.
MIRROR_SLACK = 0.04
IN_THE_MIDDLE = 0.012
SAME_SPOT = 1e-4
# The cost of a bone without a mirror image, relative to one that has it.
UNLIKE_COST = 3.0
# The number of bones that are compared with their mirror images.
MOST_MIRRORED = 300
# Limbs reach at least this far.
SHORTEST_LIMB = 0.2
# Measures relative to a limb's two long segments together, for arms and legs: what comes after them (hand, foot), what
# comes before (collar, half a pelvis), and the logarithm of upper over lower.
BEYOND, BEFORE, UPPER_OVER_LOWER = (0.28, 0.22), (0.3, 0.15), (0.12, 0.05)
# Parts of a hand are shorter than this part of the whole arm.
HAND_OF_ARM = 0.45
# The cost of a joint in the middle plane as a shoulder or hip; 0 from this distance on [parts of the limb].
MIDDLE_COST, MIDDLE_REACH = 0.6, 0.08
# The facing direction is known if feet and trunk extend at least this far [parts of the size].
FACING_LEAST = 0.02
NAMES = (("COLLAR", "UPPER_ARM", "LOWER_ARM", "HAND", "FINGER"), ("PELVIS", "THIGH", "SHANK", "FOOT", "TOE"))


@dataclass(eq=False)
class Tree:
    """A bone tree. parents (n,) -1 for none; heads (n, 3); ends (n, 3), a leaf is no longer than the step from its
    parent; children; reach (n,) the longest path from a head to an end below; below (n,) all bones of each subtree;
    size."""

    parents: Sequence[int]
    heads: np.ndarray
    ends: np.ndarray
    children: list[list[int]]
    reach: np.ndarray
    below: list[np.ndarray]
    size: float

    @classmethod
    def build(cls, parents: Sequence[int], heads: np.ndarray, tails: np.ndarray) -> Tree:
        """Build from any tree of bones."""
        n = len(parents)
        children: list[list[int]] = [[] for _ in range(n)]
        for i, parent in enumerate(parents):
            if parent >= 0:
                children[parent].append(i)
        order, waiting = [], [i for i, parent in enumerate(parents) if parent < 0][::-1]
        while waiting:
            order.append(waiting.pop())
            waiting.extend(children[order[-1]][::-1])
        least = SAME_SPOT * float(np.ptp(heads, axis=0).max()) if n else 0.0
        ends, reach, counts = tails.copy(), np.zeros(n), np.ones(n, dtype=int)
        for i in reversed(order):
            if parents[i] >= 0:
                counts[parents[i]] += counts[i]
            if children[i]:
                steps = np.linalg.norm(heads[children[i]] - heads[i], axis=1)
                far = int(np.argmax(steps + reach[children[i]]))
                reach[i], ends[i] = steps[far] + reach[children[i][far]], heads[children[i]].mean(axis=0)
                continue
            # Importers give leaves implausible lengths.
            long = float(np.linalg.norm(tails[i] - heads[i]))
            reach[i] = min(long, _last_step(parents, heads, i, least))
            ends[i] = heads[i] + (tails[i] - heads[i]) * (reach[i] / max(long, 1e-30))
        # In this order each subtree is contiguous.
        line, below = np.array(order, dtype=int), [np.empty(0, dtype=int)] * n
        for place, i in enumerate(order):
            below[i] = line[place : place + counts[i]]
        size = float(np.ptp(np.concatenate([heads, ends]), axis=0).max()) if n else 0.0
        return cls(parents, heads, ends, children, reach, below, max(size, 1e-30))

    def path(self, bone: int) -> list[int]:
        """The bones from one along the longest path to an end."""
        out = [bone]
        while self.children[out[-1]]:
            out.append(max(self.children[out[-1]], key=lambda c: np.linalg.norm(self.heads[c] - self.heads[out[-1]])
                           + self.reach[c]))  # fmt: skip
        return out

    def above(self, bone: int) -> list[int]:
        """The bone and its ancestors, nearest first."""
        out = []
        while bone >= 0:
            out.append(bone)
            bone = self.parents[bone]
        return out


def _last_step(parents: Sequence[int], heads: np.ndarray, bone: int, least: float) -> float:
    """Distance of a bone from the nearest ancestor at another position."""
    above = parents[bone]
    while above >= 0:
        step = float(np.linalg.norm(heads[bone] - heads[above]))
        if step > least:
            return step
        above = parents[above]
    return np.inf


@dataclass(eq=False)
class Plan:
    """roles (n,) found by shape, or None; lateral, up, forward (3,) unit vectors, or None if unknown; middle: position
    of the mirror plane along `lateral`; stature: height from the soles to the top."""

    roles: list[str | None]
    lateral: np.ndarray | None = None
    middle: float = 0.0
    up: np.ndarray | None = None
    forward: np.ndarray | None = None
    stature: float = 0.0
    offsets: np.ndarray | None = None


def offsets(tree: Tree, plan: Plan) -> np.ndarray:
    """(n,) distance of each bone's subtree from the middle, along `lateral`."""
    if plan.offsets is None:
        where = tree.heads @ plan.lateral - plan.middle
        plan.offsets = np.array([where[below].mean() for below in tree.below])
    return plan.offsets


def left_of(tree: Tree, plan: Plan, sides: Sequence[str | None]) -> float:
    """The side of the mirror plane where the bones known as left are: +1 or -1, 0 if unknown."""
    aside = offsets(tree, plan)
    votes = sum(
        np.sign(aside[bone]) * (1.0 if side == LEFT else -1.0)
        for bone, side in enumerate(sides)
        if side in (LEFT, RIGHT) and abs(aside[bone]) > IN_THE_MIDDLE * tree.size
    )
    return float(np.sign(votes))


def find(tree: Tree, sides: Sequence[str | None] = ()) -> Plan:
    """Find the body in a tree of bones, as far as there is one; sides: those known of bones, used for the facing
    direction."""
    plan = Plan([None] * len(tree.parents))
    if len(tree.parents) < 6 or not _mirror(tree, plan):
        return plan
    pairs = _limb_pairs(tree, plan)
    if len(pairs) < 2:
        return plan
    legs, arms = _legs_and_arms(tree, plan, pairs)
    if not _carries_head(tree, plan, legs, arms):
        return plan
    joints = {limb: _fit(tree, plan, limb, is_leg=limb in legs[1:]) for limb in (*arms[1:], *legs[1:])}
    _stand(tree, plan, legs, arms, joints)
    left = left_of(tree, plan, sides)
    if left:
        plan.forward = left * np.cross(plan.lateral, plan.up)
    _name_trunk(tree, plan, legs, arms)
    for limb, cut in joints.items():
        _name_limb(tree, plan, limb, cut, is_leg=limb in legs[1:])
    return plan


def _mirror(tree: Tree, plan: Plan) -> bool:
    """Find the plane that mirrors most of the bones: across an axis of the rig, or across the line between two similar
    bones."""
    best = 0.0
    # Heads only: the direction of a leaf is an importer's guess.
    spots = tree.heads
    for axis in (*np.eye(3), *_lines_between_twins(tree)):
        along = spots @ axis
        for middle in {round(float(c), 9) for c in (0.0, tree.heads[_root(tree)] @ axis)}:
            off = along - middle
            images = spots - 2.0 * off[:, None] * axis
            outside = np.abs(off) > MIRROR_SLACK * tree.size
            if not outside.any():
                continue
            chosen = np.flatnonzero(outside)
            chosen = chosen[:: -(-len(chosen) // MOST_MIRRORED)]
            gaps = np.linalg.norm(images[chosen, None] - spots[None], axis=2).min(axis=1)
            weights = np.abs(off[chosen])
            score = float((weights * np.where(gaps < MIRROR_SLACK * tree.size, 1.0, -UNLIKE_COST)).sum())
            if score > best * 1.001:
                best, plan.lateral, plan.middle = score, axis, middle
    return best > 0.0


def _root(tree: Tree) -> int:
    return max((i for i, parent in enumerate(tree.parents) if parent < 0), key=lambda i: len(tree.below[i]))


def _lines_between_twins(tree: Tree) -> list[np.ndarray]:
    """Directions between the two siblings that are most similar and longest."""
    found = []
    for kids in tree.children:
        chains = [kid for kid in kids if len(tree.below[kid]) > 2]
        for one, other in itertools.combinations(chains[:12], 2):
            if len(tree.below[one]) != len(tree.below[other]):
                continue
            line = tree.heads[tree.below[one]].mean(axis=0) - tree.heads[tree.below[other]].mean(axis=0)
            found.append((tree.reach[one] + tree.reach[other], line / max(float(np.linalg.norm(line)), 1e-30)))
    found.sort(key=lambda pair: -pair[0])
    return [line for _, line in found[:2]]


def _limb_pairs(tree: Tree, plan: Plan) -> list[tuple[int, int, int]]:
    """(hub, one limb, the other), the longest first: mirrored siblings below a bone in the middle."""
    found = []
    off = offsets(tree, plan)
    spots = np.array([tree.heads[below].mean(axis=0) for below in tree.below])
    for hub, kids in enumerate(tree.children):
        if abs((tree.heads[hub] @ plan.lateral) - plan.middle) > MIRROR_SLACK * tree.size:
            continue
        long = [kid for kid in kids if tree.reach[kid] > SHORTEST_LIMB * tree.size and off[kid] != 0.0]
        for one, other in itertools.combinations(long, 2):
            reach = min(tree.reach[one], tree.reach[other])
            image = spots[one] - 2.0 * (spots[one] @ plan.lateral - plan.middle) * plan.lateral
            alike = np.linalg.norm(image - spots[other]) < MIRROR_SLACK * tree.size
            if alike and off[one] * off[other] < 0.0:
                found.append((reach, (hub, one, other)))
    found.sort(key=lambda pair: -pair[0])
    pairs: list[tuple[int, int, int]] = []
    for _, pair in found:
        taken = {limb for each in pairs for limb in each[1:]}
        if taken.isdisjoint(pair[1:]) and not any(pair[0] in tree.below[limb] for limb in taken):
            pairs.append(pair)
    return pairs


def _legs_and_arms(tree: Tree, plan: Plan, pairs: list) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Decide which of the two longest pairs are legs: arms start at what carries a head, farther from the root."""
    one, other = pairs[:2]
    for legs, arms in ((one, other), (other, one)):
        if arms[0] != legs[0] and arms[0] in tree.below[legs[0]]:
            return legs, arms
    heads = [bool(_middle_child(tree, plan, pair[0])) for pair in (one, other)]
    if heads[0] != heads[1]:
        return (other, one) if heads[0] else (one, other)
    fingers = [sum(len(tree.below[limb]) for limb in pair[1:]) for pair in (one, other)]
    return (other, one) if fingers[0] > fingers[1] else (one, other)


def _carries_head(tree: Tree, plan: Plan, legs, arms) -> bool:
    """True if there is something like a head beyond the arms that does not hang as the legs do: nets and fringes have
    pairs too."""
    head = _middle_child(tree, plan, arms[0])
    if head is None:
        return arms[0] != legs[0]
    up = tree.heads[legs[0]] - np.mean([tree.ends[tree.path(limb)[-1]] for limb in legs[1:]], axis=0)
    way = tree.ends[tree.path(head)[-1]] - tree.heads[arms[0]]
    return bool(way @ up > -0.5 * np.linalg.norm(way) * np.linalg.norm(up))


def _middle_child(tree: Tree, plan: Plan, bone: int, but: Sequence[int] = ()) -> int | None:
    """The child in the middle plane with the longest reach."""
    limit = IN_THE_MIDDLE * tree.size
    off = offsets(tree, plan)
    kids = [c for c in tree.children[bone] if abs(off[c]) < limit and c not in but and tree.reach[c] > limit]
    return max(kids, key=lambda c: tree.reach[c] + np.linalg.norm(tree.heads[c] - tree.heads[bone]), default=None)


def _fit(tree: Tree, plan: Plan, limb: int, is_leg: bool) -> tuple[list[int], int, int, int]:
    """The limb's path, and the indices at which the upper half, the lower half and the hand or foot begin."""
    path = tree.path(limb)
    points = np.concatenate([tree.heads[path], tree.ends[path[-1:]]])
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    count = len(path)
    hand = None if is_leg else _hand(tree, path, way)
    aside = np.abs(points @ plan.lateral - plan.middle)
    best = (np.inf, 0, min(1, count - 1), count)
    for upper, lower, end in itertools.combinations(range(min(count, 12) + 1), 3):
        if lower >= count or (hand is not None and end != hand):
            continue
        a, b = way[lower] - way[upper], way[end] - way[lower]
        if min(a, b) <= 1e-6 * tree.size:
            continue
        # A joint is where its chain continues from: of several at one position the last.
        cost = abs(np.log(a / b) - UPPER_OVER_LOWER[is_leg])
        if hand is None:
            cost += abs((way[-1] - way[end]) / (a + b) - BEYOND[is_leg])
        if upper > 0:
            cost += 0.7 * abs(way[upper] / (a + b) - BEFORE[is_leg])
        cost += MIDDLE_COST * max(0.0, 1.0 - aside[upper] / (MIDDLE_REACH * (a + b)))
        best = min(best, (float(cost), upper, lower, end))
    return path, *best[1:]


def _hand(tree: Tree, path: list[int], way: np.ndarray) -> int | None:
    """The index on an arm's path where fingers branch."""
    for k, bone in enumerate(path[2:], 2):
        if way[-1] - way[k] < HAND_OF_ARM * way[-1]:
            spread = [c for c in tree.children[bone] if tree.reach[c] > 0.0]
            if len(spread) > 1:
                return k
    return None


def _stand(tree: Tree, plan: Plan, legs, arms, joints: dict) -> None:
    """Find the up and forward directions and the stature."""
    ends = np.array([tree.ends[joints[limb][0][-1]] for limb in legs[1:]])
    ankles = np.array([_ankle(tree, joints[limb]) for limb in legs[1:]])
    feet = np.sum([_toes(tree, joints[limb]) for limb in legs[1:]], axis=0) - ankles.sum(axis=0)
    hip, shoulder = (np.mean([tree.heads[joints[limb][0][joints[limb][1]]] for limb in pair[1:]], axis=0)
                     for pair in (legs, arms))  # fmt: skip
    up = hip - ankles.mean(axis=0)
    up -= (up @ plan.lateral) * plan.lateral
    plan.up = up / max(float(np.linalg.norm(up)), 1e-30)
    # Toes point forward, and so do a person's bent knees; on four legs the shoulders are in front of the hips, not
    # above.
    knees = np.mean([tree.heads[joints[limb][0][joints[limb][2]]] for limb in legs[1:]], axis=0)
    upright = ((shoulder - hip) @ plan.up / max(float(np.linalg.norm(shoulder - hip)), 1e-30)) ** 2
    ahead = feet + upright**4 * (2.0 * knees - hip - ankles.mean(axis=0)) + (1.0 - upright) * (shoulder - hip)
    ahead -= (ahead @ plan.up) * plan.up + (ahead @ plan.lateral) * plan.lateral
    if np.linalg.norm(ahead) > FACING_LEAST * tree.size:
        plan.forward = ahead / np.linalg.norm(ahead)
    heights = np.concatenate([tree.heads, tree.ends]) @ plan.up
    plan.stature = float(heights.max() - (ends @ plan.up).min())


def _ankle(tree: Tree, cut: tuple[list[int], int, int, int]) -> np.ndarray:
    """The start of a limb's hand or foot, or its end without one."""
    path, _, _, foot = cut
    return tree.heads[path[foot]] if foot < len(path) else tree.ends[path[-1]]


def _toes(tree: Tree, cut: tuple[list[int], int, int, int]) -> np.ndarray:
    """The mean of a foot's ends."""
    path, _, _, foot = cut
    below = tree.below[path[foot]] if foot < len(path) else path[-1:]
    return np.mean([tree.ends[bone] for bone in below if not tree.children[bone]], axis=0)


def _name_trunk(tree: Tree, plan: Plan, legs, arms) -> None:
    """Assign roles: pelvis, spine, neck, head, tail."""
    up_from_legs, up_from_arms = tree.above(legs[0]), tree.above(arms[0])
    shared = next((bone for bone in up_from_arms if bone in up_from_legs), None)
    reach = 0.3 * min(tree.reach[limb] for limb in legs[1:])
    for bone in up_from_arms[: up_from_arms.index(shared) if shared is not None else None]:
        plan.roles[bone] = "SPINE"
    for bone in up_from_legs:
        # A bone on the floor between the feet is no pelvis.
        if np.linalg.norm(tree.heads[bone] - tree.heads[legs[0]]) < reach:
            plan.roles[bone] = "PELVIS"
    _name_head(tree, plan, arms)
    for bone in [b for b in up_from_legs if plan.roles[b] == "PELVIS"]:
        tail = _middle_child(tree, plan, bone, but=[*up_from_legs, *up_from_arms])
        if tail is not None and _is_behind(tree, plan, tail, bone):
            for each in tree.below[tail]:
                plan.roles[each] = "TAIL"


def _is_behind(tree: Tree, plan: Plan, bone: int, pelvis: int) -> bool:
    """True if a chain is behind the pelvis, whichever of its ends is the start."""
    way = tree.heads[tree.below[bone]].mean(axis=0) - tree.heads[pelvis]
    return plan.forward is not None and way @ plan.forward < -0.3 * np.linalg.norm(way)


def _name_head(tree: Tree, plan: Plan, arms) -> None:
    """Assign roles to the chain in the middle beyond the arms: a head at its end, or where a face begins."""
    bone = _middle_child(tree, plan, arms[0], but=[b for b, role in enumerate(plan.roles) if role])
    chain = []
    while bone is not None:
        chain.append(bone)
        if len(chain) > 1 and len(tree.children[bone]) > 1:
            break
        bone = tree.children[bone][0] if len(tree.children[bone]) == 1 else None
    for each in chain[:-1]:
        plan.roles[each] = "NECK"
    if chain:
        plan.roles[chain[-1]] = "HEAD"


def _name_limb(tree: Tree, plan: Plan, limb: int, cut: tuple[list[int], int, int, int], is_leg: bool) -> None:
    """Assign roles to the bones of an arm or a leg; side branches are part of the bone they start from."""
    path, upper, lower, end = cut
    before, first, second, third, last = NAMES[is_leg]
    for k, bone in enumerate(path):
        plan.roles[bone] = before if k < upper else first if k < lower else second if k < end else third
        if k > end:
            plan.roles[bone] = last
    for bone in tree.below[limb]:
        above = plan.roles[tree.parents[bone]]
        if plan.roles[bone] is None:
            plan.roles[bone] = last if above == third else above
