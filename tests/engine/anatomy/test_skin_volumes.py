"""What a skin holds by its weights: meshes as they come, against closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from engine.anatomy import skin_volumes

BALL = 4.0 / 3.0 * np.pi


def hull(points) -> np.ndarray:
    """(k, 3) triangles around points that all lie on their hull, corners anticlockwise seen from outside."""
    found = ConvexHull(points)
    triangles = found.simplices.astype(np.int64)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * found.equations[:, :3]).sum(axis=1) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    return triangles


def ball(radius: float = 1.0, middle=(0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    """1280 triangles: an icosahedron's, each cut in four three times."""
    golden = 0.5 * (1.0 + np.sqrt(5.0))
    corners = np.array([(0.0, a, b) for a in (-1.0, 1.0) for b in (-golden, golden)])
    points = np.concatenate([np.roll(corners, k, axis=1) for k in range(3)])
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    triangles = hull(points)
    for _ in range(3):
        edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        edges, which = np.unique(edges, axis=0, return_inverse=True)
        middles = points[edges].sum(axis=1)
        (a, b, c), (ab, bc, ca) = triangles.T, which.reshape(-1, 3).T + len(points)
        points = np.concatenate([points, middles / np.linalg.norm(middles, axis=1, keepdims=True)])
        triangles = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1).reshape(-1, 3)
    return radius * points + middle, triangles


def cube(cuts: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Side 1 about the origin, each side of it `cuts` by `cuts` squares of two triangles."""
    ticks = np.linspace(-0.5, 0.5, cuts + 1)
    squares = []
    for axis, side in itertools.product(range(3), (-0.5, 0.5)):
        for i, j in itertools.product(range(cuts), repeat=2):
            square = [(side, ticks[i + k], ticks[j + m]) for k, m in ((0, 0), (1, 0), (1, 1), (0, 1))]
            squares.append(np.roll(square if side > 0.0 else square[::-1], axis, axis=1))
    points, which = np.unique(np.concatenate(squares), axis=0, return_inverse=True)
    return points, which.reshape(-1, 4)[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


def piece(points, triangles, bone=0) -> skin_volumes.Piece:
    """All vertices with one bone, or each with its own (k,)."""
    index = np.broadcast_to(bone, (len(points),))[:, None].astype(np.int64)
    return skin_volumes.Piece(points, triangles, index, np.ones((len(points), 1)))


def total(*pieces) -> float:
    return float(skin_volumes.fill(pieces, 2).volumes.sum())


@pytest.fixture(scope="module")
def whole_ball() -> float:
    return total(piece(*ball()))


def test_a_ball_has_its_volume_centre_and_moments():
    points, triangles = ball(0.3, (1.0, -2.0, 0.5))
    found = skin_volumes.fill([piece(points, triangles)], 1)
    exact = BALL * 0.3**3
    print(f"ball: volume off by {found.volumes[0] / exact - 1.0:.4f}")
    assert found.volumes[0] == pytest.approx(exact, rel=0.01)
    middle = found.firsts[0] / found.volumes[0]
    np.testing.assert_allclose(middle, (1.0, -2.0, 0.5), atol=1e-3)
    spread = found.seconds[0] / found.volumes[0] - np.outer(middle, middle)
    np.testing.assert_allclose(spread, np.eye(3) * 0.3**2 / 5.0, atol=0.01 * 0.3**2 / 5.0)


def test_inside_out_it_holds_as_much(whole_ball):
    points, triangles = ball()
    assert total(piece(points, triangles[:, ::-1])) == pytest.approx(whole_ball, rel=1e-12)


def test_faces_turned_either_way_hold_as_much(whole_ball):
    points, triangles = ball()
    flipped = triangles.copy()
    some = np.random.default_rng(5).random(len(triangles)) < 0.4
    flipped[some] = flipped[some][:, ::-1]
    assert total(piece(points, flipped)) == pytest.approx(whole_ball, rel=0.01)


def test_split_corners_and_a_hole_are_closed():
    points, triangles = ball()
    split = piece(points[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3))
    assert total(split) == pytest.approx(BALL, rel=0.01)
    kept = points[triangles].mean(axis=1)[:, 2] < 0.9
    capped = BALL - np.pi * 0.1**2 * (3.0 - 0.1) / 3.0  # the cap above 0.9 is gone
    assert total(piece(points, triangles[kept])) == pytest.approx(capped, rel=0.015)


def test_clothes_over_a_body_do_not_count_twice_and_a_cape_not_at_all(whole_ball):
    body, coat = ball(1.0), ball(1.05)
    open_coat = coat[1][coat[0][coat[1]].mean(axis=1)[:, 2] < 0.9]
    assert total(piece(*body), piece(coat[0], open_coat)) == pytest.approx(total(piece(coat[0], open_coat)), rel=0.01)
    rim = np.radians(np.arange(-70, 71, 5))
    sheet = np.array([[2.0 * np.sin(a), 2.0 * np.cos(a), z] for z in np.linspace(-2.0, 2.0, 20) for a in rim])
    row = np.arange(len(rim) - 1)
    faces = np.concatenate([[[k, k + 1, k + len(rim)], [k + 1, k + len(rim) + 1, k + len(rim)]]
                            for j in range(19) for k in row + j * len(rim)])  # fmt: skip
    assert total(piece(*body), piece(sheet, faces)) == pytest.approx(whole_ball, rel=0.02)
    assert total(piece(sheet, faces)) == 0.0


def test_weights_share_it_out():
    """A rod along X, its left half one bone's; and with weights that change evenly along it."""
    points, triangles = cube()
    points = points * [4.0, 0.4, 0.4]
    half = skin_volumes.fill([piece(points, triangles, points[:, 0] > 0.4)], 2)
    assert half.volumes.sum() == pytest.approx(4.0 * 0.16, rel=0.02)
    assert half.volumes[1] / half.volumes.sum() == pytest.approx(1.6 / 4.0, abs=0.03)
    share = 0.5 + points[:, 0] / 4.0
    index = np.tile([0, 1], (len(points), 1))
    blend = skin_volumes.fill([skin_volumes.Piece(points, triangles, index, np.stack([1.0 - share, share], axis=1))], 2)
    assert blend.volumes[1] / blend.volumes.sum() == pytest.approx(0.5, abs=0.01)
    # the mean of x weighed by (½ + x/4) over −2 … 2: 2/3
    assert blend.firsts[1, 0] / blend.volumes[1] == pytest.approx(2.0 / 3.0, abs=0.03)


def test_nothing_at_all():
    assert total() == 0.0
    assert total(piece(np.zeros((3, 3)), np.array([[0, 1, 2]]))) == 0.0
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert total(piece(flat, np.array([[0, 1, 2]]))) == 0.0
    points, triangles = ball()
    bare = skin_volumes.Piece(points, triangles, np.zeros((len(points), 1), dtype=np.int64), np.zeros((len(points), 1)))
    assert total(bare) == 0.0
