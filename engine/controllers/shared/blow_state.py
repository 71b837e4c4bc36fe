"""State of a blow on a character with a guided root: deflection of its joints, and when the blow is over.

Owns what counts as deflected, as overshot and as back. Must not know targets, nor how a step is solved.

A blow under a guided root is a deflection δ of every joint (METHODS §1c): the bodies' inertias pass it on from the
trunk to head, arms and root, and springs bring each joint back by its settle time. Its reference stays on the motion.
"""

from __future__ import annotations

from ...compile.decorators import kernel
from ...math.vectors import dot, load3
from ...tables import control as C, state as S, tree as T

# A blow is over when all deflections are below this [rad; ten times as much a second].
BLOW_OVER = 1e-7
# After the root's recovery time, a joint nearer than this comes back by itself.
NEARLY_OVER = 2e-3
# A struck joint with a larger deflection [rad] comes back in closed form.
SWUNG_OUT = 1.2
# Bodies that carry less than this part of the character's mass (hands, fingers, toes) are left out and come back in
# closed form: jolts of their parents would throw them about.
LIGHT = 0.01
# Joints that are deflected together come back slower than each would alone, so they are made this many times as fast.
QUICKER_TOGETHER = 1.7


@kernel
def is_deflected(tree, state, i):
    """True if the body is off its reference, or was struck and moves away from it."""
    for k in range(6):
        if state.body[i, S.DEFLECTION + k] != 0.0:
            return True
    for d in range(tree.dof[i], tree.dof[i + 1]):
        if state.rate[S.V, d] != state.rate[S.REFERENCE_V, d]:
            return True
    return False


@kernel
def end_blows(tree, state):
    """End the blow of a struck tree whose joints are back at their references. After its root's recovery time each
    joint is released as soon as it is near: a single foot with a small offset would otherwise keep the whole body loose
    for ever."""
    for root in tree.roots:
        struck = far = False
        for i in range(root + 1, tree.last[root] + 1):
            if state.body[i, S.STRUCK] != 0.0:
                struck = True
                far = far or is_far(tree, state, i, BLOW_OVER)
                if state.body[root, S.STRUCK] == 0.0 and not stays_off(tree, state, root, i):
                    state.body[i, S.STRUCK] = 0.0
        if struck and not (far and state.behaviour[root] == C.ASSIST):
            for i in range(root, tree.last[root] + 1):
                state.body[i, S.STRUCK] = 0.0


@kernel
def stays_off(tree, state, root, i):
    """True if a joint that takes part in blows is off its reference by more than its threshold."""
    over = BLOW_OVER if state.body[root, S.STRUCK] != 0.0 else NEARLY_OVER
    return is_far(tree, state, i, over) and not is_light(tree, root, i)


@kernel
def is_far(tree, state, i, over):
    for k in range(3):
        if abs(state.body[i, S.DEFLECTION + k]) > over:
            return True
    for d in range(tree.dof[i], tree.dof[i + 1]):
        if abs(state.rate[S.V, d] - state.rate[S.REFERENCE_V, d]) > 10.0 * over:
            return True
    return False


@kernel
def swung_out(state, i):
    """True if a struck joint's deflection is so large that its spring would not bring it back straight."""
    e = load3(state.body, i, S.DEFLECTION)
    return dot(e, e) > SWUNG_OUT * SWUNG_OUT


@kernel
def changes(tree, root, change):
    """True if any rate of a tree changes."""
    for d in range(tree.dof[root], tree.dof[tree.last[root] + 1]):
        if change[d] != 0.0:
            return True
    return False


@kernel
def is_light(tree, root, i):
    """True if a body and its descendants are a very small part of the mass of their tree."""
    return tree.body[i, T.SUBTREE_MASS] < LIGHT * tree.body[root, T.SUBTREE_MASS]
