"""Even weight: settle times scaled by the size of what a joint carries, so that heaviness bends all joints alike.

Owns the length of a joint's pendulum and the factor on its settle time. Must not know controllers or steps.

At rest a joint sags by λ g / (ℓ ω²): λ the heaviness, ω = 3.89 / settle time, and ℓ = Σ m d² / Σ m d the length of the
equivalent pendulum of everything the joint carries (METHODS §1c: D k_p δ = −λ g, with D = Σ m d² and g = g Σ m d for a
limb that is stretched out level). With one settle time for all, a finger with an ℓ of 3 cm sags 15 times as far as a
shoulder with 45 cm. With settle time · √(ℓ / REFERENCE) every joint sags by λ g / (REFERENCE ω²).

The reference is a length in metres, not relative to the rig. So a mouse's tail bends as far as a horse's at the same
settle time and heaviness, a rig whose size is set wrongly bends as far as it should, and bodies of different size keep
the ratio of their natural times (Froude's law: a pendulum's period scales with the root of its length). With a relative
reference the slider would need another value for every size: at 0.2 s a mouse's hips would sag by 50° and a giant's by
half a degree.
"""

from __future__ import annotations

import numpy as np

from ..model.model import FREE, Model

# [m] length of the pendulum whose settle time is the set one: between a grown person's hip and shoulder, so that the
# slider keeps its meaning for a person's large joints.
REFERENCE = 0.5
# Bounds of the factor on settle times: sizes below 5 mm or above 50 m are not realistic.
LEAST, MOST = 0.1, 10.0
# ℓ is at most this many times the root mean square of d: a ball centred on its joint has no lever.
LONGEST = 2.0


def settle_scales(model: Model) -> np.ndarray:
    """(n,) the factors on the settle times; 1 for free roots."""
    scales = np.clip(np.sqrt(pendulum_lengths(model) / REFERENCE), LEAST, MOST)
    return np.where(model.kinds == FREE, 1.0, scales)


def pendulum_lengths(model: Model) -> np.ndarray:
    """(n,) [m] the equivalent pendulum of all that each joint carries, stretched out in one line.

    Distances d are along the bodies, from joint to joint. So the length does not depend on the rest pose, and limbs on
    both sides of a joint (arms of a chest, legs and spine of hips) do not cancel.
    """
    n = len(model)
    mass = model.masses.copy()
    reach = np.linalg.norm(model.centers, axis=1)
    first = mass * reach
    second = mass * reach**2 + 0.5 * np.trace(model.inertias, axis1=1, axis2=2)
    for i in range(n - 1, -1, -1):
        parent = model.parents[i]
        if parent >= 0:
            way = float(np.linalg.norm(model.offsets[i]))
            mass[parent] += mass[i]
            first[parent] += first[i] + mass[i] * way
            second[parent] += second[i] + 2.0 * way * first[i] + mass[i] * way**2
    return second / np.maximum(first, np.sqrt(second * mass) / LONGEST)
