"""The engine's compiler at work in the background.

Owns the thread that compiles (or loads) the kernels when the add-on is enabled in a
window, and what it found. The thread never touches Blender.
"""

from __future__ import annotations

import threading

import bpy

from .. import engine

_thread: threading.Thread | None = None
_problem = ""


def start() -> None:
    """Start compiling beside the user's work; in background mode the first simulation does it."""
    global _thread
    if not bpy.app.background:
        _thread = threading.Thread(target=_work, name="heft-warm-up", daemon=True)
        _thread.start()


def is_running() -> bool:
    """Is the compiler still at work? A simulation started now would wait for it."""
    return _thread is not None and _thread.is_alive()


def problem() -> str:
    """A sentence for the panel if a library is missing or foreign, else nothing."""
    return _problem or engine.NO_NUMBA


def _work() -> None:
    global _problem
    if not engine.is_compiled():
        print(f"Heft: {engine.NO_NUMBA}")
        return
    try:
        engine.warm_up()
        engine.posing.warm_up()
    except engine.HeftError as error:
        _problem = str(error)
        print(f"Heft: {error}")
