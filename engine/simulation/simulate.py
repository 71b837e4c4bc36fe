"""The public entry point: a model, a motion and a controller give a result.

Owns the set-up of a shot, its slices for progress and cancelling, and variants on threads. Must not know what happens
inside a step.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..controllers import Controller, Follow
from ..errors import SettingError
from ..geometry.shapes import Sphere
from ..model.model import Model
from ..model.motion import Motion
from ..model.result import Progress, Result
from ..model.scene import Scene
from .assemble import Actor
from .checkpoints import Memory
from .groups import Crowd
from .kernel_suites import sample_shot
from .shot import Shot

SLICES = 50  # least number of progress reports of a shot
SLICE = 0.02  # with a memory: estimated time between reports [s]


def simulate(
    model: Model,
    motion: Motion,
    controller: Controller,
    scene: Scene | None = None,
    steps_per_second: float = 240,
) -> Result:
    """Simulate the whole motion at once."""
    return simulate_together([Actor(model, motion, controller)], scene, steps_per_second)[0]


def simulate_together(
    actors: Sequence[Actor],
    scene: Scene | None = None,
    steps_per_second: float = 240,
    memory: Memory | None = None,
    easy: bool = False,
) -> list[Result]:
    """Several characters in one scene: one result for each. memory, easy: see `simulate_together_iter`."""
    if own_run(actors) is not None:
        return [*last_of(simulate_together_iter(actors, scene, steps_per_second, memory, easy)).results]
    shot = begin(actors, scene, steps_per_second, easy=easy)
    if memory is not None:
        shot.remember(memory)
    shot.run(shot.frames - 1)
    return shot.results()


def simulate_iter(
    model: Model,
    motion: Motion,
    controller: Controller,
    scene: Scene | None = None,
    steps_per_second: float = 240,
) -> Iterator[Progress]:
    """The same in slices. Drop the iterator to cancel; the last report has the result."""
    return simulate_together_iter([Actor(model, motion, controller)], scene, steps_per_second)


def simulate_together_iter(
    actors: Sequence[Actor],
    scene: Scene | None = None,
    steps_per_second: float = 240,
    memory: Memory | None = None,
    easy: bool = False,
) -> Iterator[Progress]:
    """Several characters in slices; the last report has one result for each.

    memory    that of the last simulation: resume at the first frame that differs, in slices of a few milliseconds;
              every byte is the same
    easy      fewer steps where only springs act, which suffices (`step_size`)
    """
    leader = own_run(actors)
    if leader is not None:

        def forward(others: Sequence[Actor]) -> Iterator[Progress]:
            return _forward(others, scene, steps_per_second, None, easy)

        yield from leader.controller.run(actors, forward)
        return
    yield from _forward(actors, scene, steps_per_second, memory, easy)


def own_run(actors: Sequence[Actor]) -> Actor | None:
    """The actor whose controller implements `run`; a shot may have one."""
    found = [actor for actor in actors if actor.controller.runs_itself]
    if len(found) > 1:
        names = ", ".join(type(actor.controller).__name__ for actor in found)
        raise SettingError(f"{len(found)} characters have runs of their own ({names}): simulate one of them at a time.")
    return found[0] if found else None


def last_of(reports: Iterator[Progress]) -> Progress:
    """The last report of a simulation."""
    return deque(reports, maxlen=1).pop()


def _forward(
    actors: Sequence[Actor], scene: Scene | None, steps_per_second: float, memory: Memory | None, easy: bool
) -> Iterator[Progress]:
    """One forward simulation, with the reports of `simulate_together_iter`."""
    shot = begin(actors, scene, steps_per_second, easy=easy)
    if memory is not None:
        shot.remember(memory)
    yield Progress(shot.done, shot.frames)
    most = stride = max(1, math.ceil(shot.frames / SLICES))
    while shot.done < shot.frames - 1:
        start, before = time.perf_counter(), shot.done
        shot.run(min(shot.done + stride, shot.frames - 1))
        taken = (time.perf_counter() - start) / (shot.done - before)
        if memory is not None:
            stride = min(max(1, int(SLICE / max(taken, 1e-9))), most)
        if shot.done < shot.frames - 1:
            yield Progress(shot.done, shot.frames)
    results = shot.results()
    yield Progress(shot.frames, shot.frames, results[0], tuple(results))


def simulate_variants(
    model: Model,
    motion: Motion,
    controllers: Sequence[Controller],
    scene: Scene | None = None,
    steps_per_second: float = 240,
    threads: int | None = None,
) -> list[Result]:
    """One result for each controller, computed in parallel: the kernels release Python's lock."""

    def result_of(controller: Controller) -> Result:
        shot = Shot([Actor(model, motion, controller)], scene, steps_per_second)
        shot.run(shot.frames - 1)
        return shot.results()[0]

    with ThreadPoolExecutor(max_workers=threads) as pool:
        return list(pool.map(result_of, controllers))


def begin(
    actors: Sequence[Actor],
    scene: Scene | None,
    steps_per_second: float,
    threads: int | None = None,
    easy: bool = False,
) -> Shot | Crowd:
    """A shot of all actors; actors that are apart are simulated separately."""
    if len(actors) < 2:
        return Shot(actors, scene, steps_per_second, apart=threads != 1, easy=easy)
    return Crowd(
        lambda some, part, numbers, size: Shot(some, part, steps_per_second, numbers, size),
        actors,
        scene or Scene(),
        threads,
    )


def warm_up(touching: bool = True) -> None:
    """Compile everything, or load it from the cache. Thread-safe."""
    sample_shot(False).run(1)
    if touching:
        sample_shot(True).run(1)
        ball = Model.from_tree(["ball"], [None], np.zeros((1, 3)), shapes=[Sphere(0.1)])
        motion = Motion.build(ball, 24.0, np.tile([1.0, 0.0, 0.0, 0.0], (2, 1, 1)))
        begin([Actor(ball, motion, Follow())] * 2, None, 24.0)
