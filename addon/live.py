"""Live: a changed setting simulates again at once, inside its own update callback.

Owns when that happens. Writing inside the callback keeps a drag one undo step (and
Esc restores it); writing later would break undo.
"""

from __future__ import annotations

from contextlib import contextmanager

import bpy

from ..engine import HeftError

_paused = 0


@contextmanager
def paused():
    """Within this block changed settings start nothing."""
    global _paused
    _paused += 1
    try:
        yield
    finally:
        _paused -= 1


def setting_changed(rig: bpy.types.Object) -> None:
    """A setting that matters to the simulation was changed."""
    if _paused or rig.type != "ARMATURE" or not (rig.heft.enabled and rig.heft.live):
        return
    refresh(rig)


def refresh(rig: bpy.types.Object) -> None:
    """Simulate now; what goes wrong is shown in the panel, since a callback cannot report."""
    from . import session

    with paused():
        try:
            session.simulate(rig, bpy.context.scene, fresh=False)
        except HeftError as error:
            rig.heft.message = str(error)
            print(f"Heft: {error}")


def mix_changed(rig: bpy.types.Object) -> None:
    """The mix was changed: nothing to simulate, only to show."""
    from . import showing

    if not _paused and rig.type == "ARMATURE" and rig.heft.enabled and rig.heft_result is not None:
        showing.apply(rig)
