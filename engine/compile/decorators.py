"""Compiling: numba where it is present, plain Python where it is not.

Owns the decorators of the engine's kernels and the place of their cache. Must not
know what the kernels compute.

- `kernel` marks a function called from other kernels only.
- `separate` marks a large one, compiled by itself: its callers call it by name.
- `inlined` marks one with a single caller, into which it is merged.
- `entry_point` marks a function called from Python.

All but the inlined ones are compiled once and cached on disk, each by itself, so that
`precompile` can compile several side by side.

numba's cache does not notice when a function called by a cached one changes, nor
when the decorator's flags do. So the cache folder's name carries a hash of every
source file that compiled code depends on (`kernel_sources`), of the flags and of the versions.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from ..errors import LibraryError
from .kernel_sources import kernel_sources

NUMPY_MIN = (1, 22)
# The engine's name in this process: `engine`, or below the name that Blender gives the extension.
PACKAGE = __package__.rpartition(".")[0]
# No kernel allocates, so none needs numba's reference counting: without it the loops run up to four times faster and
# compile sooner.
FLAGS = {"error_model": "numpy", "fastmath": {"contract", "nsz"}, "nogil": True, "_nrt": False}

if tuple(int(part) for part in np.__version__.split(".")[:2]) < NUMPY_MIN:
    raise LibraryError(
        f"Heft needs numpy {NUMPY_MIN[0]}.{NUMPY_MIN[1]} or newer, found {np.__version__} at {np.__file__}: "
        "another add-on may have brought an older one; remove it or update."
    )

try:
    import numba
    from llvmlite.binding import get_host_cpu_name
except ImportError as error:
    numba = None
    NO_NUMBA = f"Heft runs without its compiler (numba: {error}): simulations take hundreds of times longer."
else:
    from .table_type import register

    NO_NUMBA = ""
    # Separate kernels use numba's internals, which are only known for the version they were written for.
    SEPARATE = numba.__version__.startswith("0.68.")
    if SEPARATE:
        from .separate_kernels import Cache, SeparateCompiler, keep_needs


def is_compiled() -> bool:
    """True if kernels are compiled; otherwise they run as plain Python."""
    return numba is not None and not numba.config.DISABLE_JIT


def warn_if_plain() -> None:
    """Warn once that kernels run uncompiled (the warnings module drops repetitions)."""
    if NO_NUMBA:
        warnings.warn(NO_NUMBA, RuntimeWarning, stacklevel=3)


@cache
def _sources() -> bytes:
    """A hash of the source files that compiled code depends on."""
    digest = hashlib.sha256()
    here = Path(__file__).parents[1]
    for path in kernel_sources(here):
        digest.update(path.relative_to(here).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.digest()


@cache
def _processor() -> str:
    return get_host_cpu_name()


def cache_dir(package: str = PACKAGE) -> Path:
    """A writable folder of this user for this exact build of the engine under its package's name."""
    base = os.environ.get("HEFT_CACHE")
    if base is None:
        home = Path.home()
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = home / "Library" / "Caches"
        else:
            base = os.environ.get("XDG_CACHE_HOME", home / ".cache")
        base = Path(base) / "heft"
    digest = hashlib.sha256(_sources())
    flags = sorted((key, sorted(value) if isinstance(value, set) else value) for key, value in FLAGS.items())
    digest.update(repr(flags).encode())
    # The package's name is part of the compiled functions' names: two installs of the same source share nothing.
    digest.update(f"{package} {numba.__version__} {np.__version__} {sys.version} {_processor()}".encode())
    return Path(base) / digest.hexdigest()[:16]


def is_writable(folder: Path) -> bool:
    """True if the cache can be kept there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def table(kind: type) -> type:
    """Pass named tuples of arrays of this class to kernels as one pointer (see `table_type`)."""
    return kind if numba is None else register(kind)


def kernel(function: Callable) -> Callable:
    """Compile for calls from other kernels."""
    return _cached(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def separate(function: Callable) -> Callable:
    """Compile by itself, for calls by name from other kernels.

    numba copies the code of all callees into a function and optimises all of it again, so the top function would
    contain the whole engine. Callers of a separate kernel only refer to it by name.
    """
    return _cached(function, apart=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined(function: Callable) -> Callable:
    """Merge into its only caller before anything is compiled, so that it is compiled once."""
    if numba is None:
        return function
    return numba.njit(inline="always", no_cpython_wrapper=True, no_cfunc_wrapper=True, **FLAGS)(function)


def entry_point(function: Callable) -> Callable:
    """Compile for calls from Python."""
    return _cached(function, no_cfunc_wrapper=True)


def _cached(function: Callable, apart: bool = False, **options: bool) -> Callable:
    if numba is None:
        return function
    folder = cache_dir()
    if not is_writable(folder):
        message = f"Heft cannot write its compile cache in {folder}: it will compile at every start."
        warnings.warn(message, RuntimeWarning, stacklevel=3)
        return numba.njit(**options, **FLAGS)(function)
    compiler = {"pipeline_class": SeparateCompiler} if SEPARATE else {}
    dispatcher = numba.njit(**compiler, **options, **FLAGS)(function)
    if is_compiled():
        _keep_on_disk(dispatcher, folder)
        _take_numbers(dispatcher)
        if SEPARATE:
            keep_needs(dispatcher, apart)
    return dispatcher


def _keep_on_disk(dispatcher, folder: Path) -> None:
    """Open the cache when first compiling: opening it for every kernel at import takes a third of a second."""
    compile_now = dispatcher.compile

    def compile(types):
        if dispatcher.compile is compile:
            # numba reads CACHE_DIR here; other add-ons keep their own setting
            before = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(folder)
            try:
                dispatcher.enable_caching()
                if SEPARATE:
                    dispatcher._cache = Cache(dispatcher.py_func)
            finally:
                numba.config.CACHE_DIR = before
            dispatcher.compile = compile_now
        return compile_now(types)

    dispatcher.compile = compile


def _take_numbers(dispatcher) -> None:
    """Compile once for all integers: numba would compile again for every literal in a call."""
    template = dispatcher.get_call_template

    def get_call_template(args, kws):
        plain = {key: numba.types.unliteral(each) for key, each in kws.items()}
        return template([numba.types.unliteral(each) for each in args], plain)

    dispatcher.get_call_template = get_call_template
