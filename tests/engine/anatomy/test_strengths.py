"""Strength by role: the figures are those measured on people, scaled to the body; the rest is as it was."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import engine
from performer import YMCA, perform, performer

NUMBERS = Path(__file__).parents[4] / "shared" / "data" / "biomech" / "biomech_numbers.json"
ROLES = {
    "waist": "spine", "chest": "spine", "neck": "neck", "head": "neck",
    **{f"{side} {body}": role for side in ("left", "right") for body, role in (
        ("upper arm", "shoulder"), ("forearm", "elbow"), ("hand", "wrist"),
        ("thigh", "hip"), ("shin", "knee"), ("foot", "ankle"),
    )},
}  # fmt: skip


def test_the_figures_are_those_of_the_tables(figure):
    """The strongest direction of each role, of a man of 75 kg and 1.75 m, and of the gymnast."""
    if not NUMBERS.exists():
        pytest.skip("biomech_numbers.json is not here: shared/data is not part of the project")
    numbers = json.loads(NUMBERS.read_text())
    best: dict[str, float] = {}
    for row in numbers["anderson2007_age18_25"]["rows"]:
        if row["sex"] == "male":
            best[row["joint"]] = max(best.get(row["joint"], 0.0), row["peak_Nm_75kg_175cm"] / 75.0)
    for joint, _, torque, _, _ in numbers["millard_gymnast"]["rows"]:
        role = {"lumbar": "spine"}.get(joint, joint)
        if role not in ("hip", "knee", "ankle"):
            best[role] = max(best.get(role, 0.0), torque / 69.6)
    for role, value in engine.STRENGTH_OF_ROLE.items():
        if role != "neck":  # of another source
            figure(f"{role}: off the table", abs(value / best[role] - 1.0), 1e-3)


def test_limits_follow_roles_and_mass():
    model = performer()
    limits = engine.strength_limits(model, ROLES)
    for name, role in ROLES.items():
        assert limits[model.index(name)] == pytest.approx(75.0 * engine.STRENGTH_OF_ROLE[role])
    for name in ("pelvis", "left clavicle"):
        assert limits[model.index(name)] == model.strengths[model.index(name)]
    by_body = [ROLES.get(name) for name in model.names]
    heavy = engine.strength_limits(model, by_body, mass=150.0)
    roled = [role is not None for role in by_body]
    assert np.allclose(heavy[roled], 2.0 * limits[roled])


def test_wrong_roles_are_named():
    model = performer()
    with pytest.raises(engine.SettingError, match="'left hand' has the role 'fin'"):
        engine.strength_limits(model, {"left hand": "fin"})
    with pytest.raises(engine.ModelError, match="no body 'tail'"):
        engine.strength_limits(model, {"tail": "spine"})
    with pytest.raises(engine.SettingError, match="3 roles for 19 bodies"):
        engine.strength_limits(model, [None] * 3)


def test_a_strong_person_keeps_the_keys_that_a_weak_one_misses(figure):
    """YMCA with these limits: at strength 1 only what nobody can do in a tenth of a second is missed."""
    model = performer("FIXED")
    motion = perform(model, YMCA, 24.0)
    scene = engine.Scene(touch_self=False)
    limits = engine.strength_limits(model, ROLES)
    for strength in (1.0, 0.1):
        result = engine.simulate(model, motion, engine.OnTime(arrival=0.0, strength=strength * limits), scene)
        missed = result.arrivals.missed()
        late = [miss for miss in missed if miss[1] > 0.1 * 24.0 + 1e-6]
        figure.note(f"YMCA at strength {strength}: keys missed, of them after the first", f"{len(missed)}, {len(late)}")
        assert bool(late) == (strength < 1.0)
