"""The torque law of paper S2 for physical keys (METHODS §2): less exact than the closed form, for comparison.

Owns the law. Must not know the step's solve: its joints are compliant, with springs to the key.

τ = D (k_p (q̂ − q) + k_v (ŵ − ω) + the acceleration by the joints before it), with D the composite inertia of all that
the joint carries and gains n²/s², 2n/s. Gravity and velocity terms are not in it and bend its way. The key's pose is
met because gains grow without bound; its velocity is not. The solve takes springs and dampers implicitly at the end of
the step: explicitly, such gains make rows of light links unstable.
"""

from __future__ import annotations

from ...compile.decorators import separate
from ...compile.kernel_types import Index, Real
from ...dynamics.joints import difference, joint_rates
from ...math.vectors import axpy, dot, load3, load4, quat_exp, rotate, scale, store3, store4, sub
from ...model.model import BALL
from ...tables import aim as A, control as C, pose as P, state as S, work as W
from ...tables.classes import Aim, Control, State, Tree, Work
from ...tables.work import pose_of
from .arrivals import has_key_ahead


@separate
def apply_law(tree: Tree, state: State, aim: Aim, control: Control, work: Work, frame: Index, h: Real):
    """Joints under the law aim at the key itself, at rest, and feel all loads.

    LOAD of a body holds the angular acceleration that the joints up to it ask for, world axes.

    Reads: A.GAINS, A.PUSH, C.LAW, S.COORDS, S.DUE, S.DUE_KEY, S.DUE_RATE, S.DUE_VALUE, S.V, S.behaviour, W.LOAD, W.NOW
    Writes: A.ABLE, A.END, A.GOAL, A.PUSH, A.SECANT, A.SHARE, A.START, A.SURGE, A.mode, S.DEFLECTION, S.REFERENCE,
        W.LOAD
    """
    row = min(frame, len(control.behaviour) - 1)
    axes = pose_of(work, W.NOW).axes
    for i in range(1, len(tree.parent)):
        p = tree.parent[i]
        spin = load3(work.body, p, W.LOAD) if p > 0 else (0.0, 0.0, 0.0)
        if has_key_ahead(state, i) and state.behaviour[i] == C.SIMULATED and control.setting[row, i, C.LAW] != 0.0:
            kind, first, end = tree.kind[i], tree.dof[i], tree.dof[i + 1]
            kp, kv = aim.body[i, A.GAINS], aim.body[i, A.GAINS + 1]
            value, rate = load4(state.body, i, S.DUE_VALUE), load3(state.body, i, S.DUE_RATE)
            off = difference(kind, value, load4(state.body, i, S.COORDS))
            wanted = axpy(-kp, off, scale(kv, sub(rate, joint_rates(kind, state.rate, S.V, first))))
            inherited, spin = spin, (0.0, 0.0, 0.0)
            for d in range(first, end):
                axis = load3(axes, d, P.TURNS)
                share = dot(axis, inherited)
                spin = axpy(wanted[d - first] + share, axis, spin)
                aim.rate[A.PUSH, d] = h * (kv * rate[d - first] + share)
                aim.rate[A.START, d] = aim.rate[A.END, d] = aim.rate[A.SECANT, d] = aim.rate[A.SURGE, d] = 0.0
                aim.rate[A.SHARE, d] = 1.0
            if kind >= BALL:  # converted to the body's frame, which the solve uses
                store3(aim.rate, A.PUSH, first, rotate(quat_exp(off), load3(aim.rate, A.PUSH, first)))
            store4(state.body, i, S.REFERENCE, value)
            store4(aim.body, i, A.GOAL, value)
            store3(state.body, i, S.DEFLECTION, off)
            aim.mode[i] = A.COMPLIANT
            aim.body[i, A.ABLE] = float(A.COMPLIANT)
        store3(work.body, i, W.LOAD, spin)
