"""Run inside Blender: answers questions about what it shows while its window goes on.

usage: blender --python inspector.py -- PORT

Owns a socket on this machine, looked at by one of Blender's timers. Each question is Python; the
value of its last expression goes back as JSON. It never acts for the user: hands are xdotool's.
"""

import ast
import json
import socket
import sys
import traceback

import bpy

EVERY = 0.01  # [s]

_server = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--") + 1])))
_server.setblocking(False)


def region(kind: str = "UI", area: str = "VIEW_3D"):
    """The context of a part of the first window."""
    window = bpy.context.window_manager.windows[0]
    where = next(a for a in window.screen.areas if a.type == area)
    return {"window": window, "area": where, "region": next(r for r in where.regions if r.type == kind)}


def under(kind: str = "UI", area: str = "VIEW_3D") -> str:
    """What the mouse is over: a property's path, a command's Python, or nothing."""
    manager = bpy.context.window_manager
    with bpy.context.temp_override(**region(kind, area)):
        found = bpy.context.property
        if found is not None:
            return found[1]
        if not bpy.ops.ui.copy_python_command_button.poll():
            return ""
        kept, manager.clipboard = manager.clipboard, ""
        bpy.ops.ui.copy_python_command_button()
        found, manager.clipboard = manager.clipboard, kept
        return found


_names = {"bpy": bpy, "region": region, "under": under}


_asking: list[socket.socket] = []


def _look() -> float:
    """Take a question on one tick and answer it on the next: in between Blender has seen what the hands did before
    they asked."""
    if _asking:
        peer = _asking.pop()
        peer.settimeout(5.0)
        with peer, peer.makefile("rw", encoding="utf-8") as stream:
            stream.write(json.dumps(_answer(json.loads(stream.readline()))) + "\n")
    try:
        _asking.append(_server.accept()[0])
    except BlockingIOError:
        return EVERY
    return 0.0


def _answer(question: str) -> dict:
    try:
        tree = ast.parse(question)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "question", "exec"), _names)
        value = eval(compile(ast.Expression(last.value), "question", "eval"), _names) if last else None
        return {"value": json.loads(json.dumps(value))}
    except Exception:
        return {"error": traceback.format_exc()}


bpy.app.timers.register(_look, persistent=True)
