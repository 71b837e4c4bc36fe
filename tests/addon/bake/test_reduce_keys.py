"""Fewer keys: how many, and how far off on every frame."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.bake import reduce_keys
from heft.addon.blender import actions
from heft.addon.result import result_armature

TOLERANCE = 0.1


def walk() -> bpy.types.Object:
    """A recorded walk, with physics."""
    path = rigs.DATA / "mocap" / "cmu_02_01.bvh"
    if not path.exists():
        pytest.skip(f"no {path}")
    bpy.ops.import_anim.bvh(filepath=str(path), global_scale=0.0564, update_scene_fps=True, update_scene_duration=True)
    rig = bpy.context.object
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 2, 241  # frame 1 is no motion
    bpy.ops.heft.add()
    return rig


def local_angles(rig, a, b) -> np.ndarray:
    """(frames, bones) degrees between two sets of poses, each bone within its parent."""
    out = []
    for i, bone in enumerate(rig.pose.bones):
        above = rig.pose.bones.find(bone.parent.name) if bone.parent else -1
        own = [np.linalg.inv(side[:, above]) @ side[:, i] if above >= 0 else side[:, i] for side in (a, b)]
        out.append(np.degrees(rigs.angles(own[0][:, :3, :3], own[1][:, :3, :3])))
    return np.array(out).T


def straight_keys(values: np.ndarray, tolerance: float) -> int:
    """Keys that straight lines between them would take (Ramer-Douglas-Peucker), for comparison."""
    count, spans = 2, [(0, len(values) - 1)]
    while spans:
        a, b = spans.pop()
        t = (np.arange(a + 1, b) - a)[:, None] / max(b - a, 1)
        error = np.abs(values[a + 1 : b] - (values[a] + t * (values[b] - values[a]))).max(axis=1, initial=0.0)
        if len(error) and error.max() > tolerance:
            middle = a + 1 + int(error.argmax())
            count += 1
            spans += [(a, middle), (middle, b)]
    return count


@pytest.mark.in_one_blender
@pytest.mark.parametrize("pushed", [False, True])
def test_a_walk_keeps_two_keys_in_five_at_most(empty, pushed, capfd):
    rig = walk()
    if pushed:
        push = rig.heft.pushes.add()
        push.bone, push.impulse, push.direction, push.frame = "Spine1", 30.0, (1.0, 0.0, 0.0), 60
        rig.heft.heaviness = 0.2
    bpy.ops.heft.simulate()
    frames = rigs.scene_frames()
    shown = rigs.poses(rig, frames)
    capfd.readouterr()
    bpy.ops.heft.bake(target="ACTION", reduce=TOLERANCE)
    report = capfd.readouterr().out
    said = next(line for line in report.splitlines() if "keys instead of" in line)
    written, full = (int(word.replace(",", "")) for word in said.split() if word[0].isdigit())
    now = rigs.poses(rig, frames)
    angles = local_angles(rig, shown, now)
    world = rigs.deviation(shown, now, rigs.height(rig))
    bodies = {rig.pose.bones[name].path_from_id() for name in result_armature.body_names(rig)}
    curves = [curve for curve in actions.active_curves(rig) if curve.data_path.rpartition(".")[0] in bodies]
    counted = sum(frames[0] <= frame <= frames[-1] for curve in curves for frame in actions.key_frames(curve))
    print(f"\n{'pushed' if pushed else 'as recorded'}: {said.strip()}, {100 * (1 - written / full):.1f} % fewer;")
    print(f"   at most {angles.max():.4f} deg in its parent, {world[1]:.4f} deg and {world[0]:.1e} in the world")
    assert written <= 0.4 * full
    # Of a channel that stays the same both ends are kept, but counted as one.
    assert counted <= written + len(curves)
    assert angles.max() <= TOLERANCE
    root = rig.pose.bones[0].path_from_id()
    times = {
        tuple(frame for frame in actions.key_frames(curve) if frame in frames)
        for curve in actions.active_curves(rig)
        if curve.data_path.startswith(root)
    }
    assert len(times) == 1, "all channels of a bone have their keys on the same frames"


@pytest.mark.parametrize("mode", rigs.MODES)
def test_every_rotation_mode_keeps_to_the_tolerance(empty, mode):
    rig = rigs.chain(3, connected=False)
    rigs.wave(rig, modes=(mode,))
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.heaviness = 2.0, 0.2
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.bake(target="ACTION", reduce=1.0)
    angles = local_angles(rig, shown, rigs.poses(rig, rigs.scene_frames()))
    counts = {len(c.keyframe_points) for c in actions.active_curves(rig) if "rotation" in c.data_path}
    assert max(counts) < 30
    assert 0.05 < angles.max() <= 1.0


def test_a_cubic_needs_two_keys_and_a_kink_one_more():
    frames = np.arange(50)
    t = frames / 49.0
    smooth = np.stack([t**3 - t, 2.0 * t**2], axis=1)
    keys = reduce_keys.fit(frames, [reduce_keys.Track("location", smooth, "", 1e-9)])
    assert len(keys.kept) == 2
    kinked = np.stack([np.abs(t - t[20]), t], axis=1)
    keys = reduce_keys.fit(frames, [reduce_keys.Track("location", kinked, "", 1e-6)])
    assert list(keys.kept) == [0, 20, 49]
    assert straight_keys(smooth, 1e-3) > 10, "straight lines would take far more"


def test_keys_of_several_tracks_stand_together():
    frames = np.arange(40)
    calm = np.zeros((40, 3))
    busy = np.stack([np.sin(0.7 * frames), np.cos(0.7 * frames), np.sin(frames)], axis=1)
    tracks = [reduce_keys.Track("location", busy, "", 0.01), reduce_keys.Track("scale", calm, "", 0.01)]
    keys = reduce_keys.fit(frames, tracks)
    assert len(keys.span("location", 0)) == len(keys.span("scale", 2)) == len(keys.kept)
    for name, values in (("location", busy), ("scale", calm)):
        made = np.array([evaluated(keys.span(name, i), frames) for i in range(3)]).T
        assert np.abs(made - values).max() <= 0.01


def evaluated(span, frames) -> list[float]:
    """What Blender's own curves make of a span."""
    from heft.addon.blender import key_spans

    action = actions.new_action("fitted", bpy.data.objects.new("holder", None))
    curve = actions.ensure_bag(action).fcurves.new("location", index=0)
    key_spans.replace(curve, span)
    return [curve.evaluate(float(frame)) for frame in frames]
