"""Puts the project under the name `heft` into Blender, whatever its folder is called.

`heft.engine` and `engine` would be two different modules: add-on tests use the first.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NEWEST = "5.0"
# What hangs on no part of Blender that came or went between its versions: tried in the newest, and in the others where
# their suite is asked for by name.
IN_THE_NEWEST = (
    "bake/test_reduce_keys.py", "behaviour/test_choosing.py", "behaviour/test_colliders.py", "behaviour/test_limits.py",
    "behaviour/test_loads.py", "behaviour/test_manual.py", "behaviour/test_matrix.py", "behaviour/test_new_setting.py",
    "behaviour/test_new_shape.py",
    "behaviour/test_operators_posing.py", "behaviour/test_ranges.py", "behaviour/test_seam.py",
    "behaviour/test_strength.py", "behaviour/test_ties.py", "behaviour/test_weighing.py", "behaviour/test_words.py",
    "blender/test_engine_space.py", "controllers/test_on_time.py", "read/test_mend_frames.py",
    "result/test_result_armature.py", "rig/test_bone_roles.py", "rig/test_detail.py", "rig/test_first_guess.py",
    "rig/test_joint_limits.py", "rig/test_riding_bones.py", "settings/test_edit_selected.py",
    "tools/test_pose_scripts.py", "tools/test_pull_pose.py", "tools/test_throw_ball.py", "ui/test_help_links.py",
    "ui/overlays/test_shape_wires.py",
)  # fmt: skip

try:
    import bpy
except ImportError:
    bpy = None

if bpy is None:
    collect_ignore_glob = ["*.py"]
else:
    spec = importlib.util.spec_from_file_location("heft", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    heft = importlib.util.module_from_spec(spec)
    sys.modules["heft"] = heft
    spec.loader.exec_module(heft)
    sys.path.insert(0, str(HERE))


def pytest_configure(config) -> None:
    config.addinivalue_line("markers", "in_one_blender: long, and the same sums in whichever Blender")


def pytest_collection_modifyitems(config, items) -> None:
    """What is marked so, or named above, is tested in the newest of the Blenders only, or where no suite is named."""
    suite = os.environ.get("HEFT_TEST_SUITE", NEWEST)
    if suite == NEWEST:
        return
    left_out = [item for item in items if item.get_closest_marker("in_one_blender")]
    if not os.environ.get("HEFT_TEST_ALL"):
        newest = {HERE / path for path in IN_THE_NEWEST}
        left_out += [item for item in items if item.path in newest and item not in left_out]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session", autouse=True)
def registered():
    """The add-on as Blender registers it, once, in a Blender as it comes."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if not hasattr(bpy.types.Object, "heft"):
        heft.register()
    yield
    heft.unregister()


@pytest.fixture
def empty():
    """A new file with one scene and nothing in it."""
    import rigs

    rigs.new_file()
    bpy.context.preferences.edit.use_global_undo = True
    yield bpy.context.scene


@pytest.fixture
def rig(empty):
    """A post of three bones with physics that stands still, light enough to be knocked about."""
    import rigs

    empty.frame_end = rigs.FRAMES[-1]
    rig = rigs.post(3)
    bpy.ops.heft.add()
    rig.heft.total_mass = 3.0
    return rig


@pytest.fixture
def body(empty):
    """A man who stands, without physics."""
    import figure

    rig = figure.rig(arms_down=1.2)
    bpy.context.view_layer.update()
    return rig
