"""Every setting that offers a key takes it in the sidebar, by the key I over its field, and acts from that frame on.

Which settings these are, and a small world for each, are those of `tests/addon/behaviour/test_keyed_settings.py`.
"""

from __future__ import annotations

import time

# Sent to Blender once: the worlds of the add-on's tests, with the installed extension under the name they use.
PREPARE = """
import contextlib, sys
NAME = 'bl_ext.user_default.heft'
for known in [name for name in sys.modules if name == NAME or name.startswith(NAME + '.')]:
    sys.modules['heft' + known[len(NAME):]] = sys.modules[known]
import numpy as np
import rigs
from behaviour import test_every_setting as every, test_keyed_settings as keyed

def panels_open():
    # Closed by default: Blender has no command that opens them.
    panel = sys.modules[NAME + '.addon.ui.panels']
    classes = [each for each in panel.CLASSES if issubclass(each, bpy.types.Panel)]
    for each in reversed(classes):
        bpy.utils.unregister_class(each)
    for each in classes:
        if each.__name__ in ('HEFT_PT_bones', 'HEFT_PT_forces'):
            each.bl_options = set()
        bpy.utils.register_class(each)

def build(owner, name):
    if bpy.context.object is not None and bpy.context.object.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    for things in (bpy.data.objects, bpy.data.collections, bpy.data.actions, bpy.data.armatures, bpy.data.meshes):
        for thing in list(things):
            things.remove(thing)
    case = every.CASES[owner][name]
    rig = case.world()
    for path, given in case.settings.items():
        setattr(every.holder_of(rig, path.partition('.')[0]), path.partition('.')[2], given)
    every.put(rig, owner, name, case.before)
    if owner == 'tie':
        rig.heft.tie_index = 0
    bpy.context.view_layer.objects.active = rig
    bone = bone_of(rig)
    rig.data.bones.active = bone.bone
    bpy.context.scene.frame_set(1)
    if owner == 'bone':
        return f'pose.bones["{bone.name}"].heft_{name}'
    return every.holder_of(rig, owner).path_from_id(name)

def bone_of(rig):
    return next(bone for bone in rig.pose.bones if bone.heft == every.holder_of(rig, 'bone'))

def seen():
    bpy.ops.heft.simulate()
    out = []
    for frame in every.FRAMES:
        bpy.context.scene.frame_set(frame)
        held = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
        out.append([np.array(held.matrix_world @ bone.matrix) for bone in held.pose.bones])
    return np.array(out)

def change(owner, name, frame):
    bpy.context.scene.frame_set(frame)
    value = every.CASES[owner][name].after
    if owner == 'bone':
        setattr(bone_of(rig()), f'heft_{name}', value)
    else:
        setattr(every.holder_of(rig(), owner), name, value)

def frames_of(path):
    action = rig().animation_data.action if rig().animation_data else None
    return [[p.co[0] for p in curve.keyframe_points] for curve in curves(action) if curve.data_path == path]

def steps():
    for curve in curves(rig().animation_data.action):
        if 'heft' in curve.data_path:
            for point in curve.keyframe_points:
                point.interpolation = 'CONSTANT'

def apart(before, after, frame):
    turned = np.degrees(rigs.angles(before[..., :3, :3], after[..., :3, :3])).max(axis=1)
    shift = 1000.0 * np.linalg.norm(before[..., :3, 3] - after[..., :3, 3], axis=-1).max(axis=1)
    k = frame - 1
    return [float(part.max()) for part in (turned[:k], shift[:k], turned[k:], shift[k:])]

def within(function, *args):
    with bpy.context.temp_override(**region('WINDOW')):
        return function(*args)
"""
BUILD = """
for ob in list(bpy.data.objects):
    bpy.data.objects.remove(ob)
"""


def test_every_setting_takes_a_key_in_the_sidebar(blender, window_of, tmp_path):
    shot = tmp_path / "keys.blend"
    blender.build(BUILD, shot)
    window = window_of(shot)
    window.ask(PREPARE)
    window.ask("panels_open()")
    window.open_tab()
    cases = window.ask("keyed.KEYABLE")
    assert len(cases) >= 20
    window.wait_for("not running()", 900.0)
    wrong = []
    for owner, name in cases:
        found = key_and_simulate(window, owner, name)
        print(f"{window.version} {owner} {name}: {found}", flush=True)
        if found:
            wrong.append(f"{owner} {name}: {found}")
    assert not wrong, "\n".join(wrong)


def key_and_simulate(window, owner: str, name: str) -> str:
    """Key the field twice by hand; what is wrong with it, or nothing."""
    path = window.ask(f"path = within(build, {owner!r}, {name!r}); path")
    frame = window.ask(f"keyed.EARLIER.get({name!r}, keyed.KEYED_ON)")
    window.ask("plain = within(seen); bpy.context.scene.frame_set(1)")
    window.rest()
    if not press_i(window, path, [1.0]):
        window.picture(f"no-key-{owner}-{name}")
        return f"no key on frame 1 at {path}"
    window.rest()
    window.ask(f"change({owner!r}, {name!r}, {frame})")
    if not press_i(window, path, [1.0, float(frame)]):
        window.picture(f"no-key-{owner}-{name}")
        return f"no key on frame {frame} at {path}"
    window.picture(f"key-{owner}-{name}")
    off = window.ask(f"steps(); apart(plain, within(seen), {frame})")
    if off[0] > 0.01 or off[1] > 0.1:
        return f"changed before its key: {off[0]:.3f}°, {off[1]:.2f} mm"
    if off[2] < 0.5 and off[3] < 5.0:
        return f"does nothing: {off[2]:.3f}°, {off[3]:.2f} mm"
    return ""


def press_i(window, path: str, wanted: list[float]) -> bool:
    """Over the field; whether the keys are there then."""
    window.to(path)
    window.screen.press("i")
    end = time.monotonic() + 5.0
    while time.monotonic() < end:
        if window.ask(f"frames_of({path!r})") == [wanted]:
            return True
    return False
