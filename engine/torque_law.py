"""S2's own torque law for appointments (METHODS §2): for comparison, and for those who want its looseness.

Owns the law. Must not know the step's solve: its torques are loads like any other.

τ = D (k_p (q̂ − q) + k_v (ŵ − ω) + what the joints before it do to it), with D the composite
inertia of all that hangs on the joint and gains n²/s², 2n/s. Gravity and speed are not in
it, so a key is met only about as well as they allow.
"""

from __future__ import annotations

from .aim import difference, joint_rates
from .appointments import has_key_ahead
from .articulated import composite_form, composite_inertia
from .jit import part
from .spatial import axpy, dot, load3, load4, scale, sub
from .state import (
    COMPOSITE,
    COORDS,
    DUE,
    DUE_RATE,
    DUE_VALUE,
    HELD,
    LAW,
    LIMITED,
    LOAD,
    LOOSE,
    NOW,
    SHAPE,
    SHARE,
    SIMULATED,
    V,
    pose_of,
)
from .tree import TURNS

# The least time left that gains are taken from, in steps times n: an explicit law shakes itself apart
# with more, since a joint on a chain that yields moves less than its composite inertia.
BEARS = 10.0


@part
def apply_law(tree, state, aim, plan, work, frame, time, h, dt):
    """Joints under the law are loose and loaded with its impulse over a step of h seconds from a time [frames].

    LOAD of a body holds the angular acceleration that the joints up to it ask for, world axes.
    """
    row = min(frame, len(plan.behaviour) - 1)
    pose = pose_of(work, NOW)
    ready = False
    for i in range(1, len(tree.parent)):
        p = tree.parent[i]
        spin = load3(work.body, p, LOAD) if p > 0 and ready else (0.0, 0.0, 0.0)
        if has_key_ahead(state, i) and state.behaviour[i] == SIMULATED and plan.setting[row, i, LAW] != 0.0:
            if not ready:
                composite_inertia(tree, pose, work.body, COMPOSITE)
                for k in range(1, i):
                    for c in range(3):
                        work.body[k, LOAD + c] = 0.0
                ready = True
            kind, first, end = tree.kind[i], tree.dof[i], tree.dof[i + 1]
            shape = plan.setting[row, i, SHAPE]
            pace = shape / max((state.body[i, DUE] - time) * dt, BEARS * shape * h)
            e = difference(kind, load4(state.body, i, COORDS), load4(state.body, i, DUE_VALUE))
            de = sub(load3(state.body, i, DUE_RATE), joint_rates(kind, state.rate, V, first))
            wanted = axpy(pace * pace, e, scale(2.0 * pace, de))
            inherited = spin
            spin = (0.0, 0.0, 0.0)
            for d in range(first, end):
                axis = load3(pose.axes, d, TURNS)
                spin = axpy(wanted[d - first] + dot(axis, inherited), axis, spin)
            for d in range(first, end):
                aim.rate[HELD, d] = 0.0
                for j in range(first, end):
                    share = wanted[j - first] + dot(load3(pose.axes, j, TURNS), inherited)
                    aim.rate[HELD, d] += h * composite_form(work.body, COMPOSITE, i, pose.axes, d, j) * share
                aim.rate[SHARE, d] = 1.0
            aim.mode[i] = LOOSE
            aim.body[i, LIMITED] = 1.0
        if ready:
            for c in range(3):
                work.body[i, LOAD + c] = spin[c]
