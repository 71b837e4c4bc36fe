"""The operators: one file for each group of commands, listed here.

Owns the list of classes. The work itself is done by the folders below `ui`.
"""

from __future__ import annotations

from . import (
    bad_frames,
    bake,
    bake_controls,
    copy_settings,
    let_go,
    lists,
    manual,
    nudge,
    on_time,
    plot_curves,
    presets,
    pull_pose,
    roles,
    simulate,
    start,
    takes,
    throw_ball,
)

CLASSES = (
    *simulate.CLASSES,
    *bake.CLASSES,
    *copy_settings.CLASSES,
    *lists.CLASSES,
    *manual.CLASSES,
    *bad_frames.CLASSES,
    *on_time.CLASSES,
    *pull_pose.CLASSES,
    *nudge.CLASSES,
    *roles.CLASSES,
    *let_go.CLASSES,
    *throw_ball.CLASSES,
    *bake_controls.CLASSES,
    *presets.CLASSES,
    *start.CLASSES,
    *takes.CLASSES,
    *plot_curves.CLASSES,
)
