"""Columns are read through the namespace of their table, whose short name is the same in every file."""

from __future__ import annotations

import ast
from collections import defaultdict

import numpy as np
import pytest

from engine.compile.columns import Columns
from tests.test_layers import MODULES, imports_of

# The short name of each table's module; engine/tables/__init__.py prints it.
ALIASES = {
    "engine.tables.aim": "A",
    "engine.tables.contacts": "CT",
    "engine.tables.control": "C",
    "engine.tables.factor": "F",
    "engine.tables.holds": "H",
    "engine.tables.motion": "M",
    "engine.tables.pose": "P",
    "engine.tables.pull": "PU",
    "engine.tables.record": "RE",
    "engine.tables.rows": "R",
    "engine.tables.sample": "SA",
    "engine.tables.state": "S",
    "engine.tables.tree": "T",
    "engine.tables.work": "W",
    "engine.geometry.shape_table": "SH",
}
ENGINE = sorted(name for name in MODULES if name.startswith("engine"))
TREES = {name: ast.parse(MODULES[name].read_text()) for name in MODULES}


def constants(name: str) -> list[str]:
    """The upper-case names that a module defines, in order."""
    found = []
    for node in TREES[name].body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            each = target.elts if isinstance(target, ast.Tuple) else [target]
            found += [one.id for one in each if isinstance(one, ast.Name) and one.id.isupper()]
    return found


def imported(name: str) -> list[tuple[str, ast.alias, int]]:
    """What a module imports by name: from which module, and the line."""
    found = []
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.ImportFrom):
            home = name.split(".") if MODULES[name].name == "__init__.py" else name.split(".")[:-1]
            above = home[: len(home) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found += [(base, each, node.lineno) for each in node.names]
    return found


def test_columns_are_counted():
    columns = Columns()
    assert (columns(4), columns(), columns(np.int64(3)), *columns.ones(2)) == (0, 4, 5, 8, 9)
    assert columns.count == 10
    assert type(columns()) is type(columns.count) is np.int64, "numba compiles anew for every plain integer"


@pytest.mark.parametrize("name", MODULES)
def test_a_table_has_one_short_name(name):
    for base, each, line in imported(name):
        whole = f"{base}.{each.name}"
        if whole in ALIASES:
            assert each.asname == ALIASES[whole], f"{name}:{line} imports {whole} as {each.asname}"
        elif each.asname in ALIASES.values():
            raise AssertionError(f"{name}:{line} gives {whole} the short name of a table, {each.asname}")


def test_nothing_else_has_the_short_name_of_a_table():
    for name in ENGINE:
        stored = {
            each.id for each in ast.walk(TREES[name]) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        assert not stored & set(ALIASES.values()), name


def test_names_are_unique_within_a_module():
    for name in ENGINE:
        found = constants(name)
        assert len(found) == len(set(found)), name


def test_no_column_is_imported_bare():
    wrong = [
        f"{name}:{line} imports {each.name} of {base}"
        for name in MODULES
        for base, each, line in imported(name)
        if base in ALIASES and each.name.isupper()
    ]
    assert not wrong, "\n".join(wrong)


def test_a_constant_that_is_imported_bare_has_its_name_alone():
    """Columns have their namespaces; of all others a reader knows by the name what it is."""
    homes = defaultdict(set)
    for name in ENGINE:
        if name not in ALIASES:
            for each in constants(name):
                homes[each].add(name)
    wrong = [
        f"{name}:{line} imports {each.name} of {base}, which {', '.join(sorted(homes[each.name] - {base}))} defines too"
        for name in ENGINE
        for base, each, line in imported(name)
        if each.name.isupper() and each.name in homes and len(homes[each.name]) > 1
    ]
    assert not wrong, "\n".join(wrong)


def test_every_table_is_listed():
    """A module of tables that counts columns has a short name."""
    counting = {name for name in ENGINE if any(t == "engine.compile.columns" for t, _ in imports_of(name))}
    assert counting - {"engine.simulation.bounding_boxes"} == set(ALIASES)
    text = MODULES["engine.tables"].read_text()
    for name, alias in ALIASES.items():
        leaf = name.split(".")[-1]
        assert f"{alias} {leaf}" in text or f"{alias} for `geometry.{leaf}`" in text
