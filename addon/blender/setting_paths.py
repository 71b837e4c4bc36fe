"""The data paths of Heft's settings in a rig's action.

A bone's setting has two paths: `pose.bones["x"].heft.mix`, in its group, which scripts use, and
`pose.bones["x"].heft_mix`, which the panel keys (`settings.keyable_bone`). Must not know actions or curves.
"""

from __future__ import annotations

# Prefix of the pose bone properties that the panel keys.
KEYABLE_PREFIX = "heft_"
_MARK = f"].{KEYABLE_PREFIX}"


def is_setting(path: str) -> bool:
    """True if a data path of the rig leads to a setting of Heft."""
    return path.startswith("heft.") or "].heft." in path or _MARK in path


def group_path(path: str) -> str:
    """The path in the setting's group, for either of the two paths."""
    head, mark, name = path.rpartition(_MARK)
    return f"{head}].heft.{name}" if mark else path


def is_mix(path: str) -> bool:
    """True if the path is a mix, of the rig or of a bone: it is shown, not simulated."""
    return group_path(path).endswith("heft.mix")
