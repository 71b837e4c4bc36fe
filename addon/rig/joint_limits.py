"""Joint limits: as set, as the rig has them, or the natural ones.

Owns the choice, and the conversion of Limit Rotation constraints, IK limits and locks into the engine's swing, twist
and hinge angles. Must not know what roles are or how they are detected.

Limits that the user switches on also limit the keys. Natural limits never do: they are widened to what the source
needs, so that an undisturbed motion does not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from ...engine import HINGE, Model
from ...engine.anatomy.joint_limit import SPARE, Range, of_axes

NO_SOURCE = np.zeros((0, 4))
# A hinge uses an axis of the natural range if the cosine between the two is at least this.
SAME_AXIS = 0.8
# A hinge that the source turns farther than this is a wheel [rad]; its limits are so wide that it never reaches them.
WHEEL, NEVER_MET = 1.9 * np.pi, 1e4


def lay_down(
    model: Model,
    bones: Sequence[bpy.types.PoseBone],
    own: Sequence[bool],
    joints: np.ndarray,
    kinds: np.ndarray,
    axes: np.ndarray,
    ranges: Mapping[int, Range],
    natural: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(n, 4) limits, (n, 2, 4) their frames, (n,) True for natural ones, and (n, 4) the relaxed pose, as in `Model`.

    bones            of the bodies
    own              (n,) True if the joint is the one that the rig's limits are about: of the bone and its parent
    joints           (frames, n, 4) of the source
    kinds and axes   as in `Model`
    ranges           by body, the natural range of its joint, for all bodies with a parent
    natural          True if natural limits are switched on
    """
    bounds, frames, yields = model.limits.copy(), model.limit_frames.copy(), model.limits_natural.copy()
    relaxed = model.relaxed.copy()
    for b, bone in enumerate(bones):
        if model.parents[b] < 0:
            continue
        look = bone.heft
        yields[b] = not look.use_limits
        if kinds[b] == HINGE:
            axis = int(np.abs(axes[b, 0]).argmax())
            bounds[b] = (-np.inf, np.inf, np.inf, np.inf)
            if look.use_limits and look.limits_from != "NONE":
                bounds[b, :2] = _hinge(bone, axis)
            elif natural and not look.use_limits:
                bounds[b, :2] = _natural_hinge(bone, axis, joints[:, b], ranges[b])
        elif look.use_limits:
            if look.limits_from != "NONE":
                bounds[b], frames[b] = _ball(bone, own[b])
        elif natural:
            found = of_rig(bone) if own[b] else None
            here = of_axes(_filled(found, ranges[b]), joints[:, b]) if found is not None else ranges[b]
            bounds[b], frames[b] = here.limits, here.frames
            if here.relaxed is not None:
                relaxed[b] = here.relaxed
    return bounds, frames, yields, relaxed


def _hinge(bone: bpy.types.PoseBone, axis: int) -> tuple[float, float]:
    """Lowest and highest angle [rad] about one of the bone's own axes."""
    found = of_rig(bone) if bone.heft.limits_from == "RIG" else None
    if found is not None and found[axis] is not None:
        return found[axis]
    return (bone.heft.limit_low, bone.heft.limit_high)


def _natural_hinge(bone: bpy.types.PoseBone, axis: int, joint: np.ndarray, here: Range) -> tuple[float, float]:
    """The same for natural limits or those of the rig, widened to what the source does."""
    found = of_rig(bone)
    ends = found[axis] if found is not None else None
    if ends is None and here.ends is not None and abs(here.axis[axis]) > SAME_AXIS:
        low, high, rest = here.ends
        ends = (low - rest, high - rest) if here.axis[axis] > 0.0 else (rest - high, rest - low)
    if ends is None:
        ends = _axis_ends(here, axis)
    angle = 2.0 * np.arctan2(joint[:, 1 + axis], joint[:, 0])
    angle = np.unwrap((angle + np.pi) % (2.0 * np.pi) - np.pi)
    if np.ptp(angle) > WHEEL:
        return (-NEVER_MET, NEVER_MET)
    return (min(ends[0], float(angle.min()) - SPARE), max(ends[1], float(angle.max()) + SPARE))


def _axis_ends(here: Range, axis: int) -> tuple[float, float]:
    """The extent of a ball joint's range about one of the bone's axes: lowest and highest angle [rad] from rest."""
    swing, low, high, across = here.limits
    if axis == 1:
        return (low, high)
    most = min(across if axis == 2 and np.isfinite(across) else swing, np.pi)
    return (-most, most)


def _filled(pairs: list[tuple[float, float] | None], here: Range) -> list[tuple[float, float]]:
    """A rig's limits about X, Y and Z, with those of the natural range for axes without any."""
    return [_axis_ends(here, axis) if pair is None else pair for axis, pair in enumerate(pairs)]


def _ball(bone: bpy.types.PoseBone, own: bool) -> tuple[np.ndarray, np.ndarray]:
    """Limits (4,) and their frames (2, 4) as set by the user: the rig's, or a cone about rest."""
    found = of_rig(bone) if own and bone.heft.limits_from == "RIG" else None
    if found is not None:
        here = of_axes(found, NO_SOURCE)
        return here.limits, here.frames
    look = bone.heft
    limits = np.array([look.limit_swing, look.limit_low, look.limit_high, np.inf])
    return limits, np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))


def of_rig(bone: bpy.types.PoseBone) -> list[tuple[float, float] | None] | None:
    """Lowest and highest angle about X, Y and Z [rad], None for an axis without limits; None without any.

    A Limit Rotation constraint in local space counts first, then the IK limits and locks.
    """
    for constraint in bone.constraints:
        if constraint.type == "LIMIT_ROTATION" and constraint.enabled and constraint.owner_space == "LOCAL":
            pairs = [_pair(constraint, f"use_limit_{axis}", f"min_{axis}", f"max_{axis}") for axis in "xyz"]
            if any(pairs):
                return pairs
    pairs = [
        (0.0, 0.0) if getattr(bone, f"lock_ik_{axis}") else
        _pair(bone, f"use_ik_limit_{axis}", f"ik_min_{axis}", f"ik_max_{axis}")
        for axis in "xyz"
    ]  # fmt: skip
    return pairs if any(pairs) else None


def _pair(holder, switch: str, low: str, high: str) -> tuple[float, float] | None:
    if not getattr(holder, switch):
        return None
    a, b = getattr(holder, low), getattr(holder, high)
    return (min(a, b), max(a, b))
