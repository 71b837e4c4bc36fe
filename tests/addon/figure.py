"""A man as tape measures have him: a rig and a skin that nobody fitted to the code under test.

Lengths of segments are de Leva's (1996, men); girths, breadths and depths are the men's means of the survey of the
United States Army (Gordon and others 1989), arms hanging loose.
"""

from __future__ import annotations

import math

import bpy
import numpy as np

HIP, KNEE, ANKLE, NECK, TOP = 0.925, 0.505, 0.075, 1.505, 1.75
SHOULDER, ARM, FOREARM, HAND = 1.43, 0.28, 0.27, 0.19
SIDES = 24


def bones(arms_down: float) -> list[tuple[str, str | None, tuple, tuple]]:
    """Name, parent, head and tail; arms `arms_down` radians from level. The man looks along −Y."""
    rows = [
        ("hips", None, (0, 0, HIP), (0, 0, HIP + 0.12)),
        ("spine", "hips", (0, 0, HIP + 0.12), (0, 0, HIP + 0.32)),
        ("chest", "spine", (0, 0, HIP + 0.32), (0, 0, NECK)),
        ("neck", "chest", (0, 0, NECK), (0, -0.01, NECK + 0.09)),
        ("head", "neck", (0, -0.01, NECK + 0.09), (0, -0.01, TOP)),
    ]
    for side, s in (("L", 1.0), ("R", -1.0)):
        way = np.array([s * math.cos(arms_down), 0.0, -math.sin(arms_down)])
        at = np.array([s * 0.185, 0.0, SHOULDER])
        ends = [at, at + ARM * way, at + (ARM + FOREARM) * way, at + (ARM + FOREARM + HAND) * way]
        ends[1][1] += 0.01  # elbows and knees a little bent, as riggers leave them
        leg = [(s * 0.09, 0, HIP), (s * 0.09, -0.005, KNEE), (s * 0.09, 0.005, ANKLE), (s * 0.09, -0.13, 0.03)]
        for name, above, head, tail in (
            ("upper_arm", "chest", ends[0], ends[1]),
            ("forearm", "upper_arm", ends[1], ends[2]),
            ("hand", "forearm", ends[2], ends[3]),
            ("thigh", "hips", leg[0], leg[1]),
            ("shin", "thigh", leg[1], leg[2]),
            ("foot", "shin", leg[2], leg[3]),
        ):
            parent = f"{above}.{side}" if above not in ("chest", "hips") else above
            rows.append((f"{name}.{side}", parent, tuple(head), tuple(tail)))
    return rows


def rig(arms_down: float = 0.0, scale: float = 1.0) -> bpy.types.Object:
    """The armature, active and in Object Mode, with its bones `scale` times as large."""
    data = bpy.data.armatures.new("Man")
    ob = bpy.data.objects.new("Man", data)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in bones(arms_down):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = np.multiply(head, scale), np.multiply(tail, scale)
        bone.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def _girth(around: float, wide: float = 1.0, deep: float = 1.0) -> tuple[float, float]:
    """Half width and half depth of an oval of that girth [m], in that proportion."""
    times = around / (2.0 * math.pi * math.sqrt(0.5 * (wide**2 + deep**2)))
    return wide * times, deep * times


def _along(head, tail, girths) -> list[tuple[np.ndarray, tuple[float, float]]]:
    """Sections along a limb: (part of the way, girth)."""
    head, tail = np.array(head, dtype=float), np.array(tail, dtype=float)
    return [(head + part * (tail - head), _girth(around)) for part, around in girths]


def sections(arms_down: float) -> list[tuple[np.ndarray, list, tuple[str, ...]]]:
    """Parts of the skin: which way across is wide, sections (middle, half axes) first to last, and its bones."""
    at = {name: (head, tail) for name, _, head, tail in bones(arms_down)}
    x = np.array([1.0, 0.0, 0.0])
    trunk = [(0.83, _girth(0.30, 0.16, 0.13)), (0.85, _girth(0.85, 0.342, 0.22)), (0.89, _girth(0.985, 0.342, 0.248)),
             (0.97, _girth(0.96, 0.34, 0.24)),
             (1.08, _girth(0.86, 0.31, 0.225)), (1.28, _girth(0.99, 0.322, 0.243)), (1.40, _girth(0.99, 0.36, 0.22)),
             (1.46, _girth(0.70, 0.30, 0.15)), (1.505, _girth(0.42)), (1.56, _girth(0.38))]  # fmt: skip
    head = [(1.49, _girth(0.38)), (1.52, _girth(0.42, 0.11, 0.15)), (1.55, _girth(0.52, 0.13, 0.17)),
            (1.60, _girth(0.565, 0.145, 0.19)), (1.66, _girth(0.568, 0.152, 0.197)), (1.71, _girth(0.52, 0.15, 0.19)),
            (1.735, _girth(0.36, 0.15, 0.19)), (1.75, _girth(0.1))]  # fmt: skip
    out = [
        (x, [(np.array([0.0, 0.0, z]), oval) for z, oval in rings], own)
        for rings, own in ((trunk, ("hips", "spine", "chest", "thigh.L", "thigh.R")), (head, ("neck", "head")))
    ]
    for side in "LR":
        for name, girths in (
            ("upper_arm", ((-0.15, 0.20), (0.0, 0.34), (0.2, 0.334), (0.5, 0.315), (0.8, 0.285), (1.0, 0.265))),
            ("forearm", ((0.0, 0.265), (0.25, 0.275), (0.7, 0.21), (1.0, 0.174))),
            ("hand", ((0.0, 0.175), (0.45, 0.215), (0.8, 0.14), (1.0, 0.06))),
            ("thigh", ((-0.08, 0.50), (0.1, 0.60), (0.5, 0.53), (0.85, 0.41), (1.0, 0.385))),
            ("shin", ((0.0, 0.385), (0.3, 0.378), (0.7, 0.27), (0.95, 0.222), (1.0, 0.225))),
        ):
            out.append((x + 0.3, _along(*at[f"{name}.{side}"], girths), (f"{name}.{side}",)))
        ankle, ball = (np.array(end) for end in at[f"foot.{side}"])
        foot = [
            (ankle + np.array([0.0, 0.06, -0.035]), (0.02, 0.02)),
            (ankle + np.array([0.0, 0.04, -0.035]), (0.032, 0.036)),
            (ankle + np.array([0.0, -0.02, -0.02]), (0.035, 0.045)),
            (ball, (0.048, 0.03)),
            (ball + np.array([0.0, -0.07, -0.012]), (0.035, 0.012)),
        ]
        out.append((x, foot, (f"foot.{side}",)))
    return out


def skin(ob: bpy.types.Object, arms_down: float = 0.0, scale: float = 1.0) -> bpy.types.Object:
    """Closed parts that overlap, each vertex with the nearest of its part's bones."""
    points, faces, owners = [], [], []
    for across, rings, own in sections(arms_down):
        start = len(points)
        for k, (middle, (wide, deep)) in enumerate(rings):
            near, far = rings[max(k - 1, 0)][0], rings[min(k + 1, len(rings) - 1)][0]
            along = (far - near) / np.linalg.norm(far - near)
            u = across - (across @ along) * along
            u /= np.linalg.norm(u)
            v = np.cross(along, u)
            turn = 2.0 * math.pi * np.arange(SIDES) / SIDES
            points += list(middle + wide * np.cos(turn)[:, None] * u + deep * np.sin(turn)[:, None] * v)
        for k in range(len(rings) - 1):
            for s in range(SIDES):
                a, b = start + k * SIDES + s, start + k * SIDES + (s + 1) % SIDES
                faces.append((a, b, b + SIDES, a + SIDES))
        faces.append(tuple(range(start + SIDES - 1, start - 1, -1)))
        faces.append(tuple(range(len(points) - SIDES, len(points))))
        owners += [own] * (len(points) - start)
    mesh = bpy.data.meshes.new("Man skin")
    mesh.from_pydata([tuple(scale * p) for p in points], [], faces)
    body = bpy.data.objects.new("Man skin", mesh)
    bpy.context.scene.collection.objects.link(body)
    body.parent = ob
    body.modifiers.new("Armature", "ARMATURE").object = ob
    _weigh(body, np.array(points), owners, arms_down)
    return body


def _weigh(body: bpy.types.Object, points: np.ndarray, owners: list[tuple[str, ...]], arms_down: float) -> None:
    """Each vertex to the nearest of its part's bones; before a limb's joint to its parent's, at it half to each."""
    rows = bones(arms_down)
    index = {row[0]: k for k, row in enumerate(rows)}
    gaps, parts = [], []
    for name, _, head, tail in rows:
        head, way = np.array(head, dtype=float), np.subtract(tail, head)
        parts.append((points - head) @ way / (way @ way))
        mine = np.array([name in own for own in owners])
        off = np.linalg.norm(points - head - np.clip(parts[-1], 0.0, 1.0)[:, None] * way, axis=1)
        gaps.append(np.where(mine, off, np.inf))
    weights = np.zeros((len(rows), len(points)))
    for i, k in enumerate(np.argmin(gaps, axis=0)):
        above = rows[k][1]
        whole = len(owners[i]) > 1 or rows[k][0].startswith("foot")  # a heel is behind its joint, and the foot's
        own = 1.0 if whole or parts[k][i] > 0.03 else 0.5 if parts[k][i] > -0.03 else 0.0
        weights[k, i] = own
        if own < 1.0:
            weights[index[above], i] = 1.0 - own
    for k, (name, *_) in enumerate(rows):
        group = body.vertex_groups.new(name=name)
        for i in np.flatnonzero(weights[k] > 0.0):
            group.add([int(i)], float(weights[k, i]), "REPLACE")
