"""On Time from the panel's settings to the shown result, and the keys it misses."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.blender import sample_poses
from heft.addon.result import missed_keys
from heft.addon.simulate import session
from keying import key, set_type

KEYS = (1, 12, 22.4, 36)


@pytest.fixture
def rig(empty):
    """A post of three bones that bows to and fro, its upper bones keyed."""
    empty.frame_start, empty.frame_end = 1, 40
    rig = rigs.post(3)
    bpy.ops.heft.add()
    rig.heft.total_mass = 3.0
    rig.heft.controller = "ON_TIME"
    for bone in rig.pose.bones[1:]:
        key(bone, KEYS, size=0.7)
    return rig


def simulate(rig, **settings) -> np.ndarray:
    """(frames, bones, 4, 4) as shown."""
    for name, value in settings.items():
        setattr(rig.heft, name, value)
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    return rigs.poses(rig, range(1, 41))


def off(rig, result: np.ndarray, frame: int) -> float:
    """Degrees by which the result misses the source on a frame."""
    bpy.ops.heft.show(which="SOURCE")
    source = rigs.poses(rig, [frame])
    bpy.ops.heft.show(which="RESULT")
    return rigs.deviation(source, result[frame - 1 : frame], 1.0)[1]


@pytest.mark.parametrize("shape", [3.5, 9.5])
def test_keys_are_met_and_between_them_the_body_moves_by_itself(rig, shape):
    result = simulate(rig, shape=shape)
    for frame in (12, 36):
        assert off(rig, result, frame) < 0.1
    assert off(rig, result, 17) > 2.0
    arrivals = session.last_shown(rig).result.arrivals
    assert len(arrivals.bodies) == 6 and arrivals.frames[2] == pytest.approx(22.4, abs=1e-4)
    assert np.degrees(arrivals.angles).max() < 0.1 and np.degrees(arrivals.rates).max() < 1.0
    assert not len(rig.heft.misses)


def test_struck_on_the_way_it_still_arrives(rig):
    still = simulate(rig)
    push = rig.heft.pushes.add()
    push.bone, push.direction, push.impulse, push.frame = "bone.002", (0.0, 1.0, 0.0), 3.0, 26
    struck = simulate(rig)
    assert rigs.deviation(still[26:30], struck[26:30], 1.0)[1] > 5.0
    assert off(rig, struck, 36) < 0.1


def test_at_rest_or_with_the_speed_of_the_curve(rig):
    """A bone that turns evenly passes its key as fast, or stops there."""
    bone = rig.pose.bones[1]
    for frame in KEYS:
        bone.rotation_euler = (0.03 * (frame - 1), 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    for curve in rigs.actions_of(rig).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    even = np.degrees(0.03)
    passed = simulate(rig, arrival="CURVE")[:, 1:2]
    assert rigs.deviation(passed[11:12], passed[12:13], 1.0)[1] == pytest.approx(even, rel=0.02)
    stopped = simulate(rig, arrival="REST")[:, 1:2]
    assert rigs.deviation(stopped[10:11], stopped[11:12], 1.0)[1] < 0.5 * even


def test_a_high_shape_is_there_earlier(rig):
    early, late = simulate(rig, shape=9.5, arrival="REST"), simulate(rig, shape=3.5)
    left = [rigs.deviation(result[7:8], result[11:12], 1.0)[1] for result in (early, late)]
    assert left[0] < 0.2 * left[1]


def test_only_the_extremes(rig):
    for bone in rig.pose.bones[1:]:
        set_type(rig, f"{bone.path_from_id()}.rotation_euler", 36, "EXTREME")
    result = simulate(rig, key_type="EXTREME")
    assert off(rig, result, 36) < 0.1
    assert off(rig, result, 12) > 5.0


def test_the_papers_law_is_looser(rig):
    """Gravity and speed bend its way, and it misses the speeds of keys."""
    exact = simulate(rig)
    kept = session.last_shown(rig).result.arrivals.rates.max()
    loose = simulate(rig, law="TORQUES")
    missed = session.last_shown(rig).result.arrivals.rates.max()
    assert rigs.deviation(exact, loose, 1.0)[1] > 1.0
    assert np.degrees(kept) < 1.0 < np.degrees(missed)


def test_no_key_of_that_type_is_told(rig):
    simulate(rig, key_type="JITTER")
    assert "'Rig' has no keys of type Jitter in frames 1 to 40" in rig.heft.message


@pytest.fixture
def missed(rig):
    """Too weak for its keys."""
    rig.rotation_euler.x = 1.2
    simulate(rig, use_strength=True, strength=0.05)
    assert len(rig.heft.misses) >= 2
    return rig


def test_missed_keys_are_listed_the_worst_first(missed):
    listed = [(miss.bone, miss.frame, miss.degrees) for miss in missed.heft.misses]
    arrivals = session.last_shown(missed).result.arrivals
    for bone, frame, degrees in listed:
        k = next(
            k
            for k, (name, when) in enumerate(zip(arrivals.bodies, arrivals.frames, strict=True))
            if name == bone and abs(when - frame) < 1e-3
        )
        assert degrees == pytest.approx(np.degrees(arrivals.angles[k]), rel=1e-5) and degrees > 0.5
    assert [each[2] for each in listed] == sorted((each[2] for each in listed), reverse=True)
    assert f"'{listed[0][0]}': {listed[0][2]:.1f}°" in missed_keys.sentence(missed)


def test_a_click_goes_to_the_missed_key(missed):
    bpy.ops.object.mode_set(mode="OBJECT")
    place = next(i for i, miss in enumerate(missed.heft.misses) if miss.frame % 1.0 > 0.1)
    assert bpy.ops.heft.go_to_miss(index=place) == {"FINISHED"}
    scene, miss = bpy.context.scene, missed.heft.misses[place]
    assert scene.frame_current_final == pytest.approx(22.4, abs=1e-3)
    assert missed.mode == "POSE"
    assert missed.data.bones.active.name == miss.bone
    assert [bone.name for bone in bpy.context.selected_pose_bones] == [miss.bone]
    with pytest.raises(RuntimeError, match="simulate again"):
        bpy.ops.heft.go_to_miss(index=99)


def test_misses_outlive_the_file_and_end_with_the_next_simulation(missed, tmp_path):
    kept = [(miss.bone, miss.frame, miss.degrees) for miss in missed.heft.misses]
    path = str(tmp_path / "missed.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    assert [(miss.bone, miss.frame, miss.degrees) for miss in rig.heft.misses] == kept
    rig.heft.use_strength = False
    bpy.ops.heft.simulate()
    assert not len(rig.heft.misses) and not missed_keys.sentence(rig)


def test_settings_can_be_keyed(rig):
    for frame, arrival, shape in ((1, "CURVE", 3.5), (13, "REST", 9.5)):
        rig.heft.arrival, rig.heft.shape = arrival, shape
        rig.keyframe_insert("heft.arrival", frame=frame)
        rig.keyframe_insert("heft.shape", frame=frame)
    keyed = simulate(rig)
    for curve in list(rigs.actions_of(rig).fcurves):
        if curve.data_path.startswith("heft."):
            rigs.actions_of(rig).fcurves.remove(curve)
    steady = simulate(rig, arrival="REST", shape=9.5)
    assert rigs.deviation(keyed[:11], steady[:11], 1.0)[1] > 2.0
    assert off(rig, keyed, 36) < 0.1


@pytest.mark.parametrize("controller", ["FOLLOW", "ON_TIME"])
def test_a_struck_post_is_back_after_its_recovery_time(empty, controller):
    """Struck at frame 10, half a second is twelve frames; without it a long settle time keeps it away."""
    empty.frame_start, empty.frame_end = 1, 40
    rig = rigs.post(3)
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.settle_time = 3.0, 2.0
    push = rig.heft.pushes.add()
    push.bone, push.direction, push.impulse, push.frame = "bone.002", (0.0, 1.0, 0.0), 1.0, 10
    rig.heft.controller = controller
    bends = {}
    for seconds in (0.0, 0.5):
        rig.heft.recovery_time = seconds
        bpy.ops.heft.simulate()
        bends[seconds] = rigs.bend(rig)
    assert bends[0.5].max() > 2.0
    assert bends[0.5][21] < 0.02 * bends[0.5].max()
    assert bends[0.0][21] > 0.2 * bends[0.0].max()


def test_dragging_samples_nothing_and_other_keys_only_around_them(rig, monkeypatch):
    count = []
    original = sample_poses.sample
    monkeypatch.setattr(sample_poses, "sample", lambda *args: count.append(len(args[2])) or original(*args))
    rig.heft.live = True
    assert count == [40, 5 * 3]  # every frame, and five looks at each of three keys
    for shape in (4.0, 6.0, 8.0):
        rig.heft.shape = shape
    assert len(count) == 2
    for bone in rig.pose.bones[1:]:
        set_type(rig, f"{bone.path_from_id()}.rotation_euler", 36, "EXTREME")
    rig.heft.key_type = "EXTREME"
    assert count[2:] == [5]
