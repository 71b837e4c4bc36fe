"""The walk of tests/addon/situations.py in any Blender there is, with its table of what changed:

    blender -b --factory-startup --python-exit-code 1 --python tests/walk_in_blender.py [-- REPORT.json]

The project is put into Blender as it lies here, under the name `heft`; its engine needs the numpy, scipy
and numba of that Blender's Python.
"""

import importlib.util
import json
import sys
import tempfile
import traceback
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "addon"))


def put_into_blender() -> None:
    """Register the project as an add-on, whatever its folder is called."""
    spec = importlib.util.spec_from_file_location("heft", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    heft = importlib.util.module_from_spec(spec)
    sys.modules["heft"] = heft
    spec.loader.exec_module(heft)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    heft.register()


def walk_all() -> dict[str, dict[str, list[str]]]:
    """By situation and step, what changed besides Heft's own."""
    import rigs
    import situations

    table = {}
    for situation in situations.SITUATIONS:
        rigs.new_file()
        steps = table[situation.__name__] = {}
        with tempfile.TemporaryDirectory() as folder:
            try:
                for step, lines in situations.walk(situation, Path(folder)):
                    steps[step] = lines
            except Exception:
                steps["raised"] = [traceback.format_exc()]
        wrong = {step: lines for step, lines in steps.items() if lines}
        print(f"walk: {situation.__name__:12} {len(steps)} steps, {len(wrong)} with differences", flush=True)
        for step, lines in wrong.items():
            print(f"    {step}: {lines[0]}" + (f" and {len(lines) - 1} more" if len(lines) > 1 else ""), flush=True)
    return table


def main(report: str | None) -> None:
    put_into_blender()
    table = walk_all()
    result = {"version": bpy.app.version_string, "table": table}
    if report:
        Path(report).write_text(json.dumps(result))
    wrong = sum(bool(lines) for steps in table.values() for lines in steps.values())
    count = sum(len(steps) for steps in table.values())
    print(f"walk: Blender {bpy.app.version_string}, {count} steps, {wrong} with differences", flush=True)
    if wrong:
        raise SystemExit(1)


main(next(iter(sys.argv[sys.argv.index("--") + 1 :]), None) if "--" in sys.argv else None)
