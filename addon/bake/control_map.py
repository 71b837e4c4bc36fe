"""Map from bodies to the controls that move them, with the switches that enable the controls.

Owns the guess and its text form. Must not know keys or frames: `fit_controls` finds the controls' values.

The guess is measured: every posable bone is turned a little (`probe_controls`). A body's control is the one that turns
the body and as little else as possible. So Rigify and most other rigs need no table of names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np

from ..blender import ik_solvers, own_marks
from ..errors import RigError
from ..settings.bake_controls import PARTS
from . import probe_controls
from .probe_controls import Responses, is_whole

# Prefixes of mechanism bones in Rigify and similar rigs.
WORKS = ("ORG-", "MCH-", "DEF-", "VIS_", "WGT-")
# Constraint types that override a bone's rotation channels.
OVERRIDING = (
    "COPY_TRANSFORMS", "COPY_ROTATION", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "STRETCH_TO", "TRANSFORM", "ACTION",
)  # fmt: skip
# A control that moves at least this part of the bodies is the base of them all.
ALL_BODIES = 0.95
# The ends of a body that is a piece of its control lie within this distance of the control [parts of its length].
BESIDE = 0.2
MARK = "heft_controls"


class Control(NamedTuple):
    """A control, the body it follows, and which part of it is keyed."""

    control: str
    body: str
    part: str


class Switch(NamedTuple):
    """A property and the value at which the controls take effect."""

    path: str
    value: float


@dataclass(frozen=True)
class Mapping:
    """The controls and switches that Bake to Controls uses."""

    controls: tuple[Control, ...]
    switches: tuple[Switch, ...]


def of_rig(rig: bpy.types.Object, scene: bpy.types.Scene, bodies: list[str]) -> tuple[Mapping, Responses]:
    """The rig's own list, or a guess where it has none; with the responses that were measured."""
    if not len(rig.heft.controls):
        return guess(rig, scene, bodies)
    mapping = listed_on(rig)
    _check(rig, mapping.controls, bodies)
    names = tuple(dict.fromkeys(entry.control for entry in mapping.controls))
    return mapping, probe_controls.measure(rig, scene, names, mapping.switches)


def listed_on(rig: bpy.types.Object) -> Mapping:
    """The rig's own list."""
    controls = tuple(Control(item.control, item.body, item.part) for item in rig.heft.controls)
    return Mapping(controls, tuple(Switch(item.path, item.value) for item in rig.heft.switches))


def store(rig: bpy.types.Object, mapping: Mapping) -> None:
    """Write a mapping into the rig's lists."""
    heft = rig.heft
    heft.controls.clear()
    heft.switches.clear()
    for entry in mapping.controls:
        item = heft.controls.add()
        item.control, item.body, item.part = entry
    for switch in mapping.switches:
        item = heft.switches.add()
        item.path, item.value = switch
    heft.control_index = heft.switch_index = 0


def narrowed(rig: bpy.types.Object, scene: bpy.types.Scene, mapping: Mapping, bodies: set[str]) -> Mapping:
    """The part of a mapping for some bodies: their controls, and the switches that these need."""
    controls = tuple(entry for entry in mapping.controls if entry.body in bodies)
    turning = [entry for entry in controls if entry.part != "REST"]
    names = tuple(dict.fromkeys(entry.control for entry in turning))
    needed = []
    for switch in mapping.switches:
        turned = [other if other != switch else Switch(switch.path, 1.0 - switch.value) for other in mapping.switches]
        found = probe_controls.measure(rig, scene, names, turned)
        if not all(is_whole(found.of(entry.control, entry.body)[0]) for entry in turning):
            needed.append(switch)
    return Mapping(controls, tuple(needed))


def sentence(rig: bpy.types.Object) -> str:
    """A sentence on the mapping that Bake to Controls will use."""
    count = len({item.control for item in rig.heft.controls})
    return f"{count} controls of the list" if count else "the controls that are found"


def listed(names: list[str]) -> str:
    """Some names joined for a sentence; the rest is counted."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(f"'{name}'" for name in names[:3]) + more


def short_path(path: str) -> str:
    """Bone and property of a switch, for a narrow list."""
    match = re.fullmatch(r'pose\.bones\["(.+?)"\]\W*(.*?)\W*', path)
    return f"{match[1]} {match[2]}" if match else path


def _check(rig: bpy.types.Object, controls: tuple[Control, ...], bodies: list[str]) -> None:
    for entry in controls:
        for name in (entry.control, entry.body):
            if name not in rig.pose.bones:
                raise RigError(f"'{rig.name}' has no bone '{name}': correct the list of controls, or find them again.")
        if entry.body not in bodies:
            raise RigError(
                f"'{entry.body}', which the control '{entry.control}' shall follow, is not simulated: correct the list "
                "of controls, or find them again."
            )


# --- the guess -------------------------------------------------------------------------


def guess(rig: bpy.types.Object, scene: bpy.types.Scene, bodies: list[str]) -> tuple[Mapping, Responses]:
    """Measure which controls turn each body, and choose."""
    switches = tuple(_switches(rig, bodies))
    taken = overrides(rig, switches)
    free = [name for name in bodies if name not in taken and not all(rig.pose.bones[name].lock_rotation)]
    posable = list(_posable(rig, bodies, taken))
    found = probe_controls.measure(rig, scene, (*posable, *free), switches)
    entries = _turners(rig, found, posable, bodies, free)
    entries = _based(rig, found, posable, bodies, entries)
    entries += _tweaks(rig, bodies, taken.keys() | {entry.control for entry in entries})
    return Mapping(tuple(entries), switches), found


def overrides(rig: bpy.types.Object, switches: tuple[Switch, ...] = (), adding: bool = False) -> dict[str, str]:
    """What overrides each bone's rotation channels, by bone, named for a sentence. Constraints that a switch turns off
    are left out, limits too. adding: include what only adds to the channels."""
    found: dict[str, str] = {}
    ours = set(own_marks.muted_solvers(rig))
    off = {switch.path for switch in switches if switch.value == 0.0}
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            if constraint.name == own_marks.CONSTRAINT or f"{constraint.path_from_id()}.influence" in off:
                continue
            muted = constraint.mute and (bone.name, constraint.name) not in ours
            if muted or not constraint.is_valid or constraint.influence <= 0.0:
                continue
            if constraint.type in ik_solvers.SOLVERS:
                for solved in ik_solvers.solved_by(bone, constraint):
                    found.setdefault(solved.name, f"'{constraint.name}' on '{bone.name}'")
                continue
            replaces = constraint.type in OVERRIDING and getattr(constraint, "mix_mode", "REPLACE") == "REPLACE"
            if replaces or (adding and not constraint.type.startswith("LIMIT_")):
                found.setdefault(bone.name, f"its constraint '{constraint.name}'")
    for curve in rig.animation_data.drivers if rig.animation_data else ():
        name, channel = _driven_rotation(curve.data_path)
        if name:
            found.setdefault(name, f"a driver on its {channel}")
    return found


def _driven_rotation(path: str) -> tuple[str, str]:
    """The bone whose rotation a data path names, and the channel; empty names if it names none."""
    match = re.fullmatch(r'pose\.bones\["(.+)"\]\.(rotation_\w+)', path)
    return (bpy.utils.unescape_identifier(match[1]), match[2].replace("_", " ")) if match else ("", "")


def _solvers(rig: bpy.types.Object):
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            if constraint.type in ik_solvers.SOLVERS:
                yield bone, constraint


def _switches(rig: bpy.types.Object, bodies: list[str]) -> Iterator[Switch]:
    """Properties named IK_FK or similar, and IK that solves bodies directly. Driven ones are left out."""
    driven = {curve.data_path for curve in rig.animation_data.drivers} if rig.animation_data else set()
    for bone in rig.pose.bones:
        for name, value in bone.items():
            letters = re.sub("[^a-z]", "", name.lower())
            if not isinstance(value, (int, float)) or not ("ikfk" in letters or "fkik" in letters):
                continue
            path = f'{bone.path_from_id()}["{bpy.utils.escape_identifier(name)}"]'
            if path not in driven:
                yield Switch(path, 1.0 if "ikfk" in letters else 0.0)
    for bone, constraint in _solvers(rig):
        path = f"{constraint.path_from_id()}.influence"
        ours = (bone.name, constraint.name) in own_marks.muted_solvers(rig)
        if path in driven or (constraint.mute and not ours):
            continue
        if any(solved.name in bodies for solved in ik_solvers.solved_by(bone, constraint)):
            yield Switch(path, 0.0)


def _posable(rig: bpy.types.Object, bodies: list[str], taken: dict[str, str]) -> Iterator[str]:
    """Bones that an animator would grab: they have a custom shape (if any bone has one) and may turn."""
    shaped = any(bone.custom_shape is not None for bone in rig.pose.bones)
    for bone in rig.pose.bones:
        if bone.name in bodies or bone.name.startswith(WORKS) or (shaped and bone.custom_shape is None):
            continue
        if not any(bone.lock_rotation) and bone.name not in taken:
            yield bone.name


def _turners(rig, found: Responses, posable: list[str], bodies: list[str], free: list[str]) -> list[Control]:
    """For each body the control that turns it and as little else as possible; the body itself if its own channels have
    effect."""
    rows = [found.rows[name] for name in posable]
    columns = [found.columns[name] for name in bodies]
    whole = is_whole(found.swing[np.ix_(rows, columns)])
    spread = found.moved[rows].sum(axis=1)
    far = _distances(rig, posable, bodies)
    own = [
        min(np.flatnonzero(whole[:, b]), key=lambda c: (spread[c], far[c, b]), default=-1) for b in range(len(bodies))
    ]
    entries = []
    for b, (name, c) in enumerate(zip(bodies, own, strict=True)):
        nearest = c >= 0 and min((i for i, other in enumerate(own) if other == c), key=lambda i: far[c, i]) == b
        if nearest or (c >= 0 and name not in free and _lies_along(rig, posable[c], name)):
            entries.append(Control(posable[c], name, "ROTATION"))
        elif name in free:
            connected = rig.pose.bones[name].bone.use_connect and rig.pose.bones[name].parent is not None
            entries.append(Control(name, name, "ROTATION" if connected else "ALL"))
    return entries


def _lies_along(rig: bpy.types.Object, control: str, body: str) -> bool:
    """True if the body is a piece of what the control stands for, such as half an arm. A separate bone next to a head
    is not."""
    head, tail = (np.array(end) for end in (rig.data.bones[control].head_local, rig.data.bones[control].tail_local))
    long = np.square(tail - head).sum()
    for end in (rig.data.bones[body].head_local, rig.data.bones[body].tail_local):
        part = np.clip((np.array(end) - head) @ (tail - head) / max(long, 1e-18), 0.0, 1.0)
        if np.square(head + part * (tail - head) - np.array(end)).sum() > BESIDE**2 * long:
            return False
    return True


def _distances(rig: bpy.types.Object, controls: list[str], bodies: list[str]) -> np.ndarray:
    """(controls, bodies) distances at rest between two bones, head to head and tail to tail; either bone may point
    backwards."""
    ends = [
        np.array([[bone.head_local, bone.tail_local] for bone in map(rig.data.bones.get, names)]).reshape(-1, 2, 3)
        for names in (controls, bodies)
    ]
    ways = [ends[0][:, None, order] - ends[1][None] for order in ([0, 1], [1, 0])]
    return np.min([np.linalg.norm(way.reshape(*way.shape[:2], 6), axis=2) for way in ways], axis=0)


def _based(rig, found: Responses, posable: list[str], bodies: list[str], entries: list[Control]) -> list[Control]:
    """Give the control that carries all bodies the body that the fewest other controls turn, with its location."""
    rows = [found.rows[name] for name in posable]
    columns = [found.columns[name] for name in bodies]
    whole = is_whole(found.swing[np.ix_(rows, columns)])
    carriers = [
        c
        for c, (name, row) in enumerate(zip(posable, rows, strict=True))
        if found.moved[row, columns].mean() > ALL_BODIES
        and whole[c].any()
        and not any(rig.pose.bones[name].lock_location)
    ]
    if not carriers:
        return entries
    base = min(carriers, key=lambda c: found.moved[rows[c]].sum())
    far = _distances(rig, [posable[base]], bodies)[0]
    led = {e.body: found.moved[found.rows[e.control]].sum() for e in entries if e.control != e.body}

    def rank(b: int) -> tuple:
        return bodies[b] not in led, whole[:, b].sum(), -led.get(bodies[b], 0), far[b]

    body = bodies[min(np.flatnonzero(whole[base]), key=rank)]
    others = [entry for entry in entries if entry.body != body]
    return [Control(posable[base], body, "ALL"), *others]


def _tweaks(rig: bpy.types.Object, bodies: list[str], used: set[str]) -> Iterator[Control]:
    """Tweak controls between a body and its main control: the body's last Copy Transforms target, or found by name."""
    for name in bodies:
        plain = name.removeprefix("DEF-")
        stem, dot, rest = plain.partition(".")
        wanted = [
            constraint.subtarget
            for constraint in rig.pose.bones[name].constraints
            if constraint.type == "COPY_TRANSFORMS" and constraint.target == rig and constraint.influence > 0.0
        ]
        wanted += [f"tweak_{plain}", f"{stem}_tweak{dot}{rest}"]
        for control in wanted:
            bone = rig.pose.bones.get(control)
            if bone is None or control in used or control in bodies or control.startswith(WORKS):
                continue
            if not any(bone.lock_location):
                yield Control(control, name, "REST")
                break


# --- as text ---------------------------------------------------------------------------


def to_text(mapping: Mapping) -> str:
    """The mapping as JSON, for another rig with the same controls."""
    return json.dumps(
        {MARK: 1, "controls": [list(entry) for entry in mapping.controls], "switches": [*map(list, mapping.switches)]},
        indent=1,
    )


def from_text(text: str, where: str) -> Mapping:
    """The mapping in such a text. where: the file's name, for the error message."""
    try:
        read = json.loads(text)
        if read[MARK] != 1:
            raise ValueError(f"version {read[MARK]}")
        controls = tuple(Control(*map(str, entry)) for entry in read["controls"])
        switches = tuple(Switch(str(path), float(value)) for path, value in read["switches"])
    except (ValueError, KeyError, TypeError) as error:
        raise RigError(f"'{where}' is no list of controls ({error}): choose a file that Save Controls wrote.") from None
    known = [part[0] for part in PARTS]
    for entry in controls:
        if entry.part not in known:
            raise RigError(f"'{where}' has an unknown part '{entry.part}' for '{entry.control}': use {known}.")
    return Mapping(controls, switches)
