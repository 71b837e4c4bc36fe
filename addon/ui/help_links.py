"""F1 on a setting or a button of Heft: the page of the manual that it opens.

A setting's page is in its declaration; this module owns the table of the operators. Must not know the manual's content.
"""

from __future__ import annotations

import bpy

from .. import declare, settings
from ..blender.setting_paths import KEYABLE_PREFIX
from ..settings import keyable_bone
from .operators import manual

# Patterns of operators' names; the first match counts.
COMMANDS = (
    ("bake", "result.html#bake"),
    ("simulate", "result.html"),
    ("show", "result.html"),
    ("flip", "result.html"),
    ("*take*", "result.html#takes"),
    ("*controls", "result.html#controls"),
    ("*collider*", "contacts.html#colliders"),
    ("let_go", "limp.html#let-go"),
    ("fit_ground", "contacts.html#ground"),
    ("*", "index.html"),
)


def _of_group(kind: type) -> list[tuple[str, str]]:
    """Every setting of a group that names a page, then the group's own page for the rest."""
    name = f"bpy.types.{kind.__name__.lower()}"
    found = [(f"{name}.{each.name}", each.manual) for each in declare.of(kind) if each.manual]
    return [*found, *([(f"{name}.*", kind.manual_page)] if kind.manual_page else [])]


PLACES = (
    *(place for kind in settings.CLASSES for place in _of_group(kind)),
    *((f"bpy.types.posebone.{KEYABLE_PREFIX}{each.name}", each.manual) for each in keyable_bone.KEYABLE),
    *((f"bpy.ops.heft.{name}", place) for name, place in COMMANDS),
)


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """The map in Blender's format: the pages' base URL, and pairs of pattern and page."""
    return f"{manual.page_path().parent.as_uri()}/", PLACES


def register() -> None:
    """Register the map with Blender."""
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    """Unregister it."""
    bpy.utils.unregister_manual_map(manual_map)
