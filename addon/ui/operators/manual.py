"""Open the manual: pages on this computer, no network.

Owns where the pages are written. Must not know their content.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import bpy
from bpy.props import EnumProperty

from ...memory import Value
from .. import manual_pages

PACKAGE = __package__.rpartition(".addon.")[0]
_folder: Value[Path | None] = Value("folder of the manual", lambda: None)


class HEFT_OT_manual(bpy.types.Operator):
    """Open Heft's manual in the web browser; it is part of the add-on and needs no network"""

    bl_idname = "heft.manual"
    bl_label = "Open Manual"

    page: EnumProperty(
        name="Page",
        description="Where to open it",
        items=[(name.upper(), title, f"The page '{title}'") for name, title in manual_pages.CONTENTS],
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            path = page_path(self.page)
        except OSError as error:
            self.report({"ERROR"}, f"The manual could not be written: {error}")
            return {"CANCELLED"}
        return bpy.ops.wm.url_open(url=path.as_uri())


def page_path(page: str = "INDEX") -> Path:
    """The page as a file, written on first use."""
    if _folder.value is None or not (_folder.value / "index.html").exists():
        _folder.value = _place()
        manual_pages.write(_folder.value)
    return _folder.value / f"{page.lower()}.html"


def _place() -> Path:
    """The extension's user folder; a temporary one if it is not installed as an extension."""
    try:
        return Path(bpy.utils.extension_path_user(PACKAGE, path="manual", create=True))
    except ValueError:
        return Path(tempfile.mkdtemp(prefix="heft-manual-"))


CLASSES = (HEFT_OT_manual,)
