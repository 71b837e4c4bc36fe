"""Interface of a shot for limbs, checkpoints and groups, so that none of them imports the shot itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..model.result import Contacts, Result
from ..tables.classes import Aim, Control, Record, State, Target, Touch, Tree, Work
from .assemble import Cast


class Tables(Protocol):
    """The tables that are stepped: those of an undivided shot, or of one of its limbs."""

    tree: Tree
    target: Target
    control: Control
    state: State
    aim: Aim
    work: Work
    touch: Touch | None
    record: Record


class ShotInterface(Tables, Protocol):
    """One simulation in progress.

    frames, done   number of frames, and the frame up to which it has run
    dt             [s] of a frame
    limbs          its limbs, if they are simulated in parallel
    """

    cast: Cast
    frames: int
    done: int
    dt: float
    substeps: int
    gravity: tuple[float, float, float]
    limbs: Sequence[Tables]
    memory: object

    @property
    def parts(self) -> Sequence[Tables]: ...

    def run(self, last: int) -> None: ...

    def advance(self, last: int) -> int: ...

    def results_with(self, objects: dict, contacts: Contacts) -> list[Result]: ...
