"""How far a joint may turn: from the rig's own limits, or as set.

Owns the translation of Limit Rotation constraints and IK limits into the engine's
swing, twist and hinge angles. Must not know motion.
"""

from __future__ import annotations

import bpy

ANY = (-3.141592653589793, 3.141592653589793)


def hinge(bone: bpy.types.PoseBone, axis: int) -> tuple[float, float]:
    """Lowest and highest angle [rad] about one of the bone's own axes."""
    found = of_rig(bone) if bone.heft.limits_from == "RIG" else None
    if found is not None and found[axis] is not None:
        return found[axis]
    return (bone.heft.limit_low, bone.heft.limit_high)


def ball(bone: bpy.types.PoseBone) -> tuple[float, float, float]:
    """Largest swing of the bone from its rest direction, lowest and highest twist about it [rad]."""
    found = of_rig(bone) if bone.heft.limits_from == "RIG" else None
    if found is None:
        return (bone.heft.limit_swing, bone.heft.limit_low, bone.heft.limit_high)
    # A cone that holds what the two axes across the bone allow.
    x, y, z = (pair or ANY for pair in found)
    return (max(abs(end) for end in (*x, *z)), *y)


def of_rig(bone: bpy.types.PoseBone) -> list[tuple[float, float] | None] | None:
    """Lowest and highest angle about X, Y and Z [rad], None for an axis without limits; None without any.

    A Limit Rotation constraint in local space counts first, then the IK limits.
    """
    for constraint in bone.constraints:
        if constraint.type == "LIMIT_ROTATION" and constraint.enabled and constraint.owner_space == "LOCAL":
            pairs = [_pair(constraint, f"use_limit_{axis}", f"min_{axis}", f"max_{axis}") for axis in "xyz"]
            if any(pairs):
                return pairs
    pairs = [_pair(bone, f"use_ik_limit_{axis}", f"ik_min_{axis}", f"ik_max_{axis}") for axis in "xyz"]
    return pairs if any(pairs) else None


def _pair(holder, switch: str, low: str, high: str) -> tuple[float, float] | None:
    if not getattr(holder, switch):
        return None
    a, b = getattr(holder, low), getattr(holder, high)
    return (min(a, b), max(a, b))
