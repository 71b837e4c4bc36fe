"""Size limits: a file 500 lines, a function 60 lines with its docstring, a folder 25 modules."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_LINES, MOST_FUNCTION_LINES, MOST_MODULES = 500, 60, 25
MODULES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for package in ("engine", "addon")
    for path in sorted((ROOT / package).rglob("*.py"))
}


def long_functions(name: str, text: str) -> list[tuple[str, int]]:
    """Functions above the limit, each with its number of lines. Decorators do not count."""
    found = [
        (f"{name}:{node.name}", node.end_lineno - node.lineno + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [(function, count) for function, count in found if count > MOST_FUNCTION_LINES]


def test_no_file_is_too_long():
    lines = {name: len(text.splitlines()) for name, text in MODULES.items()}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_no_function_is_too_long():
    found = [each for name, text in MODULES.items() for each in long_functions(name, text)]
    assert found == []


def test_no_folder_has_too_many_modules():
    modules = Counter(Path(name).parent.as_posix() for name in MODULES)
    assert {folder: count for folder, count in modules.items() if count > MOST_MODULES} == {}


def test_a_docstring_counts_and_methods_too():
    body = "        x = 1\n" * (MOST_FUNCTION_LINES - 2)
    text = f'class A:\n    def long(self):\n        """Says."""\n{body}'
    assert long_functions("a.py", text) == []
    assert long_functions("a.py", text.replace("Says.", "Says\n        more.")) == [("a.py:long", 61)]
