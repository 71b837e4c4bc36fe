"""Strength by role: the largest torques of a person's joints (METHODS §2).

Owns the figures and their scaling to a body's mass. Must not know how roles are detected, nor what a drive does at its
limit.

A joint has one limit, so each role has the torque of its strongest direction, isometric, at the joint's best angle [N m
a kilogram of body mass]. A joint without a known role holds three times the weight of what it carries
(`Model.strengths`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import SettingError
from ..model.model import Model

# Anderson, Madigan, Nussbaum 2007 (J Biomech 40:3105), men of 18 to 25: C₁ · mass · g · height, here 1.75 m.
_TALL = 9.81 * 1.75
# The whole-body torque muscles of RBDL (Millard; after Jackson, Kentel, Dolan, Raschke and others): a gymnast [kg].
_GYMNAST = 69.6
# Maximum isometric neck strength of nine men (doi 10.1007/s10439-014-1046-0), assumed to have this mass [kg].
_MAN = 75.0
STRENGTH_OF_ROLE = {
    "hip": 0.161 * _TALL,  # extension
    "knee": 0.163 * _TALL,  # extension
    "ankle": 0.095 * _TALL,  # plantarflexion
    "shoulder": 128.5 / _GYMNAST,  # horizontal adduction
    "elbow": 101.4 / _GYMNAST,  # flexion
    "wrist": 39.2 / _GYMNAST,  # flexion
    "spine": 687.9 / _GYMNAST,  # extension, bent forward
    "neck": 51.0 / _MAN,  # extension
}


def strength_limits(
    model: Model, roles: Mapping[str, str | None] | Sequence[str | None], mass: float | None = None
) -> np.ndarray:
    """(n,) [N m] the largest torque of each joint at strength 1: that of a strong person of this mass.

    roles   body name → role, or one role for each body; None or a missing body: by the weight that it carries. A collar
            bone counts as a shoulder, or it would yield before the arm does
    mass    [kg] the body's; None for the model's
    """
    given = _by_body(model, roles)
    total = model.total_mass if mass is None else float(mass)
    if not (np.isfinite(total) and total > 0.0):
        raise SettingError(f"The body's mass is {mass} kg: give a number above zero.")
    limits = model.strengths.copy()
    for body, role in enumerate(given):
        if role is None:
            continue
        if role not in STRENGTH_OF_ROLE:
            known = ", ".join(STRENGTH_OF_ROLE)
            raise SettingError(f"Body '{model.names[body]}' has the role '{role}': use one of {known}, or None.")
        limits[body] = total * STRENGTH_OF_ROLE[role]
    return limits


def _by_body(model: Model, roles) -> list[str | None]:
    if isinstance(roles, Mapping):
        out: list[str | None] = [None] * len(model)
        for name, role in roles.items():
            out[model.index(name)] = role
        return out
    if len(roles) != len(model):
        raise SettingError(f"There are {len(roles)} roles for {len(model)} bodies: give one a body, None for no role.")
    return list(roles)
