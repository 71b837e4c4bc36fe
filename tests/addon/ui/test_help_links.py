"""F1 leads to a place that the manual has, for every setting and command."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlparse

import bpy

import heft.addon as addon
from heft.addon.settings import keyable_bone
from heft.addon.ui import help_links, manual_pages


def places() -> set[str]:
    """Every page and heading that there is."""
    found = set()
    for name, _ in manual_pages.CONTENTS:
        found.add(f"{name}.html")
        for line in (manual_pages.PAGES / f"{name}.md").read_text(encoding="utf-8").splitlines():
            heading = manual_pages.HEADING.match(line)
            if heading:
                found.add(f"{name}.html#{manual_pages.anchor(heading[2])}")
    return found


def test_every_place_is_in_the_manual():
    assert {place for _, place in help_links.PLACES} <= places()


def test_every_setting_and_command_leads_to_a_page_on_this_computer():
    groups = [cls for cls in addon.CLASSES if getattr(cls, "manual_page", "")]
    shown = [(cls, prop) for cls in groups for prop in cls.bl_rna.properties if not prop.is_hidden]
    names = [f"bpy.types.{cls.__name__}.{prop.identifier}" for cls, prop in shown if prop.identifier != "rna_type"]
    names += [f"bpy.ops.{cls.bl_idname}" for cls in addon.CLASSES if issubclass(cls, bpy.types.Operator)]
    names += [f"bpy.types.PoseBone.heft_{each.name}" for each in keyable_bone.KEYABLE]
    assert len(names) > 90
    for name in names:
        url = bpy.types.WM_OT_doc_view_manual._lookup_rna_url(name, verbose=False)
        assert url is not None and url.startswith("file:"), name
        assert Path(unquote(urlparse(url).path)).is_file(), url
