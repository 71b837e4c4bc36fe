"""Cached answers for the panel: height, roles, shot members, cycle; recomputed after edits.

Owns these answers and the events that invalidate them: height and roles change with the armature, shots with any edit.
Must not draw, and must not cache inputs of a simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bpy

from ...engine import HeftError
from ...engine.anatomy import size_guess
from ...engine.anatomy.role_list import Part
from ..blender import engine_space
from ..memory import EDIT, EDIT_ARMATURE, EDIT_ROLES, LOAD, UNDO, Value
from ..read import cycles, frame_plan, shot
from ..rig import bone_roles, first_guess, physical_ends
from . import draw_cache

OF_ARMATURE = (EDIT_ARMATURE, (LOAD, UNDO, EDIT_ROLES))
_tall: draw_cache.Answers[float] = draw_cache.Answers("heights", *OF_ARMATURE)
_person: draw_cache.Answers[float] = draw_cache.Answers("heights of persons", *OF_ARMATURE)
_found: draw_cache.Answers[dict[str, Part]] = draw_cache.Answers("roles found", *OF_ARMATURE)
_parts: draw_cache.Answers[dict[str, Part]] = draw_cache.Answers("roles shown", *OF_ARMATURE)
_cycles: draw_cache.Answers[tuple[cycles.Cycle | None, str]] = draw_cache.Answers("cycles", EDIT)
_shots: Value[list[shot.Shot] | None] = Value("shots of the file", lambda: None, (LOAD, UNDO, EDIT))


def height_in_meters(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """The height of a standing person in the simulation, or for other rigs the longest side of the rest pose [m]."""
    tall = _person_height(rig) or _kept(_tall, rig, lambda: physical_ends.height(rig))
    meters = engine_space.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
    return tall * first_guess.units_in_rig(rig) * meters


def doubt(rig: bpy.types.Object, scene: bpy.types.Scene) -> size_guess.Doubt | None:
    """What is implausible about the rig's size and mass, or None."""
    tall, mass = height_in_meters(rig, scene), rig.heft.total_mass
    if _person_height(rig) > 0.0:
        return size_guess.doubt_of_person(tall, mass)
    has_legs = {"THIGH", "SHANK"} <= {part.role for part in parts(rig).values()}
    return size_guess.doubt_of_animal(tall, mass) if has_legs else size_guess.doubt_of_thing(tall)


def _person_height(rig: bpy.types.Object) -> float:
    """Height of a person from soles to crown [armature units]; 0 for other rigs."""
    return _kept(_person, rig, lambda: first_guess.bone_height(rig))


def found(rig: bpy.types.Object) -> dict[str, Part]:
    """The detected part of each bone."""
    return _kept(_found, rig, lambda: dict(bone_roles.found_in(rig)))


def parts(rig: bpy.types.Object) -> dict[str, Part]:
    """The part of each bone, corrections included."""
    return _kept(_parts, rig, lambda: dict(bone_roles.roles_of(rig)))


def shots() -> list[shot.Shot]:
    """All shots of the file."""
    known = _shots.value
    if known is None or not _alive(ob for each in known for ob in (*each.rigs, *each.things, *each.carried)):
        known = _shots.value = shot.scan()
    return known


def shot_of(rig: bpy.types.Object) -> shot.Shot:
    """The rig's shot."""
    return next((each for each in shots() if rig in each.rigs), None) or shot.of(rig)


def shots_with(ob: bpy.types.Object | None) -> list[tuple[bpy.types.Object, bool]]:
    """The armatures whose shot contains a mesh object, and whether one of their bones carries it."""
    if ob is None or ob.type != "MESH":
        return []
    hits = [(rig, any(load.ob == ob for load in each.loads[rig]), each) for each in shots() for rig in each.rigs]
    return [(rig, aboard) for rig, aboard, each in hits if aboard or ob in each.objects]


def cycle(rig: bpy.types.Object, scene: bpy.types.Scene) -> tuple[cycles.Cycle | None, str]:
    """The cycle of the rig's shot, if any; and the error of its range, if any."""

    def look() -> tuple[cycles.Cycle | None, str]:
        try:
            return frame_plan.plan_of(shot_of(rig), scene).cycle, ""
        except HeftError as error:
            return None, str(error)

    return _cycles.ask(rig.session_uid, f"{scene.session_uid} {rig.heft.loop}", look)


def _kept(answers: draw_cache.Answers, rig: bpy.types.Object, look: Callable):
    return answers.ask((rig.session_uid, rig.data.session_uid), "", look)


def _alive(obs: Iterable[bpy.types.Object]) -> bool:
    """True if no object was deleted."""
    try:
        return all(ob.name is not None for ob in obs)
    except ReferenceError:
        return False
