#!/usr/bin/env python3
"""Heft's chores, each with all its set-up:

    python3 dev.py demo                 bake a sample scene without a window, into out/
    python3 dev.py test [SUITE…] [-k…]  lint and tests (suites: engine 4.2 4.5 5.0 package window real); what is the
                                        same in all Blenders is left to the newest, unless a suite is named
    python3 dev.py test changed [-k…]   the suites that uncommitted changes and the last commit call for, and why
    python3 dev.py bench [engine|addon] how fast it is, in ratios
    python3 dev.py bench panel          how long the sidebar takes to draw, on 74 and 700 bones
    python3 dev.py bench window [4.3]   what a drag waits for in a real window (5.2 unless told), undo memory, and what
                                        drawing the panels of 700 bones takes there
    python3 dev.py bench posing         what a motion of the mouse takes in Pull Pose
    python3 dev.py bench step [limp|driven|contacts]  microseconds a stage of a step
    python3 dev.py bench on_time        who is on time: On Time beside other laws, a table and out/on_time.svg
    python3 dev.py bench overlays [4.3|5.2]  what overlays cost while playing, in the real window
    python3 dev.py rigs [4.2|4.5|5.0]   every real rig through Heft and back: a table, also as out/rigs.md
    python3 dev.py rigs wild [COUNT]    random rigs, 2000 unless told, in each of these Blenders
    python3 dev.py trial [NAME…]        figures too long for the tests, measured on real rigs: a table each, also as
                                        out/trial_NAME.md (names: see TRIALS)
    python3 dev.py flow [NAME…|write]   what each stage of a step reads and writes: a table; the stages that read or
                                        write these columns (S.COORDS); or into the docstrings, with `write`
    python3 dev.py manual               write the manual's tables of settings anew, of the declarations
    python3 dev.py pin [write]          whether every sample scene and forty engine scenes give the bytes that were kept
                                        with `write`, on this machine
    python3 dev.py package [--all]      the extension zips, into dist/
    python3 dev.py scenes [NAME…]       rebuild the sample scenes
    python3 dev.py pictures [NAME…]     render all that README and manual show, or these scenes and figures of it

Standard library only. Environments are made once, under the user's cache folder
(or $HEFT_ENVS), and named after what is in them; nothing else is installed,
save Blender's system libraries where this runs as root on Debian. With HEFT_SET_UP_BLENDER=1
the Blenders of the suites `window` and `real` are set up too, beside the other suites.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools.data_flow import flow
from tools.environments import BLENDER, ENGINE, ROOT, Env, Missing, ensure, environment_variables, run, say
from tools.packaging import build_zip, this_platform, zips
from tools.pins import pin
from tools.real_blenders import SetUp

# --- test -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Suite:
    """One pytest run; paths that do not exist are left out. A real one needs the real Blenders. Where it is all that
    runs, `processes` of them share its files."""

    name: str
    env: Env
    paths: tuple[str, ...]
    real: bool = False
    processes: int = 1


ENGINE_TESTS = (
    "tests/engine", "tests/tools", "tests/test_dev.py", "tests/test_manual.py", "tests/test_module_state.py",
    "tests/test_layers.py", "tests/test_columns.py", "tests/test_mirror.py", "tests/test_sizes.py",
    "tests/test_imports.py",
)  # fmt: skip
BLENDER_TESTS = ("tests/addon", "tests/test_sample_scenes.py")
# Two at a time: long ones first, and those in windows when the real Blenders are set up beside the first.
SUITES = (
    Suite("4.2", BLENDER["4.2"], BLENDER_TESTS),
    Suite("engine", ENGINE, ENGINE_TESTS, processes=2),
    Suite("window-5.2", ENGINE, ("tests/gui",), real=True),
    Suite("5.0", BLENDER["5.0"], BLENDER_TESTS),
    Suite("4.5", BLENDER["4.5"], BLENDER_TESTS),
    Suite("window-4.3", ENGINE, ("tests/gui",), real=True),
    Suite("real", ENGINE, ("tests/test_real_blender.py",), real=True),
    Suite("package", ENGINE, ("tests/test_package.py",)),
)
# Which suites a change of a path calls for: the first that fits. Other Blenders than the newest see the add-on's
# wrappers only, windows what is drawn and clicked.
CALLED_FOR = (
    ("engine/", ("engine", "5.0")),
    ("addon/blender/", ("4.2", "4.5", "5.0", "window-5.2")),
    ("addon/ui/", ("5.0", "4.2", "window-5.2")),
    ("addon/manual/", ("engine", "5.0")),
    ("addon/", ("5.0", "4.2")),
    ("sample_scenes/", ("5.0",)),
    ("tests/addon/", ("5.0",)),
    ("tests/support/", ("engine", "5.0")),
    ("tests/gui/", ("window-5.2",)),
    ("tests/", ("engine",)),
    ("tools/packaging.py", ("package", "engine")),
    ("blender_manifest.toml", ("package",)),
    ("", ("engine",)),
)
# How a line of a suite ends that tells of a test that failed and is tried once more (`tests/gui`).
TRIED_AGAIN = "and is tried again"
# pytest's words and their order in its closing line.
OUTCOMES = ("failed", "passed", "skipped", "error")


# Before processes share a suite: kernels that are not compiled yet, which each would compile for itself.
COMPILE = "import engine; from engine.compile import precompile; precompile.ensure_built(*precompile.SUITES)"


def run_suite(
    suite: Suite, pytest_arguments: list[str], wordy: bool, named: bool = False, processes: int = 1
) -> dict[str, int]:
    """How many tests had which outcome; a run that died counts as one error. Wordy: show all that pytest said. Named:
    the suite was asked for, so that nothing is left to other suites."""
    start = time.monotonic()
    paths = [path for path in suite.paths if (ROOT / path).exists()]
    if not paths:
        raise Missing(f"None of {', '.join(suite.paths)} is here.")
    environment = {
        **environment_variables(),
        "HEFT_TEST_SUITE": suite.name,
        "HEFT_TEST_ALL": "1" if named else "",
        # Two processes run beside one another: threads for matrices of ten rows would only wait for each other.
        "OPENBLAS_NUM_THREADS": "1",
    }
    counts = dict.fromkeys(OUTCOMES, 0)
    with tempfile.TemporaryDirectory() as folder:
        if processes > 1:
            environment["HEFT_TEST_TAKEN"] = folder
            subprocess.run([str(suite.env.python), "-c", COMPILE], cwd=ROOT, env=environment)
        started = []
        for k in range(processes):
            report, said = Path(folder, f"report{k}.xml"), Path(folder, f"said{k}.txt")
            command = [suite.env.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
            command += ["-p", "tools.split_run", "-c", "tests/pytest.ini", "--rootdir=.", *pytest_arguments, *paths]
            with said.open("w") as out:
                process = subprocess.Popen(
                    [str(part) for part in command], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                    stderr=subprocess.STDOUT,
                )  # fmt: skip
            started.append((process, report, said))
        for process, report, said in started:
            own = outcomes_of(process.wait(), report)
            show(said.read_text(errors="replace"), wordy or own["failed"] + own["error"] > 0)
            counts = {word: counts[word] + own[word] for word in OUTCOMES}
    verdict = "FAILED" if counts["failed"] + counts["error"] else "ok"
    say(f"{suite.name} {verdict} – {outcome_text(counts)} in {time.monotonic() - start:.1f} s")
    return counts


def show(said: str, everything: bool) -> None:
    """What pytest said, or of it only why tests were left out or tried a second time."""
    if everything:
        print(said, flush=True)
        return
    for line in said.splitlines():
        if line.startswith("SKIPPED") or line.endswith(TRIED_AGAIN):
            print(f"    {line}", flush=True)


def outcomes_of(status: int, report: Path) -> dict[str, int]:
    """The counts of a run that ended with this status."""
    counts = count_outcomes(report)
    no_tests_chosen = status == 5
    if status and not no_tests_chosen and not counts["failed"] + counts["error"]:
        counts["error"] = 1
    return counts


def count_outcomes(report: Path) -> dict[str, int]:
    counts = dict.fromkeys(OUTCOMES, 0)
    if not report.exists():
        return {**counts, "error": 1}
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        failed, errors, skipped = (int(suite.get(key, 0)) for key in ("failures", "errors", "skipped"))
        counts["failed"] += failed
        counts["error"] += errors
        counts["skipped"] += skipped
        counts["passed"] += int(suite.get("tests", 0)) - failed - errors - skipped
    return counts


def outcome_text(counts: dict[str, int]) -> str:
    plural = {"error": "errors"} if counts["error"] > 1 else {}
    return ", ".join(f"{counts[word]} {plural.get(word, word)}" for word in OUTCOMES if counts[word]) or "no tests ran"


def changed_paths() -> list[str]:
    """What is not committed, and what the last commit changed."""
    found: set[str] = set()
    for command in (
        "git diff --name-only HEAD",
        "git diff --name-only HEAD~1 HEAD",
        "git ls-files -o --exclude-standard",
    ):
        done = subprocess.run(command.split(), cwd=ROOT, capture_output=True, text=True)
        found.update(done.stdout.split())
    return sorted(found)


def suites_for(paths: list[str]) -> dict[str, str]:
    """The suites that changes of these paths call for, each with the first path that does."""
    found: dict[str, str] = {}
    for path in paths:
        names = next(names for begin, names in CALLED_FOR if path.startswith(begin))
        for name in names:
            found.setdefault(name, path)
    return found


def test(arguments: list[str]) -> int:
    if arguments[:1] == ["changed"]:
        called = suites_for(changed_paths())
        for name, path in called.items():
            say(f"{name}: {path} changed")
        if not called:
            say("nothing changed")
            return 0
        arguments = [*called, *arguments[1:]]
    names = {suite.name for suite in SUITES} | {suite.name.partition("-")[0] for suite in SUITES}
    chosen = [argument for argument in arguments if argument in names]
    pytest_arguments = [argument for argument in arguments if argument not in names]
    suites = [s for s in SUITES if not chosen or {s.name, s.name.partition("-")[0]} & set(chosen)]
    start = time.monotonic()
    totals = dict.fromkeys(OUTCOMES, 0)
    # The other environments are made when their suites begin, beside those that run. One Blender's may ask the package
    # manager, which setting up the real ones asks too.
    real = any(suite.real for suite in suites)
    first = BLENDER["5.0"] if real else ENGINE
    for env in (ENGINE, next((suite.env for suite in suites if suite.env is not ENGINE), first)):
        ensure(env)
    set_up = SetUp() if real else None

    def counted(suite: Suite) -> dict[str, int]:
        ensure(suite.env)
        if suite.real:
            ensure(BLENDER["5.0"])  # builds the zip that they install
            set_up.wait()
        alone = len(suites) == 1
        # With pytest's own arguments a run is one process: what it says stays in one piece.
        processes = min(suite.processes, os.cpu_count() or 1) if alone and not pytest_arguments else 1
        return run_suite(suite, pytest_arguments, alone, bool(chosen), processes)

    try:
        if run(ENGINE, "-m", "ruff", "check", "--quiet", "."):
            totals["error"] += 1
            say("ruff FAILED")
        with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
            for counts in pool.map(counted, suites):
                for word in OUTCOMES:
                    totals[word] += counts[word]
    finally:
        if set_up is not None:
            set_up.stop()
    print(f"=== {outcome_text(totals)} in {time.monotonic() - start:.2f}s ===", flush=True)
    return int(bool(totals["failed"] or totals["error"] or not totals["passed"]))


# --- demo, package, scenes, bench -----------------------------------------------------------------


def demo(arguments: list[str]) -> int:
    return run(BLENDER["5.0"], "-m", "sample_scenes", "demo", *arguments)


def package(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="dev.py package")
    options.add_argument("--all", action="store_true", help="every platform and Python, not only this one's 3.11")
    everything = options.parse_args(arguments).all
    targets = [z for z in zips() if everything or (z.platform == this_platform() and z.python_version == "3.11")]
    if not targets:
        raise Missing(f"No zip is made for {this_platform()}; --all builds the others.")
    ensure(BLENDER["5.0"])
    for target in targets:
        path = build_zip(target)
        until = f"below {target.blender_max}" if target.blender_max else "on"
        say(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e6:.0f} MB, Blender {target.blender_min} {until}")
    return 0


def scenes(arguments: list[str]) -> int:
    # Built by the oldest Blender, because Blender 4.2 opens no file of 5.0.
    return run(BLENDER["4.2"], "-m", "sample_scenes", "build", *arguments)


def pictures(arguments: list[str]) -> int:
    # Renders leave overlays out: those are taken in a real window, where there is one.
    if not arguments or "overlays" in arguments:
        run(ENGINE, "tests/gui/overlay_pictures.py", "5.2")
    return run(BLENDER["5.0"], "-m", "sample_scenes", "picture", *arguments)


def manual(arguments: list[str]) -> int:
    return run(BLENDER["5.0"], "tests/addon/settings_tables.py", *arguments)


def bench(arguments: list[str]) -> int:
    chosen = arguments or ["engine", "on_time", "addon", "posing"]
    failures = 0
    if "engine" in chosen:
        failures += bool(run(ENGINE, "tests/bench/engine_bench.py"))
    if "on_time" in chosen:
        failures += bool(run(ENGINE, "tests/bench/on_time_bench.py"))
    if "step" in chosen:
        failures += bool(run(ENGINE, "tests/bench/step_bench.py", *chosen[1:]))
    if "overlays" in chosen:
        failures += bool(run(ENGINE, "tests/bench/overlay_bench.py", *chosen[1:]))
    if "addon" in chosen:
        failures += bool(run(BLENDER["5.0"], "tests/bench/addon_bench.py"))
    if "panel" in chosen or "addon" in chosen:
        failures += bool(run(BLENDER["5.0"], "tests/bench/panel_bench.py"))
    if "window" in chosen:
        ensure(BLENDER["5.0"])  # builds the zip
        failures += bool(run(ENGINE, "tests/bench/live_bench.py", *chosen[1:]))
    if "posing" in chosen:
        failures += bool(run(BLENDER["5.0"], "tests/bench/posing_bench.py"))
    return int(failures > 0)


def rigs(arguments: list[str]) -> int:
    versions = [argument for argument in arguments if argument in BLENDER] or list(BLENDER)
    others = [argument for argument in arguments if argument not in BLENDER]
    for version in versions:
        ensure(BLENDER[version])
    if "wild" in others:
        return max(run(BLENDER[version], "tests/bench/wild_rigs.py", *others[1:]) for version in versions)
    output = ROOT / "out" / "rigs.md"
    output.unlink(missing_ok=True)
    return max(run(BLENDER[version], "tests/bench/rigs_table.py", "--output", output, *others) for version in versions)


# Measurements with a table of figures; each script is `tests/trials/NAME.py`.
# Ratios against MuJoCo need its environment.
TRIALS: dict[str, Env] = {
    "ball": BLENDER["5.0"],
    "size": BLENDER["5.0"],
    "tails": BLENDER["5.0"],
    "falls": BLENDER["5.0"],
    "resting": BLENDER["5.0"],
    "even_weight": BLENDER["5.0"],
    "ranges": BLENDER["5.0"],
    "fall_time": ENGINE,
    "crossing": BLENDER["5.0"],
    "blow": BLENDER["5.0"],
    "let_go": BLENDER["5.0"],
}


def trial(arguments: list[str]) -> int:
    names = [argument for argument in arguments if argument in TRIALS] or list(TRIALS)
    others = [argument for argument in arguments if argument not in TRIALS]
    return max((run(TRIALS[name], f"tests/trials/{name}.py", *others) for name in names), default=0)


COMMANDS = {
    "demo": demo,
    "test": test,
    "bench": bench,
    "flow": flow,
    "package": package,
    "scenes": scenes,
    "pictures": pictures,
    "manual": manual,
    "rigs": rigs,
    "trial": trial,
    "pin": pin,
}


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in COMMANDS:
        print(__doc__)
        return 2
    try:
        return COMMANDS[arguments[0]](arguments[1:])
    except Missing as missing:
        print(f"dev: {missing}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
