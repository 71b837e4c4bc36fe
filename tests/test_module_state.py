"""What the add-on remembers is in memos that events drop: no module keeps anything else that changes.

Read from the source, without Blender. A table of constants may stand in a module as long as the module does not change
it; what does change is a `memory.Memo` or `memory.Value`, or an object of a class that is registered as these are.
What is derived from an object that cannot change is kept on it by `engine/memo.py` alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ADDON = ROOT / "addon"
# Run by Blender as scripts, not imported.
MODULES = sorted(path for path in ADDON.rglob("*.py") if "presets" not in path.relative_to(ADDON).parts[:1])
# The registry itself; and the events, which stand below it: listeners come and go with the registration.
EXEMPT = {"memory.py", "events.py"}
# What is registered: in memory.py, and derived from these in their own modules.
REGISTERED = {"Registered", "Memo", "Value"}
# Calls that change what they are called on.
CHANGING = {
    "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "insert", "intersection_update",
    "move_to_end", "pop", "popitem", "popleft", "remove", "reverse", "setdefault", "sort", "update",
}  # fmt: skip
# Decorators that keep what a function gave.
CACHES = {"cache", "lru_cache"}
# Of Python's own, what changes as it is read.
COUNTERS = {"count", "cycle", "iter"}


def name_of(node: ast.AST) -> str:
    """The last name of a call, an attribute or a subscript: `functools.lru_cache(maxsize=1)` is lru_cache."""
    while isinstance(node, (ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def module_names(tree: ast.Module) -> dict[str, ast.expr | None]:
    """What the module's own statements give a name to."""
    found: dict[str, ast.expr | None] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            found |= {target.id: statement.value for target in statement.targets if isinstance(target, ast.Name)}
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            found[statement.target.id] = statement.value
    return found


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    yield from (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def own_names(function: ast.FunctionDef) -> set[str]:
    """What a function itself gives a name to: none of these is the module's."""
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return arguments | stored


def changed_names(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Names whose object this piece of code changes, with the line."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in CHANGING:
            if isinstance(each.func.value, ast.Name):
                yield each.func.value.id, each.lineno
        elif isinstance(each, ast.Call) and name_of(each) == "next" and each.args:
            yield name_of(each.args[0]), each.lineno
        elif isinstance(each, (ast.Attribute, ast.Subscript)) and isinstance(each.ctx, (ast.Store, ast.Del)):
            owner = each.value
            while isinstance(owner, (ast.Attribute, ast.Subscript)):
                owner = owner.value
            if isinstance(owner, ast.Name):
                yield owner.id, each.lineno


def registered_classes(tree: ast.Module) -> set[str]:
    """The module's classes whose objects are in the registry, and the registry's own."""
    found = set(REGISTERED)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and found.intersection(map(name_of, node.bases)):
            found.add(node.name)
    return found


def changing_classes(tree: ast.Module) -> set[str]:
    """The module's classes whose methods change their objects after these were made."""
    found = set()
    for node in ast.walk(tree):
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.name not in {"__init__", "__post_init__"}:
                changed = {name for name, _ in changed_names(method)}
                first = method.args.args[0].arg if method.args.args else ""
                if first in changed and first != "cls":
                    found.add(node.name)
    return found


def state_of(source: str) -> list[str]:
    """What a module remembers on its own, as sentences."""
    tree = ast.parse(source)
    names, registered, changing = module_names(tree), registered_classes(tree), changing_classes(tree)
    in_registry = {name for name, value in names.items() if value is not None and name_of(value) in registered}
    found = []
    for name, value in names.items():
        if value is not None and isinstance(value, ast.Call) and name_of(value) in changing - registered:
            found.append(f"line {value.lineno}: '{name}' is an object that changes and is not registered")
        if value is not None and isinstance(value, ast.Call) and name_of(value) in COUNTERS:
            found.append(f"line {value.lineno}: '{name}' changes as it is read")
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            found.append(f"line {node.lineno}: global {', '.join(node.names)}")
    for function in functions(tree):
        local = own_names(function)
        for name, line in changed_names(function):
            if name in names and name not in local and name not in in_registry:
                found.append(f"line {line}: '{name}' of the module is changed")
        for decorator in function.decorator_list:
            if name_of(decorator) in CACHES:
                found.append(f"line {function.lineno}: {function.name} keeps what it gave; use memory.remembered")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ADDON)))
def test_a_module_keeps_nothing_that_changes(path):
    if str(path.relative_to(ADDON)) not in EXEMPT:
        assert not state_of(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "source",
    [
        "kept = {}\ndef f(key):\n    kept[key] = 1\n",
        "kept = []\ndef f(key):\n    kept.append(key)\n",
        "kept = {}\ndef f(key):\n    del kept[key]\n",
        "last = None\ndef f():\n    global last\n    last = 1\n",
        "import itertools\ncount = itertools.count()\ndef f():\n    return next(count)\n",
        "import functools\n@functools.lru_cache(maxsize=3)\ndef f():\n    return 1\n",
        "class A:\n    def put(self, x):\n        self.x = x\nlast = A()\n",
        "class A:\n    pass\nlast = A()\ndef f():\n    last.x = 1\n",
    ],
)
def test_what_changes_is_found(source):
    assert state_of(source)


@pytest.mark.parametrize(
    "source",
    [
        "WORDS = {'a': 1}\ndef f(key):\n    return WORDS[key]\n",
        "kept = Memo('x', 'rig')\ndef f(key):\n    kept[key] = 1\n",
        "last = Value('x', list)\ndef f(key):\n    last.value = [key]\n",
        "kept = {}\ndef f(key):\n    kept = {}\n    kept[key] = 1\n    return kept\n",
        "class A(Registered):\n    def drop(self):\n        self.x = 0\nlast = A('x')\n",
    ],
)
def test_what_does_not_change_and_what_is_registered_is_let_be(source):
    assert not state_of(source)


def test_no_two_memos_have_one_name():
    """The registry knows them by their names."""
    names = Counter()
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        registered = registered_classes(tree) | {"Answers"}
        for value in module_names(tree).values():
            if isinstance(value, ast.Call) and name_of(value) in registered and isinstance(value.args[0], ast.Constant):
                names[value.args[0].value] += 1
    assert len(names) > 30
    assert not [name for name, count in names.items() if count > 1]


# --- what is kept on objects ----------------------------------------------------------------------

KEEPS_ON_OBJECTS = ROOT / "engine" / "memo.py"
SOURCES = [*MODULES, *sorted((ROOT / "engine").rglob("*.py"))]


def writes_past_the_class(source: str) -> list[str]:
    """Where something is put on an object, or looked for on it, past its class: by `object.__setattr__`, which only a
    frozen class itself may use while it is made, or by the object's `__dict__`."""
    found = []

    def visit(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef):
            function = node.name
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            found.append(f"line {node.lineno}: __dict__; use engine.derived")
        if isinstance(node, ast.Attribute) and node.attr == "__setattr__" and function != "__post_init__":
            found.append(f"line {node.lineno}: __setattr__; use engine.derived")
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(ast.parse(source), "")
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_values_are_kept_on_objects_in_one_place(path):
    if path != KEEPS_ON_OBJECTS:
        assert not writes_past_the_class(path.read_text(encoding="utf-8"))


def test_the_one_place_is_found():
    assert writes_past_the_class(KEEPS_ON_OBJECTS.read_text(encoding="utf-8"))
    assert writes_past_the_class("def f(x):\n    object.__setattr__(x, 'kept', 1)\n")
    assert not writes_past_the_class("def __post_init__(self):\n    object.__setattr__(self, 'points', ())\n")
