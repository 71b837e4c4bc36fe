"""Contacts of pairs: MuJoCo's distances, proofs by support functions, counts and normals."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.transform import Rotation

from engine.collision import narrow_phase
from engine.geometry import shape_table as SH
from engine.geometry.shapes import Box, Capsule, Hull, Plane, Sphere
from engine.tables import contacts as CT
from pair import PAIRS, Pair, directions, floor_grid, random_pair, random_shape, still
from shapes import random_quaternion


@pytest.mark.parametrize(("kind", "other"), PAIRS)
def test_gap_is_the_largest_separation(kind, other, rng, figure):
    """Along the normal the shapes are apart by the gap (so it is no less), along no direction by more (so it is no
    more), near and far, apart and overlapping."""
    worst = beaten = 0.0
    overlaps = 0
    around = directions(rng, 4000)
    for number in range(150):
        pair = random_pair(rng, kind, other, (0.1, 0.4, 1.0)[number % 3])
        gap, n = pair.gap()
        overlaps += gap < 0.0
        assert np.isclose(np.linalg.norm(n), 1.0)
        worst = max(worst, abs(pair.separation(n[None])[0] - gap))
        near = n + directions(rng, 400) * 10.0 ** rng.uniform(-4, 0, (400, 1))
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        beaten = max(beaten, pair.separation(np.concatenate([around, near])).max() - gap + min(gap, 0.0) * 0.02)
    assert 20 < overlaps < 145
    figure(f"{kind}, {other}: gap along its own normal", worst, 1e-8)
    figure(f"{kind}, {other}: a direction with more room", beaten, 1e-8)


def numbers(values) -> str:
    return " ".join(repr(float(v)) for v in values)


def geom(name, kind, given) -> tuple[str, str]:
    """MuJoCo's asset and geom."""
    if kind == "sphere":
        return "", f'<geom type="sphere" size="{given.radius}" pos="{numbers(given.center)}"/>'
    if kind == "capsule":
        return "", f'<geom type="capsule" size="{given.radius}" fromto="{numbers((*given.start, *given.end))}"/>'
    if kind == "box":
        place = f'pos="{numbers(given.center)}" quat="{numbers(given.rotation)}"'
        return "", f'<geom type="box" size="{numbers(given.half)}" {place}/>'
    return f'<mesh name="{name}" vertex="{numbers(given.points.ravel())}"/>', f'<geom type="mesh" mesh="{name}"/>'


@pytest.mark.parametrize(("kind", "other"), PAIRS)
def test_gap_against_mujoco(kind, other, rng, figure):
    worst = 0.0
    for _ in range(8):
        pair = Pair(random_shape(rng, kind), random_shape(rng, other))
        parts = [geom("first", kind, pair.given[0]), geom("second", other, pair.given[1])]
        bodies = "".join(f'<body mocap="true">{part}</body>' for _, part in parts)
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option ccd_tolerance="1e-10" ccd_iterations="200"/><asset>{parts[0][0]}{parts[1][0]}</asset>'
            f"<worldbody>{bodies}</worldbody></mujoco>"
        )
        data = mujoco.MjData(model)
        for _ in range(40):
            pair.move(rng.normal(size=3) * 0.8, random_quaternion(rng), (0, 0, 0), random_quaternion(rng))
            data.mocap_pos[:], data.mocap_quat[:] = pair.where[1:, :3], pair.where[1:, 3:]
            mujoco.mj_forward(model, data)
            theirs = mujoco.mj_geomDistance(model, data, 0, 1, 100.0, None)
            if theirs > 1e-3:
                worst = max(worst, abs(pair.gap()[0] - theirs))
    figure(f"MuJoCo: distance of {kind} and {other}", worst, 1e-6)


@pytest.mark.parametrize(("kind", "other"), PAIRS)
def test_contacts_are_on_both_surfaces(kind, other, rng, figure):
    """The deepest is the gap; every point is half its gap from either surface (below it, where that bends away)."""
    worst = off = 0.0
    seen = np.zeros(5, dtype=int)
    for number in range(200):
        pair = random_pair(rng, kind, other, (0.2, 0.4)[number % 2])
        gap, _ = pair.gap()
        contact, touch = pair.hits(0.05)
        seen[len(contact)] += 1
        assert (len(contact) > 0) == (gap <= 0.05)
        if not len(contact):
            continue
        worst = max(worst, abs(contact[0, CT.GAP] - gap) / max(1.0, abs(gap)))
        assert (contact[:, CT.GAP] <= 0.05).all() and (contact[0, CT.GAP] <= contact[:, CT.GAP]).all()
        assert np.allclose(np.linalg.norm(contact[:, CT.NORMAL : CT.NORMAL + 3], axis=1), 1.0)
        assert (touch[:, :4] == [0, 1, 1, 2]).all() and len(set(touch[:, CT.FEATURE])) == len(touch)
        # seen along the normal, one surface is half a gap this way, the other half a gap that way
        for row in contact:
            x, m, g = row[CT.POINT : CT.POINT + 3], row[CT.NORMAL : CT.NORMAL + 3], row[CT.GAP]
            ends = pair.distance(0, x + 0.5 * g * m)[0], pair.distance(1, x - 0.5 * g * m)[0]
            off = max(off, *np.abs(ends)) if gap > -0.02 else off
    figure.note(f"{kind}, {other}: pairs with 0 … 4 contacts", str(seen))
    figure(f"{kind}, {other}: deepest contact against the gap", worst, 1e-6)
    figure(f"{kind}, {other}: contact off a surface [m]", off, 2e-3)


@pytest.mark.parametrize(("kind", "other"), PAIRS)
def test_swapping_turns_the_normal_only(kind, other, rng):
    for number in range(60):
        pair = random_pair(rng, kind, other, (0.0, 0.3)[number % 2])
        there, back = pair.gap(0, 1), pair.gap(1, 0)
        assert there[0] == back[0] and np.array_equal(there[1], -back[1])
        (contact, touch), (contact2, touch2) = pair.hits(0.05), pair.hits(0.05, a=1, b=0)
        assert np.array_equal(contact[:, CT.POINT : CT.POINT + 3], contact2[:, CT.POINT : CT.POINT + 3])
        assert np.array_equal(contact[:, CT.NORMAL : CT.NORMAL + 3], -contact2[:, CT.NORMAL : CT.NORMAL + 3])
        assert np.array_equal(contact[:, CT.GAP], contact2[:, CT.GAP])
        assert np.array_equal(touch[:, CT.FEATURE], touch2[:, CT.FEATURE])
        assert (touch2[:, :4] == [1, 0, 2, 1]).all()


def normals(contact):
    return contact[:, CT.NORMAL : CT.NORMAL + 3]


def corners(contact):
    """Points, sorted."""
    points = np.round(contact[:, CT.POINT : CT.POINT + 3], 6) + 0.0
    return points[np.lexsort(points.T[::-1])]


def test_a_stack_of_boxes_has_four_corners():
    pair = Pair(Box((0.5, 0.4, 0.3)), Box((0.5, 0.4, 0.3))).move((0.0, 0.0, 0.599))
    contact, touch = pair.hits()
    square = [[x, y, 0.2995] for x in (-0.5, 0.5) for y in (-0.4, 0.4)]
    assert np.allclose(corners(contact), square, atol=1e-6)
    assert np.allclose(normals(contact), [0, 0, 1]) and np.allclose(contact[:, CT.GAP], -0.001)
    # a nudge leaves the features as they are
    for nudge in ((1e-5, -2e-5, 0.598), (-1e-5, 1e-5, 0.6)):
        assert set(pair.move(nudge).hits()[1][:, CT.FEATURE]) == set(touch[:, CT.FEATURE])


@pytest.mark.parametrize("height", [0.598, 0.605])
def test_shifted_and_turned_boxes_share_a_face(height):
    """The contacts are corners of what the faces share, overlapping or not quite touching."""
    pair = Pair(Box((0.5, 0.5, 0.3)), Box((0.5, 0.5, 0.3))).move((0.3, 0.2, height))
    contact, _ = pair.hits()
    expected = [[x, y, 0.5 * height] for x in (-0.2, 0.5) for y in (-0.3, 0.5)]
    assert np.allclose(corners(contact), expected, atol=1e-6)
    assert np.allclose(contact[:, CT.GAP], height - 0.6) and np.allclose(normals(contact), [0, 0, 1])
    turn = Rotation.from_euler("z", 45, degrees=True).as_quat(scalar_first=True)
    contact, _ = pair.move((0, 0, height), turn).hits()
    assert len(contact) == 4 and np.allclose(normals(contact), [0, 0, 1], atol=1e-9)
    reach = np.ptp(contact[:, :2], axis=0)
    assert (reach > 0.85).all(), "an octagon's four corners span most of it"


def test_a_big_box_on_a_small_one_touches_with_the_small_ones_corners():
    contact, _ = Pair(Box((2.0, 2.0, 0.1)), Box((0.2, 0.3, 0.5))).move((0.4, 0.1, 0.6)).hits()
    assert np.allclose(corners(contact), [[x, y, 0.5] for x in (-0.2, 0.2) for y in (-0.3, 0.3)], atol=1e-6)


def test_crossed_edges():
    """Two boxes on edge, one across the other: one point, along the line square to both edges."""
    tilt = Rotation.from_euler("x", 45, degrees=True)
    upper = (Rotation.from_euler("z", 90, degrees=True) * tilt).as_quat(scalar_first=True)
    edge = 0.2 * np.sqrt(2.0)
    pair = Pair(Box((0.5, 0.2, 0.2)), Box((0.5, 0.2, 0.2)))
    for gap in (-0.02, -0.001, 0.004):
        contact, _ = pair.move((0.03, 0.05, 2 * edge + gap), upper, (0, 0, 0), tilt.as_quat(scalar_first=True)).hits()
        assert len(contact) == 1
        assert np.allclose(contact[0, CT.POINT : CT.POINT + 3], [0.03, 0.0, edge + 0.5 * gap], atol=1e-9)
        assert np.allclose(normals(contact), [0, 0, 1], atol=1e-9) and np.isclose(contact[0, CT.GAP], gap)


def test_box_and_plane():
    pair = Pair(Box((0.5, 0.4, 0.3)), Plane())
    contact, touch = pair.move((0, 0, 0.295)).hits()
    assert np.allclose(corners(contact), [[x, y, -0.0025] for x in (-0.5, 0.5) for y in (-0.4, 0.4)], atol=1e-6)
    assert np.allclose(normals(contact), [0, 0, 1]) and np.allclose(contact[:, CT.GAP], -0.005)
    assert len(set(touch[:, CT.FEATURE])) == 4
    # corners above others say nothing, however wide the margin
    assert np.allclose(pair.hits(5.0)[0][:, CT.GAP], -0.005)
    turn = Rotation.from_euler("x", 45, degrees=True).as_quat(scalar_first=True)
    contact, _ = pair.move((0, 0, 0.7 / np.sqrt(2)), turn).hits()
    assert len(contact) == 2 and np.allclose(contact[:, CT.GAP], 0.0, atol=1e-12)


def test_capsule_counts():
    flat = Capsule(0.1, (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0))
    contact, touch = Pair(flat, Plane()).move((0, 0, 0.099)).hits()
    assert (
        np.allclose(corners(contact), [[-0.5, 0, -0.0005], [0.5, 0, -0.0005]]) and len(set(touch[:, CT.FEATURE])) == 2
    )
    # along each other, shifted
    contact, _ = Pair(flat, flat).move((0.3, 0, 0.199)).hits()
    assert np.allclose(corners(contact), [[-0.2, 0, 0.0995], [0.5, 0, 0.0995]], atol=1e-6)
    # across
    turn = Rotation.from_euler("z", 90, degrees=True).as_quat(scalar_first=True)
    contact, _ = Pair(flat, flat).move((0.3, 0, 0.199), turn).hits()
    assert np.allclose(corners(contact), [[0.3, 0, 0.0995]]) and np.allclose(normals(contact), [0, 0, 1])
    # nearly parallel but crossing
    turn = Rotation.from_euler("z", 7, degrees=True).as_quat(scalar_first=True)
    contact, _ = Pair(Capsule(0.01, (-0.5, 0, 0), (0.5, 0, 0)), flat).move((0, 0, 0.109), turn).hits()
    assert len(contact) == 1 and np.allclose(contact[0, :2], 0.0, atol=1e-9)
    # on a box: ends, or where it leaves the box
    contact, _ = Pair(flat, Box((1.0, 1.0, 1.0))).move((0, 0, 1.099)).hits()
    assert np.allclose(corners(contact), [[-0.5, 0, 0.9995], [0.5, 0, 0.9995]], atol=1e-6)
    contact, _ = Pair(flat, Box((0.2, 1.0, 1.0))).move((0, 0, 1.099)).hits()
    assert np.allclose(corners(contact), [[-0.2, 0, 0.9995], [0.2, 0, 0.9995]], atol=1e-6)


def test_a_capsule_along_an_edge_touches_with_a_line():
    turn = Rotation.from_euler("x", 45, degrees=True).as_quat(scalar_first=True)
    for tilt, count in ((0.0, 2), (1.0, 2), (30.0, 1)):
        lean = Rotation.from_euler("z", tilt, degrees=True).as_quat(scalar_first=True)
        pair = Pair(Capsule(0.1, (-0.5, 0, 0), (0.5, 0, 0)), Box((0.3, 0.2, 0.2)))
        pair.move((0, 0, 0.2 * np.sqrt(2.0) + 0.0995), lean, (0, 0, 0), turn)
        contact, _ = pair.hits()
        assert len(contact) == count, tilt
        assert contact[0, CT.GAP] == pytest.approx(-0.0005, abs=1e-3 if tilt == 1.0 else 1e-9)
        if count == 2:
            assert np.ptp(contact[:, 0]) == pytest.approx(0.6, abs=1e-3)


def test_spheres_and_materials():
    pair = Pair(Sphere(0.1), Sphere(0.2), friction=(0.2, 0.8), bounce=(0.1, 0.6)).move((0.295, 0, 0))
    contact, touch = pair.hits()
    assert contact[0, : CT.GAP + 1] == pytest.approx([0.1975, 0, 0, 1, 0, 0, -0.005])
    assert contact[0, CT.FRICTION] == pytest.approx(0.4)
    assert contact[0, CT.BOUNCE] == pytest.approx(0.6)
    assert list(touch[0, :4]) == [0, 1, 1, 2]
    assert len(pair.move((0.32, 0, 0)).hits()[0]) == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Sphere(0.1), Sphere(0.1)),
        (Capsule(0.1, (0, 0, -0.5), (0, 0, 0.5)), Capsule(0.1, (0, 0, -0.5), (0, 0, 0.5))),
        (Capsule(0.1, (0, 0, -0.5), (0, 0, 0.5)), Capsule(0.1, (0, 0, -0.2), (0, 0, 0.2))),
        (Capsule(0.1, (0, 0, -0.5), (0, 0, 0.5)), Capsule(0.1, (0, -0.5, 0), (0, 0.5, 0))),
        (Sphere(0.1), Capsule(0.1, (0, 0, -0.5), (0, 0, 0.5))),
        (Capsule(0.1, (0, 0, 0), (0, 0, 0)), Capsule(0.1, (0, 0, 0), (0, 0, 0))),
        (Box((0.1, 0.1, 0.1)), Box((1.0, 1.0, 0.9))),
        (Sphere(0.1), Box((1.0, 1.0, 0.9))),
        (Capsule(0.1, (0, 0, -0.3), (0, 0, 0.3)), Box((1.0, 1.0, 0.9))),
        (Box((0.1, 0.1, 0.1)), Hull(np.random.default_rng(3).normal(size=(60, 3)))),
    ],
)
def test_deep_pairs_get_a_way_out(first, second):
    """Moving a by the overlap along the normal parts them."""
    pair = Pair(first, second)
    gap, n = pair.gap()
    assert gap < -0.1 and np.isclose(np.linalg.norm(n), 1.0)
    contact, _ = pair.hits()
    assert len(contact) and np.isfinite(contact[:, : CT.GAP + 1]).all()
    assert np.allclose(normals(contact), n) and np.isclose(contact[0, CT.GAP], gap)
    assert pair.move(-gap * n).gap()[0] == pytest.approx(0.0, abs=1e-6)


def test_capacity_is_never_passed(rng):
    pair = Pair(Box((0.5, 0.4, 0.3)), Box((0.5, 0.4, 0.3))).move((0.1, 0.2, 0.599))
    for capacity in range(1, 9):
        for count in range(capacity + 1):
            contact, _ = pair.hits(capacity=capacity, count=count)
            assert len(contact) <= min(4, capacity - count)
            assert (len(contact) > 0) == (count < capacity)


def test_things_on_a_grid(figure):
    floor = floor_grid()
    cases = {
        "sphere": (Sphere(0.1), 0.099, 1, 0.0),
        "capsule": (Capsule(0.1, (-0.3, 0, 0), (0.3, 0, 0)), 0.099, 2, 0.6),
        "box": (Box((0.33, 0.22, 0.1)), 0.099, 4, 0.44),
        "big box": (Box((3.0, 3.0, 0.1)), 0.099, 4, 1.2),
        "hull": (Hull(np.array([(x, y, 0.0) for x in (-0.3, 0.3) for y in (-0.3, 0.3)])), 0.0, 4, 0.5),
    }
    for name, (shape, height, count, wide) in cases.items():
        pair = Pair(shape, floor).move((0.02, 0.01, height))
        contact, _ = pair.hits(0.02)
        assert len(contact) == count, (name, contact[:, :7])
        assert np.allclose(normals(contact), [0, 0, 1], atol=1e-6), name
        assert np.abs(contact[:, CT.GAP] - min(contact[:, CT.GAP])).max() < 1e-3
        assert np.ptp(contact[:, :2], axis=0).max() >= wide, name
        assert abs(pair.gap()[0] - contact[0, CT.GAP]) < 1e-9, name
        figure(f"{name} on a grid: error of the gap [mm]", 1e3 * abs(contact[0, CT.GAP] + 0.001), 1.0)


def test_grids_touch_each_other():
    pair = Pair(floor_grid(0.3, 0.2), floor_grid())
    contact, _ = pair.move((0.1, 0.1, 0.199)).hits(0.02)
    assert len(contact) >= 3 and np.allclose(normals(contact), [0, 0, 1], atol=1e-6)
    assert np.allclose(contact[:, CT.GAP], -0.001, atol=1e-3)


sizes = st.floats(1e-3, 100.0)
anywhere = st.floats(-100.0, 100.0) | st.just(0.0) | st.floats(-0.01, 0.01)
place = st.tuples(anywhere, anywhere, anywhere)
wild = st.one_of(
    st.builds(Sphere, sizes, place),
    st.builds(Capsule, sizes, place, place),
    st.builds(Box, st.tuples(sizes, sizes, sizes), place),
    st.builds(lambda points: Hull(np.array(points)), st.lists(place, min_size=1, max_size=12)),
    st.builds(Plane, place.filter(lambda v: np.linalg.norm(v) > 1e-6), anywhere),
)
turns = (
    st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 1e-3).map(lambda q: q / np.linalg.norm(q))
)


@settings(deadline=None, max_examples=600)
@given(wild, wild, place, turns, place, turns)
def test_wild_input_stays_finite(first, second, place, turn, place2, turn2):
    if isinstance(first, Plane) and isinstance(second, Plane):
        return
    pair = Pair(first, second).move(place, turn, place2, turn2)
    gap, n = pair.gap()
    assert np.isfinite(gap) and np.isclose(np.linalg.norm(n), 1.0, atol=1e-9)
    contact, _ = pair.hits(0.01)
    assert np.isfinite(contact[:, : CT.GAP + 1]).all() and len(contact) <= 4
    assert (len(contact) > 0) or gap > 0.01 - 1e-6
    before, after = still(1), still(1)
    before[0], after[0, 1], after[0, 2] = pair.where, [*place2, *turn2], [*place, *turn]
    t = pair.impacts(before, after)[0]
    assert 0.0 <= t <= 1.0 or t == 2.0


def test_every_pair_of_kinds_has_its_line():
    """Each in one order, the simpler first, and the kernels' table says the same."""
    pairs = list(itertools.combinations_with_replacement(SH.KINDS, 2))
    assert list(narrow_phase.WAYS) == pairs
    assert all(narrow_phase.WAY[pair] == way for pair, way in narrow_phase.WAYS.items())
