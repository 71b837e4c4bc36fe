"""Names that scripts and tests import from our own modules exist: no suite imports trials, benches and figures."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Where scripts find modules besides their own folder; the package itself is imported as `heft` in Blender.
PATHS = [ROOT, *(ROOT / "tests" / name for name in ("", "addon", "bench", "engine", "gui", "support", "trials"))]
FILES = sorted(
    path
    for folder in ("tests", "tools", "sample_scenes")
    for path in (ROOT / folder).rglob("*.py")
    if "__pycache__" not in path.parts
)


def module_file(name: str, folder: Path) -> Path | None:
    """The file of one of our modules, None for any other."""
    if name == "heft":
        return ROOT / "__init__.py"
    parts = name.removeprefix("heft.").split(".")
    for base in (folder, *PATHS):
        place = base.joinpath(*parts)
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                return file
    return None


def top_level_names(file: Path) -> set[str]:
    """What a module defines or imports at its top level, within `if` and `try` too; its submodules."""
    found = {path.stem for path in file.parent.glob("*.py")} | {path.name for path in file.parent.iterdir()}
    found = found if file.name == "__init__.py" else set()
    todo = list(ast.parse(file.read_text("utf-8")).body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update((each.asname or each.name).split(".")[0] for each in node.names)
        else:
            found.update(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
            todo += [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]
    return found


def missing_names(file: Path) -> list[str]:
    """Names that a file imports from our own modules and that these do not have."""
    out = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and not node.level:
            found = module_file(node.module, file.parent)
            if found is not None:
                names = top_level_names(found)
                out += [f"{node.module}.{each.name}" for each in node.names if each.name not in {"*", *names}]
    return out


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_imported_names_exist(file):
    assert missing_names(file) == []


def test_a_missing_name_is_found(tmp_path):
    (tmp_path / "one.py").write_text("def here():\n    pass\n")
    script = tmp_path / "two.py"
    script.write_text("from one import here, gone\n")
    assert missing_names(script) == ["one.gone"]
