"""Live: a changed setting simulates again at once, inside its own update callback.

Owns when that happens. Writing inside the callback keeps a drag one undo step (and
Esc restores it); writing later would break undo. Changed keys have no callback: they
are followed a moment later, in a window only.
"""

from __future__ import annotations

from contextlib import contextmanager

import bpy

from ..engine import HeftError

_paused = 0


def hold() -> None:
    """From now on changed settings start nothing, until `release`."""
    global _paused
    _paused += 1


def release() -> None:
    """Undo one `hold`."""
    global _paused
    _paused -= 1


def is_paused() -> bool:
    """Do changed settings start nothing?"""
    return _paused > 0


@contextmanager
def paused():
    """Within this block changed settings start nothing."""
    hold()
    try:
        yield
    finally:
        release()


def setting_changed(rig: bpy.types.Object) -> None:
    """A setting that matters to the simulation was changed."""
    if not _paused and rig.type == "ARMATURE" and rig.heft.enabled:
        _refresh_those_with(rig)


def collider_changed(ob: bpy.types.Object) -> None:
    """A setting of an object that characters may meet or carry was changed."""
    if not _paused:
        _refresh_those_with(ob)


def _refresh_those_with(ob: bpy.types.Object) -> None:
    """Simulate the live shots that the object is in; characters simulated together are one shot."""
    from . import session, shot

    found = []
    for leader in shot.leaders(session.rigs()):
        group = shot.members(leader)
        carried = [load.ob for each in group.rigs for load in shot.loads(each)]
        if any(each.heft.live for each in group.rigs) and ob in (*group.rigs, *group.objects, *carried):
            found.append(leader)
    for leader in found:
        refresh(leader)


def refresh(rig: bpy.types.Object) -> None:
    """Simulate now; what goes wrong is shown in the panel, since a callback cannot report."""
    from . import session, shot

    with paused():
        try:
            session.simulate(rig, bpy.context.scene, fresh=False)
        except HeftError as error:
            for each in shot.members(rig).rigs:
                each.heft.message = str(error)
            print(f"Heft: {error}")


# What each rig looked like when it was last followed, so that one that cannot be simulated is not tried on and on.
_followed: dict[int, str] = {}


def follow_source() -> None:
    """Simulate the live rigs whose source has changed (a timer's callback: runs once)."""
    from . import session, shot, showing, store

    if _paused:
        return
    live = [rig for rig in session.rigs() if rig.heft.live and rig.heft_result is not None]
    for rig in shot.leaders(rig for rig in live if not showing.standing_back(rig)):
        try:
            now = store.fingerprint(rig, bpy.context.scene)
        except HeftError as error:
            now = str(error)
        if now not in (rig.heft.fingerprint, rig.heft.baked, _followed.get(rig.session_uid)):
            _followed[rig.session_uid] = now
            refresh(rig)


def take_picked(rig: bpy.types.Object) -> None:
    """A take was clicked in the list: show it, unless it is shown."""
    from . import session, takes

    uid = None if _paused else takes.picked(rig)
    if uid is None:
        return
    try:
        session.choose_take(rig, uid)
    except HeftError as error:
        rig.heft.message = str(error)
        print(f"Heft: {error}")


def take_beside(rig: bpy.types.Object) -> None:
    """Takes are to be shown beside the character, or no more."""
    from . import beside

    if not _paused:
        beside.apply(rig)


def take_renamed(take: bpy.types.PropertyGroup) -> None:
    """A take has another name: so it has on all characters of its shot, and where it is shown beside them."""
    from . import beside, shot, takes

    if _paused:
        return
    rig, name = take.id_data, take.name
    with paused():
        for each in shot.members(rig).rigs:
            other = takes.find(each, take.uid)
            if other is not None:
                other.name = name
                beside.apply(each)


def curves_changed(rig: bpy.types.Object) -> None:
    """Curves were switched, or others asked for: nothing to simulate, only to write."""
    from . import curves, session

    if not _paused and rig.type == "ARMATURE" and rig.heft.enabled:
        if rig.heft.use_curves and not rig.heft.curve_names:
            curves.choose_bones(rig)
        session.write_curves(rig)


def mix_changed(rig: bpy.types.Object) -> None:
    """The mix was changed: nothing to simulate, only to show."""
    from . import showing

    if not _paused and rig.type == "ARMATURE" and rig.heft.enabled and rig.heft_result is not None:
        showing.apply(rig)
