"""Rigs in every situation a file may have them in, and a walk through Heft that must leave every other byte alone.

Knows neither pytest nor how Heft got into Blender: tests/addon/behaviour/test_matrix.py walks here, and
tests/walk_in_blender.py in any Blender there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import bpy

import rigs
import state

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
END = 20
SETTINGS = {"settle_time": 0.35, "heaviness": 0.25, "damping_ratio": 0.8, "pre_roll": 3, "total_mass": 3.5}


def rich(name: str = "Rig") -> bpy.types.Object:
    """A rig with everything that could be lost: modes, drivers, constraints, IK, custom and unkeyed values."""
    rig = rigs.chain(5, connected=False, name=name)
    rigs.wave(rig, end=END, modes=("QUATERNION", "XYZ", "AXIS_ANGLE"))
    rig["note"] = "mine"
    rig.pose.bones[2]["twist"] = 0.25
    rig.pose.bones[2].keyframe_insert('["twist"]', frame=3)
    rig.data["age"] = 7
    rig.data.keyframe_insert('["age"]', frame=2)
    rig.keyframe_insert("location", frame=1)
    rig.pose.bones[4].constraints.new("LIMIT_ROTATION").influence = 0.5
    rig.pose.bones[1].constraints.new("DAMPED_TRACK").mute = True
    rig.driver_add('pose.bones["bone.004"].scale', 0).driver.expression = "1 + 0.01 * frame"
    goal = bpy.data.objects.new(f"{name} goal", None)
    bpy.context.scene.collection.objects.link(goal)
    goal.location = (0.5, 0.8, 0.3)
    goal.keyframe_insert("location", frame=1)
    ik = rig.pose.bones[3].constraints.new("IK")
    ik.target, ik.chain_count, ik.influence = goal, 2, 0.8
    other = rig.animation_data.action.copy()
    other.name, other.use_fake_user = f"{name} other", True
    rig.pose.bones[1].location = (0.0, 0.01, 0.0)
    rig.pose.bones[1].lock_location = (True, False, True)
    return rig


def _activate(rig: bpy.types.Object) -> None:
    for ob in bpy.context.selected_objects:
        ob.select_set(False)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig


# --- the situations -------------------------------------------------------------------


def local(_folder: Path) -> str:
    return rich().name


def shared(_folder: Path) -> str:
    """Two rigs with one action."""
    rig, other = rich(), rich("Other")
    left = other.animation_data.action
    _assign(other, rig.animation_data.action, _slot(rig))
    if other.data.animation_data.action != left:
        bpy.data.actions.remove(left)  # nobody uses it, and saving would leave it out
    _activate(rig)
    return rig.name


def slots(_folder: Path) -> str:
    """One action that animates two rigs, the data of one and an empty, each through its own slot (from 4.4)."""
    rig, other = rich(), rich("Other")
    if HAS_SLOTS:
        action = rig.animation_data.action
        for block in (other, rig.data, bpy.data.objects["Rig goal"]):
            if block.animation_data.action == action:  # Blender keys an armature's data into its object's action
                continue
            old = block.animation_data.action_slot
            bag = block.animation_data.action.layers[0].strips[0].channelbag(old)
            slot = action.slots.new(block.id_type, block.name)
            new = action.layers[0].strips[0].channelbag(slot, ensure=True)
            for curve in bag.fcurves:
                made = new.fcurves.new(curve.data_path, index=curve.array_index)
                for point in curve.keyframe_points:
                    made.keyframe_points.insert(*point.co)
            left = block.animation_data.action
            block.animation_data.action, block.animation_data.action_slot = action, slot
            bpy.data.actions.remove(left)
    _activate(rig)
    return rig.name


def stacked(_folder: Path) -> str:
    """No active action: NLA strips, one of them repeated and blended, one muted."""
    rig = rich()
    data = rig.animation_data
    action, slot = data.action, _slot(rig)
    data.action = None
    for k, (start, blend, mute) in enumerate(((1, "REPLACE", False), (5, "COMBINE", False), (3, "ADD", True))):
        track = data.nla_tracks.new()
        strip = track.strips.new(f"strip {k}", start, action)
        if HAS_SLOTS:
            strip.action_slot = slot
        strip.blend_type, track.mute = blend, mute
        strip.use_animated_influence = True
        strip.fcurves.find("influence").keyframe_points.insert(4.0, 0.6)
    return rig.name


def tweaked(folder: Path) -> str:
    """The same while one of the strips is being tweaked."""
    rig = bpy.data.objects[stacked(folder)]
    data = rig.animation_data
    for track in data.nla_tracks:
        track.select = False
    data.nla_tracks[0].select = data.nla_tracks[0].strips[0].select = True
    data.use_tweak_mode = True
    return rig.name


def layered(_folder: Path) -> str:
    """An active action over NLA strips, at half influence."""
    rig = rich()
    data = rig.animation_data
    track = data.nla_tracks.new()
    strip = track.strips.new("below", 1, bpy.data.actions["Rig other"])
    if HAS_SLOTS:
        strip.action_slot = strip.action.slots[0]
    data.action_influence, data.action_blend_type = 0.5, "COMBINE"
    return rig.name


def cyclic(_folder: Path) -> str:
    """Cycles modifiers on all that moves, and a frame range that is marked as cyclic."""
    rig = rich()
    rig.driver_remove('pose.bones["bone.004"].scale', 0)
    for curve in rigs.actions_of(rig).fcurves:
        if len(curve.keyframe_points) > 1:
            curve.keyframe_points[-1].co[1] = curve.keyframe_points[0].co[1]
            curve.update()
            curve.modifiers.new("CYCLES")
    action = rig.animation_data.action
    action.use_frame_range = action.use_cyclic = True
    action.frame_start, action.frame_end = 1, 17
    return rig.name


def still(_folder: Path) -> str:
    """No animation data at all, one pose of its own."""
    rig = rigs.chain(4)
    rig.pose.bones[1].rotation_quaternion = (math.cos(0.2), math.sin(0.2), 0.0, 0.0)
    return rig.name


def duplicated(_folder: Path, linked: bool = False) -> str:
    """The twin of a rig that has physics and shows its result."""
    rig = rich()
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.2
    bpy.ops.heft.simulate()
    _activate(rig)
    bpy.ops.object.duplicate(linked=linked)
    twin = bpy.context.object
    bpy.context.scene.frame_set(3)
    return twin.name


def linked_twin(folder: Path) -> str:
    """The same with the armature's data and the action shared."""
    return duplicated(folder, linked=True)


def overridden(folder: Path) -> str:
    """A library override of a linked rig, with an action of its own."""
    rich()
    group = bpy.data.collections.new("Cast")
    bpy.context.scene.collection.children.link(group)
    for ob in list(bpy.context.scene.collection.objects):
        group.objects.link(ob)
        bpy.context.scene.collection.objects.unlink(ob)
    library = folder / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    rigs.new_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, END
    with bpy.data.libraries.load(str(library), link=True) as (_, ours):
        ours.collections = ["Cast"]
    ours.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    rig = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == "ARMATURE")
    _activate(rig)
    rig.pose.bones[2].location = (0.0, 0.2, 0.0)
    action = rig.animation_data.action.copy()
    action.name = "Own"
    _assign(rig, action, action.slots[0] if HAS_SLOTS else None)
    other = action.copy()
    other.name, other.use_fake_user = "Own other", True
    name = rig.name
    _reopen(folder / "overridden.blend")  # what is overridden is worked out on saving
    return name


SITUATIONS: tuple[Callable[[Path], str], ...] = (
    local,
    shared,
    slots,
    stacked,
    tweaked,
    layered,
    cyclic,
    still,
    duplicated,
    linked_twin,
    overridden,
)


# --- the walk ---------------------------------------------------------------------------


def walk(situation: Callable[[Path], str], folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Each step through Heft, with what it has changed besides Heft's own."""
    name = situation(folder)
    bpy.context.preferences.edit.use_global_undo = True
    bpy.context.scene.frame_end = END
    bpy.context.scene.frame_set(4)
    before, other = _baselines(name)
    blocks, results = _blocks(), _results()
    # Of an override Blender itself makes an empty group of every property that is registered.
    empties = _traces(_rig(name)) if situation is overridden else []
    unkeyed = _unkeyed(name)

    def changed(wanted=before, saved: bool = False) -> list[str]:
        lines = state.difference(wanted, state.snapshot(_rig(name), pose=False))
        # What is overridden is worked out on saving: until then the list is that of the last time.
        lines = [line for line in lines if saved or " override: " not in line]
        return lines + state.difference(unkeyed, _unkeyed(name), "unkeyed")

    yield from _added(name, changed, empties)
    for key, value in SETTINGS.items():
        setattr(_rig(name).heft, key, value)
    _rig(name).pose.bones[1].heft.settle_scale = 2.0
    yield "settings", changed()
    bpy.ops.heft.simulate()
    yield "simulate", changed()
    bpy.context.scene.frame_set(9)
    yield "another frame", changed()
    yield from _taken(name, changed)
    for which in ("SOURCE", "RESULT"):
        bpy.ops.heft.show(which=which)
        bpy.context.scene.frame_set(5)
        yield f"show {which.lower()}", changed()
    if other is not None:
        yield from _swapped(name, changed, other, "by hand")
    yield from _undone(name, changed)
    yield from _reopened(name, folder, changed)
    if other is not None:
        yield from _swapped(name, changed, other, "after reopening")
    bpy.ops.heft.simulate()
    yield "simulate again", changed()
    bpy.ops.heft.remove()
    bpy.context.scene.frame_set(6)
    yield (
        "remove",
        [line for line in _traces(_rig(name)) if line not in empties]
        + changed()
        + state.difference(blocks, _blocks(), "blocks"),
    )
    yield "results", [] if _results() == results - _has_twin(situation) else [f"{_results()} results are left"]
    _reopen(folder / "after.blend")
    yield "reopen after remove", [line for line in _traces(_rig(name)) if line not in empties] + changed(saved=True)


def _taken(name: str, changed) -> Iterator[tuple[str, list[str]]]:
    """A take, another result, and the take again; the other is kept by itself."""
    bpy.ops.heft.keep_take()
    yield "keep take", changed()
    _rig(name).heft.heaviness = 0.6
    bpy.ops.heft.simulate()
    bpy.ops.heft.choose_take(name="Take 1")
    yield "choose take", changed() + _takes(name)


def _takes(name: str) -> list[str]:
    """Are both takes there, and is the first one shown?"""
    heft = _rig(name).heft
    there = [(take.name, take.auto, take.action is not None) for take in heft.takes]
    wrong = [] if there == [("Take 1", False, True), ("Take 2", True, True)] else [f"the takes are {there}"]
    if abs(heft.heaviness - SETTINGS["heaviness"]) > 1e-6 or heft.take != heft.takes[0].uid:
        wrong.append("the first take is not shown")
    return wrong


def _added(name: str, changed, empties: list[str]) -> Iterator[tuple[str, list[str]]]:
    bpy.ops.ed.undo_push(message="start")
    fresh = not (_rig(name).is_property_set("heft") and _rig(name).heft.enabled)
    bpy.ops.heft.add()
    bpy.ops.ed.undo_push(message="added")
    yield "add", changed()
    if fresh:  # a twin has physics from the start
        bpy.ops.ed.undo()
        yield "undo add", [line for line in _traces(_rig(name)) if line not in empties] + changed()
        bpy.ops.ed.redo()
        yield "redo add", changed() + ([] if _rig(name).heft.enabled else ["physics is not redone"])


def _swapped(name: str, changed, other: dict, when: str) -> Iterator[tuple[str, list[str]]]:
    _swap(_rig(name))
    bpy.context.scene.frame_set(7)
    yield f"another action {when}", changed(other) + _shown(name, False)
    _swap(_rig(name))
    bpy.context.scene.frame_set(8)
    yield f"the action back {when}", changed() + _shown(name, True)


def _undone(name: str, changed) -> Iterator[tuple[str, list[str]]]:
    bpy.ops.ed.undo_push(message="before")
    _rig(name).heft.heaviness = 0.5
    bpy.ops.heft.simulate()
    bpy.ops.ed.undo_push(message="heavier")
    bpy.ops.heft.remove()
    bpy.ops.ed.undo_push(message="removed")
    for words, move in (("undo remove", bpy.ops.ed.undo), ("undo simulate", bpy.ops.ed.undo)):
        move()
        yield words, changed()
    lost = [] if abs(_rig(name).heft.heaviness - 0.25) < 1e-6 else ["heaviness is not undone"]
    yield "undone settings", lost
    bpy.ops.ed.redo()
    yield "redo", changed()
    bpy.ops.ed.undo()
    yield "undo again", changed()


def _reopened(name: str, folder: Path, changed) -> Iterator[tuple[str, list[str]]]:
    """Saved and opened twice: what one load drops and another brings back must not be lost to a second save."""
    for turn in (1, 2):
        _reopen(folder / f"shot{turn}.blend")
        rig = _rig(name)
        wrong = [
            f"{key} is {getattr(rig.heft, key)}, was {value}"
            for key, value in SETTINGS.items()
            if abs(getattr(rig.heft, key) - value) > 1e-6
        ]
        if not rig.heft.enabled or rig.heft.shown != "RESULT" or rig.heft_result is None:
            wrong.append("physics or its result is gone")
        if abs(rig.pose.bones[1].heft.settle_scale - 2.0) > 1e-6:
            wrong.append("a bone's setting is gone")
        yield f"reopen {turn}", changed(saved=True) + wrong
        bpy.context.scene.frame_set(10)
        yield f"play on {turn}", changed() + _shown(name, True)
        bpy.ops.heft.flip_take()
        heavy = abs(_rig(name).heft.heaviness - 0.6) < 1e-6
        yield f"flip take {turn}", changed() + ([] if heavy else ["the other take is not shown"])
        bpy.ops.heft.flip_take()
        yield f"flip back {turn}", changed() + _takes(name)


def _shown(name: str, wanted: bool) -> list[str]:
    """Does the rig move as its result when it should, and stand back when it should?"""
    there = any(each.name == "Heft" for bone in _rig(name).pose.bones for each in bone.constraints)
    return [] if there == wanted else ["the result shows" if there else "the result does not show"]


def _reopen(path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))


def _rig(name: str) -> bpy.types.Object:
    """By name: undo and loading make other objects of it. Of a linked one and its override, the override."""
    return next(ob for ob in bpy.data.objects if ob.name == name and ob.library is None)


def _baselines(name: str) -> tuple[dict, dict | None]:
    """The file as it is, and as it is with the rig's other action on it."""
    before = state.snapshot(_rig(name), pose=False)
    data = _rig(name).animation_data
    if data is None or data.action is None or data.use_tweak_mode:
        return before, None
    _swap(_rig(name))
    other = state.snapshot(_rig(name), pose=False)
    _swap(_rig(name))
    assert state.difference(before, state.snapshot(_rig(name), pose=False)) == []
    return before, other


def _swap(rig: bpy.types.Object) -> None:
    """The rig's other action, or its own again, as a user assigns it."""
    current = rig.animation_data.action
    if current.name.endswith(" other"):
        kept = bpy.data.actions[rig["kept action"]]
        del rig["kept action"]
        _assign(rig, kept, _slot_named(kept, rig))
        kept.use_fake_user = False
        return
    rig["kept action"] = current.name
    current.use_fake_user = True
    other = next(action for action in bpy.data.actions if action.name.endswith(" other") and action.library is None)
    _assign(rig, other, other.slots[0] if HAS_SLOTS else None)


def _slot(rig: bpy.types.Object):
    return rig.animation_data.action_slot if HAS_SLOTS else None


def _slot_named(action: bpy.types.Action, rig: bpy.types.Object):
    """The slot the rig had in its own action: the first made."""
    return action.slots[0] if HAS_SLOTS else None


def _assign(rig: bpy.types.Object, action: bpy.types.Action, slot) -> None:
    rig.animation_data.action = action
    if HAS_SLOTS:
        rig.animation_data.action_slot = slot


def _blocks() -> dict[str, list[str]]:
    """All there is in the file, save the results of rigs that keep their physics."""
    names = ("objects", "armatures", "actions", "scenes", "collections", "meshes")
    found = {name: sorted(block.name_full for block in getattr(bpy.data, name)) for name in names}
    return {name: [each for each in blocks if " result" not in each] for name, blocks in found.items()}


def _results() -> int:
    return sum(" result" in ob.name for ob in bpy.data.objects)


def _has_twin(situation: Callable[[Path], str]) -> int:
    """The result that a duplicated rig has from the start."""
    return int(situation in (duplicated, linked_twin))


def _unkeyed(name: str) -> list:
    """Where bones without location keys are."""
    return [(bone.name, bone.location[:]) for bone in _rig(name).pose.bones[1:4]]


def _traces(rig: bpy.types.Object) -> list[str]:
    """What is left of Heft on a rig that has no physics."""
    found = []
    for holder in (rig, *rig.pose.bones):
        stored = holder.bl_system_properties_get() if hasattr(holder, "bl_system_properties_get") else holder
        keys = stored.keys() if stored is not None else ()
        found += [f"{holder.name} keeps '{key}'" for key in keys if key.startswith("heft")]
        found += [f"{holder.name} keeps a constraint" for each in holder.constraints if each.name == "Heft"]
    return found
