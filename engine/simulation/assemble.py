"""Assemble the characters and colliders of a shot into one set of tables.

Owns the order of bodies in the joined tables. Must not know how a step is solved.

A collider is a tree of one body: free, animated, or fixed if it never moves. So contacts between characters, with
themselves, with free and with moving objects are all the same: between two rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..controllers import Controller
from ..controllers.settings import CONTROL
from ..errors import MotionError, SettingError
from ..geometry import shape_table as SH
from ..geometry.build_shapes import build_shapes
from ..geometry.mass_properties import center_of_mass, inertia, volume
from ..geometry.shape_table import Shapes
from ..geometry.shapes import Plane
from ..math import quaternions as rot
from ..memo import derived
from ..model.model import FIXED, FREE, Model
from ..model.motion import Motion
from ..model.scene import LIMP_ONLY, RESPONSES, TIES, BodyName, Collider, Scene
from ..tables import control as C, holds as H
from ..tables.axes import join
from ..tables.classes import Control, Holds, Target, Touch, Tree
from ..tables.contacts import new_touch
from ..tables.key_table import target_of
from ..tables.tree import build_tree
from .self_touch import left_out, may_fall

WATER = 1000.0  # [kg/m³] approximate density of flesh and wood
AREA = 1.2  # a body's cross-section for the wind, relative to the side of a cube of its volume


@dataclass(frozen=True, eq=False)
class Actor:
    """A character in a shot: its model, its motion and its controller."""

    model: Model
    motion: Motion
    controller: Controller


class Cast:
    """The actors and the scene's colliders, joined."""

    def __init__(
        self,
        actors: Sequence[Actor],
        scene: Scene,
        numbers: Sequence[int] | None = None,
        size: float | None = None,
    ) -> None:
        """numbers: the scene's indices of the actors, if they are a part of more; size: of all of those."""
        check_actors(actors)
        self.actors, self.scene = tuple(actors), scene
        self.numbers = tuple(range(len(actors)) if numbers is None else numbers)
        self._size = largest_size(actors) if size is None else size
        self.frames, self.fps = len(actors[0].motion), actors[0].motion.fps
        self.colliders = tuple(scene.colliders)
        props = [prop_of(each, self.frames, self.fps) for each in self.colliders]
        self.models = [actor.model for actor in actors] + [prop.model for prop in props]
        self.motions = [each.controller.prepare(each.model, each.motion, scene) for each in actors]
        self.motions += [prop.motion for prop in props]
        ends = np.cumsum([len(model) for model in self.models])
        self.starts = np.concatenate([[0], ends[:-1]]).astype(int)
        self._controls = [actor.controller.control(actor.model, self.frames) for actor in actors]
        controls = self._controls + [prop.control for prop in props]
        self.control = controls[0] if len(controls) == 1 else Control(**join(controls))
        self.model = self.models[0] if len(self.models) == 1 else _join_models(self.models)
        self.tree = tree_of(self.model)
        targets = [target_of(model, motion) for model, motion in zip(self.models, self.motions, strict=True)]
        self.target = targets[0] if len(targets) == 1 else _join_targets(targets)

    def row(self, name: BodyName | None) -> int:
        """The table row of a body or collider; 0 is the world."""
        if name is None:
            return 0
        which, body = find_body(self.actors, self.colliders, name, self.numbers)
        return int(self.starts[which]) + body + 1

    def name_of(self, row: int) -> str:
        """The name of a body, for messages."""
        if row <= 0:
            return "the world"
        which = int(np.searchsorted(self.starts, row - 1, side="right")) - 1
        if which >= len(self.actors):
            return self.colliders[which - len(self.actors)].name
        return self.models[which].names[row - 1 - int(self.starts[which])]

    def is_actor(self, row: int) -> bool:
        """True if a table row is a character's body, not a collider or the world."""
        return 0 < row <= sum(len(actor.model) for actor in self.actors)

    def touch(self) -> Touch | None:
        """The tables of contact, or None if nothing can touch or is tied."""
        shapes, holds = self._shapes(), self._holds()
        events = len(holds.tie) + len(holds.push) + len(holds.wind)
        if not len(shapes.shape) and not events and np.isinf(holds.bound[:, : H.LIMIT_FRAME]).all():
            return None
        moves = np.zeros(len(self.model) + 1, dtype=np.bool_)
        moves[1:] = ~((self.model.kinds == FIXED) & (self.model.parents < 0))
        return new_touch(self.tree, shapes, holds, moves, self._size)

    def _acts_at(self, a: int, b: int) -> int:
        """The body whose point a pin's force acts at, so that force and reaction make no couple on free bodies: the
        lighter one, which even a small lever arm would make spin. Else each body has its own point."""
        for row in (a, b):
            while row > 0 and self.model.parents[row - 1] >= 0:
                row = self.model.parents[row - 1] + 1
            if row == 0 or self.model.kinds[row - 1] != FREE or (self.control.behaviour[:, row] == C.ANIMATED).all():
                return H.BOTH_POINTS
        moment = np.trace(self.model.inertias[[a - 1, b - 1]], axis1=1, axis2=2)
        return H.POINT_OF_B if moment[1] < moment[0] else H.POINT_OF_A

    def _holds(self) -> Holds:
        n1 = len(self.model) + 1
        ties, pushes = self.scene.ties, self.scene.pushes
        tie, link = np.zeros((len(ties), H.TIE_COLUMNS)), np.zeros((len(ties), H.TIE_LINK_COLUMNS), dtype=np.int64)
        on = np.ones((self.frames, len(ties)), dtype=np.bool_)
        for k, each in enumerate(ties):
            link[k, H.TIE_A], link[k, H.TIE_B] = self.row(each.a), self.row(each.b)
            link[k, H.TIE_KIND], link[k, H.TIE_BRACED] = TIES.index(each.kind), RESPONSES.index(each.response)
            link[k, H.ACTS_AT] = self._acts_at(link[k, H.TIE_A], link[k, H.TIE_B])
            tie[k, H.TIE_POINT_A : H.TIE_POINT_A + 3] = each.point_a
            link[k, H.FINDS_POINT], link[k, H.FINDS_LENGTH] = each.point_b is None, each.length is None
            if each.point_b is not None:
                tie[k, H.TIE_POINT_B : H.TIE_POINT_B + 3] = each.point_b
            elif each.kind == "DISTANCE":
                raise SettingError(f"The distance tie of '{each.a}' has one end only: give point_b.")
            if each.length is not None:
                tie[k, H.TIE_LENGTH] = each.length
            if each.active is not None:
                if np.shape(each.active) != (self.frames,):
                    raise SettingError(f"The tie of '{each.a}' is keyed for another number of frames than the motion.")
                on[:, k] = each.active
        push = np.zeros((len(pushes), H.PUSH_COLUMNS))
        for k, each in enumerate(pushes):
            row = self.row(each.body)
            point = self.model.centers[row - 1] if each.point is None else each.point
            push[k] = [each.frame, row, *each.impulse, *point]
        bound = np.zeros((n1, H.BOUND_COLUMNS))
        bound[:, : H.LIMIT_FRAME], bound[1:, : H.LIMIT_FRAME] = np.inf, self.model.limits
        bound[1:, H.LIMIT_FRAME : H.LIMIT_FRAME + 8] = self.model.limit_frames.reshape(-1, 8)
        bound[1:, H.NATURAL] = self.model.limits_natural
        winds = self.scene.winds
        strength = np.zeros((self.frames, len(winds)))
        for k, each in enumerate(winds):
            if np.shape(each.strength) not in ((), (self.frames,)):
                raise SettingError("A wind's strength is keyed for another number of frames than the motion.")
            strength[:, k] = each.strength
        area = np.concatenate([[0.0], AREA * (self.model.masses / WATER) ** (2.0 / 3.0)])
        velocities = np.array([each.velocity for each in winds], dtype=np.float64).reshape(-1, 3)
        return Holds(tie, link, on, bound, push, velocities, strength, area)

    def _shapes(self) -> Shapes:
        bodies, shapes, friction, bounce, response, owner = [], [], [], [], [], []

        def put(row: int, shape, rough: float, springy: float, word: str, whose: int) -> None:
            bodies.append(row)
            shapes.append(shape)
            friction.append(rough)
            bounce.append(springy)
            response.append(RESPONSES.index(word))
            owner.append(whose)

        for k, model in enumerate(self.models):
            collider = self.colliders[k - len(self.actors)] if k >= len(self.actors) else None
            for body in range(len(model)):
                for shape in model.shapes[body]:
                    word = collider.response if collider else "GIVES_WAY"
                    surface = (model.frictions[body], model.bounces[body])
                    put(int(self.starts[k]) + body + 1, shape, *surface, word, k)
        ground = self.scene.ground
        if ground is not None:
            plane = Plane((0.0, 0.0, 1.0), ground.height)
            put(0, plane, ground.friction, ground.bounce, ground.response, -1)
        roots = np.concatenate([[0], self.model.trees + 1])[bodies]
        families = self._families()
        family = [families[whose] if whose >= 0 else -1 for whose in owner]
        return build_shapes(bodies, shapes, friction, bounce, response, roots, self._apart(bodies, families), family)

    def _families(self) -> list[int]:
        """By actor, then collider: the family its shapes are in (see `shape_table.FAMILY`)."""
        out = list(range(len(self.models)))
        for k in range(len(self.actors)):
            how = self.scene.touches_itself(self.numbers[k])
            if how is True:
                out[k] = -1
            elif how == LIMP_ONLY and may_fall(self.models[k], self._controls[k].behaviour):
                out[k] = int(SH.LIMP_FAMILY) - k
        return out

    def _apart(self, bodies: Sequence[int], families: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs of shapes that never touch: of neighbouring bodies, pairs asked for, and pairs that limp actors
        exclude."""
        of_body: dict[int, list[int]] = {}
        for s, body in enumerate(bodies):
            of_body.setdefault(body, []).append(s)
        pairs = [(body, int(self.model.parents[body - 1]) + 1) for body in of_body if body > 0]
        pairs = [pair for pair in pairs if pair[1] > 0] + [(self.row(a), self.row(b)) for a, b in self.scene.apart]
        for k in range(len(self.actors)):
            if families[k] <= SH.LIMP_FAMILY:
                first = int(self.starts[k]) + 1
                found = left_out(self.models[k], self.motions[k], self._controls[k].behaviour)
                pairs += [(first + a, first + b) for a, b in sorted(found)]
        return [(s, t) for a, b in pairs for s in of_body.get(a, ()) for t in of_body.get(b, ())]


def check_actors(actors: Sequence[Actor]) -> None:
    """Raise an error for actors that cannot be in one shot."""
    if not actors:
        raise SettingError("Nobody is in the shot: give at least one actor.")
    first = actors[0].motion
    for actor in actors:
        if actor.motion.rotations.shape[1] != len(actor.model):
            raise MotionError(
                f"The motion has {actor.motion.rotations.shape[1]} bodies, the model {len(actor.model)}: "
                "build it for this model."
            )
        if (len(actor.motion), actor.motion.fps) != (len(first), first.fps):
            raise MotionError("The actors' motions differ in length or frame rate: sample them alike.")


def find_body(
    actors: Sequence[Actor], colliders: Sequence[Collider], name: BodyName, numbers: Sequence[int]
) -> tuple[int, int]:
    """The actor or collider that a name refers to, and its body's index; `numbers` are the actors'."""
    which, wanted = name if isinstance(name, tuple) else (None, name)
    if which is None:
        for k, collider in enumerate(colliders):
            if collider.name == wanted:
                return len(actors) + k, 0
    found = [
        (k, actor.model.names.index(wanted))
        for k, actor in enumerate(actors)
        if which in (None, numbers[k]) and wanted in actor.model.names
    ]
    if len(found) != 1:
        problem = "is in several characters: give (which, name)" if found else "is not in the shot"
        raise SettingError(f"Body '{wanted}' {problem}.")
    return found[0]


def largest_size(actors: Sequence[Actor]) -> float:
    """The size of the largest actor [m]."""
    return max(actor.model.size for actor in actors)


@dataclass(frozen=True, eq=False)
class Prop:
    """A collider in the form of an actor."""

    model: Model
    motion: Motion
    control: Control


def _stands(collider: Collider) -> bool:
    """True if it never moves."""
    if collider.moves == "FREE":
        return False
    places, turns = np.atleast_2d(collider.positions), np.atleast_2d(collider.rotations)
    return bool((places == places[0]).all() and (turns == turns[0]).all())


def prop_of(collider: Collider, frames: int, fps: float) -> Prop:
    """A collider as a model of one body."""
    places = _sampled(collider, collider.positions, frames, 3)
    turns = _sampled(collider, collider.rotations, frames, 4)
    start = min(max(int(collider.free_from), 0), frames - 1)
    time = (np.arange(frames) - start)[:, None] / fps
    if collider.velocity is not None:
        places = places[start] + time * np.asarray(collider.velocity, dtype=np.float64)
    if collider.spin is not None:
        turns = rot.multiply(rot.exp(time * np.asarray(collider.spin, dtype=np.float64)), turns[start][None])
    if _stands(collider):
        model = Model.from_tree(
            [collider.name], [None], [places[0]], [turns[0]], ["FIXED"],
            shapes=[tuple(collider.shapes)], friction=collider.friction, bounce=collider.bounce,
        )  # fmt: skip
        motion = Motion.build(model, fps, np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1, 1)), places[:, None])
        return Prop(
            model, motion, Control(np.full((1, 2), C.ANIMATED), np.ones((1, 2, 1)) * CONTROL.neutral, np.ones((1, 2)))
        )
    center, total = _weight(collider)
    model = Model.from_tree(
        [collider.name], [None], [places[0]], kinds=["FREE"], masses=[collider.mass], centers=[center],
        inertias=[total], shapes=[tuple(collider.shapes)], friction=collider.friction, bounce=collider.bounce,
    )  # fmt: skip
    motion = Motion.build(model, fps, turns[:, None], places[:, None])
    behaviour = np.full((frames, 2), C.ANIMATED)
    if collider.moves == "FREE":
        behaviour[start:, 1] = C.LIMP
    setting = np.ones((frames, 2, 1)) * CONTROL.neutral
    return Prop(model, motion, Control(behaviour, setting, np.ones((1, 2))))


def _weight(collider: Collider) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass (3,) and inertia (3, 3) about it of a collider's shapes, all of one material."""
    if not collider.shapes:  # a point: it follows its motion, whatever pulls at it
        return np.zeros(3), collider.mass * np.eye(3)
    sizes = np.array([volume(shape) for shape in collider.shapes])
    share = sizes / sizes.sum()
    centers = np.array([center_of_mass(shape) for shape in collider.shapes])
    center = share @ centers
    total = np.zeros((3, 3))
    for part, shape, c in zip(share, collider.shapes, centers, strict=True):
        off = c - center
        total += inertia(shape, part * collider.mass)
        total += part * collider.mass * (off @ off * np.eye(3) - np.outer(off, off))
    return center, total


def _sampled(collider: Collider, values, frames: int, width: int) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape == (width,):
        return np.tile(array, (frames, 1))
    if array.shape != (frames, width):
        raise SettingError(
            f"Collider '{collider.name}' has {len(array)} samples, the motion {frames} frames: sample it alike."
        )
    return array


def tree_of(model: Model) -> Tree:
    """The model as a table for kernels, made once: a model is constant while settings change often."""
    return derived(model, "tree", lambda: build_tree(model))


def _join_models(models: list[Model]) -> Model:
    names = tuple(f"{k}/{name}" for k, model in enumerate(models) for name in model.names)
    starts = np.concatenate([[0], np.cumsum([len(model) for model in models])[:-1]])
    parents = np.concatenate([np.where(m.parents < 0, -1, m.parents + s) for m, s in zip(models, starts, strict=True)])

    def joined(field: str) -> np.ndarray:
        return np.concatenate([getattr(model, field) for model in models])

    arrays = ("offsets", "rest_rotations", "kinds", "axes", "masses", "centers", "inertias")
    return Model(
        names,
        parents,
        *(joined(field) for field in arrays),
        np.arange(len(names)),
        tuple(shapes for model in models for shapes in model.shapes),
        joined("frictions"),
        joined("bounces"),
        joined("limits"),
        joined("limit_frames"),
        joined("limits_natural"),
        joined("relaxed"),
    )


def _join_targets(targets: list[Target]) -> Target:
    starts = np.concatenate([[0], np.cumsum([len(t.key) for t in targets])]).astype(np.int64)
    firsts = [t.key_first[1:-1] + start for t, start in zip(targets, starts[:-1], strict=True)]
    keys = np.concatenate([t.key for t in targets])
    return Target(**join(targets), key=keys, key_first=np.concatenate([[0], *firsts, starts[-1:]]))
