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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue

from .aim import aim_step, begin_frame, end_step
from .articulated import factorise, solve
from .assist import feed_forward, hold_back
from .deflection import first_half, second_half
from .jit import cache_dir, compiling, is_compiled, is_writable
from .kinematics import forward
from .roots import balance_roots, place_roots, turn_roots
from .shot import run_frames
from .state import MAIN, MIDDLE, factor_of, pose_of
from .step import drive_torques, finish, middle_pose, move

# The largest kernels, what others call first: a round may call those of the rounds before.
ROUNDS = (
    (factorise, aim_step, forward, solve, begin_frame),
    (
        first_half,
        feed_forward,
        second_half,
        turn_roots,
        balance_roots,
        hold_back,
        middle_pose,
        move,
        finish,
        place_roots,
        end_step,
        drive_torques,
    ),
    (run_frames,),
)
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
importlib.import_module(name + ".build").serve(importlib.import_module(name + ".simulate").sample_shot(), folder)
"""

_lock = threading.Lock()


def ensure_built() -> None:
    """Before the first call of a kernel: see to it that the cache is filled."""
    if not is_compiled() or run_frames.signatures:
        return
    with _lock:
        if run_frames.signatures:
            return
        folder = cache_dir()
        mark = folder / "complete"
        if is_writable(folder) and not mark.exists():
            try:
                _build_beside()
                mark.touch()
            except OSError as error:
                warnings.warn(f"Heft compiles by itself, which takes longer: {error}", RuntimeWarning, stacklevel=3)


def _build_beside() -> None:
    """Have every part compiled by children; OSError where that does not work."""
    count = max(1, min(MAX_CHILDREN, os.cpu_count() or 1))
    children = [_start_child(__package__) for _ in range(count)]
    try:
        with ThreadPoolExecutor(max_workers=count) as pool:
            for functions in ROUNDS:
                queue: SimpleQueue = SimpleQueue()
                for function in functions:
                    queue.put(function.__name__)
                for _ in pool.map(lambda child, queue=queue: _feed(child, queue), children):
                    pass
    finally:
        for child in children:
            child.stdin.close()
            child.stdout.close()
            child.wait()


def _start_child(name: str) -> subprocess.Popen:
    """A Python of its own with this engine under the given name."""
    python = Path(sys.executable or "")
    # some Blenders give themselves as the Python that runs
    if "python" not in python.name.lower() or not python.exists():
        raise OSError(f"no Python found to start beside this one ('{python}')")
    job = json.dumps([name, str(Path(__file__).parents[1]), str(cache_dir()), sys.path])
    hidden = {"creationflags": subprocess.CREATE_NO_WINDOW} if sys.platform == "win32" else {}
    return subprocess.Popen(
        [str(python), "-c", CHILD, job], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **hidden
    )


def _feed(child: subprocess.Popen, queue: SimpleQueue) -> None:
    """Give the child one part after the other until there is none."""
    while True:
        try:
            name = queue.get_nowait()
        except Empty:
            return
        child.stdin.write(name + "\n")
        child.stdin.flush()
        answer = child.stdout.readline().strip()
        if answer != "done":
            raise OSError(f"compiling '{name}' beside failed: {answer or 'the process ended'}")


def serve(shot, folder: str) -> None:
    """A child's work: compile what it is told to, for the types of a shot, into the caller's cache."""
    if str(cache_dir()) != folder:
        print(f"another Python or other libraries ({sys.version.split()[0]})", flush=True)
        return
    types = _types(shot)
    functions = {function.__name__: function for functions in ROUNDS for function in functions}
    with compiling():
        for line in sys.stdin:
            function = functions[line.strip()]
            try:
                function.compile(tuple(types[name] for name in inspect.signature(function.py_func).parameters))
            except Exception as error:  # told to the caller, who compiles by itself and meets it again
                print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)
            else:
                print("done", flush=True)
    os._exit(0)  # taking numba's millions of objects apart takes a second


def _types(shot) -> dict:
    """numba's type of every parameter of the parts, by the parameter's name."""
    from numba import boolean, float64, int64, typeof

    work = shot.work
    columns = ("composite", "compliance", "coords", "anchors")
    tables = ("tree", "target", "plan", "state", "aim", "work", "record")
    return {
        **dict.fromkeys((*columns, "frame", "first", "last", "substeps"), int64),
        **dict.fromkeys(("h", "dt", "s1"), float64),
        **{name: typeof(getattr(shot, name)) for name in tables},
        "mixed": boolean,
        "gravity": typeof(shot.gravity),
        "table": typeof(work.body),
        "pose": typeof(pose_of.py_func(work, MIDDLE)),
        "factor": typeof(factor_of.py_func(work, MAIN)),
        "g": typeof(work.rate[0]),
        "x": typeof(work.rate[0]),
    }
