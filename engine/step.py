"""One step of the dynamics, its stages in order (METHODS §1).

Owns the step. Each stage is one call; what they do is in their own files. Must not
know about frames, keys or Blender.
"""

from __future__ import annotations

from .aim import advance, coordinate_rates, difference, end_step
from .assist import feed_forward, hold_back
from .deflection import first_half, second_half
from .jit import kernel
from .kinematics import forward, momenta, velocities
from .model import BALL, FREE
from .roots import balance_roots, place_roots, turn_roots
from .spatial import add, cross, load3, load4, quat_conj, quat_mul, quat_unit, scale, store3, store4, sub
from .state import COMPLIANT, LOOSE, PRESCRIBED


@kernel
def step(tree, state, aim, plan, work, h, gravity):
    """Advance `state` by h seconds toward `aim`; work.torque holds what the drives did."""
    loaded = anything_loaded(tree, aim)
    middle_pose(tree, state, aim, work, h)
    mixed = False
    if loaded:
        feed_forward(tree, state, aim, work, h, gravity)
        mixed = first_half(tree, state, aim, work, h, gravity)
        hold_back(tree, state, aim, plan, work, h, gravity)
    else:
        work.ends[:] = aim.end
        work.mean[:] = aim.secant
    move(tree, state, aim, work, h)
    turn_roots(tree, state, aim, work, h)
    forward(tree, work.coords, work.anchors, work.end)
    if loaded:
        second_half(tree, state, aim, work, h, mixed)
    velocities(tree, work.end, work.ends, aim.drift, work.motion)
    place_roots(tree, state, aim, work, h, gravity)
    balance_roots(tree, state, aim, work, h, gravity)
    momenta(tree, work.end, work.motion, work.spin, work.linear)
    drive_torques(tree, state, work, h, gravity)
    finish(tree, state, aim, work)
    end_step(tree, state, aim)


@kernel
def anything_loaded(tree, aim):
    """Whether a joint other than a free root is loose or compliant.

    A free root whose joints are all prescribed needs no factor: momentum alone moves it.
    """
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == COMPLIANT or (aim.mode[i] == LOOSE and tree.kind[i] != FREE):
            return True
    return False


@kernel
def middle_pose(tree, state, aim, work, h):
    """Kinematics half a step ahead, as far as it is known."""
    half = 0.5 * h
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        c = load4(state.coords, i)
        if aim.mode[i] == PRESCRIBED:
            c = advance(kind, c, coordinate_rates(kind, aim.secant, d), half)
        else:
            c = advance(kind, c, coordinate_rates(kind, state.v, d), half)
        store4(work.coords, i, c)
        store3(work.anchors, i, add(load3(state.anchors, i), scale(half, load3(aim.drift_secant, i))))
    forward(tree, work.coords, work.anchors, work.middle)


@kernel
def move(tree, state, aim, work, h):
    """New coordinates in work.coords and anchors in work.anchors; free roots turn later."""
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        mode = aim.mode[i]
        store3(work.anchors, i, load3(aim.anchors, i))
        if mode == PRESCRIBED:
            store4(work.coords, i, load4(aim.coords, i))
        elif mode == COMPLIANT:
            _move_compliant(tree, state, aim, work, i, h)
        else:
            w = coordinate_rates(kind, work.mean, d)
            store4(work.coords, i, advance(kind, load4(state.coords, i), w, h))
            if kind == FREE:
                for k in range(3):
                    work.anchors[i, k] = state.anchors[i, k] + h * work.mean[d + 3 + k]


@kernel
def _move_compliant(tree, state, aim, work, i, h):
    """q₁ = r₁ ⊕ δ₁; work.mean becomes the joint's own mean rate."""
    kind, d = tree.kind[i], tree.dof[i]
    old, reference, goal = load4(state.coords, i), load4(state.reference, i), load4(aim.coords, i)
    u = coordinate_rates(kind, work.mean, d)
    if kind >= BALL:
        deflection = quat_mul(quat_conj(reference), old)
        new = quat_unit(quat_mul(goal, advance(kind, deflection, u, h)))
    else:
        new = advance(kind, (goal[0] + old[0] - reference[0], goal[1] + old[1] - reference[1], 0.0, 0.0), u, h)
    store4(work.coords, i, new)
    w = scale(1.0 / h, difference(kind, old, new))
    for k in range(min(3, tree.dof[i + 1] - d)):
        work.mean[d + k] = w[k]
    if kind == FREE:
        for k in range(3):
            shift = work.delta[d + 3 + k] + h * work.mean[d + 3 + k]
            work.anchors[i, k] = aim.anchors[i, k] + shift
            work.mean[d + 3 + k] = (work.anchors[i, k] - state.anchors[i, k]) / h


@kernel
def drive_torques(tree, state, work, h, gravity):
    """work.torque: what the joints' drives gave, the mean over the step (Newton–Euler on momenta)."""
    pose = work.middle
    n1 = len(tree.parent)
    for i in range(1, n1):
        force = sub(sub(load3(work.linear, i), load3(state.linear, i)), scale(h * tree.mass[i], gravity))
        couple = add(sub(load3(work.spin, i), load3(state.spin, i)), cross(load3(pose.center, i), force))
        work.load[i, 0], work.load[i, 1], work.load[i, 2] = couple
        work.load[i, 3], work.load[i, 4], work.load[i, 5] = force
    for i in range(n1 - 1, 0, -1):
        p = tree.parent[i]
        for d in range(tree.dof[i], tree.dof[i + 1]):
            s = pose.axes[d]
            total = 0.0
            for a in range(6):
                total += s[a] * work.load[i, a]
            work.torque[d] = total / h
        if p > 0:
            for a in range(6):
                work.load[p, a] += work.load[i, a]


@kernel
def finish(tree, state, aim, work):
    """Take the end of the step over into the state."""
    state.coords[:] = work.coords
    state.anchors[:] = work.anchors
    state.v[:] = work.ends
    state.drift[:] = aim.drift
    state.spin[:] = work.spin
    state.linear[:] = work.linear
    work.now.rotation[:] = work.end.rotation
    work.now.center[:] = work.end.center
    work.now.moment[:] = work.end.moment
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == COMPLIANT:
            _note_deflection(tree, state, aim, i)
        else:
            for k in range(6):
                state.deflection[i, k] = 0.0


# A deflection this small and slow, of a joint that feels no load, is over [rad, m; per second].
DEFLECTION_OVER = 1e-13


@kernel
def _note_deflection(tree, state, aim, i):
    kind, d = tree.kind[i], tree.dof[i]
    delta = difference(kind, load4(aim.coords, i), load4(state.coords, i))
    largest = 0.0
    for k in range(3):
        largest = max(largest, abs(delta[k]))
        state.deflection[i, k] = delta[k]
        if kind == FREE:
            state.deflection[i, 3 + k] = state.anchors[i, k] - aim.anchors[i, k]
            largest = max(largest, abs(state.deflection[i, 3 + k]))
    for j in range(d, tree.dof[i + 1]):
        largest = max(largest, abs(state.v[j] - aim.end[j]))
    if largest < DEFLECTION_OVER:
        for k in range(6):
            state.deflection[i, k] = 0.0
