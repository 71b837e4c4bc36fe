"""Interface of a controller on Blender's side: what its file declares.

Owns that interface. Must not know settings' values, panels or results: those read the declarations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ... import engine


class Values(Protocol):
    """A rig's settings as the engine needs them, for its bodies and frames."""

    @property
    def common(self) -> dict:
        """Arguments of every controller: behaviour, root, assist, tone."""

    @property
    def following(self) -> dict:
        """Arguments of controllers that follow a motion: settle time, damping, heaviness, strength, recovery, even
        weight."""

    def number(self, setting: str) -> float | np.ndarray:
        """A setting of the armature; (frames,) if it is keyed."""

    def choice(self, setting: str) -> str:
        """An enumeration of the armature that cannot be keyed."""

    def keyed_choice(self, setting: str, numbers: dict[str, float]) -> float | np.ndarray:
        """An enumeration as numbers, one for each identifier; (frames, n) if it is keyed."""

    def per_body(self, setting: str, bone_setting: str | None = None) -> np.ndarray:
        """A setting of the armature times a bone's multiplier: (n,), or (frames, n) if either is keyed."""


@dataclass(frozen=True)
class ChannelCurve:
    """A channel of the result that can be plotted in the Graph Editor. label and text: of its switch; tint: saturation
    and brightness of the curves."""

    channel: str
    label: str
    text: str
    unit: str = ""
    tint: tuple[float, float] = (0.8, 0.8)

    @property
    def setting(self) -> str:
        """The armature's setting that switches it on."""
        return f"curve_{self.channel}"

    @property
    def words(self) -> str:
        """Suffix of the curves' custom properties, after the bone's name."""
        return f"{self.channel.replace('_', ' ')} ({self.unit})" if self.unit else self.channel.replace("_", " ")


@dataclass(frozen=True)
class ChannelColors:
    """An overlay that colours bones by a channel of the result. top: the value at which they are red."""

    channel: str
    label: str
    text: str
    top: float = 1.0

    @property
    def setting(self) -> str:
        """The armature's setting that switches it on."""
        return f"show_{self.channel}"


@dataclass(frozen=True)
class ControllerEntry:
    """A controller on Blender's side.

    id, number    of `Object.heft.controller`; files store the number
    label, text   in the panel
    page          of the manual
    rows          its settings in the panel's order; those drawn as sliders also in `sliders`
    advanced      settings in a closed sub-panel; an entry that is no setting's name is a label
    bone_rows     its multipliers among the bones' settings
    build         makes the engine's controller
    settings      class that declares its own settings (`declare.settings_group`), a base of `Object.heft`;
                  bone_settings likewise
    drives        False if its joints are limp
    meets_keys    True if physical keys are read from the source
    """

    id: str
    number: int
    label: str
    text: str
    page: str
    rows: tuple[str, ...]
    build: Callable[[Values], engine.Controller]
    bone_rows: tuple[str, ...] = ()
    sliders: tuple[str, ...] = ()
    advanced: tuple[str, ...] = ()
    settings: type | None = None
    bone_settings: type | None = None
    curves: tuple[ChannelCurve, ...] = ()
    colors: tuple[ChannelColors, ...] = ()
    drives: bool = True
    meets_keys: bool = False
