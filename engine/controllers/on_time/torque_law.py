"""The torque law of paper S2 for physical keys (METHODS §2): looser than the closed form, for comparison.

Owns the law. Must not know the step's solve: its joints are compliant, with springs that hang on the key.

τ = D (k_p (q̂ − q) + k_v (ŵ − ω) + what the joints before it do to it), with D the composite
inertia of all that hangs on the joint and gains n²/s², 2n/s. Gravity and speed are not in
it and bend its way; the key's pose is met since gains grow without bound, its velocity is
not. The solve takes springs and dampers as they are at the end of the step: an explicit law
with such gains shakes light links in a row apart.
"""

from __future__ import annotations

from ...compile.decorators import part
from ...math.vectors import axpy, dot, load3, load4, quat_exp, rotate, scale, store3, store4, sub
from ...model.model import BALL
from ...tables.model_table import TURNS
from ...tables.state_table import (
    ABLE,
    COMPLIANT,
    COORDS,
    DEFLECTION,
    DUE_RATE,
    DUE_VALUE,
    END,
    GAINS,
    GOAL,
    LAW,
    LOAD,
    NOW,
    PUSH,
    REFERENCE,
    SECANT,
    SHARE,
    SIMULATED,
    START,
    SURGE,
    V,
    pose_of,
)
from ..follow.reference import difference, joint_rates
from .arrivals import has_key_ahead


@part
def apply_law(tree, state, aim, plan, work, frame, h):
    """Joints under the law are aimed at their key itself, at rest, and feel all that loads them.

    LOAD of a body holds the angular acceleration that the joints up to it ask for, world axes.
    """
    row = min(frame, len(plan.behaviour) - 1)
    axes = pose_of(work, NOW).axes
    for i in range(1, len(tree.parent)):
        p = tree.parent[i]
        spin = load3(work.body, p, LOAD) if p > 0 else (0.0, 0.0, 0.0)
        if has_key_ahead(state, i) and state.behaviour[i] == SIMULATED and plan.setting[row, i, LAW] != 0.0:
            kind, first, end = tree.kind[i], tree.dof[i], tree.dof[i + 1]
            kp, kv = aim.body[i, GAINS], aim.body[i, GAINS + 1]
            value, rate = load4(state.body, i, DUE_VALUE), load3(state.body, i, DUE_RATE)
            off = difference(kind, value, load4(state.body, i, COORDS))
            wanted = axpy(-kp, off, scale(kv, sub(rate, joint_rates(kind, state.rate, V, first))))
            inherited, spin = spin, (0.0, 0.0, 0.0)
            for d in range(first, end):
                axis = load3(axes, d, TURNS)
                share = dot(axis, inherited)
                spin = axpy(wanted[d - first] + share, axis, spin)
                aim.rate[PUSH, d] = h * (kv * rate[d - first] + share)
                aim.rate[START, d] = aim.rate[END, d] = aim.rate[SECANT, d] = aim.rate[SURGE, d] = 0.0
                aim.rate[SHARE, d] = 1.0
            if kind >= BALL:  # the solve will look at it from the body
                store3(aim.rate, PUSH, first, rotate(quat_exp(off), load3(aim.rate, PUSH, first)))
            store4(state.body, i, REFERENCE, value)
            store4(aim.body, i, GOAL, value)
            store3(state.body, i, DEFLECTION, off)
            aim.mode[i] = COMPLIANT
            aim.body[i, ABLE] = float(COMPLIANT)
        store3(work.body, i, LOAD, spin)
