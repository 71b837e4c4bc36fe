"""Distance of joints from their limits, for skeletons made without Blender and for rigs that the add-on has read.

Imports the engine of the test's environment: in Blender `heft.engine`, else `engine`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

if TYPE_CHECKING or "heft" not in sys.modules:
    from engine.anatomy import joint_limit, natural_joint_limits
    from engine.anatomy.joint_limit import Range
    from engine.anatomy.rest_body import RestBody, RestBones
else:
    from heft.engine.anatomy import joint_limit, natural_joint_limits
    from heft.engine.anatomy.rest_body import RestBody

DOWN, UP, FRONT, BACK = np.array([0, 0, -1.0]), np.array([0, 0, 1.0]), np.array([0, -1.0, 0]), np.array([0, 1.0, 0])
REST = np.array([[1.0, 0.0, 0.0, 0.0]])


def still(bones: RestBones) -> dict[int, Range]:
    return natural_joint_limits.ranges(bones, np.tile([1.0, 0.0, 0.0, 0.0], (1, len(bones.parts), 1)))


def room(bones: RestBones, found: dict[int, Range], name: str, towards: np.ndarray, angle: float) -> float:
    """Distance to the nearest limit of a bone that is turned from rest towards a direction by an angle [degrees];
    negative outside its range."""
    b = bones.names.index(name)
    way = RestBody(bones, REST[:, None]).way(b)
    axis = np.cross(way, towards)
    turn = Rotation.from_rotvec(np.radians(angle) * bones.turns[b].T @ axis / np.linalg.norm(axis))
    outside = joint_limit.outside(found[b].limits, found[b].frames, turn.as_quat(scalar_first=True)[None])
    return float(-np.degrees(outside[0]))
