"""Which bones become bodies, and which ride, without Blender."""

from __future__ import annotations

import numpy as np

import conventions
from engine.anatomy import body_choice
from engine.anatomy.role_list import LEFT, Part


def test_where_nothing_deforms_the_keyed_bones_are_bodies():
    skeleton, truth = conventions.build(*conventions.CONVENTIONS["plain English"])
    parts = [Part(truth[name][0][0], truth[name][1]) for name in skeleton.names]
    none, some = [False] * len(parts), [name in ("chest", "neck") for name in skeleton.names]
    for keyed, wanted in (
        (some, {"chest", "neck"}),
        (none, {n for n in skeleton.names if n != "root" and "tar" not in n}),
    ):
        bones = body_choice.Bones(*skeleton, none, none, keyed, none, parts)
        chosen = body_choice.behaviours(bones)
        assert {name for name, one in zip(skeleton.names, chosen, strict=True) if one == "SIMULATED"} == wanted


def test_paws_ride_and_what_a_hand_holds_does_not():
    """A foreleg: forearm, paw, a toe with a claw on it, and a sword in the paw; no name says anything."""
    names = [f"bone {i}" for i in range(6)]
    heads = np.array([[0.1 * i, 0.0, 0.02 * i * i] for i in range(6)])
    roles = ("LOWER_ARM", "HAND", "FINGER", "OTHER", "OTHER", "TOE")
    bones = body_choice.Bones(
        names, [-1, 0, 1, 2, 1, -1], heads, heads + 0.05, *([[True] * 6] * 4), [Part(role, LEFT) for role in roles]
    )
    full = ["SIMULATED"] * 6
    assert body_choice.riders(bones, full, "FULL") == []
    assert body_choice.riders(bones, full, "HANDS_AND_FEET") == [2, 3]
    assert body_choice.riders(bones, full, "LIMBS") == [1, 2, 3]
