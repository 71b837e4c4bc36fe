"""Results of free objects, shown on the objects by a constraint.

Owns the empty that carries the result (in no collection, in world space) and the Copy Transforms constraint at the end
of the object's stack that shows it. The object's own action, channels and constraints are never changed. Must not know
where the motion came from.
"""

from __future__ import annotations

from contextlib import contextmanager

import bpy
import numpy as np

from ...engine.math import rotations
from .. import settings
from ..blender import actions
from ..blender.own_marks import CONSTRAINT
from ..errors import RigError
from . import show_constraints, stamps

PATH = f'constraints["{CONSTRAINT}"].influence'


def has_result(ob: bpy.types.Object) -> bool:
    """True if the object has a free object's result, its own or that of the object it was duplicated from."""
    return ob.type != "ARMATURE" and ob.is_property_set("heft_result") and ob.heft_result is not None


def results_of(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects whose result came from this rig's simulation."""
    return [ob for ob in bpy.data.objects if has_result(ob) and ob.heft_result.heft_collider.rig == rig]


# --- writing -----------------------------------------------------------------------


def write(
    rig: bpy.types.Object, ob: bpy.types.Object, frames: np.ndarray, matrices: np.ndarray, made_from: str
) -> None:
    """Write simulated world matrices (frames, 4, 4) to the object's result. made_from: see `stamps`."""
    if not np.isfinite(matrices).all():
        raise RigError(f"The result of '{ob.name}' holds numbers that are not finite: nothing was written.")
    result = ensure_result(rig, ob)
    turns, scales = rotations.split(matrices[:, :3, :3])
    quats = rotations.continuous(rotations.from_matrix(turns))
    bag = actions.ensure_bag(result.animation_data.action, actions.slot_of(result))
    table = actions.curve_table(bag)
    when = frames.astype(np.float32)
    for path, values in (("location", matrices[:, :3, 3]), ("rotation_quaternion", quats), ("scale", scales)):
        for i in range(values.shape[1]):
            curve = actions.ensure_curve(bag, table, path, i)
            actions.write_keys(curve, when, values[:, i].astype(np.float32))
            curve.lock = True
    stamps.end(result, made_from, "")
    result.animation_data.action.update_tag()
    result.update_tag(refresh={"OBJECT", "TIME"})


def ensure_result(rig: bpy.types.Object, ob: bpy.types.Object) -> bpy.types.Object:
    """The object's own result from the rig's simulation; created if there is none or it is another object's."""
    result = ob.heft_result
    if result is None or result.heft_collider.owner != ob:
        result = bpy.data.objects.new(f"{ob.name} result", None)
        result.rotation_mode = "QUATERNION"
        result.heft_collider.owner = ob
        ob.heft_result = result
    if result.animation_data is None or result.animation_data.action is None:
        actions.assign(result, actions.new_action(f"{ob.name} result", result))
    if result.heft_collider.rig != rig:
        result.heft_collider.rig = rig
    return result


# --- source and result ---------------------------------------------------------------


def apply(rig: bpy.types.Object, visible: bool) -> None:
    """Show the rig's free objects as their results, with the rig's mix, or as their source."""
    for ob in results_of(rig):
        _apply(rig, ob, visible)


def _apply(rig: bpy.types.Object, ob: bpy.types.Object, visible: bool) -> None:
    condition = show_constraints.driven_condition(rig) if visible else None
    keyed = condition is not None and show_constraints.mix_is_keyed(rig)
    if not visible or (rig.heft.mix <= 0.0 and not keyed):
        _detach(ob)
        return
    constraint = show_constraints.attach(ob, ob.heft_result)
    if condition is not None:
        _drive(rig, ob, f"rig * ({condition})" if condition else "rig")
        return
    _undrive(ob)
    if constraint.influence != rig.heft.mix:
        constraint.influence = rig.heft.mix


def is_applied(rig: bpy.types.Object, visible: bool) -> bool:
    """True if the constraints match the settings."""
    free = results_of(rig)
    if not free:
        return True  # asked on every frame; the rest searches all curves of the rig
    wanted = visible and (rig.heft.mix > 0.0 or show_constraints.mix_is_keyed(rig))
    condition = show_constraints.driven_condition(rig) if wanted else None
    for ob in free:
        if wanted != (ob.constraints.get(CONSTRAINT) is not None):
            return False
        if wanted and _driver(ob) != (None if condition is None else f"rig * ({condition})" if condition else "rig"):
            return False
    return True


@contextmanager
def exposed(obs):
    """Context manager: these objects show their sources, whichever rig simulated them."""
    shown = [ob for ob in obs if has_result(ob) and ob.constraints.get(CONSTRAINT) is not None]
    for ob in shown:
        _detach(ob)
    try:
        yield
    finally:
        for ob in shown:
            rig = ob.heft_result.heft_collider.rig if ob.heft_result is not None else None
            if rig is not None:
                _apply(rig, ob, True)


def settle() -> None:
    """Remove a duplicated object's pointer to the original's result, and results of armatures that are deleted or have
    no physics."""
    for ob in bpy.data.objects:
        if has_result(ob):
            look = ob.heft_result.heft_collider
            if look.owner != ob or not settings.has_physics(look.rig):
                _detach(ob)
                settings.forget(ob, "heft_result")


# --- taking away -----------------------------------------------------------------------


def remove(ob: bpy.types.Object) -> None:
    """Delete the object's result."""
    _detach(ob)
    result = ob.heft_result
    settings.forget(ob, "heft_result")
    if result is None or result.heft_collider.owner != ob:
        return
    action = result.animation_data.action if result.animation_data else None
    bpy.data.objects.remove(result)
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)


def _detach(ob: bpy.types.Object) -> None:
    if ob.constraints.get(CONSTRAINT) is None:
        return
    _undrive(ob)
    show_constraints.detach(ob)


def _driver(ob: bpy.types.Object) -> str | None:
    found = ob.animation_data.drivers.find(PATH) if ob.animation_data else None
    return found.driver.expression if found is not None else None


def _drive(rig: bpy.types.Object, ob: bpy.types.Object, expression: str) -> None:
    if ob.animation_data is None:
        ob.heft_result.heft_collider.bare = True
    found = ob.animation_data.drivers.find(PATH) if ob.animation_data else None
    driver = (found or ob.driver_add(PATH)).driver
    if driver.expression != expression:
        driver.expression = expression
    variable = driver.variables[0] if len(driver.variables) else driver.variables.new()
    if variable.name != "rig" or variable.targets[0].id != rig:
        variable.name = "rig"
        variable.targets[0].id = rig
        variable.targets[0].data_path = "heft.mix"


def _undrive(ob: bpy.types.Object) -> None:
    if _driver(ob) is None:
        return
    ob.driver_remove(PATH)
    data, result = ob.animation_data, ob.heft_result
    if result is not None and result.heft_collider.bare:
        result.heft_collider.bare = False
        if data is not None and data.action is None and not len(data.nla_tracks) and not len(data.drivers):
            ob.animation_data_clear()
