"""Microseconds a stage of a step (`dev.py bench step [limp|driven|contacts…]`).

The order of `run_frames` and `step` runs as plain Python, every kernel in it compiled and timed: so each stage works on
what the stages before it have left, in a true simulation. From each time is taken what calling a kernel from Python
costs, measured with an empty kernel of the same parameters. Every call counts with the fastest of ROUNDS runs, which
are the same byte by byte. A stage's own inner stages are not told apart. The last lines compare the sum with the
compiled step, in which the stages call one another without Python: there all that the machine does meanwhile counts.
"""

from __future__ import annotations

import inspect
import sys
import time
import types
from collections import defaultdict
from pathlib import Path
from typing import ClassVar

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "engine"), str(ROOT / "tests" / "bench")]

import numba  # noqa: E402
import numpy as np  # noqa: E402
from engine_bench import FPS, RATE, with_balls  # noqa: E402

import engine  # noqa: E402
from engine.compile import decorators  # noqa: E402
from engine.simulation import shot as shot_module  # noqa: E402
from engine.simulation.assemble import Actor  # noqa: E402
from engine.simulation.simulate import Shot  # noqa: E402
from engine.step import run_frames as frames_module  # noqa: E402
from shapes import ragdoll, smooth_motion  # noqa: E402

FRAMES = 40
# They only make a tuple of arrays, which no kernel can hand to Python.
PLAIN = {"pose_of", "factor_of"}
# They order stages.
OPENED = {"_take_steps", "step", "_solve_loads", "_end_velocities"}
EMPTY_CALLS = 400
ROUNDS = 5
SHOWN = 0.005  # of the step: smaller stages are summed


class Timed:
    """A kernel that is called from Python and timed."""

    times: ClassVar[dict[str, list[int]]] = defaultdict(list)

    def __init__(self, kernel) -> None:
        self.name = kernel.__name__
        names = ", ".join(inspect.signature(kernel.py_func).parameters)
        # what is compiled is known by its name
        self._call = self._compiled(f"time_{self.name}", f"kernel({names})", names, kernel)
        self._empty = self._compiled(f"empty_{self.name}", "None", names, None)
        self._overhead: dict[tuple, int] = {}  # of a call from Python, by which of the arguments are missing

    def _compiled(self, name: str, body: str, names: str, kernel):
        scope = {"kernel": kernel}
        exec(f"def {name}({names}):\n    return {body}\n", scope)
        compiler = {"pipeline_class": decorators.SeparateCompiler} if decorators.SEPARATE else {}
        return numba.njit(**compiler, **decorators.FLAGS)(scope[name])

    def __call__(self, *args):
        missing = tuple(arg is None for arg in args)
        if missing not in self._overhead:  # also compiles both
            self._call.compile(tuple(map(numba.typeof, args)))
            self._overhead[missing] = self._time_empty(args)
        start = time.perf_counter_ns()
        found = self._call(*args)
        Timed.times[self.name].append(time.perf_counter_ns() - start - self._overhead[missing])
        return found

    def _time_empty(self, args) -> int:
        taken = []
        for _ in range(EMPTY_CALLS):
            start = time.perf_counter_ns()
            self._empty(*args)
            taken.append(time.perf_counter_ns() - start)
        return int(np.median(taken))


def in_python(module, name: str):
    """A kernel of a module as plain Python that calls compiled and timed kernels."""
    code, scope = getattr(module, name).py_func.__code__, dict(vars(module))
    for each in code.co_names:
        value = scope.get(each)
        if each in OPENED:
            scope[each] = in_python(sys.modules[value.py_func.__module__], each)
        elif hasattr(value, "py_func"):
            scope[each] = value.py_func if each in PLAIN else Timed(value)
    return types.FunctionType(code, scope)


def scenes() -> dict[str, tuple]:
    """Model, motion, controller and scene by name."""
    model = ragdoll()
    motion = smooth_motion(model, np.random.default_rng(1), FRAMES, FPS)
    touching, _, floor = with_balls(model)
    still = engine.Motion.build(touching, FPS, np.tile([1.0, 0.0, 0.0, 0.0], (FRAMES, len(model), 1)))
    ground = engine.Scene(ground=engine.Ground(floor, response="GIVES_WAY"), touch_self=False)
    return {
        "limp": (model, motion, engine.Limp(root="FREE"), None),
        "driven": (model, motion, engine.Follow(root="FREE", heaviness=0.5), None),
        "contacts": (touching, still, engine.Follow(root="FREE"), ground),
    }


def run(given: tuple) -> tuple[float, int]:
    """Seconds and steps of one shot."""
    model, motion, control, scene = given
    shot = Shot([Actor(model, motion, control)], scene, RATE)
    start = time.perf_counter()
    shot.run(FRAMES - 1)
    return time.perf_counter() - start, (FRAMES - 1) * shot.substeps


def fastest_calls(given: tuple) -> tuple[dict[str, np.ndarray], int]:
    """Of every stage what each of its calls took in the fastest of several runs [ns]; how many steps there are."""
    run(given)
    rounds = []
    for _ in range(ROUNDS):
        Timed.times.clear()
        _, steps = run(given)
        rounds.append({stage: np.array(taken) for stage, taken in Timed.times.items()})
    return {stage: np.min([one[stage] for one in rounds], axis=0) for stage in rounds[0]}, steps


def main(chosen: list[str]) -> int:
    found = {name: given for name, given in scenes().items() if not chosen or name in chosen}
    compiled = {}
    for name, given in found.items():
        run(given)
        compiled[name] = min(seconds / steps for seconds, steps in (run(given) for _ in range(ROUNDS)))
    shot_module.run_frames = in_python(frames_module, "run_frames")
    for name, given in found.items():
        taken, steps = fastest_calls(given)
        rows = {stage: calls.sum() * 1e-3 / steps for stage, calls in taken.items()}
        calls = {stage: len(each) / steps for stage, each in taken.items()}
        total = sum(rows.values())
        print(f"\n{name}: {steps} steps\n{'stage':<28} {'µs a step':>10} {'share':>7} {'calls a step':>13}")
        for stage, spent in sorted(rows.items(), key=lambda row: -row[1]):
            if spent >= SHOWN * total:
                print(f"{stage:<28} {spent:>10.2f} {spent / total:>7.1%} {calls[stage]:>13.2f}")
        rest = sum(spent for spent in rows.values() if spent < SHOWN * total)
        print(f"{'smaller ones':<28} {rest:>10.2f} {rest / total:>7.1%}")
        print(f"{'all stages':<28} {total:>10.2f}\n{'the compiled step':<28} {compiled[name] * 1e6:>10.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
