"""Drawing panels without a window: a layout that writes down what is drawn, and refuses what does not exist.

Owns what stands in for Blender's `UILayout`. Must not know any single panel.
"""

from __future__ import annotations

from inspect import getattr_static
from types import SimpleNamespace

import bpy

WIDE = 300  # [pixels] of the sidebar
SEEN = 5  # rows of a list that are drawn


class Layout:
    """Writes (what, words) down; layouts within it share the list."""

    def __init__(self, drawn: list | None = None) -> None:
        self.drawn = [] if drawn is None else drawn

    def _within(self, *_args, **_named) -> Layout:
        return Layout(self.drawn)

    row = column = box = split = _within

    def panel(self, _name: str, default_closed: bool = False) -> tuple[Layout, Layout]:
        return self._within(), self._within()

    def label(self, text: str = "", icon: str = "NONE") -> None:
        self.drawn.append(("label", text))

    def separator(self, **_named) -> None:
        pass

    def progress(self, factor: float = 0.0, text: str = "", **_named) -> None:
        assert 0.0 <= factor <= 1.0
        self.drawn.append(("progress", text))

    def prop(self, data, name: str, text: str | None = None, **_named) -> None:
        assert name in data.bl_rna.properties, f"{data} has no {name}"
        self.drawn.append(("prop", name))

    def prop_enum(self, data, name: str, value: str, text: str | None = None, **_named) -> None:
        assert value in data.bl_rna.properties[name].enum_items, f"{name} has no {value}"
        self.drawn.append(("prop_enum", f"{name} {value}"))

    def prop_search(self, data, name: str, source, words: str, **_named) -> None:
        self.prop(data, name)
        getattr(source, words)

    def operator(self, name: str, text: str | None = None, **_named) -> SimpleNamespace:
        module, _, word = name.partition(".")
        kind = getattr(getattr(bpy.ops, module), word).get_rna_type()
        self.drawn.append(("operator", name if text is None else f"{name}: {text}"))
        return _Properties(kind.properties)

    def operator_menu_enum(self, name: str, prop: str, **_named) -> None:
        self.operator(name)

    def menu(self, name: str, **_named) -> None:
        assert hasattr(bpy.types, name)
        self.drawn.append(("menu", name))

    def popover(self, panel: str, text: str = "", icon: str = "NONE") -> None:
        assert hasattr(bpy.types, panel)
        self.drawn.append(("popover", panel))

    def template_list(self, kind: str, _id: str, data, name: str, active, index: str, **_named) -> None:
        items, cls = getattr(data, name), getattr(bpy.types, kind)
        assert index in active.bl_rna.properties
        self.drawn.append(("list", name))
        look = SimpleNamespace(filter_name="", bitflag_filter_item=1, layout_type="DEFAULT")
        for i, item in enumerate(items[:SEEN]):
            cls.draw_item(look, Context(), self, data, item, 0, active, index, i)

    def texts(self, what: str) -> list[str]:
        """The words of all that was drawn of one kind."""
        return [words for kind, words in self.drawn if kind == what]

    def said(self) -> str:
        """All labels, as one text."""
        return " ".join(self.texts("label"))


class _Properties:
    """An operator's, that can be set."""

    def __init__(self, known) -> None:
        object.__setattr__(self, "known", known)

    def __setattr__(self, name: str, value) -> None:
        assert name in self.known, f"the command has no {name}"


class _Self:
    """A panel that draws: Blender gives these their layout, and makes them itself."""

    def __init__(self, panel: type, layout: Layout) -> None:
        self.panel, self.layout = panel, layout

    def __getattr__(self, name: str):
        found = getattr_static(self.panel, name)
        return found.__get__(self, self.panel) if hasattr(found, "__get__") else found


class Context:
    """Blender's context with a sidebar."""

    region = SimpleNamespace(width=WIDE, type="UI")
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))

    def __getattr__(self, name: str):
        return getattr(bpy.context, name)


def draw(panel: type, context: Context | None = None) -> Layout | None:
    """What the panel draws now; None where it is not seen."""
    context = context or Context()
    if hasattr(panel, "poll") and not panel.poll(context):
        return None
    layout = Layout()
    panel.draw(_Self(panel, layout), context)
    return layout


def everything(panels) -> Layout:
    """What all panels draw, as if open."""
    whole = Layout()
    for panel in panels:
        drawn = draw(panel)
        if drawn is not None:
            whole.drawn += drawn.drawn
    return whole
