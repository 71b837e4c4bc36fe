"""Models: any order in, depth-first out; every refusal names the body and the fix."""

from __future__ import annotations

import numpy as np
import pytest

from engine import HeftError, Model, ModelError
from engine.model.model import BALL, FREE
from engine.model.relaxed_pose import relaxed_coordinates

THREE = {"names": ["hip", "knee", "foot"], "parents": [None, "hip", "knee"], "offsets": np.zeros((3, 3))}


def refused(**changes) -> str:
    with pytest.raises(ModelError) as caught:
        Model.from_tree(**{**THREE, **changes})
    assert isinstance(caught.value, HeftError)
    return str(caught.value)


def stacked(matrix, place=1):
    """Fine inertias, but for one body."""
    out = np.tile(np.eye(3) * 0.01, (3, 1, 1))
    out[place] = matrix
    return out


@pytest.mark.parametrize(
    ("changes", "names", "fix"),
    [
        ({"parents": ["foot", "hip", "knee"]}, "hip", "root"),
        ({"parents": [None, "foot", "knee"]}, "knee", "cycle"),
        ({"parents": [None, "knee", "hip"]}, "knee", "cycle"),
        ({"parents": [None, "pelvis", "knee"]}, "knee", "'pelvis'"),
        ({"parents": [None, 7, "knee"]}, "knee", "3 bodies"),
        ({"parents": [None, -2, "knee"]}, "knee", "3 bodies"),
        ({"parents": [None, "hip"]}, "3 bodies", "2 parents"),
        ({"names": ["hip", "knee", "knee"]}, "knee", "own name"),
        ({"masses": [1.0, -2.0, 1.0]}, "knee", "above zero"),
        ({"masses": [1.0, 0.0, 1.0]}, "knee", "above zero"),
        ({"masses": [1.0, np.nan, 1.0]}, "knee", "finite"),
        ({"masses": [1.0, 1.0, np.inf]}, "foot", "finite"),
        ({"offsets": [[0, 0, 0], [0, np.nan, 0], [0, 0, 0]]}, "knee", "finite"),
        ({"centers": [[0, 0, 0], [0, 0, 0], [0, 0, np.inf]]}, "foot", "finite"),
        ({"inertias": stacked(np.diag([1.0, 1.0, 3.0]))}, "knee", "sum of the other two"),
        ({"inertias": stacked(np.diag([-1.0, 1.0, 1.0]))}, "knee", "positive"),
        ({"inertias": stacked(np.zeros((3, 3)))}, "knee", "inertia"),
        ({"inertias": stacked([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])}, "knee", "symmetric"),
        ({"inertias": stacked(np.full((3, 3), np.nan))}, "knee", "finite"),
        ({"kinds": ["FREE", "FREE", "BALL"]}, "knee", "only roots"),
        ({"kinds": ["FREE", "SLIDER", "BALL"]}, "knee", "HINGE"),
        ({"kinds": ["FREE", "BALL"]}, "3 bodies", "2 joint kinds"),
        ({"kinds": ["FREE", "HINGE", "BALL"], "axes": [[1, 0, 0], [0, 0, 0], [1, 0, 0]]}, "knee", "non-zero"),
        ({"kinds": ["FREE", "HINGE", "BALL"], "axes": [[1, 0, 0], [np.nan, 0, 0], [1, 0, 0]]}, "knee", "axis"),
        ({"kinds": ["FREE", "UNIVERSAL", "BALL"], "axes": np.ones((3, 2, 3))}, "knee", "two directions"),
        ({"rest_rotations": [[1, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0]]}, "knee", "unit"),
        ({"rest_rotations": np.zeros((3, 3))}, "(3, 3)", "(3, 4)"),
        ({"offsets": np.zeros((2, 3))}, "(2, 3)", "(3, 3)"),
        ({"axes": np.zeros((2, 3)), "kinds": ["FREE", "HINGE", "BALL"]}, "(2, 3)", "(3, 3)"),
        ({"names": [], "parents": [], "offsets": np.zeros((0, 3))}, "no bodies", "at least one"),
    ],
)
def test_refusals_name_the_body_and_the_fix(changes, names, fix):
    message = refused(**changes)
    assert names in message, message
    assert fix in message, message


def test_bodies_come_out_depth_first_with_their_own_numbers():
    names = ["tip", "root", "mid", "arm"]
    parents = ["mid", None, "root", "root"]
    model = Model.from_tree(names, parents, [[0, 0, 4], [0, 0, 1], [0, 0, 2], [0, 0, 3]], masses=[4, 1, 2, 3])
    assert model.names == ("root", "mid", "tip", "arm")
    assert model.parents.tolist() == [-1, 0, 1, 0]
    assert model.masses.tolist() == [1, 2, 4, 3]
    assert model.offsets[:, 2].tolist() == [1, 2, 4, 3]
    assert [names[i] for i in model.order] == list(model.names)
    assert model.kinds.tolist() == [FREE, BALL, BALL, BALL]
    assert model.nv == 15 and model.total_mass == 10.0
    assert model.index("tip") == 2
    with pytest.raises(ModelError, match="nose"):
        model.index("nose")


def test_several_roots():
    model = Model.from_tree(["a", "b", "c"], [None, None, 0], np.zeros((3, 3)))
    assert model.names == ("a", "c", "b")
    assert model.trees.tolist() == [0, 0, 2]


def test_axes_are_made_unit_and_arrays_cannot_be_changed():
    model = Model.from_tree(["a"], [None], np.zeros((1, 3)), kinds=["HINGE"], axes=[[0.0, 3.0, 4.0]])
    assert model.axes[0, 0] == pytest.approx([0.0, 0.6, 0.8])
    with pytest.raises(ValueError, match="read-only"):
        model.masses[0] = 2.0


def test_a_thousand_bones_in_a_row():
    model = Model.from_tree([f"b{i}" for i in range(1000)], [None, *range(999)], np.zeros((1000, 3)))
    assert model.nv == 6 + 3 * 999


def test_the_relaxed_pose_is_as_told_or_the_middle_of_the_range():
    """Bodies come in any order; NaN leaves a joint to its limits."""
    told = np.array([[np.nan] * 4, [np.cos(0.2), np.sin(0.2), 0.0, 0.0], [np.nan] * 4])
    limits = np.array([[np.nan] * 4, [1.0, -0.5, 0.5, np.nan], [1.0, -0.2, 0.6, np.nan]])
    names, parents = ["tip", "middle", "root"], ["middle", "root", None]
    model = Model.from_tree(names, parents, np.zeros((3, 3)), relaxed=told, limits=limits[[2, 1, 0]])
    pose = relaxed_coordinates(model)
    np.testing.assert_allclose(pose[model.index("middle")], told[1])
    np.testing.assert_allclose(pose[model.index("tip")], [np.cos(0.1), 0.0, np.sin(0.1), 0.0])
    with pytest.raises(ModelError, match="relaxed"):
        Model.from_tree(names, parents, np.zeros((3, 3)), relaxed=told[:2])
