"""Rigs of `menagerie` as limp bodies that can be thrown: what Add Physics makes of them.

A rig whose size is doubted in the panel is thrown at the size that the button there gives it.

Owns how a rig becomes a `Fall`: one armature of its file, controller Limp, root Free, the pose in the middle of its
motion. Must not simulate.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT, ROOT / "tests" / "addon", ROOT / "tests"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from falling import Fall  # noqa: E402

import menagerie  # noqa: E402
import mixamo_like  # noqa: E402
from sample_scenes import stage  # noqa: E402

MIXAMO = "mixamo_like"  # besides the names of `menagerie`


def read_fall(name: str, folder: Path, ignored: Callable[[str, str], bool] | None = None) -> Fall:
    """The rig of this name. `ignored`: which bones, by name and role, are no bodies."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    stage.load_addon()
    if name == MIXAMO:
        mixamo_like.open_imported(1.0, folder, mixamo_like.WALK)
    else:
        menagerie.open_rig(name, folder)
    rigs = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and len(ob.data.bones)]
    rig = max(rigs, key=lambda ob: len(ob.data.bones))
    bpy.context.view_layer.objects.active = rig
    return fall_of(rig, name, ignored)


def fall_of(rig: bpy.types.Object, name: str, ignored: Callable[[str, str], bool] | None = None) -> Fall:
    """A rig of the open file, with the pose that it has in the middle of the scene's frames."""
    from heft.addon.blender import engine_space, sample_poses
    from heft.addon.read import read_controller, read_rig, read_scene, shot
    from heft.addon.rig import bone_roles
    from heft.addon.simulate import session
    from heft.addon.ui import answers

    scene = bpy.context.scene
    bpy.ops.heft.add()
    doubt = answers.doubt(rig, scene)
    if doubt is not None and doubt.mass == 0.0:
        bpy.ops.heft.set_size()  # what the panel offers beside its warning: from 100 m a fall takes longer than is seen
    rig.heft.controller, rig.heft.root, rig.heft.ground = "LIMP", "FREE", True
    roles = bone_roles.roles_of(rig)
    for bone in rig.pose.bones:
        if ignored is not None and ignored(bone.name, roles[bone.name].role):
            bone.heft.behaviour = "IGNORED"
    samples = sample_poses.finish(sample_poses.sample(rig, scene, read_controller.frame_range(rig, scene)))
    meters = engine_space.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
    reading = read_rig.read(rig, scene, samples, meters, solid=True)
    middle = len(reading.frames) // 2
    motion = dataclasses.replace(
        reading.motion,
        rotations=reading.motion.rotations[middle : middle + 1],
        positions=reading.motion.positions[middle : middle + 1],
        stepped=reading.motion.stepped[middle : middle + 1],
    )
    reading = dataclasses.replace(reading, motion=motion, frames=np.arange(1))
    controller = read_controller.controller_of(rig, reading.model, reading.names, reading.frames)
    world = read_scene.build(scene, shot.of(rig), [reading], (), (), meters)
    return Fall(
        name=name,
        model=reading.model,
        rotations=motion.rotations[0],
        positions=motion.positions[0],
        controller=controller,
        scene=dataclasses.replace(world, ground=None),
        overlapping=frozenset(read_scene.overlapping(reading)),
        height=session.height_in_meters(rig, scene),
        roles=tuple(roles[bone].role for bone in reading.names),
    )


def main() -> None:
    """Write a rig's `Fall` to a file; --plain: without fingers and toes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("name")
    options.add_argument("path", type=Path)
    options.add_argument("--plain", action="store_true")
    asked = options.parse_args()
    ignored = (lambda _, role: role in ("FINGER", "TOE")) if asked.plain else None
    with tempfile.TemporaryDirectory() as folder:
        read_fall(asked.name, Path(folder), ignored).save(asked.path)
    sys.stdout.flush()
    os._exit(0)  # Blender as a module may crash or wait for ever on leaving Python


if __name__ == "__main__":
    main()
