"""Pose scripts: a list of named poses and seconds, turned into keys of a new action.

Owns where poses are found, how they are saved, and the keys made of them. Must not know physics.

A pose is what an action's curves say on one frame: at a pose marker, or at the start of an action
that is an asset (Blender's pose library). Saving a pose makes such an asset. A name is looked for
among the markers of the rig's own action, then in the library, then among other actions' markers.

From Python:

    pose_scripts.save(rig, "ArmsUp")
    pose_scripts.make_keys(rig, scene, [("ArmsFront", 0.3), ("ArmsUp", 0.3)], start=1)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import bpy
import numpy as np

from ..blender import actions, bone_channels, pose_library, setting_paths
from ..errors import RigError

QUATERNION = "rotation_quaternion"

# A pose: channel values by data path and index.
Pose = dict[tuple[str, int], float]


def find(rig: bpy.types.Object, name: str) -> Pose:
    """The pose of that name."""
    own = actions.active_action(rig)
    library = [action for action in bpy.data.actions if action.asset_data is not None and action.name == name]
    others = [action for action in bpy.data.actions if action != own]
    for action in (own, *library, *others):
        if action is None:
            continue
        marker = action.pose_markers.get(name)
        if marker is None and action not in library:
            continue
        frame = float(marker.frame) if marker is not None else action.curve_frame_range[0]
        pose = _pose_at(rig, action, frame)
        if not pose:
            raise RigError(
                f"The pose '{name}' of action '{action.name}' moves no bone of '{rig.name}': choose another."
            )
        return pose
    known = ", ".join(f"'{each}'" for each in pose_library.names(rig)) or "none"
    raise RigError(f"There is no pose '{name}': save it, or set a pose marker of that name. There are {known}.")


def _pose_at(rig: bpy.types.Object, action: bpy.types.Action, frame: float) -> Pose:
    """The values of an action's bone channels on a frame."""
    bones = tuple(bone.path_from_id() for bone in rig.pose.bones)
    pose: Pose = {}
    for bag in actions.bags(action, actions.slot_of(rig) if action == actions.active_action(rig) else None):
        for curve in bag.fcurves:
            path = curve.data_path
            if path.startswith(bones) and not setting_paths.is_setting(path) and len(curve.keyframe_points):
                pose.setdefault((path, curve.array_index), curve.evaluate(frame))
    return pose


def save(rig: bpy.types.Object, name: str) -> bpy.types.Action:
    """Save the rig's present pose as an asset of the pose library in this file."""
    if not name.strip():
        raise RigError("The pose has no name: give it one.")
    taken = bpy.data.actions.get(name)
    if taken is not None:
        raise RigError(f"There is an action '{name}' already: choose another name, or rename that one.")
    action = actions.new_action(name, rig)
    bag = actions.ensure_bag(action)
    for (path, index), (bone, value) in _present(rig).items():
        curve = actions.ensure_curve(bag, {}, path, index, bone)
        actions.write_keys(curve, np.ones(1, dtype=np.float32), np.array([value], dtype=np.float32))
    action.asset_mark()
    action.use_fake_user = True
    return action


def _present(rig: bpy.types.Object) -> dict[tuple[str, int], tuple[str, float]]:
    """The present values of the bones' transform channels: bone and value of each."""
    found = {}
    for bone in rig.pose.bones:
        for name in ("location", bone_channels.rotation_path(bone), "scale"):
            for index, value in enumerate(getattr(bone, name)):
                found[f"{bone.path_from_id()}.{name}", index] = (bone.name, float(value))
    return found


def make_keys(
    rig: bpy.types.Object, scene: bpy.types.Scene, script: Sequence[tuple[str, float]], start: float | None = None
) -> bpy.types.Action:
    """Create an action on the rig that goes from the present pose through the script's poses.

    script    poses by name, and the seconds from the pose before to each
    start     the frame of the present pose; the current frame if not given

    The rig's previous action stays in the file.
    """
    if not script:
        raise RigError("The script is empty: add poses to it.")
    data = rig.animation_data
    if data is not None and data.use_tweak_mode:
        raise RigError(f"'{rig.name}' is in NLA tweak mode: leave it first, so that it can take a new action.")
    for k, (name, seconds) in enumerate(script, 1):
        if not name:
            raise RigError(f"Entry {k} of the script has no pose: choose one.")
        if not (np.isfinite(seconds) and seconds > 0.0):
            raise RigError(f"The pose '{name}' takes {seconds:g} seconds: give a number above zero.")
    fps = scene.render.fps / scene.render.fps_base
    begin = float(scene.frame_current if start is None else start)
    times = begin + np.cumsum([seconds for _, seconds in script]) * fps
    poses = [find(rig, name) for name, _ in script]
    keys = _collect(rig, begin, times, poses)
    old = actions.active_action(rig)
    action = actions.new_action(f"{rig.name} script", rig)
    bag = actions.ensure_bag(action)
    for (path, index), points in keys.items():
        _write(actions.ensure_curve(bag, {}, path, index, _bone_of(rig, path)), points)
    actions.assign(rig, action)
    if old is not None and old.users == 0:
        old.use_fake_user = True
    return action


def _collect(rig, begin: float, times: Iterable[float], poses: list[Pose]) -> dict[tuple[str, int], list]:
    """(frame, value) of all keys by channel: first the present value, then those of the poses that contain the
    channel."""
    keys: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for channel in dict.fromkeys(channel for pose in poses for channel in pose):
        keys[channel] = [(begin, _now(rig, channel))]
    for time, pose in zip(times, poses, strict=True):
        for channel, value in pose.items():
            keys[channel].append((time, value))
    _turn_short_way(keys)
    return keys


def _now(rig: bpy.types.Object, channel: tuple[str, int]) -> float:
    path, index = channel
    try:
        value = rig.path_resolve(path)
    except ValueError:
        raise RigError(f"A pose moves '{path}', which '{rig.name}' does not have: remove that curve.") from None
    return float(value[index]) if hasattr(value, "__len__") else float(value)


def _turn_short_way(keys: dict[tuple[str, int], list]) -> None:
    """Flip quaternions to the hemisphere of the key before: a quaternion and its negative are the same rotation."""
    for path in {path for path, _ in keys if path.endswith(QUATERNION)}:
        parts = [keys.get((path, i)) for i in range(4)]
        if any(part is None for part in parts) or len({len(part) for part in parts}) > 1:
            continue
        for k in range(1, len(parts[0])):
            if sum(part[k][1] * part[k - 1][1] for part in parts) < 0.0:
                for part in parts:
                    part[k] = (part[k][0], -part[k][1])


def _write(curve: bpy.types.FCurve, points: list[tuple[float, float]]) -> None:
    curve.keyframe_points.add(len(points))
    curve.keyframe_points.foreach_set("co", np.array(points, dtype=np.float32).ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(points), actions.BEZIER, dtype=np.int32))
    for side in ("handle_left_type", "handle_right_type"):
        kinds = np.full(len(points), actions.AUTOMATIC_HANDLES[-1], dtype=np.int32)
        curve.keyframe_points.foreach_set(side, kinds)
    curve.update()


def _bone_of(rig: bpy.types.Object, path: str) -> str:
    """The bone that a channel belongs to, which names its curves' group."""
    return next(bone.name for bone in rig.pose.bones if path.startswith(bone.path_from_id()))
