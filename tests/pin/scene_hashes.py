"""Write the hashes of what every sample scene is simulated and baked to as JSON. Runs inside bpy.

    python tests/pin/scene_hashes.py FILE

Only operators and data-blocks are used, so that moving or renaming the add-on's modules does not touch this file.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import bpy  # noqa: E402  isort: skip
import numpy as np  # noqa: E402  isort: skip

from sample_scenes import SCENES, stage  # noqa: E402  isort: skip


def digest_of_actions() -> str:
    """SHA-256 of every key of every action of the file: path, index, time, value, handles, interpolation."""
    sha = hashlib.sha256()
    for action in sorted(bpy.data.actions, key=lambda each: each.name):
        sha.update(action.name.encode())
        for curve in sorted(stage.curves_of(action), key=lambda each: (each.data_path, each.array_index)):
            points = curve.keyframe_points
            sha.update(f"{curve.data_path}[{curve.array_index}] {len(points)}".encode())
            for what, width in (("co", 2), ("handle_left", 2), ("handle_right", 2)):
                values = np.zeros(width * len(points), dtype=np.float32)
                points.foreach_get(what, values)
                sha.update(values.tobytes())
            sha.update(" ".join(point.interpolation for point in points).encode())
    return sha.hexdigest()


def hashes_of(name: str) -> dict[str, str]:
    """The scene as built, with its result, and baked."""
    rig = importlib.import_module(f"sample_scenes.{name}").build()
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.heft.simulate() == {"FINISHED"}, name
    found = {f"{name} simulated": digest_of_actions()}
    assert bpy.ops.heft.bake(target="ACTION") == {"FINISHED"}, name
    return found | {f"{name} baked": digest_of_actions()}


if __name__ == "__main__":
    stage.load_addon()
    hashes: dict[str, str] = {}
    for scene in SCENES:
        hashes |= hashes_of(scene)
    Path(sys.argv[1]).write_text(json.dumps(hashes, indent=1))
