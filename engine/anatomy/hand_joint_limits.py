"""Joint ranges of people's fingers, thumbs and toes, and the side on which the palm is.

Owns the table of their joints, how a finger's bones are identified, and which way they bend. Must not know Blender, nor
the rest of the body.

A finger's bones do not show which way it closes. The palm is found from the thumb and the hand's side, from the curl of
the fingers at rest, and from how the source closes them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import bone_names
from .joint_limit import Range
from .rest_body import RestBody, across, unit
from .role_list import LEFT, RIGHT


class Bend(NamedTuple):
    """[degrees] of a hinge-like joint: extension, flexion, sideways, twist, and the relaxed flexion."""

    extends: float
    flexes: float
    sides: float
    turns: float
    relaxed: float


# American Academy of Orthopaedic Surgeons 1965 and American Medical Association 1988, in Norkin & White, Measurement
# of Joint Motion, app. A. Where the two differ, between them: extension of a knuckle 45° and 20°, flexion of the last
# joint 90° and 70°. Relaxed: a hand at rest (Tubiana, Examination of the Hand and Wrist: knuckles about 45°, middle
# joints 30 to 45°, last joints 10 to 20°). To the sides and about their length hinges give a few degrees; with less
# than 12 the light bones of fingers and toes overshoot the narrow range within a step of 1/240 s.
KNUCKLE = Bend(30.0, 90.0, 20.0, 12.0, 35.0)
MIDDLE_JOINT = Bend(5.0, 100.0, 12.0, 12.0, 35.0)
LAST_JOINT = Bend(10.0, 80.0, 12.0, 12.0, 20.0)
THUMB_KNUCKLE = Bend(10.0, 50.0, 12.0, 12.0, 15.0)
THUMB_LAST = Bend(20.0, 80.0, 12.0, 12.0, 20.0)
# A thumb's root: 70° away from the palm, 20° back and 15° forward, as one cone about its rest direction.
THUMB_ROOT_SWINGS, THUMB_ROOT_TURNS = 35.0, 25.0
# A wrist does not twist, but some rigs twist the hand instead of the forearm.
WRIST = Bend(70.0, 80.0, 30.0, 30.0, 0.0)
# A thumb closes across the palm, and by this part of it into the palm.
THUMB_DIPS = 0.4
# Great toe: 70° up, 45° down; the others 40° both ways, their further joints 35° and 60° down.
TOE_ROOT = Bend(70.0, 40.0, 15.0, 15.0, 0.0)
TOE_JOINT = Bend(30.0, 45.0, 12.0, 12.0, 10.0)
# Without a table: the bones of a palm move a little, and so do end markers of fingers.
PALM = Bend(10.0, 20.0, 10.0, 8.0, 5.0)
# A toe parallel to the shin does not show where the sole is; a finger without a known palm bends to any side.
TOE_SWINGS, FINGER_SWINGS = 40.0, 60.0
# The weights of a known side and a known thumb, against the curl of the fingers [rad].
SIDE_COUNTS = 0.5
# A finger that deviates from the others' direction by this much is a thumb [degrees].
THUMB_LEAVES = 35.0
# A bone that begins this near to the wrist is one of the palm [parts of what it carries].
AT_THE_WRIST = 0.15
THUMB_WORDS = ("thumb", "pollex", "親指")
CARRIERS = ("HAND", "LOWER_ARM")


class Palm(NamedTuple):
    """A hand: normal (3,) out of the palm, ahead (3,) along the fingers, radial (3,) to the thumb's side; fingers:
    lists of bodies from knuckle to tip; thumbs: the same; roots: bodies of the palm."""

    normal: np.ndarray | None
    ahead: np.ndarray
    radial: np.ndarray | None
    fingers: list[list[int]]
    thumbs: list[list[int]]
    roots: list[int]


def palms(body: RestBody) -> dict[int, Palm]:
    """The palms, by the body that carries the fingers."""
    found = {}
    for hand in range(len(body.bones.parts)):
        kids = [kid for kid in body.children[hand] if body.role(kid) == "FINGER"]
        if kids and body.role(hand) in CARRIERS:
            found[hand] = _palm(body, hand, kids)
    return found


def ranges(body: RestBody, palms: dict[int, Palm]) -> dict[int, Range]:
    """Joint ranges of fingers, thumbs and toes, by body."""
    found: dict[int, Range] = {}
    for palm in palms.values():
        for b in palm.roots:
            found[b] = _bent(body, b, body.way(b), palm.normal, PALM)
        for finger in palm.fingers:
            found |= _finger(body, finger, palm)
        for thumb in palm.thumbs:
            found |= _thumb(body, thumb, palm)
    for b in range(len(body.bones.parts)):
        if body.role(b) == "TOE" and body.parent(b) >= 0:
            found[b] = _toe(body, b)
    return found


def wrist(body: RestBody, b: int, straight: np.ndarray, palm: Palm | None) -> Range:
    """The joint of a hand: towards the palm if it is known, else the same to all sides. straight (3,): the forearm's
    direction."""
    if palm is None or palm.normal is None or np.linalg.norm(across(palm.normal, straight)) < 0.5:
        return body.even(b, WRIST.extends, WRIST.turns, straight)
    return _bent(body, b, straight, across(palm.normal, straight), WRIST)


def _palm(body: RestBody, hand: int, kids: list[int]) -> Palm:
    roots: list[int] = []
    rows = [row for kid in kids for row in _rows(body, hand, kid, roots)]
    named = [row for row in rows if _is_thumb(body, row[0])]
    thumbs = named or _odd_one(body, rows)
    fingers = [row for row in rows if row not in thumbs]
    heads = body.bones.heads
    if not fingers:
        return Palm(None, body.way(hand), None, fingers, thumbs, roots)
    bases = heads[[row[0] for row in fingers]]
    ahead = bases.mean(axis=0) - heads[hand]
    if np.linalg.norm(ahead) < 0.3 * np.linalg.norm(body.bones.ways[[row[0] for row in fingers]], axis=1).mean():
        ahead = sum(body.way(row[0]) for row in fingers)
    ahead = unit(ahead)
    radial = _radial(body, hand, bases, thumbs, fingers, ahead)
    normal = None
    if radial is not None:
        normal = unit(np.cross(ahead, radial))
        known = {LEFT: 1.0, RIGHT: -1.0}.get(body.side(hand), 0.0) * SIDE_COUNTS
        curl = np.mean([_curl(body, finger, np.cross(ahead, normal)) for finger in fingers])
        # without thumb and names the two ends of a line across the fingers cannot be distinguished
        score = curl + (known if thumbs or _told(body, fingers) else 0.0)
        normal = normal if score >= 0.0 else -normal
    return Palm(normal, ahead, radial, fingers, thumbs, roots)


def _rows(body: RestBody, hand: int, first: int, roots: list[int]) -> list[list[int]]:
    """The fingers that begin with a body, or beyond it if it is a bone of the palm, which is added to `roots`."""
    kids = [kid for kid in body.children[first] if body.role(kid) == "FINGER"]
    row = [first]
    while len(more := [kid for kid in body.children[row[-1]] if body.role(kid) == "FINGER"]) == 1:
        row += more
    is_thumb = _is_thumb(body, first)
    piece = bool(body.bones.names) and bone_names.told(body.bones.names[first]).is_piece
    gap = float(np.linalg.norm(body.bones.heads[first] - body.bones.heads[hand]))
    reach = float(np.linalg.norm(body.bones.ways[row], axis=1).sum())
    # The last of four bones may be an end marker, as in Mixamo's rigs.
    first_of_four = len(row) > 3 and gap < float(np.linalg.norm(body.bones.ways[first]))
    in_palm = len(kids) > 1 or (kids and not is_thumb and (piece or first_of_four or gap < AT_THE_WRIST * reach))
    if in_palm:
        roots.append(first)
        return [each for kid in kids for each in _rows(body, first, kid, roots)]
    return [row]


def _name(body: RestBody, b: int) -> str:
    return body.bones.names[b].lower() if body.bones.names else ""


def _is_thumb(body: RestBody, b: int) -> bool:
    return any(word in _name(body, b) for word in THUMB_WORDS)


def _told(body: RestBody, fingers: list[list[int]]) -> bool:
    names = [_name(body, row[0]) for row in fingers]
    return any("index" in name for name in names) and any("pink" in name or "little" in name for name in names)


def _odd_one(body: RestBody, rows: list[list[int]]) -> list[list[int]]:
    """Without names, the finger that points away from all others, of which there must be two at least."""
    if len(rows) < 3 or any("index" in _name(body, row[0]) for row in rows):
        return []
    ways = np.array([body.way(row[0]) for row in rows])
    apart = np.degrees(np.arccos(np.clip(ways @ ways.T, -1.0, 1.0)))
    nearest = np.array([np.delete(row, k).min() for k, row in enumerate(apart)])
    odd = int(np.argmax(nearest))
    return [rows[odd]] if nearest[odd] > THUMB_LEAVES else []


def _radial(body: RestBody, hand: int, bases: np.ndarray, thumbs, fingers, ahead: np.ndarray) -> np.ndarray | None:
    """(3,) across the hand: to the thumb, else to the index finger, else along the row of knuckles to either end."""
    line = None
    spread = across(bases - bases.mean(axis=0), ahead)
    if len(bases) > 1 and np.linalg.norm(spread) > 1e-3 * body.size * 0.1:
        line = unit(np.linalg.svd(spread)[2][0])
    if thumbs:
        ends = [body.bones.heads[b] + body.bones.ways[b] for row in thumbs for b in row]
        towards = across(np.mean(ends, axis=0) - bases.mean(axis=0), ahead)
        if line is None:
            return unit(towards) if np.linalg.norm(towards) > 1e-9 else None
        return line if line @ towards >= 0.0 else -line
    if line is not None and _told(body, fingers):
        names = [_name(body, row[0]) for row in fingers]
        index = next(k for k, name in enumerate(names) if "index" in name)
        return line if line @ (bases[index] - bases.mean(axis=0)) >= 0.0 else -line
    return line


def _curl(body: RestBody, finger: list[int], axis: np.ndarray) -> float:
    """The bend of a finger about an axis, at rest plus the mean of the source [rad]."""
    total = 0.0
    for k, b in enumerate(finger):
        way = body.way(b)
        if k > 0:
            total += _angle(body.way(finger[k - 1]), way[None], axis)
        total += _angle(way, body.went(b), axis)
    return total


def _angle(start: np.ndarray, ends: np.ndarray, axis: np.ndarray) -> float:
    """The mean angle from a direction to others (k, 3) about an axis [rad]."""
    a, b = across(start, axis), across(ends, axis)
    return float(np.arctan2(np.cross(a, b) @ axis, b @ a).mean())


def _finger(body: RestBody, finger: list[int], palm: Palm) -> dict[int, Range]:
    """Knuckle, middle and last joint, and further ones."""
    if palm.normal is None:
        return {b: _unsided(body, finger, k) for k, b in enumerate(finger)}
    straight = across(body.way(finger[0]), palm.normal)
    straight = unit(straight) if np.linalg.norm(straight) > 0.3 else palm.ahead
    axis = unit(np.cross(straight, palm.normal))
    found = {finger[0]: _bent(body, finger[0], straight, palm.normal, KNUCKLE)}
    for k, b in enumerate(finger[1:], 1):
        above = body.way(finger[k - 1])
        kind = (MIDDLE_JOINT, LAST_JOINT, PALM)[min(k, 3) - 1]
        found[b] = _bent(body, b, above, np.cross(axis, above), kind)
    return found


def _thumb(body: RestBody, thumb: list[int], palm: Palm) -> dict[int, Range]:
    """The root is a saddle joint, the further joints close across the palm."""
    found = {thumb[0]: body.even(thumb[0], THUMB_ROOT_SWINGS, THUMB_ROOT_TURNS)}
    for k, b in enumerate(thumb[1:], 1):
        above = body.way(thumb[k - 1])
        bends = body.bends(b, above)
        if palm.normal is not None:
            closes = across(THUMB_DIPS * palm.normal - palm.radial, above)
            if bends is None or bends @ unit(closes) < 0.8:
                bends = closes
        if bends is None or np.linalg.norm(bends) < 0.1:
            found[b] = body.even(b, THUMB_KNUCKLE.flexes, THUMB_KNUCKLE.turns, above)
        else:
            kinds = (THUMB_LAST, PALM) if len(thumb) == 2 else (THUMB_KNUCKLE, THUMB_LAST, PALM)
            found[b] = _bent(body, b, above, bends, kinds[min(k, len(kinds)) - 1])
    return found


def _unsided(body: RestBody, finger: list[int], k: int) -> Range:
    """A finger of a hand with an unknown palm: it bends as at rest or in the source, else to any side."""
    b = finger[k]
    if k == 0:
        return body.even(b, FINGER_SWINGS, KNUCKLE.turns)
    above = body.way(finger[k - 1])
    bends = body.bends(b, above)
    if bends is None:
        return body.even(b, FINGER_SWINGS, MIDDLE_JOINT.turns, above)
    return _bent(body, b, above, bends, LAST_JOINT if k > 1 else MIDDLE_JOINT)


def _toe(body: RestBody, b: int) -> Range:
    """Up towards the shin, down towards the sole."""
    shank = body.above(b, ("SHANK",))
    foot = body.above(b, ("FOOT",))
    way = body.way(b)
    if shank < 0:
        return body.even(b, TOE_SWINGS, TOE_ROOT.turns)
    start = body.bones.heads[foot if foot >= 0 else b] - body.bones.heads[shank]
    down = across(unit(start) if np.linalg.norm(start) > 0.0 else body.way(shank), way)
    if np.linalg.norm(down) < 0.3:
        return body.even(b, TOE_SWINGS, TOE_ROOT.turns)
    is_root = body.role(body.parent(b)) != "TOE" or len(body.children[body.parent(b)]) > 1
    return _bent(body, b, way, unit(down), TOE_ROOT if is_root else TOE_JOINT)


def _bent(body: RestBody, b: int, straight: np.ndarray, bends: np.ndarray | None, kind: Bend) -> Range:
    if bends is None or np.linalg.norm(across(bends, straight)) < 1e-3:
        return body.even(b, max(kind.extends, kind.flexes), kind.turns, straight)
    return body.laid(b, straight, bends, (-kind.extends, kind.flexes), kind.sides, kind.turns, kind.relaxed)
