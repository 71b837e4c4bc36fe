"""Tone: damping and relaxed pull of a joint's tissue without drive.

Owns the damping and the weak pull to the middle of the range, for each joint, and how they enter the step. Must not
know controllers or contacts.

A joint without drive obeys M v̇ + D (k_v v + k_p δ) = load: v its rates, δ its rotation from the relaxed pose, D its
own block of M (METHODS §1c). k_v and k_p follow from the time t = √(ℓ / g) of the equivalent pendulum of everything the
joint carries (`even_weight.pendulum_lengths`): k_v = 2 · DAMPING · tone / t, k_p = PULL · tone / t². So tone means the
same for a finger and a hip and at any scale: a limb held out level is pulled to the middle by PULL times its weight for
every radian, and swings like a pendulum of damping ratio DAMPING.

Measured values: a relaxed person's leg swings at a damping ratio of 0.1 about the knee (pendulum test of Wartenberg),
and is pulled to its middle by 0.3 times its weight a radian (Riener and Edrich 1999, checked in `test_tone`). Skin,
clothes and the muscles' stretch reflex add to that in falls: the damping is a multiple of the measured one.

The damping is implicit. Over a step of h seconds it multiplies a rate by exp(−k_v h) if the joint moves alone, for
every h: C = θ h k_v D joins the mass, θ = 1/(1 − e^(−x)) − 1/x with x = k_v h.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import kernel
from ..math.vectors import dot, load4, quat_conj, quat_log, quat_mul, scale
from ..model.model import BALL, FREE, Model
from ..tables import aim as A, state as S, tree as T, work as W
from .even_weight import pendulum_lengths

DAMPING = 0.6
PULL = 0.3
GRAVITY = 9.81  # [m/s²] pendulum times refer to earth, whatever the scene's gravity is
# Beyond this angle [rad] the pull fades, to 0 at half a turn, where its direction flips.
FARTHEST = 2.0


def tone_gains(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """(n,) k_v [1/s] and k_p [1/s²] of each joint at tone 1; 0 for free roots."""
    times = np.sqrt(pendulum_lengths(model) / GRAVITY)
    hangs = model.kinds != FREE
    return np.where(hangs, 2.0 * DAMPING / times, 0.0), np.where(hangs, PULL / times**2, 0.0)


@kernel
def has_tone(aim, i):
    """True if tone acts on the joint in this step: it has no drive, or its drive is saturated."""
    return aim.mode[i] == A.LOOSE and aim.body[i, A.TONE] > 0.0


@kernel
def implicit_share(x):
    """θ of the implicit damping, for x = k_v h."""
    if x < 1e-3:
        return 0.5 + x / 12.0
    return 1.0 / (1.0 - math.exp(-x)) - 1.0 / x


@kernel
def tone_compliance(aim, i, h):
    """c of C = c·D of a joint with tone."""
    damping, pull = aim.body[i, A.TONE], aim.body[i, A.TONE + 1]
    theta = implicit_share(damping * h)
    return theta * h * (damping + theta * h * pull)


@kernel
def even_axes(tree, block, i):
    """Make D, the joint's rows of `block`, isotropic: half its trace, which for a rod is its value across the rod.

    Tissue resists a twist as it resists a bend. With the rod's own inertia about its axis, which is almost 0, a finger
    on the ground would roll like a pencil under the hand.
    """
    first = tree.dof[i]
    if tree.dof[i + 1] - first != 3:
        return
    half = 0.5 * (block[first, 0] + block[first + 1, 1] + block[first + 2, 2])
    for d in range(3):
        for e in range(3):
            block[first + d, e] = half if d == e else 0.0


@kernel
def turn_from_relaxed(tree, state, i):
    """δ: the joint's rotation from the middle of its range; reduced beyond FARTHEST."""
    c = load4(state.body, i, S.COORDS)
    r = load4(tree.body, i, T.RELAXED)
    if tree.kind[i] >= BALL:
        delta = quat_log(quat_mul(quat_conj(r), c))
    else:
        delta = (c[0] - r[0], c[1] - r[1], 0.0)
    turn = math.sqrt(dot(delta, delta))
    if turn > FARTHEST:
        delta = scale(FARTHEST * max(math.pi - turn, 0.0) / ((math.pi - FARTHEST) * turn), delta)
    return delta


@kernel
def lay_tone(tree, state, aim, work, i, h):
    """The impulses of a joint's tone in a step of h seconds, from D in the joint's rows of work.block.

    TONED: the pull, −h D k_p δ. SLOWED: −h D (k_v v + k_p θ h v), the damping and what the pull gains on the way.
    """
    first, end = tree.dof[i], tree.dof[i + 1]
    rate, block = work.rate, work.block
    damping, pull = aim.body[i, A.TONE], aim.body[i, A.TONE + 1]
    along = damping + pull * implicit_share(damping * h) * h
    delta = turn_from_relaxed(tree, state, i)
    for d in range(first, end):
        rate[W.TONED, d] = rate[W.SLOWED, d] = 0.0
        for e in range(first, end):
            rate[W.TONED, d] -= h * block[d, e - first] * pull * delta[e - first]
            rate[W.SLOWED, d] -= h * block[d, e - first] * along * state.rate[S.V, e]


@kernel
def add_tone(tree, aim, work, g):
    """g += the impulses of the joints' tone."""
    for i in range(1, len(tree.parent)):
        if has_tone(aim, i):
            for d in range(tree.dof[i], tree.dof[i + 1]):
                g[d] += work.rate[W.TONED, d] + work.rate[W.SLOWED, d]
