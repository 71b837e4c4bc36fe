"""The character that the panel offers in an empty scene: the mannequin on a walk, as a file inside the extension.

No scene of its own. Written with the others by `python3 dev.py scenes`.
"""

from __future__ import annotations

import bpy

from . import mannequin, stage, walk

PATH = stage.ROOT / "addon" / "sample_character.blend"
NAME = "Walker"
FRAMES = 250  # as many as a new file of Blender's has


def build() -> bpy.types.Object:
    """The walker alone, without physics."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rig = stage.rig(NAME, mannequin.bones())
    mannequin.add_body(rig)
    walk.key_walk(rig, FRAMES)
    return rig


def write() -> None:
    """Its two objects with all they need, and nothing else."""
    rig = build()
    bpy.data.libraries.write(str(PATH), {rig, *rig.children}, fake_user=False, compress=True)
    print(f"{PATH.relative_to(stage.ROOT)}  {PATH.stat().st_size / 1000:.0f} kB")
