"""What bones are: against skeletons labelled by hand, with their names and without."""

from __future__ import annotations

import numpy as np
import pytest

import conventions
import skeletons
from engine.anatomy import body_choice, roles
from engine.anatomy.role_list import ROLES, Part
from role_checks import check, check_by_shape, scrambled


@pytest.mark.parametrize("stem", skeletons.RECORDINGS)
def test_recordings(stem):
    if not skeletons.DATA.exists():
        pytest.skip("the recordings are not here: shared/data is not part of the project")
    skeleton, truth = skeletons.recording(stem), skeletons.RECORDINGS[stem]
    assert set(truth) == set(skeleton.names), "every bone is labelled"
    check(stem, skeleton, truth)
    check_by_shape(stem, skeleton, truth)


@pytest.mark.parametrize("name", conventions.CONVENTIONS)
def test_conventions(name):
    skeleton, truth = conventions.build(*conventions.CONVENTIONS[name])
    check(name, skeleton, truth)


def test_by_shape_alone_whichever_way_it_lies_and_faces():
    """Turned about any axis a person is the same person; mirrored, left is right."""
    skeleton, truth = conventions.build(*conventions.CONVENTIONS["plain English"])
    truth = {name: label for name, label in truth.items() if "target" not in name}
    for turn in (np.eye(3), np.eye(3)[[1, 2, 0]], np.diag([-1.0, 1.0, -1.0]), _about((1.0, 2.0, 3.0), 1.1)):
        turned = skeleton._replace(heads=skeleton.heads @ turn.T + 3.0, tails=skeleton.tails @ turn.T + 3.0)
        check_by_shape("plain English, turned", turned, truth)
    mirror = np.diag([-1.0, 1.0, 1.0])
    mirrored = skeleton._replace(heads=skeleton.heads @ mirror, tails=skeleton.tails @ mirror)
    found = roles.find(scrambled(skeleton), *mirrored[1:], [True] * len(skeleton.names))
    assert found[skeleton.names.index("hand.L")].side == "RIGHT"


def _about(axis, angle: float) -> np.ndarray:
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def test_any_tree_gets_an_answer():
    """Whatever the shape: flat, a point, children before their parents, words that contradict one another."""
    random = np.random.default_rng(3)
    words = ("hand", "Left", "leg", "R", "spine", "ik", "twist", "end", "足", "hair", "Hips", "toe", "bone")
    for _ in range(60):
        count = int(random.integers(1, 40))
        parents = np.array([-1, *(random.integers(0, i) for i in range(1, count))])
        heads = random.normal(size=(count, 3)) * random.choice([0.0, 1e-4, 1.0, 1e4]) * random.integers(0, 2, 3)
        names = [f"{'_'.join(random.choice(words, 3))}{i}" for i in range(count)]
        order = random.permutation(count)
        above = [int(np.flatnonzero(order == parents[i])[0]) if parents[i] >= 0 else -1 for i in order]
        tails, deform = heads + random.normal(size=(count, 3)), (random.random(count) < 0.7).tolist()
        found = roles.find(names, above, heads, tails, deform)
        assert len(found) == count and {part.role for part in found} <= {name for name, _ in ROLES}
        chosen = body_choice.behaviours(
            body_choice.Bones(names, above, heads, tails, deform, deform, deform, deform, found)
        )
        assert "SIMULATED" in chosen


def test_a_word_that_all_bones_share_says_nothing():
    skeleton, truth = conventions.build(*conventions.CONVENTIONS["plain English"])
    truth = {f"{name}_ctrl": label for name, label in truth.items() if "target" not in name}
    check("plain English, all controls", skeleton._replace(names=[f"{name}_ctrl" for name in skeleton.names]), truth)


def test_chains_and_fringes_are_nothing():
    bar, strands = [np.zeros(3)], [-1]
    for x in (-1.0, -0.5, 0.0, 0.5, 1.0):
        for k in range(5):
            strands.append(0 if k == 0 else len(bar) - 1)
            bar.append(np.array([x, 0.0, -0.4 * k]))
    tails = np.array(bar) - np.array([0.0, 0.0, 0.4])
    found = roles.find([f"bone.{i:03d}" for i in range(len(bar))], strands, np.array(bar), tails, [True] * len(bar))
    assert {part.role for part in found} == {"OTHER"}
    heads = np.array([[0.0, 0.0, 0.3 * i] for i in range(8)])
    tails = heads + np.array([0.0, 0.0, 0.3])
    found = roles.find([f"bone.{i:03d}" for i in range(8)], [*range(-1, 7)], heads, tails, [True] * 8)
    assert set(found) == {Part("OTHER", "MIDDLE")}
    assert roles.find([], [], np.zeros((0, 3)), np.zeros((0, 3)), []) == []
