"""Compiles the engine in a background thread, and reports the progress.

Owns the thread that compiles (or loads) the kernels when the add-on is enabled in a window, its outcome, and a timer
that redraws the sidebar meanwhile. The thread never touches bpy.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import NamedTuple

import bpy

from ... import engine
from ..blender import redraw_views
from ..memory import Value

# How often the panel shows the progress [s].
EVERY = 0.5
# Time to load the kernels after all are compiled [s].
READING = 3.0


@dataclass
class _State:
    """Threads, their outcome, and the progress when it was last asked for."""

    thread: threading.Thread | None = None
    posing: threading.Thread | None = None
    problem: str = ""
    last: float | None = None


_compiler = Value("compiler", _State)


class Progress(NamedTuple):
    """done: from 0 to 1; told: the stage as text; left: the remaining time as text."""

    done: float
    told: str
    left: str


def start() -> None:
    """Start compiling in the background. In background mode the first simulation compiles instead."""
    if not bpy.app.background:
        state = _compiler.value
        state.thread = threading.Thread(target=_work, args=(state,), name="heft-warm-up", daemon=True)
        state.thread.start()
        bpy.app.timers.register(_redraw, first_interval=EVERY, persistent=True)


def stop() -> None:
    """Stop redrawing; the thread runs to its end."""
    if bpy.app.timers.is_registered(_redraw):
        bpy.app.timers.unregister(_redraw)


def is_running() -> bool:
    """True if the compiler is still running: a simulation started now would wait for it."""
    return _is_alive(_compiler.value.thread)


def _is_alive(thread: threading.Thread | None) -> bool:
    return thread is not None and thread.is_alive()


def progress() -> Progress | None:
    """The compiler's progress; None if it is not running, or nearly done."""
    state = _compiler.value
    if not is_running():
        state.last = None
        return None
    found = engine.build_progress()
    if found is None and state.last is None:
        return None  # there is nothing to compile
    text = "Heft compiles its engine, once after an update. Go on working: Simulate starts when it is done."
    if found is None:
        return Progress(state.last, text, "almost done")
    # it never decreases
    state.last = max(found.done, state.last or 0.0)
    return Progress(state.last, text, _left(state.last, found.left))


def _left(done: float, left: float | None) -> str:
    """ "34 %, about 40 s left"."""
    if left is None:
        return "a minute or two"
    seconds = left + READING
    words = f"{5 * max(round(seconds / 5), 1)} s" if seconds < 90 else f"{round(seconds / 60)} minutes"
    return f"{100 * done:.0f} %, about {words} left"


def problem() -> str:
    """A sentence for the panel if a library is missing or comes from elsewhere, else ""."""
    return _compiler.value.problem or engine.NO_NUMBA


def _redraw() -> float | None:
    """Timer callback: redraw the sidebars while the compiler runs, and once afterwards."""
    redraw_views.views("UI")
    return EVERY if is_running() else None


def _work(state: _State) -> None:
    if not engine.is_compiled():
        print(f"Heft: {engine.NO_NUMBA}")
        return
    try:
        engine.warm_up()
    except engine.HeftError as error:
        state.problem = str(error)
        print(f"Heft: {error}")
    else:
        # separate: a simulation need not wait for it
        state.posing = threading.Thread(target=engine.warm_up_posing, name="heft-warm-up-posing", daemon=True)
        state.posing.start()


def is_posing_ready() -> bool:
    """True if Pull Pose can start without waiting for the compiler."""
    return not is_running() and not _is_alive(_compiler.value.posing)
