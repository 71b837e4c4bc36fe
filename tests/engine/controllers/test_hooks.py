"""The seam of controllers: a toy on each of its three levels is a file and a line, and a line a hook in the step."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import engine
from shapes import chain, smooth_motion

TOYS = Path(__file__).parents[1] / "toys"
# By toy: its class, and its lines in the hooks: in which, and after which line of it.
LINES = {
    "lean": ("Lean", {
        "aim_reference": "lean_over(tree, state, aim, control, frame)",
        "note_frame": "note_lean(control, state, record, frame)",
    }),
    "tired": ("Tired", {"note_frame": "tire(tree, state, control, frame - 1)"}),
    "search": ("Search", {}),
}  # fmt: skip


def add_line(text: str, hook: str, line: str) -> str:
    """A line at the end of a hook's body."""
    head, _, rest = text.partition(f"def {hook}(")
    body, mark, after = rest.partition("\n\n\n")
    return f"{head}def {hook}({body.rstrip()}\n    {line}\n{mark}{after}"


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A copy of the engine with the three toys."""
    home = tmp_path_factory.mktemp("seam")
    shutil.copytree(Path(engine.__file__).parent, home / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    registry, hooks = (home / "engine" / "controllers" / name for name in ("__init__.py", "hooks.py"))
    for toy, (cls, lines) in LINES.items():
        shutil.copy(TOYS / f"{toy}.py", home / "engine" / "controllers")
        text = registry.read_text().replace("CONTROLLERS = (", f"CONTROLLERS = ({cls}, ")
        registry.write_text(text.replace("\nCONTROLLERS", f"\nfrom .{toy} import {cls}\n\nCONTROLLERS"))
        text = hooks.read_text()
        if lines:
            names = ", ".join(line.partition("(")[0] for line in lines.values())
            text = text.replace("\n\n\n@", f"\nfrom .{toy} import {names}\n\n\n@", 1)
        for hook, line in lines.items():
            text = add_line(text, hook, line)
        hooks.write_text(text)
    return home


def run(home: Path, code: str) -> dict:
    """What a script prints as JSON, with the copy as `engine`."""
    begin = (
        "import json, numpy as np, engine\nfrom engine import controllers\nfrom shapes import chain, smooth_motion\n"
    )
    path = os.pathsep.join([str(home), str(TOYS.parent)])
    # uncompiled: what is tried is the seam, and plain Python needs no cache
    env = {**os.environ, "PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True, env=env, cwd=home)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


SET_UP = """
model = chain(4, "BALL", length=0.3)
motion = smooth_motion(model, np.random.default_rng(1), 8, 24.0, reach=0.4)
def one(control, **more):
    return engine.simulate(model, motion, control, steps_per_second=48, **more)
"""


def test_a_setting_a_hook_and_channels_of_the_reference(home):
    """Level one: by body and frame, written into the goal within the step, noted by body and by character."""
    found = run(home, SET_UP + """
lean = np.zeros((8, 4)); lean[3:, 2] = 0.5
result = one(controllers.Lean(lean=lean))
source = one(engine.Follow())
off = 2 * np.arccos(np.clip(np.abs(np.sum(source.motion.rotations * result.motion.rotations, axis=2)), 0, 1))
print(json.dumps({"off": off.tolist(), "noted": result.channels["lean"].values.tolist(),
                  "unit": result.channels["lean"].unit, "turned": result.channels["turned"].values.tolist()}))
""")  # fmt: skip
    off, noted = np.array(found["off"]), np.array(found["noted"])
    assert off[:4].max() < 1e-6 and off[4:, 2] == pytest.approx(0.5, abs=1e-6) and np.delete(off, 2, 1).max() < 1e-6
    assert noted.shape == (8, 4) and noted[4:, 2] == pytest.approx(0.5) and np.delete(noted, 2, 1).max() == 0.0
    assert found["unit"] == "rad" and np.array(found["turned"])[4:] == pytest.approx(0.5, abs=1e-6)


def test_two_controllers_in_one_shot_keep_to_their_own_columns(home):
    found = run(home, SET_UP + """
actors = [engine.Actor(model, motion, controllers.Lean(lean=0.3)), engine.Actor(model, motion, engine.Follow())]
a, b = engine.simulate_together(actors, engine.Scene(touch_self=False), 48)
def off(r):
    cosine = np.abs(np.sum(motion.rotations * r.motion.rotations, axis=2))
    return float(2 * np.arccos(np.clip(cosine, 0, 1)).max())
part = a.part(np.arange(2, 5)).channels["lean"].values.shape
channels = [sorted(a.channels), sorted(b.channels)]
print(json.dumps({"lean": off(a), "follow": off(b), "channels": channels, "part": part}))
""")  # fmt: skip
    assert found["lean"] == pytest.approx(0.3, abs=1e-6) and found["follow"] < 1e-6
    assert found["channels"] == [["lean", "turned"], []] and found["part"] == [3, 4]


def test_what_drives_can_give(home):
    """Level two: a limit that a kernel changes from frame to frame; the arm sinks as it tires."""
    found = run(home, SET_UP + """
still = engine.Motion.build(model, 24.0, np.tile([1.0, 0.0, 0.0, 0.0], (8, 4, 1)))
def sag(control):
    result = engine.simulate(model, still, control, steps_per_second=48)
    return 2 * np.arccos(np.clip(np.abs(result.motion.rotations[..., 0]), 0, 1)).max(axis=1)
print(json.dumps({"fresh": sag(controllers.Tired(strength=1e3)).tolist(),
                  "tired": sag(controllers.Tired(strength=1e3, tires=0.9)).tolist()}))
""")  # fmt: skip
    assert max(found["fresh"]) < 1e-6
    assert found["tired"][1] < 1e-6 < 0.01 < found["tired"][-1]


def test_a_run_of_its_own(home):
    """Level three: many forward runs, progress, and the best one as the result."""
    found = run(home, SET_UP + """
results = [one(engine.Follow(settle_time=t, heaviness=1.0)) for t in (0.1, 0.3, 1.0)]
goal = results[1].motion.rotations[-1, -1]
search = controllers.Search(turn=goal, heaviness=1.0)
reports = list(engine.simulate_iter(model, motion, search, steps_per_second=48))
best = reports[-1].result
print(json.dumps({"reports": len(reports), "same": bool((best.motion.rotations == results[1].motion.rotations).all()),
                  "at_once": bool((one(search).motion.rotations == best.motion.rotations).all())}))
""")  # fmt: skip
    assert found == {"reports": 4, "same": True, "at_once": True}


def test_the_registry_is_what_the_engine_offers():
    assert {each.__name__ for each in engine.CONTROLLERS} >= {"Follow", "OnTime", "Limp"}
    for each in engine.CONTROLLERS:
        assert getattr(engine, each.__name__) is each
        fields = each.__dataclass_fields__
        assert all(setting.name in fields for setting in each.settings), each


def test_a_setting_out_of_its_range_names_the_body():
    model = chain(3, "BALL")
    motion = smooth_motion(model, np.random.default_rng(0), 4, 24.0)
    with pytest.raises(engine.SettingError, match=r"has heaviness 2: give a number from 0 to 1"):
        engine.simulate(model, motion, engine.Follow(heaviness=[0.0, 2.0, 0.0]))
