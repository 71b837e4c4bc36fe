"""Heft: a Blender add-on that gives keyframes weight.

The add-on is imported only when Blender registers it, so that tools which import
this folder as a package need no Blender.
"""


def register() -> None:
    """Called by Blender when the extension is enabled."""
    from . import addon  # noqa: PLC0415 - needs Blender

    addon.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    from . import addon  # noqa: PLC0415 - needs Blender

    addon.unregister()
