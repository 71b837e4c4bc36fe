"""Which source files compiled code depends on.

Owns that set: the modules that define kernels, tables or columns, and all that those import. A constant in any of
them may be part of compiled code; an edit anywhere else leaves the compile cache as it is. Must not import kernels:
imports are read from the text, without running it, because this is asked at every start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

IMPORT = re.compile(r"^[ \t]*from[ \t]+(\.+)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
# Modules that every module with kernels, tables or columns imports.
MARKS = {
    "compile.decorators": {"kernel", "separate", "inlined", "entry_point", "table"},
    "compile.columns": {"Columns"},
}


def kernel_sources(home: Path) -> list[Path]:
    """The sources in this folder's package, sorted by name."""
    texts = {path.relative_to(home).with_suffix("").parts: path.read_text("utf-8") for path in home.rglob("*.py")}
    imports = {module: set(_imports(module, text, texts)) for module, text in texts.items()}
    found: set[tuple] = set()
    todo = [module for module, text in texts.items() if _defines_kernels(module, text)]
    while todo:
        module = todo.pop()
        if module not in found:
            found.add(module)
            todo += imports[module]
    return sorted(home.joinpath(*module).with_suffix(".py") for module in found)


def _statements(module: tuple, text: str) -> Iterator[tuple[tuple, list[str]]]:
    """For each relative import: the parts of its dotted path from the package on, and the imported names."""
    for dots, dotted, names in IMPORT.findall(text):
        if len(dots) <= len(module):
            base = module[: len(module) - len(dots)] + tuple(part for part in dotted.split(".") if part)
            plain = re.sub(r"#[^\n]*", "", names).strip("()")
            yield base, [each.split()[0] for each in plain.split(",") if each.split()]


def _imports(module: tuple, text: str, texts: dict) -> Iterator[tuple]:
    """The modules that a module imports."""
    for base, names in _statements(module, text):
        for each in ((*base, name) for name in names):
            if each in texts:
                yield each
        if base in texts:
            yield base
        elif (*base, "__init__") in texts and any((*base, name) not in texts for name in names):
            yield (*base, "__init__")


def _defines_kernels(module: tuple, text: str) -> bool:
    return any(MARKS.get(".".join(base), set()) & set(names) for base, names in _statements(module, text))
