"""What a mesh winds around: columns against solid angles, overlapping solids, corners on the columns, holes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine.geometry.mesh_inside import faces_agree, inside_nodes, is_closed, windings

BOX = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
                [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip


def box(low, high) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    return low + np.array(list(itertools.product((0.0, 1.0), repeat=3))) * (high - low), BOX


def joined(*meshes) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    return (
        np.concatenate([vertices for vertices, _ in meshes]),
        np.concatenate([faces + start for (_, faces), start in zip(meshes, starts, strict=False)]),
    )


def crumpled(rng, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """A ball whose points were moved about: closed, and through itself here and there."""
    from scipy.spatial import ConvexHull

    points = rng.normal(size=(count, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    hull = ConvexHull(points)
    faces = hull.simplices.copy()
    out = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    inward = (out * hull.equations[:, :3]).sum(axis=1) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return points * rng.uniform(0.5, 1.2, (count, 1)), faces


def asked(vertices, faces, axes) -> np.ndarray:
    """Inside, as a grid asks."""
    values = np.ones([len(axis) for axis in axes])
    return inside_nodes(axes, vertices, faces, values, float(axes[0][1] - axes[0][0]))


def looked(vertices, faces, axes) -> np.ndarray:
    """Windings by what is seen from every node."""
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return windings(nodes.reshape(-1, 3), vertices[faces]).reshape(nodes.shape[:3])


@pytest.mark.parametrize("turned", [False, True])
def test_columns_count_what_solid_angles_say(rng, turned):
    vertices, faces = crumpled(rng)
    if turned:
        faces = faces[:, ::-1]
    axes = [np.linspace(-1.3, 1.3, 20)] * 3
    assert faces_agree(faces)
    exact = looked(vertices, faces, axes)
    clear = np.abs(exact - np.round(exact)) < 0.1  # not so near the surface that clusters blur it
    assert clear.mean() > 0.95
    np.testing.assert_array_equal(asked(vertices, faces, axes)[clear], np.round(exact).astype(int)[clear] != 0)


def test_boxes_through_one_another_are_all_inside():
    """Corners, edges and faces lie on the grid's own lines: no column slips through."""
    vertices, faces = joined(box((1, 1, 1), (4, 4, 4)), box((3, 2, 2), (7, 3, 3)))
    axes = [np.arange(0.0, 9.0)] * 3
    found = asked(vertices, faces, axes)
    x, y, z = np.meshgrid(*axes, indexing="ij")
    first = (x > 1) & (x < 4) & (y > 1) & (y < 4) & (z > 1) & (z < 4)
    outside = (x < 1) | (x > 7) | (y < 1) | (y > 4) | (z < 1) | (z > 4)
    assert found[first].all() and not found[outside].any()


def test_a_box_with_holes_and_faces_turned_is_still_inside():
    vertices, faces = box((1, 1, 1), (6, 6, 6))
    axes = [np.arange(0.0, 8.0)] * 3
    x, y, z = np.meshgrid(*axes, indexing="ij")
    deep = (np.abs(np.stack([x, y, z]) - 3.5) < 1.6).all(axis=0)
    out = (np.abs(np.stack([x, y, z]) - 3.5) > 2.6).any(axis=0)
    whole = asked(vertices, faces, axes)
    assert whole[deep].all() and not whole[out].any()
    open_box = faces[1:]
    assert not is_closed(open_box) and not faces_agree(open_box)
    holed = asked(vertices, open_box, axes)
    assert holed[deep].all() and not holed[out].any()
    turned = faces.copy()
    turned[0] = turned[0, ::-1]
    assert is_closed(turned) and not faces_agree(turned)
    assert not asked(vertices, turned, axes)[out].any()


def test_far_clusters_count_as_small_faces(rng):
    vertices, faces = crumpled(rng, 3000)
    points = rng.uniform(-1.5, 1.5, (300, 3))
    a, b, c = (vertices[faces][None, :, k] - points[:, None] for k in range(3))
    x, y, z = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    under = x * y * z + z * (a * b).sum(axis=2) + x * (b * c).sum(axis=2) + y * (c * a).sum(axis=2)
    exact = 2.0 * np.arctan2(np.einsum("pfi,pfi->pf", a, np.cross(b, c)), under).sum(axis=1) / (4.0 * np.pi)
    np.testing.assert_allclose(windings(points, vertices[faces]), exact, atol=0.1)
