"""What `bench/live_bench` asks inside Blender: clocks around all of Heft's that runs on the window's thread.

Owns a heartbeat and those clocks. Sent to the inspector as it stands. It never acts for the user: hands are xdotool's.
"""

import functools
import itertools
import statistics
import sys
import time

import bpy

PREFIX = "bl_ext.user_default.heft.addon"

beats: list[tuple[float, float]] = []  # (when, what of Heft's ran since the beat before) [s]
spent: dict[str, float] = {}  # longest call of each function [s]
events: list[tuple[str, float]] = []
drawn: list[tuple[str, float]] = []  # a panel and what its poll, header or body took [s]
closed: set[str] = set()  # bodies of panels that are closed until a hand opens them
_replaced: list[tuple] = []
_own = 0.0
_depth = 0


def module(name: str):
    return sys.modules[f"{PREFIX}.{name}"]


def rig():
    return bpy.data.objects["Rig"]


def timed(function, name: str):
    """The function, its time counted as Heft's; what it calls is counted once."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        global _own, _depth
        start = time.monotonic()
        _depth += 1
        try:
            return function(*args, **kwargs)
        finally:
            _depth -= 1
            taken = time.monotonic() - start
            spent[name] = max(spent.get(name, 0.0), taken)
            if _depth == 0:
                _own += taken

    return wrapper


def instrument() -> None:
    """Clocks around Heft's ways in, and a note of every setting changed and every result finished."""
    ways_in = ("simulate.jobs.tick", "simulate.live.follow_source", "ui.up_to_date.is_current")
    for name, _, function in (each.rpartition(".") for each in ways_in):
        setattr(module(name), function, timed(getattr(module(name), function), f"{name}.{function}"))
    for queue_name in ("depsgraph_update_post", "frame_change_pre", "undo_pre", "undo_post", "redo_post"):
        queue = getattr(bpy.app.handlers, queue_name)
        for i, handler in enumerate(queue):
            if handler.__module__.startswith(PREFIX):
                _replaced.append((queue, i, handler))
                queue[i] = timed(handler, queue_name)
    emitted, end = module("events").setting_changed, module("result.stamps").end

    def noted_change(*_args):
        events.append(("change", time.monotonic()))

    def noted_end(*args):
        end(*args)
        events.append(("written", time.monotonic()))

    emitted._listeners[:] = [noted_change, *(timed(each, "live.setting_changed") for each in emitted._listeners)]
    module("result.stamps").end = noted_end
    bpy.app.timers.register(beat, persistent=True)


def restore() -> None:
    """Heft's own handlers again: it takes them away when Blender quits."""
    for queue, i, handler in _replaced:
        queue[i] = handler
    _replaced.clear()


def beat() -> float:
    global _own
    beats.append((time.monotonic(), _own))
    _own = 0.0
    return 0.001


def clear() -> None:
    beats.clear()
    spent.clear()
    events.clear()


def longest() -> dict:
    """The longest gap between two beats, and the longest time that Heft itself took of one [s]."""
    gaps = [(b[0] - a[0], b[1]) for a, b in itertools.pairwise(beats)]
    gaps = gaps or [(0.0, 0.0)]
    return {"gap": max(g for g, _ in gaps), "own": max(o for _, o in gaps), "spent": dict(spent)}


def frame_pass(frames: int) -> float:
    """One pass over the shot of the rig as it is without Heft, in a scene of its own [s]."""
    scene = bpy.data.scenes.get("Plain")
    if scene is None:
        scene = bpy.data.scenes.new("Plain")
        scene.collection.objects.link(bpy.data.objects["Plain Rig"])
    start = time.monotonic()
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
    return time.monotonic() - start


def within(command: str) -> None:
    """Run an operator as if from the viewport."""
    with bpy.context.temp_override(**region("WINDOW")):  # noqa: F821 (the inspector's)
        exec(command, globals())


def step_keys(kind: str) -> None:
    """Give all keys of the source this interpolation."""
    action = rig().animation_data.action
    for curve in curves(action):  # noqa: F821 (of look.py)
        for point in curve.keyframe_points:
            point.interpolation = kind
        curve.update()
    action.update_tag()


def undo_memory() -> int:
    """What the undo steps hold [bytes]; −1 where Blender does not tell."""
    return bpy.app.memory_usage_undo() if hasattr(bpy.app, "memory_usage_undo") else -1


def open_panels() -> None:
    """Every panel of the tab is open when it is first seen, and timed from now on."""
    classes = [cls for cls in sys.modules[PREFIX].CLASSES if getattr(cls, "bl_category", "") == "Heft"]
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
    for cls in classes:
        if "DEFAULT_CLOSED" in getattr(cls, "bl_options", ()):
            closed.add(f"{cls.__name__} body")
        cls.bl_options = set(getattr(cls, "bl_options", ())) - {"DEFAULT_CLOSED"}
        cls.draw = _drawing(cls.draw, f"{cls.__name__} body")
        cls.draw_header_preset = _drawing(cls.draw_header_preset, cls.__name__)
        if hasattr(cls, "poll"):
            cls.poll = classmethod(_drawing(cls.poll.__func__, cls.__name__))
        bpy.utils.register_class(cls)


def _drawing(function, name: str):
    @functools.wraps(function)
    def wrapper(self, context):  # Blender counts the arguments
        start = time.perf_counter()
        try:
            return function(self, context)
        finally:
            drawn.append((name, time.perf_counter() - start))

    return wrapper


def pose(turns: int) -> None:
    """Turn a bone on and on, as a hand does that poses."""
    left = iter(range(turns))

    def turn() -> float | None:
        rig().pose.bones[5].rotation_quaternion.x += 0.01
        redraw()
        return 0.02 if next(left, None) is not None else None

    bpy.app.timers.register(turn)


def redraw() -> None:
    """Have the sidebar drawn once more; what was drawn before is one round."""
    drawn.append(("", 0.0))
    region()["region"].tag_redraw()  # noqa: F821


def drawing_times() -> dict:
    """Of the rounds in which all was drawn, since asked last: medians [ms] of each part, of all, and
    of those that a new user sees."""
    rounds: list[dict[str, float]] = [{}]
    for name, taken in drawn:
        if not name:
            rounds.append({})
        else:
            rounds[-1][name] = rounds[-1].get(name, 0.0) + 1e3 * taken
    drawn.clear()
    most = max(map(len, rounds))
    full = [each for each in rounds if len(each) == most]
    return {
        "panels": {name: statistics.median(each[name] for each in full) for name in full[0]},
        "all": statistics.median(sum(each.values()) for each in full),
        "at first": statistics.median(sum(t for n, t in each.items() if n not in closed) for each in full),
        "rounds": len(full),
    }
