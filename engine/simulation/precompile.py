"""Compiling the kernels once, side by side in processes of their own.

Owns which kernels are compiled by themselves, the child processes that do it, and the
mark that it is done. Must not know what the kernels compute.

numba compiles one function at a time and holds Python's lock meanwhile. Children fill
the cache on as many cores as there are, and the caller's own Python (Blender's window)
stays free. Where they cannot run, the caller compiles by itself.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from ..collision.broad_phase import find_pairs
from ..collision.narrow_phase import collide
from ..collision.time_of_impact import time_of_impact
from ..compile.compile_time import BuildProgress, Clock
from ..compile.decorators import PACKAGE, cache_dir, is_compiled, is_writable
from ..compile.gc_pause import without_gc
from ..contact.before_step import meet
from ..contact.footfall import lead_feet
from ..contact.impacts import collide_now
from ..contact.island_solver import eliminate_ties, solve_island
from ..contact.joint_space import fill_matrix, find_islands, lay_paths
from ..contact.ragdoll_sweeps import solve_ragdolls
from ..contact.return_to_motion import let_return
from ..contact.settling import settle_rates
from ..contact.standing_feet import allow_source
from ..contact.step_size import brake_whirls, even_part, note_quickening, remember, return_to, too_far
from ..contact.sustained import brace, lean, press
from ..contact.tie_rows import add_limits, add_ties, strike
from ..contact.unmet_contacts import give_up
from ..controllers.follow.reference import aim_step, begin_frame, end_step, keep_appointments
from ..controllers.on_time.torque_law import apply_law
from ..controllers.shared.recovery import make_deadlines
from ..controllers.shared.root_assist import feed_forward, hold_back
from ..controllers.shared.strength import any_limit, give_in
from ..dynamics.articulated import composite_inertia, factorise, generalized, momentum_of, solve
from ..dynamics.kinematics import forward, momenta, velocities
from ..dynamics.momentum import carry_over, leftover, turn_spins
from ..posing.metric import assemble, factor_along, feel_weights, gather_forces, look_back, measure
from ..posing.round import begin, note_slack, openness, part_way, place, pull_round, take_step, worth
from ..posing.rows import add_floor, add_joint_limits, add_pins, add_pull, answer_rows, choose_rows
from ..step.close_ties import close_ties, still_ties
from ..step.compliant_solve import (
    answer_secants,
    factor_at,
    first_half,
    measure_deflection,
    prepare_factor,
    second_half,
    share_load,
    stages,
    step_load,
)
from ..step.contact_points import carry_rows
from ..step.energy_guard import keep_energy, note_work
from ..step.free_roots import balance_roots, place_roots, turn_roots
from ..step.run_frames import run_frames
from ..step.shared_momentum import balance_together
from ..step.sleeping import note_quiet, sleeps
from ..step.step import drive_torques, finish, middle_pose, move
from ..tables import holds as H, pull as PU, work as W
from ..tables.pull import new_pull
from ..tables.work import factor_of, pose_of

# The parts of the engine; the first that can be compiled is, so what others wait for stands first.
# What touches is compiled apart, after the rest: a shot in which nothing does need not wait.
ALONE = (
    aim_step, velocities, generalized, factorise, solve, forward, leftover, share_load, composite_inertia, factor_at,
    prepare_factor, stages, measure_deflection, turn_spins, step_load, answer_secants, momenta, momentum_of, first_half,
    brake_whirls, feed_forward, give_in, turn_roots, balance_roots, begin_frame, keep_appointments, apply_law,
    carry_over, second_half, hold_back, middle_pose, move, finish, place_roots, close_ties, still_ties, note_work,
    keep_energy, end_step, drive_torques, even_part, note_quickening, remember, return_to, too_far, any_limit,
    note_quiet, sleeps, settle_rates, run_frames,
)  # fmt: skip
TOUCHING = (
    collide, solve_ragdolls, lay_paths, fill_matrix, find_islands, solve_island, press, collide_now, time_of_impact,
    allow_source, add_ties, add_limits, find_pairs, make_deadlines, give_up, let_return, meet, brace, lean,
    prepare_factor, stages, first_half, give_in, strike, turn_roots, balance_roots, place_roots, carry_rows,
    balance_together, note_work, keep_energy, eliminate_ties, close_ties, still_ties, second_half, drive_torques,
    lead_feet, note_quiet, sleeps, settle_rates, run_frames,
)  # fmt: skip
POSING = (
    assemble, look_back, choose_rows, add_joint_limits, add_pins, measure, add_floor, add_pull, gather_forces,
    answer_rows, factor_along, feel_weights, take_step, part_way, worth, pull_round, openness, begin, place, note_slack,
)  # fmt: skip
PARTS = {"alone": ALONE, "touching": TOUCHING, "posing": POSING}
# What a simulation waits for, in this order.
WAITED_FOR = ("alone", "touching")
MAX_CHILDREN = 4
# What a child runs: the engine under the caller's name for it, without what stands above it
# (the add-on, which needs Blender).
CHILD = """
import importlib, json, sys, types
name, home, folder, sys.path[:] = json.loads(sys.argv[1])
above = name.split(".")[:-1]
for k in range(len(above)):
    module = sys.modules[".".join(above[: k + 1])] = types.ModuleType(above[k])
    module.__path__ = [home] if k == len(above) - 1 else []
importlib.import_module(name + ".simulation.precompile").serve(
    importlib.import_module(name + ".simulation.simulate").sample_shot, folder
)
"""

_lock = threading.Lock()
_built: set[str] = set()  # what this process has seen to
_at_work = False  # are children compiling what a simulation waits for?
_clock: Clock | None = None  # of that, from the first kernel on


def ensure_built(touching: bool, posing: bool = False) -> None:
    """Before the first call of a kernel: see to it that the cache is filled."""
    words = ["alone", *(["touching"] if touching else []), *(["posing"] if posing else [])]
    if not is_compiled() or set(words) <= _built:
        return
    with _lock:
        for word in words:
            if word not in _built:
                _ensure(word)
                _built.add(word)


def build_progress() -> BuildProgress | None:
    """How much of the engine is compiled while children are at it, and how long they still take; None where they are
    not."""
    return _clock.progress() if _at_work and _clock is not None else None


def _ensure(word: str) -> None:
    folder = cache_dir()
    mark = folder / word
    if is_writable(folder) and not mark.exists():
        try:
            _build_beside(word)
            mark.touch()
        except OSError as error:
            warnings.warn(f"Heft compiles by itself, which takes longer: {error}", RuntimeWarning, stacklevel=4)


def _build_beside(word: str) -> None:
    """Have every part compiled by children; OSError where that does not work."""
    global _at_work, _clock
    count = max(1, min(MAX_CHILDREN, os.cpu_count() or 1))
    children = [_start_child(PACKAGE) for _ in range(count)]
    if _clock is None or word == WAITED_FOR[0] or word not in _clock.words:
        _clock = _new_clock(word, count)
    clock = _clock
    parts = _Parts(PARTS[word], lambda function: clock.tell(word, function))
    _at_work = word in WAITED_FOR
    try:
        with ThreadPoolExecutor(max_workers=count) as pool:
            for _ in pool.map(lambda child: _feed(child, word, parts), children):
                pass
    finally:
        _at_work = False
        for child in children:
            child.stdin.close()
            child.stdout.close()
            child.wait()


def _new_clock(word: str, children: int) -> Clock:
    """Of this and of what comes after it."""
    words = WAITED_FOR[WAITED_FOR.index(word) :] if word in WAITED_FOR else (word,)
    stages = [(each, PARTS[each], {one: _calls(one, set(PARTS[each])) for one in PARTS[each]}) for each in words]
    return Clock(stages, children)


def _start_child(name: str) -> subprocess.Popen:
    """A Python of its own with this engine under the given name."""
    python = Path(sys.executable or "")
    # some Blenders give themselves as the Python that runs
    if "python" not in python.name.lower() or not python.exists():
        raise OSError(f"no Python found to start beside this one ('{python}')")
    job = json.dumps([name, str(Path(__file__).parents[2]), str(cache_dir(name)), sys.path])
    hidden = {"creationflags": subprocess.CREATE_NO_WINDOW} if sys.platform == "win32" else {}
    return subprocess.Popen(
        [str(python), "-c", CHILD, job], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **hidden
    )


class _Parts:
    """What is left to compile; a part can be once those it calls are."""

    def __init__(self, functions: tuple, told: Callable[[Callable], None] = lambda _function: None) -> None:
        self._left, self._told = list(functions), told
        self._needs = {each: _calls(each, set(functions)) for each in functions}
        self._changed = threading.Condition()

    def take(self) -> Callable | None:
        """The first that can be compiled; None once all are taken."""
        with self._changed:
            while self._left:
                for function in self._left:
                    if not self._needs[function]:
                        self._left.remove(function)
                        return function
                self._changed.wait()
        return None

    def tell(self, function: Callable) -> None:
        """It is compiled."""
        with self._changed:
            self._told(function)
            for needs in self._needs.values():
                needs.discard(function)
            self._changed.notify_all()

    def give_up(self) -> None:
        with self._changed:
            self._left.clear()
            self._changed.notify_all()


def _calls(function: Callable, parts: set) -> set:
    """Which of the parts a function calls, by itself or through smaller ones."""
    found: set = set()
    seen, todo = {function}, [function]
    while todo:
        plain = todo.pop().py_func
        for callee in map(plain.__globals__.get, plain.__code__.co_names):
            if hasattr(callee, "py_func") and callee not in seen:
                seen.add(callee)
                (found.add if callee in parts else todo.append)(callee)
    return found


def _feed(child: subprocess.Popen, word: str, parts: _Parts) -> None:
    """Give the child one part after the other until there is none."""
    try:
        while (function := parts.take()) is not None:
            name = f"{word} {function.__name__}"
            child.stdin.write(name + "\n")
            child.stdin.flush()
            answer = child.stdout.readline().strip()
            if answer != "done":
                raise OSError(f"compiling '{name}' beside failed: {answer or 'the process ended'}")
            parts.tell(function)
    except OSError:
        parts.give_up()
        raise


def serve(sample, folder: str) -> None:
    """A child's work: compile what it is told to, for the types of sample shots, into the caller's cache."""
    if str(cache_dir()) != folder:
        print(f"another Python or other libraries ({sys.version.split()[0]})", flush=True)
        return
    types = {word: _types(sample(word == "touching")) for word in PARTS}
    functions = {each.__name__: each for parts in PARTS.values() for each in parts}
    with without_gc():
        for line in sys.stdin:
            try:
                word, name = line.split()
                names = inspect.signature(functions[name].py_func).parameters
                functions[name].compile(tuple(types[word][each] for each in names))
            except Exception as error:  # told to the caller, who compiles by itself and meets it again
                print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)
            else:
                print("done", flush=True)
    os._exit(0)  # taking numba's millions of objects apart takes a second


def _types(shot) -> dict:
    """numba's type of every parameter of the parts, by the parameter's name."""
    from numba import boolean, float64, int64, typeof

    work, touch = shot.work, shot.touch
    columns = (
        "composite", "compliance", "coords", "anchors", "x_row", "drift", "motion", "spin", "own", "load", "column",
    )  # fmt: skip
    counts = ("frame", "first", "last", "substeps", "ties", "count", "a", "b", "turn", "pulled")
    numbers = (
        "h", "dt", "rest", "longest", "s", "s1", "time", "gamma", "share", "weight", "margin", "slop", "least",
        "lasts", "half",
    )  # fmt: skip
    tables = ("tree", "target", "control", "state", "aim", "work", "touch", "record")
    out = {
        **dict.fromkeys((*columns, *counts), int64),
        **dict.fromkeys(numbers, float64),
        **dict.fromkeys(("mixed", "compliant", "cut", "cone", "last_stage"), boolean),
        **dict.fromkeys(("held", "holding", "still", "closing", "strikes"), boolean),
        "bench": typeof(new_pull(shot.tree, 1, np.zeros((0, int(PU.SPOT_COLUMNS))))),
        "bound": typeof(np.zeros((1, int(H.BOUND_COLUMNS)))),
        **dict.fromkeys(("table", "drifts", "out"), typeof(work.body)),
        "block": typeof(work.block),
        **dict.fromkeys(("pose", "here", "there", "middle", "final"), typeof(pose_of.py_func(work, W.MIDDLE))),
        **dict.fromkeys(("g", "x", "v", "rates", "start", "ends", "base", "change"), typeof(work.rate[0])),
        **{name: typeof(getattr(shot, name)) for name in tables},
        "gravity": typeof(shot.gravity),
        "factor": typeof(factor_of.py_func(work, W.MAIN)),
    }
    if touch is not None:
        fields = ("placed", "contact", "meet", "moving", "reach", "moves", "box", "pairs")
        out.update({name: typeof(getattr(touch.found, name)) for name in fields})
        out.update({name: typeof(getattr(touch, name)) for name in ("shapes", "rows", "holds")})
        out["where"] = out["before"] = out["after"] = typeof(touch.found.where[0])
        out["scratch"] = typeof(touch.found.moving)
        out["bound"] = typeof(touch.holds.bound)
    return out
