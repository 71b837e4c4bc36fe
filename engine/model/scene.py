"""The world around the characters.

Owns `Scene` and what is in it: ground, colliders with a motion of their own, free
bodies, ties, pushes and wind. Must not know about models, steps or Blender.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import SettingError
from ..geometry.shapes.base import Shape

RESPONSES = ("GIVES_WAY", "BRACES")
MOVES = ("ANIMATED", "FREE")
TIES = ("PIN", "WELD", "DISTANCE")
FRICTION = 0.6
LIMP_ONLY = "LIMP"  # of touch_self
# A body of the shot: its name, or (index of the character, its name) if several share a shot.
BodyName = str | tuple[int, str]


@dataclass(frozen=True, eq=False)
class Ground:
    """A level floor.

    height      [m]
    response    'BRACES': legs hold the body without sagging; 'GIVES_WAY': they yield
    """

    height: float = 0.0
    friction: float = FRICTION
    bounce: float = 0.0
    response: str = "BRACES"

    def __post_init__(self) -> None:
        if not np.isfinite(self.height):
            raise SettingError(f"The ground's height is {self.height}: give a finite number.")
        check_surface("The ground", self.friction, self.bounce, self.response)


@dataclass(frozen=True, eq=False)
class Collider:
    """A body that is not a bone.

    name             unique in the scene
    shapes           in the body's frame; none: a point without shape for ties
    positions        (3,) if it never moves, or (frames, 3) [m]
    rotations        (4,) or (frames, 4), wxyz
    moves            'ANIMATED': exactly its motion, pushing with its true velocity; 'FREE': from frame `free_from` on
                     (an index into the motion) it moves freely, with the velocity of its motion there
    mass             [kg], of free ones; inertia and centre follow from the shapes
    velocity, spin   initial velocities of a free one instead of its motion's [m/s, rad/s]
    """

    name: str
    shapes: Sequence[Shape] = ()
    positions: np.ndarray | Sequence[float] = (0.0, 0.0, 0.0)
    rotations: np.ndarray | Sequence[float] = (1.0, 0.0, 0.0, 0.0)
    moves: str = "ANIMATED"
    mass: float = 1.0
    friction: float = FRICTION
    bounce: float = 0.0
    response: str = "GIVES_WAY"
    free_from: int = 0
    velocity: Sequence[float] | None = None
    spin: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.moves not in MOVES:
            raise SettingError(f"Collider '{self.name}' moves '{self.moves}': use one of {', '.join(MOVES)}.")
        if self.moves == "FREE" and not self.shapes:
            raise SettingError(f"Collider '{self.name}' is free and has no shape: give it one, or let it be animated.")
        if not (np.isfinite(self.mass) and self.mass > 0.0):
            raise SettingError(f"Collider '{self.name}' has mass {self.mass} kg: give it a mass above zero.")
        check_surface(f"Collider '{self.name}'", self.friction, self.bounce, self.response)
        for values, width, what in ((self.positions, 3, "position"), (self.rotations, 4, "rotation")):
            array = np.asarray(values, dtype=np.float64)
            if array.ndim not in (1, 2) or array.shape[-1] != width:
                raise SettingError(
                    f"Collider '{self.name}' has {what}s of shape {array.shape}: give (frames, {width})."
                )
            if not np.isfinite(array).all():
                raise SettingError(f"Collider '{self.name}' has a {what} that is not finite: mend that key.")


@dataclass(frozen=True, eq=False)
class Tie:
    """A constraint between two bodies besides the joints.

    kind        'PIN' (a point on a point), 'WELD' (position and rotation) or 'DISTANCE'
    a, b        body or collider names; None is the world
    point_a     on a, in a's frame [m]
    point_b     on b; None: where point_a is when the tie is switched on
    length      of a DISTANCE; None: the distance when it is switched on [m]
    active      None (always), or (frames,) booleans: keyed on and off
    response    'GIVES_WAY': the joints yield to it; 'BRACES': they hold its load
    """

    kind: str
    a: BodyName
    b: BodyName | None = None
    point_a: Sequence[float] = (0.0, 0.0, 0.0)
    point_b: Sequence[float] | None = None
    length: float | None = None
    active: np.ndarray | None = None
    response: str = "GIVES_WAY"

    def __post_init__(self) -> None:
        if self.kind not in TIES:
            raise SettingError(f"The tie of '{self.a}' is a '{self.kind}': use one of {', '.join(TIES)}.")
        if self.a == self.b:
            raise SettingError(f"The tie of '{self.a}' ties it to itself: give another body or None for the world.")


@dataclass(frozen=True, eq=False)
class Push:
    """An external impulse: `impulse` [N s, world axes] on a body at a frame (an index into the motion).

    point: in the body's frame; None: its centre of mass.
    """

    body: BodyName
    impulse: Sequence[float]
    frame: int
    point: Sequence[float] | None = None


@dataclass(frozen=True, eq=False)
class Wind:
    """Moving air: drags every body toward `velocity` [m/s].

    strength    (frames,) or one number: factor of the air's drag, 0 off
    """

    velocity: Sequence[float]
    strength: np.ndarray | float = 1.0


@dataclass(frozen=True, eq=False)
class Scene:
    """gravity: acceleration [m/s²], Z up; apart: pairs of body names that never touch.

    touch_self: whether the bodies of one character touch one another: True, False, or 'LIMP': while they are limp and
    their root is free, except those that overlap when they become limp and small parts (`self_touch`). One for all
    characters, or one each.
    """

    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    ground: Ground | None = None
    colliders: Sequence[Collider] = field(default=())
    ties: Sequence[Tie] = field(default=())
    pushes: Sequence[Push] = field(default=())
    winds: Sequence[Wind] = field(default=())
    apart: Sequence[tuple[BodyName, BodyName]] = field(default=())
    touch_self: bool | str | Sequence[bool | str] = True

    def __post_init__(self) -> None:
        if np.shape(self.gravity) != (3,) or not np.isfinite(self.gravity).all():
            raise SettingError(f"Gravity is {self.gravity}: give three finite numbers in m/s².")
        names = [collider.name for collider in self.colliders]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise SettingError(f"Two colliders are named '{sorted(twice)[0]}': give every one its own name.")
        given = [self.touch_self] if isinstance(self.touch_self, bool | str) else self.touch_self
        for how in given:
            if how not in (True, False, LIMP_ONLY):
                raise SettingError(f"touch_self is {how!r}: use True, False or '{LIMP_ONLY}'.")

    def touches_itself(self, which: int) -> bool | str:
        """The character's value of touch_self."""
        if isinstance(self.touch_self, bool | str):
            return self.touch_self
        if which >= len(self.touch_self):
            raise SettingError(f"touch_self is given for {len(self.touch_self)} characters: give one for each.")
        return self.touch_self[which]


def check_surface(who: str, friction: float, bounce: float, response: str) -> None:
    """Raise an error for an impossible surface."""
    if not (np.isfinite(friction) and friction >= 0.0):
        raise SettingError(f"{who} has friction {friction}: give a number of zero or above.")
    if not 0.0 <= bounce <= 1.0:
        raise SettingError(f"{who} has bounce {bounce}: give a number from 0 to 1.")
    if response not in RESPONSES:
        raise SettingError(f"{who} has response '{response}': use one of {', '.join(RESPONSES)}.")
