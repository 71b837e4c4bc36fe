"""The house's rules: imports point downward, the add-on enters the engine by its doors, controllers know no Blender.

One table of layers; `CONTRIBUTING.md` prints it. Imports within functions and under TYPE_CHECKING count too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Bottom to top: a folder, or a module that stands beside the folders, imports only from those before it.
LAYERS = {
    "engine": "errors memo compile math geometry model anatomy tables collision dynamics controllers contact step "
    "simulation posing analysis",
    "addon": "errors events memory declare blender controllers settings rig read result bake simulate tools batch ui "
    "handlers",
}
# What the add-on may import of the engine besides the façade.
DOORS = {"engine", "engine.anatomy", "engine.geometry", "engine.analysis", "engine.math"}


def modules(package: str) -> dict[str, Path]:
    """Every module of a package by its dotted name; presets are scripts for Blender, not modules."""
    found = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "presets" in parts[:-1] and parts[1] == "presets":
            continue
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = {name: path for package in LAYERS for name, path in modules(package).items()}


def imports_of(name: str) -> Iterator[tuple[str, int]]:
    """The modules of the two packages that a module imports, and the lines."""
    path = MODULES[name]
    home = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((each.name, node.lineno) for each in node.names if each.name.split(".")[0] in LAYERS)
        elif isinstance(node, ast.ImportFrom):
            above = home[: len(home) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for each in node.names:
                whole = f"{base}.{each.name}" if base else each.name
                target = whole if whole in MODULES else base
                if target.split(".")[0] in LAYERS:
                    yield target, node.lineno


def layer(name: str) -> str:
    """The folder of a module, or its own name where it stands beside the folders; "" for the package."""
    return [*name.split("."), ""][1]


EDGES = [(name, target, line) for name in MODULES for target, line in imports_of(name)]


def test_every_folder_is_in_the_table():
    for package, names in LAYERS.items():
        assert {layer(name) for name in MODULES if name.startswith(package)} - {""} <= set(names.split())


@pytest.mark.parametrize("package", LAYERS)
def test_imports_point_downward(package):
    height = {name: k for k, name in enumerate(LAYERS[package].split())}
    wrong = []
    for name, target, line in EDGES:
        below, above = layer(target), layer(name)
        if not name.startswith(f"{package}.") or not target.startswith(package) or below == above:
            continue
        if below == "" or height[below] > height[above]:
            wrong.append(f"{name}:{line} imports {target}")
    assert not wrong, "\n".join(wrong)


def test_modules_of_a_folder_do_not_import_one_another_in_a_circle():
    graph = {name: {t for n, t, _ in EDGES if n == name and t in MODULES} for name in MODULES}
    state: dict[str, int] = {}

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert state.get(name) != 1, " -> ".join((*way[way.index(name) :], name))
        if name not in state:
            state[name] = 1
            for target in sorted(graph[name]):
                if target != name and MODULES[target].name != "__init__.py":
                    visit(target, (*way, name))
            state[name] = 2

    for name in sorted(graph):
        visit(name, ())


def test_the_engine_knows_nothing_of_the_add_on():
    assert not [edge for edge in EDGES if edge[0].startswith("engine") and edge[1].startswith("addon")]


def test_the_add_on_enters_the_engine_by_its_doors():
    wrong = [
        f"{name}:{line} imports {target}"
        for name, target, line in EDGES
        if name.startswith("addon") and target.startswith("engine") and ".".join(target.split(".")[:2]) not in DOORS
    ]
    assert not wrong, "\n".join(wrong)


def test_command_line_and_panels_do_not_know_one_another():
    assert not [e for e in EDGES if layer(e[0]) == "batch" and e[1].startswith("addon.ui")]
    assert not [e for e in EDGES if layer(e[0]) == "ui" and e[1].startswith("addon.batch")]
