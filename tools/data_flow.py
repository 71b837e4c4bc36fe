"""What each stage of a step reads and writes, taken from its source (`dev.py flow`).

Owns the rules. Standard library only; nothing of the engine is run.

A stage is a separate or inlined kernel of `controllers`, `contact` or `step` that takes tables. Its docstring ends with
what it reads and writes: columns, and rows of vectors, by their names (S.COORDS); whole arrays by their field (A.mode);
arrays that it is handed by the parameter. The rules:

- What the kernels merged into a stage do (`kernel`, `inlined`), in whatever module, it does itself.
- What a separate kernel does that it calls is listed there. But of what it hands to any kernel as an argument, a row,
  a column or a pose, it reads or writes what that kernel does.
- A pose or factor of Work that is taken by name counts as a whole (W.FINAL).
- What never changes is left out: Tree, Target, Shapes, gravity.
"""

from __future__ import annotations

import ast
import textwrap
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .environments import ROOT

KERNELS = {"kernel", "separate", "inlined", "entry_point"}
FOLDERS = ("controllers", "contact", "step")
# The short name of a table by the parameter or field that holds it.
TABLES = {
    "aim": "A", "control": "C", "found": "CT", "holds": "H", "record": "RE", "rows": "R", "state": "S", "touch": "CT",
    "work": "W", "pose": "P", "factor": "F", "tree": "T", "target": "M", "shapes": "SH", "pull": "PU",
}  # fmt: skip
CONSTANT = {"T", "M", "SH"}
CONSTANT_PARAMETERS = {"tree", "target", "shapes", "gravity"}
# Their columns say what of a pose, factor or sample is meant; which one is said by where it comes from.
PARTS_OF = {"P", "F", "SA"}
FROM_WORK = {"pose_of", "factor_of"}
WIDTH = 120


class Place(NamedTuple):
    """A part of what a kernel is handed: a parameter, fields of it, the columns named and the parameters that index."""

    root: str
    fields: tuple[str, ...]
    names: frozenset[str]
    indices: frozenset[str]


class Access(NamedTuple):
    place: Place
    writes: bool


class Kernel(NamedTuple):
    module: str
    node: ast.FunctionDef
    kind: str

    @property
    def parameters(self) -> list[str]:
        return [each.arg for each in self.node.args.args]


class Engine:
    """The kernels of an engine, and what each does with its parameters."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.kernels: dict[tuple[str, str], Kernel] = {}
        self._imports: dict[str, dict[str, tuple[str, str]]] = {}
        for path in sorted(home.rglob("*.py")):
            module = ".".join(path.relative_to(home).with_suffix("").parts)
            tree = ast.parse(path.read_text("utf-8"))
            self._imports[module] = imports = {}
            for node in tree.body:
                if isinstance(node, ast.ImportFrom) and node.level:
                    base = module.split(".")[: -node.level] + (node.module.split(".") if node.module else [])
                    imports.update({each.asname or each.name: (".".join(base), each.name) for each in node.names})
                elif isinstance(node, ast.FunctionDef):
                    kind = next(
                        (d.id for d in node.decorator_list if isinstance(d, ast.Name) and d.id in KERNELS), None
                    )
                    if kind:
                        self.kernels[module, node.name] = Kernel(module, node, kind)
        self.accesses = lru_cache(maxsize=None)(self._accesses)

    def callee(self, module: str, name: str) -> tuple[str, str] | None:
        """The kernel that a name means in a module."""
        if (module, name) in self.kernels:
            return module, name
        found = self._imports[module].get(name)
        return found if found in self.kernels else None

    def _accesses(self, key: tuple[str, str]) -> frozenset[Access]:
        return Reader(self, self.kernels[key]).read()

    def stages(self) -> list[tuple[str, str]]:
        """Every separate or inlined kernel of the stages' folders that takes tables, in the order of files."""
        return [
            key
            for key, kernel in self.kernels.items()
            if kernel.kind in ("separate", "inlined")
            and key[0].split(".")[0] in FOLDERS
            and any(TABLES.get(each, "T") not in CONSTANT for each in kernel.parameters)
        ]

    def flow(self, key: tuple[str, str]) -> tuple[list[str], list[str]]:
        """What a stage reads and what it writes, by name."""
        reads, writes = set(), set()
        for access in self.accesses(key):
            (writes if access.writes else reads).update(_shown(access.place))
        return sorted(reads), sorted(writes)


def _shown(place: Place) -> set[str]:
    """By its columns; else by the field of the innermost table; else by the parameter."""
    names = {each for each in place.names if each.split(".")[0] not in PARTS_OF} or set(place.names)
    if not names:
        way = [place.root, *place.fields]
        at = max((k for k, each in enumerate(way) if each in TABLES), default=-1)
        names = {f"{TABLES[way[at]]}.{way[at + 1]}" if 0 <= at < len(way) - 1 else way[max(at, 0)]}
    return {each for each in names if each.split(".")[0] not in CONSTANT | CONSTANT_PARAMETERS}


class Reader(ast.NodeVisitor):
    """What one kernel does with its parameters."""

    def __init__(self, engine: Engine, kernel: Kernel) -> None:
        self.engine, self.kernel = engine, kernel
        self.found: set[Access] = set()
        # Local names of arrays, rows and poses.
        self.local: dict[str, set[Place]] = {}
        self.parameters = set(kernel.parameters)

    def read(self) -> frozenset[Access]:
        """Go through the kernel."""
        for node in ast.walk(self.kernel.node):  # names first: a loop may use one before the line that gives it
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._bind(node.targets[0], node.value)
        for node in self.kernel.node.body:
            self.visit(node)
        return frozenset(self.found)

    # --- places -----------------------------------------------------------------------------

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, other in zip(target.elts, value.elts):  # noqa: B905 (3.9)
                self._bind(one, other)
        elif isinstance(target, ast.Name) and self._is_view(target.id, value):
            self.local.setdefault(target.id, set()).update(self.places(value))

    def _is_view(self, name: str, value: ast.expr) -> bool:
        """Whether a name stands for an array and not for a number: it is indexed, or handed to one who indexes it."""
        if isinstance(value, ast.Call):
            return isinstance(value.func, ast.Name) and value.func.id in FROM_WORK
        if isinstance(value, ast.IfExp):
            return self._is_view(name, value.body)
        if isinstance(value, ast.Attribute):
            return True
        if not isinstance(value, ast.Subscript):
            return False
        for node in ast.walk(self.kernel.node):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
                return True
            if isinstance(node, ast.Call) and any(self._indexes(node, k, name) for k in range(len(node.args))):
                return True
        return False

    def _indexes(self, call: ast.Call, k: int, name: str) -> bool:
        arg, callee = call.args[k], self._callee(call)
        return isinstance(arg, ast.Name) and arg.id == name and callee is not None and bool(self._of(callee, k))

    def _callee(self, call: ast.Call) -> tuple[str, str] | None:
        return self.engine.callee(self.kernel.module, call.func.id) if isinstance(call.func, ast.Name) else None

    def _of(self, callee: tuple[str, str], k: int) -> list[Access]:
        """What a kernel does with its parameter number k."""
        name = self.engine.kernels[callee].parameters[k]
        return [each for each in self.engine.accesses(callee) if each.place.root == name]

    def places(self, node: ast.expr) -> set[Place]:
        """What an expression stands for, as far as it is part of a parameter."""
        if isinstance(node, ast.Name):
            if node.id in self.local:
                return self.local[node.id]
            return {Place(node.id, (), frozenset(), frozenset())} if node.id in self.parameters else set()
        if isinstance(node, ast.Attribute):
            if node.attr in ("shape", "size"):
                return set()
            return {each._replace(fields=(*each.fields, node.attr)) for each in self.places(node.value)}
        if isinstance(node, ast.Subscript):
            names, indices = self.columns(node.slice)
            return {
                each._replace(names=each.names | names, indices=each.indices | indices)
                for each in self.places(node.value)
            }
        if isinstance(node, ast.IfExp):
            return self.places(node.body) | self.places(node.orelse)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FROM_WORK:
            names, indices = self.columns(node.args[1])
            return {Place("work", (), names, indices)}
        return set()

    def columns(self, node: ast.expr) -> tuple[frozenset[str], frozenset[str]]:
        """The columns that an expression names, and the parameters in it."""
        names, indices, inner = set(), set(), set()
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.attr.isupper():
                names.add(f"{each.value.id}.{each.attr}")
            elif isinstance(each, ast.Subscript):  # an index that is itself read from a table
                inner |= set(ast.walk(each)) - {each}
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id in self.parameters and each not in inner:
                indices.add(each.id)
            if each in inner and isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
                names.discard(f"{each.value.id}.{each.attr}")
        return frozenset(names), frozenset(indices)

    # --- accesses ---------------------------------------------------------------------------

    def _note(self, places: set[Place], writes: bool) -> None:
        self.found |= {Access(each, writes) for each in places}

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._note(self.places(node), not isinstance(node.ctx, ast.Load))
        self.visit(node.slice)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            self._note(self.places(node.target), False)
            self._note(self.places(node.target), True)
            self.visit(node.target.slice)
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self.visit(target)
        self._visit_value(node.targets[0], node.value)

    def _visit_value(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, other in zip(target.elts, value.elts):  # noqa: B905 (3.9)
                self._visit_value(one, other)
        elif isinstance(target, ast.Name) and isinstance(value, ast.Subscript) and target.id in self.local:
            self.visit(value.slice)
        else:
            self.visit(value)

    def visit_For(self, node: ast.For) -> None:
        if isinstance(node.iter, ast.Attribute):
            self._note(self.places(node.iter), False)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        callee = self._callee(node)
        if isinstance(node.func, ast.Name) and node.func.id in (*FROM_WORK, "len"):
            return
        if callee is None:
            self.generic_visit(node)
            return
        parameters = self.engine.kernels[callee].parameters
        given = dict(zip(parameters, node.args))  # noqa: B905 (3.9)
        for k, arg in enumerate(node.args):
            if not (self.places(arg) and self._of(callee, k)):
                self.visit(arg)
        for access in self.engine.accesses(callee):
            self._take_over(access, given, self.engine.kernels[callee].kind)

    def _take_over(self, access: Access, given: dict[str, ast.expr], kind: str) -> None:
        """An access of a called kernel, seen from here."""
        place = access.place
        own = {each for each in place.names if each.split(".")[0] not in PARTS_OF}
        handed = self.places(given[place.root]) if place.root in given else set()
        named, indices = set(), set()
        for each in place.indices & set(given):
            more, inside = self.columns(given[each])
            named, indices = named | more, indices | inside
        if own and kind == "separate":
            return  # it is listed there
        out = set()
        for each in handed:
            names = each.names | named | own
            parts = frozenset() if names else place.names
            whole = not each.fields and not names and each.root in TABLES and each.root not in ("pose", "factor")
            if kind == "separate" and whole and not own:
                continue  # a whole table: it is listed there
            out.add(Place(each.root, (*each.fields, *place.fields), frozenset(names | parts), each.indices | indices))
        self._note(out, access.writes)


# --- docstrings ---------------------------------------------------------------------------------------


def flow_lines(reads: list[str], writes: list[str], indent: str) -> list[str]:
    """As they stand in a docstring."""
    lines = []
    for word, names in (("Reads", reads), ("Writes", writes)):
        if names:
            text = f"{word}: {', '.join(names)}"
            lines += textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "    ")
    return lines


def strip_flow(doc: str) -> str:
    """A docstring without its lines of data flow."""
    for word in ("\n    Reads: ", "\n    Writes: ", "Reads: ", "Writes: "):
        at = doc.find(word)
        if at >= 0 and (word.startswith("\n") or at == 0):
            doc = doc[:at]
    return doc.rstrip()


def told(kernel: Kernel) -> str:
    """What the docstring says of the data flow, as one line."""
    doc = ast.get_docstring(kernel.node, clean=False) or ""
    return " ".join(doc[len(strip_flow(doc)) :].split())


def wanted(engine: Engine, key: tuple[str, str]) -> str:
    """What it should say, as one line."""
    return " ".join(" ".join(flow_lines(*engine.flow(key), "")).split())


def write(home: Path) -> int:
    """Bring all docstrings up to date. Returns how many files have changed."""
    engine, changed = Engine(home), 0
    for module in sorted({key[0] for key in engine.stages()}):
        path = home / (module.replace(".", "/") + ".py")
        lines = path.read_text("utf-8").splitlines()
        keys = [key for key in engine.stages() if key[0] == module and told(engine.kernels[key]) != wanted(engine, key)]
        for key in sorted(keys, key=lambda key: -engine.kernels[key].node.lineno):
            node = engine.kernels[key].node
            doc = strip_flow(ast.get_docstring(node, clean=False) or "")
            flow = flow_lines(*engine.flow(key), "    ")
            first = node.body[0]
            has = ast.get_docstring(node, clean=False) is not None
            if flow:
                head = [f'    """{doc}', ""] if doc else []
                text = [*head, *flow, '    """'] if doc else [f'    """{flow[0].strip()}', *flow[1:], '    """']
                if len(text) == 2 and not doc:
                    text = [text[0] + '"""']
            else:
                text = [f'    """{doc}"""'] if doc else []
            begin, end = (first.lineno - 1, first.end_lineno) if has else (first.lineno - 1, first.lineno - 1)
            lines[begin:end] = "\n".join(text).split("\n") if text else []
        if keys:
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            changed += 1
    return changed


def markdown(engine: Engine) -> str:
    """The data flow of all stages, a table a module."""
    out = []
    for module in dict.fromkeys(key[0] for key in engine.stages()):
        out += [f"### {module.replace('.', '/')}", "", "| stage | reads | writes |", "|---|---|---|"]
        for key in engine.stages():
            if key[0] == module:
                reads, writes = (", ".join(each) for each in engine.flow(key))
                out.append(f"| {key[1]} | {reads} | {writes} |")
        out.append("")
    return "\n".join(out)


def flow(arguments: list[str]) -> int:
    """Print the table, the stages that read or write a name, or write the docstrings."""
    home = ROOT / "engine"
    if arguments == ["write"]:
        print(f"{write(home)} files changed")
        return 0
    engine = Engine(home)
    if not arguments:
        print(markdown(engine))
        return 0
    for name in arguments:
        for word, k in (("writes", 1), ("reads", 0)):
            stages = [".".join(key) for key in engine.stages() if name in engine.flow(key)[k]]
            print(f"{word} {name}: {', '.join(stages) or 'no stage'}")
    return 0
