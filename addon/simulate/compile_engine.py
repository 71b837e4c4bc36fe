"""The engine's compiler at work in the background, and how far it is.

Owns the thread that compiles (or loads) the kernels when the add-on is enabled in a
window, what it found, and a timer that has the sidebar drawn meanwhile. The thread never
touches Blender.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import bpy

from ... import engine
from ..blender import redraw_views

# How often the panel shows the compiler's progress [s].
EVERY = 0.5
# What is left to read once all is compiled takes about so long [s].
READING = 3.0

_thread: threading.Thread | None = None
_posing: threading.Thread | None = None
_problem = ""
_last: float | None = None  # how much was done when it was last asked


class Progress(NamedTuple):
    """done: from 0 to 1; told: what is going on; left: how long it takes."""

    done: float
    told: str
    left: str


def start() -> None:
    """Start compiling beside the user's work; in background mode the first simulation does it."""
    global _thread
    if not bpy.app.background:
        _thread = threading.Thread(target=_work, name="heft-warm-up", daemon=True)
        _thread.start()
        bpy.app.timers.register(_redraw, first_interval=EVERY, persistent=True)


def stop() -> None:
    """Draw no more; the thread goes on to its end."""
    if bpy.app.timers.is_registered(_redraw):
        bpy.app.timers.unregister(_redraw)


def is_running() -> bool:
    """Is the compiler still at work? A simulation started now would wait for it."""
    return _thread is not None and _thread.is_alive()


def progress() -> Progress | None:
    """How far the compiler is; None where there is nothing to wait for, or only a moment."""
    global _last
    if not is_running():
        _last = None
        return None
    found = engine.build_progress()
    if found is None and _last is None:
        return None  # there is nothing to compile
    text = "Heft compiles its engine, once after an update. Go on working: Simulate starts when it is done."
    if found is None:
        return Progress(_last, text, "almost done")
    # it never goes back
    _last = max(found.done, _last or 0.0)
    return Progress(_last, text, _left(_last, found.left))


def _left(done: float, left: float | None) -> str:
    """ "34 %, about 40 s left"."""
    if left is None:
        return "a minute or two"
    seconds = left + READING
    words = f"{5 * max(round(seconds / 5), 1)} s" if seconds < 90 else f"{round(seconds / 60)} minutes"
    return f"{100 * done:.0f} %, about {words} left"


def problem() -> str:
    """A sentence for the panel if a library is missing or foreign, else nothing."""
    return _problem or engine.NO_NUMBA


def _redraw() -> float | None:
    """A timer of Blender's: have the sidebars drawn as long as the compiler is at work, and once more."""
    redraw_views.views("UI")
    return EVERY if is_running() else None


def _work() -> None:
    global _problem, _posing
    if not engine.is_compiled():
        print(f"Heft: {engine.NO_NUMBA}")
        return
    try:
        engine.warm_up()
    except engine.HeftError as error:
        _problem = str(error)
        print(f"Heft: {error}")
    else:
        # on its own: a simulation need not wait for it
        _posing = threading.Thread(target=engine.warm_up_posing, name="heft-warm-up-posing", daemon=True)
        _posing.start()


def is_posing_ready() -> bool:
    """Can a bone be pulled without a wait for the compiler?"""
    return not is_running() and (_posing is None or not _posing.is_alive())
