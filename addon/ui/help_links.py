"""F1 on a setting or a button of Heft: which place of the manual it opens.

Owns that table. Must not know what stands in the manual.
"""

from __future__ import annotations

import bpy

from .operators import manual

# Blender's name of a setting or command, in small letters, as a pattern; the first that fits counts.
PLACES = (
    *((f"bpy.types.heftarmature.{name}*", "follow.html#root") for name in ("root", "assist")),
    *((f"bpy.types.heftarmature.{name}*", "on_time.html#sliders") for name in ("shape", "arrival", "key_type")),
    ("bpy.types.heftarmature.tone*", "limp.html#settings"),
    ("bpy.types.heftarmature.let_go*", "limp.html#let-go"),
    ("bpy.types.heftarmature.law*", "on_time.html#advanced"),
    *((f"bpy.types.heftarmature.{name}*", "contacts.html#ground") for name in ("ground",)),
    ("bpy.types.heftarmature.colliders*", "contacts.html#colliders"),
    *(
        (f"bpy.types.heftarmature.{name}*", "contacts.html#the-characters-own-surface")
        for name in ("friction", "bounce", "touch_self")
    ),
    ("bpy.types.heftarmature.wind*", "contacts.html#wind"),
    ("bpy.types.heftarmature.gravity*", "contacts.html#gravity"),
    *(
        (f"bpy.types.heftarmature.{name}*", "bones.html#the-whole-body")
        for name in ("total_mass", "meters_per_unit", "natural_limits")
    ),
    *(
        (f"bpy.types.heftarmature.{name}*", "result.html#range-and-loops")
        for name in ("range", "frame_", "loop", "pre_roll")
    ),
    *((f"bpy.types.heftarmature.{name}*", "result.html") for name in ("mix", "live", "steps_per_second")),
    ("bpy.types.heftarmature.detail*", "bones.html#detail"),
    ("bpy.types.heftarmature.bad_frames*", "troubleshooting.html"),
    ("bpy.types.heftarmature.*", "follow.html#sliders"),
    ("bpy.types.heftbone.behaviour*", "bones.html#behaviour"),
    *((f"bpy.types.heftbone.{name}*", "bones.html#roles") for name in ("role", "side")),
    *((f"bpy.types.heftbone.{name}*", "bones.html#limits") for name in ("use_limits", "limit")),
    *((f"bpy.types.heftbone.{name}*", "bones.html#shapes") for name in ("shape", "overlap_group")),
    ("bpy.types.heftbone.*", "bones.html#multipliers"),
    ("bpy.types.posebone.heft_behaviour*", "bones.html#behaviour"),
    ("bpy.types.posebone.heft_*", "bones.html#multipliers"),
    ("bpy.types.heftcollider.*", "contacts.html#colliders"),
    ("bpy.types.heftpush.*", "contacts.html#pushes"),
    ("bpy.types.hefttie.*", "contacts.html#ties"),
    ("bpy.types.heftscriptpose.*", "on_time.html#pose-scripts"),
    ("bpy.types.heftcontrol.*", "result.html#controls"),
    ("bpy.types.heftswitch.*", "result.html#controls"),
    *((f"bpy.ops.heft.{name}", "result.html#bake") for name in ("bake",)),
    *((f"bpy.ops.heft.{name}", "result.html") for name in ("simulate", "show", "flip")),
    *((f"bpy.ops.heft.{name}", "result.html#takes") for name in ("*take*",)),
    *((f"bpy.ops.heft.{name}", "result.html#controls") for name in ("*controls",)),
    *((f"bpy.ops.heft.{name}", "contacts.html#colliders") for name in ("*collider*",)),
    ("bpy.ops.heft.let_go", "limp.html#let-go"),
    ("bpy.ops.heft.fit_ground", "contacts.html#ground"),
    ("bpy.ops.heft.*", "index.html"),
)


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """As Blender asks for it: where the pages are, and which is whose."""
    return f"{manual.page_path().parent.as_uri()}/", PLACES


def register() -> None:
    """Let F1 find our pages."""
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    """And no more."""
    bpy.utils.unregister_manual_map(manual_map)
