"""Several characters: simulated apart while they are apart, and as one shot of all would be."""

from __future__ import annotations

import numpy as np
import pytest

import bvh
import engine
from crowds import ARM, FOLLOW, FPS, FRAMES, FREE, GROUND, TRUNK, arrays, at, bytes_of, person
from engine.simulation.bounding_boxes import HIGH, LOW, WAY, Outline, new_boxes, poses_of
from engine.simulation.simulate import Shot, begin
from props import limp_thing
from shapes import smooth_motion


def together(actors, scene, rate=240) -> list[engine.Result]:
    """One shot of all, whoever is near."""
    shot = Shot(actors, scene, rate)
    shot.run(shot.frames - 1)
    return shot.results()


def groups(crowd) -> list[tuple[int, ...]]:
    return [group.members for group in crowd._groups.values()]


def finished(actors, scene, threads=1):
    crowd = begin(actors, scene, 240, threads)
    crowd.run(crowd.frames - 1)
    return crowd


def off(results, others) -> float:
    """The largest difference of places, rotations and rates, and of the contacts' forces per newton of weight."""
    worst = 0.0
    for one, other in zip(results, others, strict=True):
        pairs = [(one.motion.positions, other.motion.positions), (one.motion.rotations, other.motion.rotations)]
        pairs += [(one.velocities, other.velocities), (one.contacts.forces / 350.0, other.contacts.forces / 350.0)]
        worst = max(worst, *(np.abs(a - b).max(initial=0.0) for a, b in pairs))
    return worst


def test_apart_it_is_what_one_shot_of_all_gives(figure):
    actors = [at(2.0 * (k % 3), 2.0 * (k // 3), seed=k, control=FREE) for k in range(6)]
    crowd = finished(actors, GROUND)
    assert groups(crowd) == [(k,) for k in range(6)]
    results, wanted = crowd.results(), together(actors, GROUND)
    assert results[0].contacts is results[5].contacts and len(wanted[0].contacts.frames) > 100
    for name in ("a", "b"):
        assert getattr(results[0].contacts, name) == getattr(wanted[0].contacts, name)
    np.testing.assert_array_equal(results[0].contacts.frames, wanted[0].contacts.frames)
    figure("six people apart, against one shot of all: differ by [m, rad/s]", off(results, wanted), 1e-12)


def test_apart_nobody_feels_what_befalls_another():
    """A blow far away changes no byte, though one shot of all would take its steps in other parts."""
    actors = [at(0.0, seed=1), at(9.0, seed=2)]
    calm = engine.simulate_together(actors, GROUND)
    pushed = engine.Scene(ground=GROUND.ground, touch_self=False, pushes=[engine.Push((1, "trunk"), (0, 90, 0), 12)])
    struck = engine.simulate_together(actors, pushed)
    assert all((a == b).all() for a, b in zip(arrays(calm[0])[:5], arrays(struck[0])[:5], strict=True))
    assert np.abs(calm[1].motion.positions - struck[1].motion.positions).max() > 0.05


def test_who_meets_in_the_source_is_one_group_from_the_start():
    actors = [at(0.0, speed=0.5), at(6.0, seed=2), at(0.8, seed=3)]
    crowd = finished(actors, GROUND)
    assert groups(crowd) == [(0, 2), (1,)]
    pair = together([actors[0], actors[2]], GROUND)
    assert ("trunk", "trunk") in zip(pair[0].contacts.a, pair[0].contacts.b, strict=True)
    results = crowd.results()
    for one, other in ((results[0], pair[0]), (results[2], pair[1])):
        assert all((a == b).all() for a, b in zip(arrays(one)[:5], arrays(other)[:5], strict=True))


def pushed_pair(*more):
    """The push throws the first into the second; the source shows nothing of it."""
    actors = [at(0.0, control=engine.Follow(root="FREE")), at(1.0, seed=2), *more]
    return actors, engine.Scene(
        ground=GROUND.ground, touch_self=False, pushes=[engine.Push((0, "trunk"), (110.0, 0.0, 0.0), 10)]
    )


def test_who_is_thrown_into_another_joins_it(figure):
    actors, scene = pushed_pair()
    assert groups(begin(actors, scene, 240)) == [(0,), (1,)]
    crowd = finished(actors, scene)
    assert groups(crowd) == [(0, 1)]
    assert bytes_of(crowd.results()) == bytes_of(together(actors, scene))
    still = engine.simulate(actors[1].model, actors[1].motion, actors[1].controller, GROUND)
    moved = np.abs(crowd.results()[1].motion.positions - still.motion.positions).max()
    figure.note("thrown into another, who is moved by [m]", moved)
    assert moved > 0.02


def test_results_and_contacts_come_in_the_actors_order(figure):
    """Groups (0, 3), (1,), (2,): every actor's own result, contacts as one shot of all lists them."""
    control = {"control": FREE}
    actors = [at(0.0, speed=0.5), at(0.0, 5.0, 2, **control), at(5.0, 0.0, 3, **control), at(0.8, 0.0, 4, **control)]
    crowd = finished(actors, GROUND)
    assert groups(crowd) == [(0, 3), (1,), (2,)]
    results, wanted = crowd.results(), together(actors, GROUND)
    for result, actor in zip(results, actors, strict=True):
        assert np.abs(result.motion.positions[0] - actor.motion.positions[0]).max() < 1e-9
    calm = wanted[0].contacts.frames < 5  # before the first bump, which in one shot of all cuts everybody's steps
    for name in ("a", "b"):
        assert np.array_equal(*(np.array(getattr(r[0].contacts, name))[: calm.sum()] for r in (results, wanted)))
    gap = np.abs(results[0].contacts.points[: calm.sum()] - wanted[0].contacts.points[calm]).max()
    figure("contacts of three groups: points off those of one shot of all [m]", gap, 1e-9)
    assert (np.diff(results[0].contacts.frames) >= 0).all()


def test_arrivals_are_each_actors_own():
    model = person()
    source = smooth_motion(model, np.random.default_rng(5), FRAMES, FPS, reach=0.4)
    actors, wanted = [], []
    for k, frames in enumerate(([10.0, 30.0], [20.0])):
        places = np.array(source.positions)
        places[:, 0, 0] += 5.0 * k
        keys = engine.Keys.at(frames, model.names)
        motion = engine.Motion.build(model, FPS, source.rotations, places, keys=keys)
        actors.append(engine.Actor(model, motion, engine.OnTime()))
        wanted.append(engine.simulate(model, motion, engine.OnTime()).arrivals)
    crowd = finished(actors, engine.Scene())
    assert groups(crowd) == [(0,), (1,)]
    for result, alone, count in zip(crowd.results(), wanted, (4, 2), strict=True):
        assert result.arrivals.bodies == alone.bodies and len(alone.bodies) == count
        np.testing.assert_array_equal(result.arrivals.frames, alone.frames)
        np.testing.assert_array_equal(result.arrivals.angles, alone.angles)


def dominoes(count=9):
    """Boards in a row: the first is pushed, each falls against the next."""
    board = engine.Box((0.03, 0.2, 0.5))
    actors = [limp_thing(f"board{k}", board, 4.0, FPS, 73, (0.6 * k, 0.0, 0.5)) for k in range(count)]
    actors += [limp_thing("far", board, 4.0, FPS, 73, (0.0, 50.0, 0.5))]
    push = engine.Push("board0", (6.0, 0.0, 0.0), 2, (0.0, 0.0, 0.4))
    return actors, engine.Scene(ground=engine.Ground(), pushes=[push])


def test_dominoes_begin_anew_a_few_times_only(monkeypatch):
    actors, scene = dominoes()
    begun, plain = [], Shot.__init__

    def note(self, some, *rest) -> None:
        begun.append(len(some))
        plain(self, some, *rest)

    monkeypatch.setattr(Shot, "__init__", note)
    crowd = finished(actors, scene)
    assert groups(crowd) == [tuple(range(9)), (9,)]
    assert begun[:10] == [1] * 10 and len(begun) <= 10 + 4
    tilt = [abs(result.motion.rotations[-1, 0, 2]) for result in crowd.results()]
    assert min(tilt[:9]) > 0.3 and tilt[9] < 1e-6
    for one, other in zip(crowd.results()[:9], together(actors[:9], scene), strict=True):
        assert all((a == b).all() for a, b in zip(arrays(one)[:5], arrays(other)[:5], strict=True))


@pytest.mark.parametrize("shot", [pushed_pair, dominoes], ids=["pushed", "dominoes"])
def test_neither_slices_nor_threads_change_a_byte(shot):
    actors, scene = shot()
    wanted = bytes_of(finished(actors, scene).results())
    for threads, stride in ((2, 1), (3, 7), (None, 1000)):
        crowd = begin(actors, scene, 240, threads)
        while crowd.done < crowd.frames - 1:
            crowd.run(min(crowd.done + stride, crowd.frames - 1))
        assert bytes_of(crowd.results()) == wanted
    reports = list(engine.simulate_together_iter(actors, scene))
    assert [r.done for r in reports] == sorted({r.done for r in reports})
    assert reports[0].done == 0 and reports[-1].done == len(actors[0].motion) and len(reports) > 20
    assert bytes_of(reports[-1].results) == wanted and reports[-1].result is reports[-1].results[0]


def test_dropping_the_iterator_cancels_and_leaves_nothing_behind():
    actors, scene = pushed_pair(at(9.0, seed=5))
    wanted = bytes_of(engine.simulate_together(actors, scene))
    walk = engine.simulate_together_iter(actors, scene)
    for _ in range(20):
        next(walk)
    walk.close()
    assert bytes_of(engine.simulate_together(actors, scene)) == wanted


def test_the_first_that_flies_apart_is_named():
    actors = [at(0.0), at(6.0, seed=2), at(12.0, seed=3)]
    pushes = [engine.Push((2, "left"), (np.inf, 0, 0), 30), engine.Push((1, "right"), (np.inf, 0, 0), 26)]
    scene = engine.Scene(ground=engine.Ground(), touch_self=False, pushes=pushes)
    messages = []
    for run in (lambda: finished(actors, scene, 2), lambda: together(actors, scene)):
        with pytest.raises(engine.SimulationError, match="at frame 27: raise the steps per second") as caught:
            run()
        messages.append(str(caught.value))
    assert messages[0].startswith("Body '") and messages[0] == messages[1]


def test_a_meeting_before_somebody_flies_apart_goes_first():
    """Thrown into another at frame 20 or so: what happens to it at frame 40 is a matter of both."""
    actors, scene = pushed_pair(at(9.0, seed=5))
    pushes = [*scene.pushes, engine.Push((2, "left"), (np.inf, 0, 0), 40)]
    crowd = begin(actors, engine.Scene(ground=engine.Ground(), touch_self=False, pushes=pushes), 240)
    with pytest.raises(engine.SimulationError, match="at frame 41"):
        crowd.run(crowd.frames - 1)
    assert groups(crowd) == [(0, 1), (2,)]


def test_ties_join_and_names_mean_what_they_do_in_one_shot():
    actors = [at(0.0), at(3.0, seed=2), at(6.0, seed=3)]
    scene = engine.Scene(
        touch_self=False,
        ties=[engine.Tie("DISTANCE", (2, "left"), (0, "right"), point_b=(0.0, 0.0, 0.0))],
        pushes=[engine.Push((1, "trunk"), (0.0, 50.0, 0.0), 5)],
        apart=[((0, "trunk"), (1, "trunk"))],
    )
    crowd = finished(actors, scene)
    assert groups(crowd) == [(0, 2), (1,)]
    results, wanted = crowd.results(), together(actors, scene)
    assert off([results[0], results[2]], [wanted[0], wanted[2]]) < 1e-12
    # one shot of all asks everybody's assist again while the ties pull
    assert off([results[1]], [wanted[1]]) < 1e-5
    assert results[1].motion.positions[-1, 0, 1] != actors[1].motion.positions[-1, 0, 1]
    for body, problem in (("trunk", "is in several characters"), ((3, "trunk"), "is not in the shot")):
        for part in ({"pushes": [engine.Push(body, (1, 0, 0), 0)]}, {"ties": [engine.Tie("PIN", body)]}):
            with pytest.raises(engine.SettingError, match=f"Body 'trunk' {problem}"):
                engine.simulate_together(actors, engine.Scene(**part))


def balls(*places_and_velocities):
    return [
        engine.Collider(f"ball{k}", [engine.Sphere(0.1)], place, moves="FREE", velocity=velocity, bounce=0.5, mass=4.0)
        for k, (place, velocity) in enumerate(places_and_velocities)
    ]


def test_something_free_goes_with_the_nearest():
    """And not with everybody: who is far from it is as if it were not there."""
    colliders = [*balls(((1.5, 0.0, 0.7), (-4.0, 0.0, 1.0)), ((6.0, 9.0, 0.1), (0.0, 0.0, 0.0)))]
    colliders.insert(1, engine.Collider("wall", [engine.Box((0.1, 2.0, 1.0))], (-2.0, 0.0, 1.0)))
    scene = engine.Scene(ground=engine.Ground(), colliders=colliders, touch_self=False)
    actors = [at(6.0, control=FREE), at(0.0, seed=2)]
    crowd = finished(actors, scene)
    assert groups(crowd) == [(0, 3), (1, 2)]
    results, wanted = crowd.results(), together(actors, scene)
    struck = set(zip(results[0].contacts.a, results[0].contacts.b, strict=True))
    assert {("ball1", "the world"), ("the world", "ball1")} & struck
    assert results[0].objects["ball0"][0][-1, 0] > results[0].objects["ball0"][0][:, 0].min() + 0.05  # thrown back
    assert list(results[0].objects) == list(wanted[0].objects) == ["ball0", "ball1"]
    alone = engine.Scene(ground=engine.Ground(), colliders=colliders[:2], touch_self=False)
    lone = engine.simulate(actors[1].model, actors[1].motion, actors[1].controller, alone)
    assert (lone.objects["ball0"][0] == results[0].objects["ball0"][0]).all()
    assert (lone.motion.rotations == results[1].motion.rotations).all()


def test_something_free_may_go_from_one_to_the_other():
    """Kicked off by the first, who would not go near the second."""
    (ball,) = balls(((0.45, 0.0, 0.5), (0.0, 0.0, 0.0)))
    push = engine.Push("ball0", (40.0, 0.0, 2.0), 5)
    scene = engine.Scene(ground=engine.Ground(), colliders=[ball], pushes=[push], touch_self=False)
    actors = [at(0.0), at(3.0, seed=2), at(0.0, 20.0, seed=3)]
    assert groups(begin(actors, scene, 240)) == [(0, 3), (1,), (2,)]
    crowd = finished(actors, scene)
    assert groups(crowd) == [(0, 1, 3), (2,)]
    pair = together(actors[:2], scene)
    assert (crowd.results()[1].motion.positions == pair[1].motion.positions).all()
    assert (crowd.results()[2].objects["ball0"][0] == pair[0].objects["ball0"][0]).all()
    assert np.abs(pair[1].motion.positions - actors[1].motion.positions).max() > 1e-3


@pytest.mark.parametrize("odd", ["length", "rate", "bodies", "nobody"])
def test_actors_that_cannot_be_in_one_shot_are_refused(odd):
    one, other = at(0.0), at(6.0, frames=FRAMES - (odd == "length"))
    if odd == "rate":
        motion = engine.Motion.build(other.model, 30.0, other.motion.rotations, other.motion.positions)
        other = engine.Actor(other.model, motion, FOLLOW)
    if odd == "bodies":
        other = engine.Actor(limp_thing("it", TRUNK, 1.0, FPS, 2, (0, 0, 0)).model, other.motion, FOLLOW)
    error, text = (engine.SettingError, "Nobody") if odd == "nobody" else (engine.MotionError, "differ|build it")
    with pytest.raises(error, match=text):
        engine.simulate_together([] if odd == "nobody" else [one, other])


def test_one_frame_is_its_own_result():
    actors = [at(0.0, frames=1), at(6.0, frames=1)]
    for result, actor in zip(engine.simulate_together(actors, GROUND), actors, strict=True):
        assert np.abs(result.motion.positions - actor.motion.positions).max() < 1e-12


def test_boxes_hold_all_shapes(rng):
    """Against every shape's own points, brought to the world by plain kinematics."""
    hull = engine.Hull(rng.normal(size=(12, 3)) * 0.1 + [0.1, 0.0, 0.2])
    shapes = [engine.Sphere(0.1, (0.0, 0.2, 0.0)), engine.Box((0.1, 0.05, 0.2), (0.0, 0.1, 0.0)), hull, ARM]
    model = engine.Model.from_tree(
        list("abcd"), [None, "a", "b", "b"], rng.normal(size=(4, 3)) * 0.5, shapes=shapes,
        rest_rotations=[[0.6, 0.8, 0.0, 0.0]] * 4,
    )  # fmt: skip
    motion = smooth_motion(model, rng, 20, FPS)
    boxes = new_boxes(1, 20)
    Outline(model).trace(poses_of(motion.rotations, motion.positions), 0, 0, 19, boxes[0])
    places, turns = bvh.world(model, motion)
    corners = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (0.05, 0.15) for z in (-0.2, 0.2)])
    points = {"a": [(0.0, 0.2, 0.0)], "b": corners, "c": hull.points, "d": [ARM.start, ARM.end]}
    radius = {"a": 0.1, "d": 0.05}
    low, high = np.full((20, 3), np.inf), np.full((20, 3), -np.inf)
    for name, own in points.items():
        i = model.index(name)
        for point in np.array(own):
            spot = places[:, i] + engine.math.quaternions.rotate(turns[:, i], np.tile(point, (20, 1)))
            low = np.minimum(low, spot - radius.get(name, 0.0))
            high = np.maximum(high, spot + radius.get(name, 0.0))
    assert (boxes[0, :, LOW : LOW + 3] <= low + 1e-12).all() and (boxes[0, :, HIGH : HIGH + 3] >= high - 1e-12).all()
    assert (boxes[0, :, LOW : LOW + 3] > low - 0.5).all() and (boxes[0, :, HIGH : HIGH + 3] < high + 0.5).all()
    tip = places[:, model.index("d")] + engine.math.quaternions.rotate(
        turns[:, model.index("d")], np.tile([0.0, 0.0, -0.225], (20, 1))
    )
    assert (boxes[0, 1:, WAY] >= np.linalg.norm(np.diff(tip, axis=0), axis=1) - 1e-12).all()
