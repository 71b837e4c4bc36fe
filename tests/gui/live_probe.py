"""Run inside Blender by `live_bench`: answers its questions, and times what keeps the window waiting.

usage: blender --python live_probe.py -- PORT

Owns a socket looked at by a timer, a heartbeat, and clocks around everything of Heft's that runs on the window's
thread. It never acts for the user: hands are xdotool's.
"""

import ast
import functools
import itertools
import json
import socket
import sys
import time
import traceback

import bpy

_server = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--") + 1])))
_server.setblocking(False)
PREFIX = "bl_ext.user_default.heft.addon."

beats: list[tuple[float, float]] = []  # (when, what of Heft's ran since the beat before) [s]
spent: dict[str, float] = {}  # longest call of each function [s]
events: list[tuple[str, float]] = []
_replaced: list[tuple] = []
_own = 0.0
_depth = 0


def module(name: str):
    return sys.modules[PREFIX + name]


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
    ways_in = ("jobs.tick", "live.follow_source", "live.setting_changed", "handlers.is_current")
    for name, function in (each.split(".") for each in ways_in):
        setattr(module(name), function, timed(getattr(module(name), function), f"{name}.{function}"))
    for queue_name in ("depsgraph_update_post", "frame_change_pre", "undo_pre", "undo_post", "redo_post"):
        queue = getattr(bpy.app.handlers, queue_name)
        for i, handler in enumerate(queue):
            if handler.__module__.startswith(PREFIX):
                _replaced.append((queue, i, handler))
                queue[i] = timed(handler, queue_name)
    changed, end = module("live").setting_changed, module("marks").end

    def noted_change(*args):
        events.append(("change", time.monotonic()))
        changed(*args)

    def noted_end(*args):
        end(*args)
        events.append(("written", time.monotonic()))

    module("live").setting_changed, module("marks").end = noted_change, noted_end


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


def sidebar():
    window = bpy.context.window_manager.windows[0]
    area = next(each for each in window.screen.areas if each.type == "VIEW_3D")
    area.spaces[0].show_region_ui = True
    return window, area, next(each for each in area.regions if each.type == "UI")


def within(command: str) -> None:
    """Run an operator as if from the viewport."""
    window, area, _ = sidebar()
    region = next(each for each in area.regions if each.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        exec(command, globals())


def under() -> str:
    """The property that the mouse is over."""
    window, area, region = sidebar()
    with bpy.context.temp_override(window=window, area=area, region=region):
        found = bpy.context.property
        return found[1] if found is not None else ""


def undo_memory() -> int:
    """What the undo steps hold [bytes]; −1 where Blender does not tell."""
    return bpy.app.memory_usage_undo() if hasattr(bpy.app, "memory_usage_undo") else -1


def _look() -> float:
    try:
        peer, _ = _server.accept()
    except BlockingIOError:
        return 0.01
    with peer:
        peer.settimeout(5.0)
        with peer.makefile("rw", encoding="utf-8") as stream:
            stream.write(json.dumps(_answer(json.loads(stream.readline()))) + "\n")
    return 0.0


def _answer(question: str) -> dict:
    try:
        tree = ast.parse(question)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "question", "exec"), globals())
        value = eval(compile(ast.Expression(last.value), "question", "eval"), globals()) if last else None
        return {"value": json.loads(json.dumps(value))}
    except Exception:
        return {"error": traceback.format_exc()}


bpy.app.timers.register(_look, persistent=True)
bpy.app.timers.register(beat, persistent=True)
