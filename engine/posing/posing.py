"""Pose by dragging: a body is pulled by a point, masses, joints and pins decide what follows (S1-VII).

Owns a pose that is being made: what is grabbed, what is pinned, when it is at rest. What a
round does is in `round`. Must not know time, keys or Blender.

    posing = Posing(model, rotations, positions, pins=[Pin("foot")])
    posing.grab("hand", point)
    posing.pull(target)          # at every motion of the mouse
    posing.rotations, posing.positions
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..compile.decorators import warn_if_plain
from ..compile.precompile import ensure_built
from ..errors import SettingError
from ..geometry.shapes.base import CORNERS, Shape
from ..math import quaternions as rot
from ..model.model import BALL, HINGE, UNIVERSAL, Model
from ..tables import holds as H, pose as P, pull as PU
from ..tables.classes import Pose
from ..tables.motion import fit_angles
from ..tables.tree import build_tree
from . import round
from .kernel_suites import WAITED_SUITES

# Rounds for one motion of the mouse, and further ones to close pins and limits.
ROUNDS, CLOSING_ROUNDS = 8, 8
FEW_ROUNDS = 3
# The last round is one that turns no joint farther [rad].
AT_REST = 1e-6
# The last closing round turns no joint farther [rad]; pins and limits with larger errors are open [m, rad].
CLOSED, OPEN = 1e-5, 8e-4
# Shares of the way to the mouse that are tried in order.
SHARES = (1.0, 0.25, 0.05)
# After this many pulls to one point every further pull doubles the resistance, so that everything comes to rest.
PATIENCE, PATIENCE_SINKING = 40, 150
# Gravity's share in a round [s²]: a body half a metre too high sinks by some percent.
FALL_TIME = 5e-3


@dataclass(frozen=True)
class Pin:
    """A body that is held in place.

    point   in the body's frame [m]
    turns   its rotation is held too
    """

    body: str
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turns: bool = True


@dataclass(frozen=True)
class Lock:
    """A rotation that a joint cannot make: the angle between two directions is constant.

    above   a direction fixed to the parent, in the joint's frame at rest
    own     a direction fixed to the body, in its frame
    """

    body: str
    above: tuple[float, float, float]
    own: tuple[float, float, float]


class Posing:
    """A pose that is pulled.

    rotations (n, 4) and positions (n, 3) are those of a `Motion` on one frame: joint rotations, roots' positions in the
    world and all others' in their parents' frames [m].
    fixed      names of bodies whose joints do not turn
    locks      rotations that other joints cannot make
    gravity    [m/s²]; None for none: then the initial pose is kept as far as the pull allows
    floor      [m], None for none
    """

    def __init__(
        self,
        model: Model,
        rotations: np.ndarray,
        positions: np.ndarray,
        pins: Sequence[Pin] = (),
        fixed: Sequence[str] = (),
        gravity: Sequence[float] | None = None,
        floor: float | None = None,
        locks: Sequence[Lock] = (),
    ) -> None:
        warn_if_plain()
        ensure_built(*WAITED_SUITES)
        self.model = model
        self._tree = build_tree(model)
        n1, nv = len(model) + 1, model.nv
        self._pose = Pose(np.zeros((n1, P.COLUMNS)), np.zeros((nv, 6)))
        self._pose.body[0, P.ROTATION] = 1.0
        self._pull = PU.new_pull(self._tree, len(pins), _spots(model), len(locks))
        self._bound = np.zeros((n1, H.BOUND_COLUMNS))
        self._bound[:, : H.LIMIT_FRAME], self._bound[1:, : H.LIMIT_FRAME] = np.inf, model.limits
        self._bound[1:, H.LIMIT_FRAME : H.LIMIT_FRAME + 8] = model.limit_frames.reshape(-1, 8)
        body = self._pull.body
        body[1:, PU.COORDS : PU.COORDS + 4] = _coordinates(model, rotations)
        body[1:, PU.ANCHOR : PU.ANCHOR + 3] = positions
        for name in fixed:
            body[model.index(name) + 1, PU.STILL] = 1.0
        if not np.isfinite(body).all():
            raise SettingError("The pose to start from has numbers that are not finite: look for a broken key.")
        self._fixed = body[:, PU.STILL].copy()
        self._shut(locks)
        number = self._pull.number
        number[PU.SOFT] = -1.0
        number[PU.SIZE] = 0.3 * max(_size(model), 1e-3)
        round.begin(self._tree, self._pose, self._pull)
        round.note_slack(self._tree, self._pull, self._bound)
        self._mouse: tuple[float, ...] | None = None
        self._waited = 0
        self.set_floor(floor)
        self.set_gravity(gravity)
        self.set_pins(pins)

    # --- settings -----------------------------------------------------------------------

    def set_gravity(self, gravity: Sequence[float] | None) -> None:
        """[m/s²]; None: no gravity, and the present pose is the one that is kept."""
        self._pull.number[PU.FALL : PU.FALL + 3] = np.zeros(3) if gravity is None else gravity
        self._pull.number[PU.FALL : PU.FALL + 3] *= FALL_TIME
        self._begin()

    def set_floor(self, height: float | None) -> None:
        """[m]; parts that are below it now may stay as deep."""
        number, spot = self._pull.number, self._pull.spot
        number[PU.FLOOR] = -np.inf if height is None else height
        if height is not None and len(spot):
            rows = spot[:, PU.SPOT_BODY].astype(int)
            points = spot[:, PU.SPOT_POINT : PU.SPOT_POINT + 3]
            places, turns = self.placed()
            low = (places[rows - 1] + rot.rotate(turns[rows - 1], points))[:, 2] - spot[:, PU.SPOT_RADIUS]
            spot[:, PU.SPOT_SLACK] = np.minimum(low - height, 0.0)

    def set_pins(self, pins: Sequence[Pin]) -> None:
        """Hold these bodies in place from now on."""
        self.pins = tuple(pins)
        table = np.zeros((len(pins), PU.PIN_COLUMNS))
        places, turns = self.placed()
        for row, pin in zip(table, pins, strict=True):
            b = self.model.index(pin.body)
            row[PU.PIN_BODY], row[PU.PIN_TURNS] = b + 1, pin.turns
            row[PU.PIN_POINT : PU.PIN_POINT + 3] = pin.point
            row[PU.PIN_PLACE : PU.PIN_PLACE + 3] = places[b] + rot.rotate(turns[b], np.asarray(pin.point, float))
            row[PU.PIN_TURN : PU.PIN_TURN + 4] = turns[b]
        self._pull = self._pull._replace(pin=table)
        self._choose_trees()

    def grab(self, body: str, point: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """Pull this body from now on, at a point in its frame [m]; the present pose is kept as far as possible. A pin
        on it is ignored meanwhile: see `set_pins`."""
        b = self.model.index(body)
        number = self._pull.number
        number[PU.GRABBED] = b + 1
        number[PU.GRAB_POINT : PU.GRAB_POINT + 3] = point
        number[PU.SOFT] = -1.0
        self._begin()
        self._choose_trees()
        self._mouse = None

    def _begin(self) -> None:
        number = self._pull.number
        number[PU.PULL_FORCE : PU.PULL_FORCE + 3] = 0.0
        number[PU.WARY] = number[PU.PENALTY] = 0.0
        self._pull.pin[:, PU.PIN_FORCE : PU.PIN_FORCE + 3] = 0.0
        round.begin(self._tree, self._pose, self._pull)
        self._waited = 0

    def _shut(self, locks: Sequence[Lock]) -> None:
        """Lock these rotations: the directions keep their present angles."""
        for row, lock in zip(self._pull.lock, locks, strict=True):
            b = self.model.index(lock.body)
            own = rot.rotate(self.rotations[b], np.asarray(lock.own, dtype=np.float64))
            row[PU.LOCK_BODY] = b + 1
            row[PU.LOCK_ABOVE : PU.LOCK_ABOVE + 3] = lock.above
            row[PU.LOCK_OWN : PU.LOCK_OWN + 3] = lock.own
            row[PU.LOCK_COSINE] = own @ np.asarray(lock.above, dtype=np.float64)

    def _choose_trees(self) -> None:
        """Leave trees alone that are neither pulled nor connected to one that is."""
        trees = self.model.trees
        body, number = self._pull.body, self._pull.number
        grabbed = int(number[PU.GRABBED]) - 1
        for b in range(len(self.model)):
            away = grabbed >= 0 and trees[b] != trees[grabbed]
            body[b + 1, PU.STILL] = 1.0 if away else self._fixed[b + 1]
        round.begin(self._tree, self._pose, self._pull)

    # --- pulling ------------------------------------------------------------------------

    def pull(self, target: Sequence[float], rounds: int = ROUNDS) -> float:
        """Move the grabbed point toward a point in the world [m]. Returns the largest joint rotation of the last round
        [rad]. Below AT_REST everything is at rest, which takes a bounded number of pulls to one point."""
        target = tuple(float(x) for x in target)
        if not np.isfinite(target).all():
            raise SettingError(f"The place to pull to is {target}: give three finite numbers.")
        number = self._pull.number
        self._waited = self._waited + 1 if target == self._mouse else 0
        self._mouse = target
        number[PU.MOUSE : PU.MOUSE + 3] = target
        patience = PATIENCE_SINKING if number[PU.FALL : PU.FALL + 3].any() else PATIENCE
        number[PU.DAMP] = 2.0 ** min(self._waited - patience, 60) if self._waited > patience else 0.0
        for share in SHARES:
            before = self._pull.body.copy()
            number[PU.MOUSE : PU.MOUSE + 3] = target
            if share < 1.0:
                at = self.grabbed_at()
                number[PU.MOUSE : PU.MOUSE + 3] = at + share * (np.asarray(target) - at)
            turned = self._rounds(rounds if share == 1.0 else FEW_ROUNDS)
            if round.openness(self._tree, self._pose, self._pull, self._bound) < OPEN:
                break
            # too far to close pins and limits again: go a part of the way
            self._pull.body[:] = before
        round.place(self._tree, self._pose, self._pull)
        return float(turned)

    def _rounds(self, rounds: int) -> float:
        """Rounds until nothing turns, then closing rounds for pins and limits. Returns the largest rotation of the last
        one."""
        parts = (self._tree, self._pose, self._pull, self._bound)
        turned = np.inf
        for _ in range(rounds):
            turned = round.pull_round(*parts, False)
            if turned < AT_REST:
                return turned
        for _ in range(CLOSING_ROUNDS):
            if round.pull_round(*parts, True) < CLOSED:
                break
        return turned

    def at_rest(self, turned: float) -> bool:
        """True if a pull that turned joints this far was the last one with an effect."""
        return turned < AT_REST

    # --- the pose -----------------------------------------------------------------------

    @property
    def rotations(self) -> np.ndarray:
        """(n, 4) the joints' rotations."""
        model, c = self.model, self._pull.body[1:, PU.COORDS : PU.COORDS + 4]
        out = np.tile([1.0, 0.0, 0.0, 0.0], (len(model), 1))
        ball, hinge, cross = model.kinds >= BALL, model.kinds == HINGE, model.kinds == UNIVERSAL
        out[ball] = c[ball]
        out[hinge] = rot.about(model.axes[hinge, 0], c[hinge, 0])
        out[cross] = rot.multiply(
            rot.about(model.axes[cross, 0], c[cross, 0]), rot.about(model.axes[cross, 1], c[cross, 1])
        )
        return out

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) positions: of roots in the world, all others in their parents' frames [m]."""
        return self._pull.body[1:, PU.ANCHOR : PU.ANCHOR + 3].copy()

    def placed(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) positions [m] and (n, 4) rotations of the bodies in the world."""
        round.place(self._tree, self._pose, self._pull)
        roots = self.positions[self.model.trees]
        body = self._pose.body[1:]
        return roots + body[:, P.PLACE : P.PLACE + 3], body[:, P.ROTATION : P.ROTATION + 4].copy()

    def grabbed_at(self) -> np.ndarray:
        """(3,) the grabbed point in the world [m]."""
        b = int(self._pull.number[PU.GRABBED]) - 1
        places, turns = self.placed()
        return places[b] + rot.rotate(turns[b], self._pull.number[PU.GRAB_POINT : PU.GRAB_POINT + 3])


def warm_up() -> None:
    """Compile everything, or load it from the cache. Thread-safe."""
    model = Model.from_tree(["root", "tip"], [None, "root"], np.zeros((2, 3)))
    posing = Posing(model, np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), np.zeros((2, 3)), pins=[Pin("root")])
    posing.grab("tip", (0.1, 0.0, 0.0))
    posing.pull((0.1, 0.01, 0.0))


def _coordinates(model: Model, rotations: np.ndarray) -> np.ndarray:
    """(n, 4) the joints' coordinates: quaternions, or angles."""
    rotations = np.asarray(rotations, dtype=np.float64)
    out = rotations / np.linalg.norm(rotations, axis=1, keepdims=True)
    few = np.flatnonzero(model.kinds < BALL)
    out[few] = 0.0
    out[few, :2] = fit_angles(model, few, rotations[None, few], 0.0)[0]
    return out


def _size(model: Model) -> float:
    """The approximate size of the model [m]."""
    reach = np.zeros(len(model))
    for b, parent in enumerate(model.parents):
        if parent >= 0:
            reach[b] = reach[parent] + np.linalg.norm(model.offsets[b])
    return float(max(reach.max(), 2.0 * np.abs(model.centers).max()))


def _spots(model: Model) -> np.ndarray:
    """(k, SPOT_COLUMNS) points of the bodies' shapes that can be the lowest."""
    found = []
    for b, shapes in enumerate(model.shapes):
        for shape in shapes:
            found += [[b + 1, *ball, 0.0] for ball in _few_bearing(shape)]
    return np.array(found, dtype=np.float64).reshape(-1, int(PU.SPOT_COLUMNS))


def _few_bearing(shape: Shape) -> np.ndarray:
    """(k, 4) centres and radii of what of a convex shape meets the ground first. Of more corners than a box has, those
    that are farthest along a box's corners and sides."""
    if not shape.convex:
        return np.zeros((0, 4))
    balls = shape.bearing()
    if len(balls) <= len(CORNERS):
        return balls
    ways = np.concatenate([CORNERS, np.eye(3), -np.eye(3)])
    return balls[np.unique(np.argmax(balls[:, :3] @ ways.T, axis=0))]
