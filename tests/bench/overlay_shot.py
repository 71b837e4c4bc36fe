"""A mannequin of 74 bones with skin that walks on the ground, saved for the overlays' bench.

python tests/bench/overlay_shot.py FILE.blend
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import bpy
from mathutils import Vector

from sample_scenes import mannequin, stage, walk
from sample_scenes.skin import Skin

FRAMES, BONES = 120, 74


def more_bones() -> list[tuple[str, str, Vector, Vector]]:
    """Fingers, toes and a pony-tail: what makes 74 of the mannequin's bones."""
    own = {name: (head, tail) for name, _, head, tail in mannequin.bones()}
    rows = []
    for side in "LR":
        for parent, fingers, joints, long in (("hand", 5, 3, 0.025), ("foot", 5, 2, 0.02)):
            head, tail = own[f"{parent}.{side}"]
            along = (tail - head).normalized()
            for finger in range(fingers):
                at, above = tail + Vector((0.012 * (finger - 2), 0.0, 0.0)), f"{parent}.{side}"
                for joint in range(joints):
                    name = f"{parent}_end.{finger}.{joint}.{side}"
                    rows.append((name, above, at, at + along * long))
                    at, above = at + along * long, name
    at, above = own["head"][1], "head"
    while len(own) + len(rows) < BONES:
        name = f"tail.{len(rows)}"
        rows.append((name, above, at, at + Vector((0.0, 0.05, -0.04))))
        at, above = rows[-1][3], name
    return rows


def main(path: str) -> None:
    stage.load_addon()
    stage.empty(FRAMES)
    more = more_bones()
    rig = stage.rig("Walker", [*mannequin.bones(), *more])
    assert len(rig.data.bones) == BONES
    mannequin.add_body(rig)
    skin = Skin(rig)
    for name, *_ in more:
        skin.capsule(name, 0.008, 0.006)
    skin.bind("Fingers")
    rig.location = (0, 1.5, 0)
    walk.key_walk(rig, FRAMES)
    # all of them are bodies, though Add Physics would let fingers ride
    every = dict.fromkeys((bone.name for bone in rig.data.bones), "SIMULATED")
    stage.add_physics(rig, every, settle_time=0.3, heaviness=0.2, root="ASSISTED", assist=2.0, ground=True)
    bpy.ops.wm.save_as_mainfile(filepath=path)


if __name__ == "__main__":
    main(sys.argv[-1])
    sys.stdout.flush()
    os._exit(0)  # Blender as a module may crash when it is taken down
