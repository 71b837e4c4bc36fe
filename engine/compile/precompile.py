"""Compile the kernels once, in parallel child processes.

Owns the child processes, and the marker that the cache is filled. The kernels to compile are registered in
`kernel_suites`. Must not import kernels.

numba compiles one function at a time and holds Python's lock meanwhile. Children fill the cache on all cores, and the
caller's own Python (Blender's window) stays responsive. If children cannot run, the caller compiles by itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from .compile_time import BuildProgress, Clock, Stage
from .decorators import PACKAGE, cache_dir, is_compiled, is_writable
from .gc_pause import without_gc
from .kernel_types import types_of

MAX_CHILDREN = 4
# The program of a child: import the engine under the caller's name for it, without its parent package (the add-on,
# which needs Blender).
CHILD = """
import importlib, json, sys, types
name, home, folder, modules, sys.path[:] = json.loads(sys.argv[1])
above = name.split(".")[:-1]
for k in range(len(above)):
    module = sys.modules[".".join(above[: k + 1])] = types.ModuleType(above[k])
    module.__path__ = [home] if k == len(above) - 1 else []
for each in modules:
    importlib.import_module(name + each)
importlib.import_module(name + ".compile.precompile").serve(folder)
"""


class Suite(NamedTuple):
    """Kernels that are compiled by themselves.

    word      its name, also of the marker that it is compiled
    module    the module that registers it, relative to the engine's package
    kernels   in order: the first one whose dependencies are compiled is next
    samples   makes a table of each class, for the parameters' types
    costs     seconds that a kernel took on one core; only ratios matter
    small     the cost of a kernel that is not listed
    waited    True if a simulation waits for it, so its progress is shown
    """

    word: str
    module: str
    kernels: tuple[Callable, ...]
    samples: Callable[[], Mapping[type, Any]]
    costs: Mapping[str, float]
    small: float
    waited: bool


SUITES: dict[str, Suite] = {}  # in the order in which they are compiled


class Builds:
    """The state of this process: suites that were handled, and the progress of the children."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.built: set[str] = set()
        self.at_work = False
        self.clock: Clock | None = None  # from the first kernel on


BUILDS = Builds()


def register(suite: Suite) -> None:
    """Register a suite for `ensure_built`."""
    SUITES[suite.word] = suite


def ensure_built(*words: str) -> None:
    """Make sure that the cache holds these suites, before a kernel is called for the first time."""
    if not is_compiled() or set(words) <= BUILDS.built:
        return
    with BUILDS.lock:
        for word in words:
            if word not in BUILDS.built:
                _ensure(word)
                BUILDS.built.add(word)


def build_progress() -> BuildProgress | None:
    """The progress of compiling and the remaining time while children run; None otherwise."""
    return BUILDS.clock.progress() if BUILDS.at_work and BUILDS.clock is not None else None


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
    """Compile all kernels of a suite in children; raises OSError if they cannot run."""
    count = max(1, min(MAX_CHILDREN, os.cpu_count() or 1))
    children = [_start_child(PACKAGE) for _ in range(count)]
    if BUILDS.clock is None or word == _waited_for()[0] or word not in BUILDS.clock.words:
        BUILDS.clock = _new_clock(word, count)
    clock = BUILDS.clock
    queue = _Queue(SUITES[word].kernels, lambda function: clock.tell(word, function))
    BUILDS.at_work = SUITES[word].waited
    try:
        with ThreadPoolExecutor(max_workers=count) as pool:
            for _ in pool.map(lambda child: _feed(child, word, queue), children):
                pass
    finally:
        BUILDS.at_work = False
        for child in children:
            child.stdin.close()
            child.stdout.close()
            child.wait()


def _waited_for() -> list[str]:
    """The suites that a simulation waits for, in order."""
    return [word for word, suite in SUITES.items() if suite.waited]


def _new_clock(word: str, children: int) -> Clock:
    """The clock for this suite and the later ones."""
    waited = _waited_for()
    return Clock([stage_of(each) for each in (waited[waited.index(word) :] if word in waited else [word])], children)


def stage_of(word: str) -> Stage:
    """A suite as input of the clock."""
    suite = SUITES[word]
    needs = {each: _calls(each, set(suite.kernels)) for each in suite.kernels}
    return Stage(word, suite.kernels, needs, suite.costs, suite.small)


def _start_child(name: str) -> subprocess.Popen:
    """Start a Python process with this engine under the given name."""
    python = Path(sys.executable or "")
    # some Blenders report themselves as the running Python
    if "python" not in python.name.lower() or not python.exists():
        raise OSError(f"no Python found to start beside this one ('{python}')")
    modules = sorted({suite.module for suite in SUITES.values()})
    job = json.dumps([name, str(Path(__file__).parents[2]), str(cache_dir(name)), modules, sys.path])
    hidden = {"creationflags": subprocess.CREATE_NO_WINDOW} if sys.platform == "win32" else {}
    return subprocess.Popen(
        [str(python), "-c", CHILD, job], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **hidden
    )


class _Queue:
    """The kernels that are left to compile, with their dependencies."""

    def __init__(self, functions: tuple, told: Callable[[Callable], None] = lambda _function: None) -> None:
        self._left, self._told = list(functions), told
        self._needs = {each: _calls(each, set(functions)) for each in functions}
        self._changed = threading.Condition()

    def take(self) -> Callable | None:
        """Waits for and returns the next kernel whose callees are compiled; None once all are taken."""
        with self._changed:
            while self._left:
                for function in self._left:
                    if not self._needs[function]:
                        self._left.remove(function)
                        return function
                self._changed.wait()
        return None

    def tell(self, function: Callable) -> None:
        """Mark a kernel as compiled."""
        with self._changed:
            self._told(function)
            for needs in self._needs.values():
                needs.discard(function)
            self._changed.notify_all()

    def give_up(self) -> None:
        with self._changed:
            self._left.clear()
            self._changed.notify_all()


def _calls(function: Callable, kernels: set) -> set:
    """The kernels that a function calls, directly or through smaller ones."""
    found: set = set()
    seen, todo = {function}, [function]
    while todo:
        plain = todo.pop().py_func
        for callee in map(plain.__globals__.get, plain.__code__.co_names):
            if hasattr(callee, "py_func") and callee not in seen:
                seen.add(callee)
                (found.add if callee in kernels else todo.append)(callee)
    return found


def _feed(child: subprocess.Popen, word: str, queue: _Queue) -> None:
    """Send kernels to the child, one after the other, until none is left."""
    try:
        while (function := queue.take()) is not None:
            name = f"{word} {function.__name__}"
            child.stdin.write(name + "\n")
            child.stdin.flush()
            answer = child.stdout.readline().strip()
            if answer != "done":
                raise OSError(f"compiling '{name}' beside failed: {answer or 'the process ended'}")
            queue.tell(function)
    except OSError:
        queue.give_up()
        raise


def serve(folder: str) -> None:
    """Main function of a child: compile the kernels it is sent, for the types of sample tables, into the caller's
    cache."""
    if str(cache_dir()) != folder:
        print(f"another Python or other libraries ({sys.version.split()[0]})", flush=True)
        return
    samples = {word: suite.samples() for word, suite in SUITES.items()}
    functions = {(word, each.__name__): each for word, suite in SUITES.items() for each in suite.kernels}
    with without_gc():
        for line in sys.stdin:
            try:
                word, name = line.split()
                function = functions[word, name]
                function.compile(types_of(function, samples[word]))
            except Exception as error:  # reported to the caller, who compiles by itself and raises it
                print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)
            else:
                print("done", flush=True)
    os._exit(0)  # freeing numba's millions of objects would take a second
