"""Simple meshes bound to a rig: capsules, ellipsoids, links, tubes, gathered into one skinned object.

Must not know any single scene.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import bpy
from mathutils import Vector

from . import stage

SIDES = 16
RINGS = 4  # of a half sphere


class Skin:
    """Collects parts, each following bones by weight, and binds them to the rig as one mesh."""

    def __init__(self, rig: bpy.types.Object):
        self.rig = rig
        self.points: list[Vector] = []
        self.faces: list[tuple[int, ...]] = []
        self.face_materials: list[str] = []
        self.flat: set[int] = set()
        self.weights: dict[str, list[tuple[int, float]]] = {}

    def surface(
        self,
        rings: list[list[Vector]],
        materials: list[str] | str,
        weigh: Callable[[int], dict[str, float]],
    ) -> None:
        """A closed skin over rings of points; the first and last ring are capped.

        A list of materials has one a ring; `weigh` gives a ring's bones and weights.
        """
        if isinstance(materials, str):
            materials = [materials] * len(rings)
        start, sides = len(self.points), len(rings[0])
        for r, points in enumerate(rings):
            for point in points:
                for bone, weight in weigh(r).items():
                    self.weights.setdefault(bone, []).append((len(self.points), weight))
                self.points.append(point)
        for r in range(len(rings) - 1):
            for s in range(sides):
                a, b = start + r * sides + s, start + r * sides + (s + 1) % sides
                self._face((a, b, b + sides, a + sides), materials[r])
        self._face(tuple(range(start + sides - 1, start - 1, -1)), materials[0])
        last = start + (len(rings) - 1) * sides
        self._face(tuple(range(last, last + sides)), materials[-1])

    def _face(self, corners: tuple[int, ...], material: str) -> None:
        self.faces.append(corners)
        self.face_materials.append(material)

    def capsule(self, bone: str, radius: float, end_radius: float | None = None, material: str = "clay") -> None:
        """A tapered capsule from the bone's head to its tail."""
        rest = self.rig.data.bones[bone]
        self.capsule_between(bone, rest.head_local, rest.tail_local, radius, end_radius, material)

    def capsule_between(
        self, bone: str, head: Vector, tail: Vector, radius: float, end_radius: float | None = None,
        material: str = "clay",
    ) -> None:  # fmt: skip
        head, tail = Vector(head), Vector(tail)
        end_radius = radius if end_radius is None else end_radius
        axis = (tail - head).normalized()
        rings = [ring(head, axis, -radius * math.cos(a), radius * math.sin(a)) for a in _quarter()]
        rings += [ring(tail, axis, end_radius * math.sin(a), end_radius * math.cos(a)) for a in _quarter(down=True)]
        self.surface(rings, material, lambda _: {bone: 1.0})

    def ellipsoid(self, bone: str, center: Vector, radii: tuple[float, float, float], material: str = "clay") -> None:
        """An ellipsoid along the armature's axes."""
        center, rings = Vector(center), []
        for i in range(4 * RINGS - 1):
            angle = math.pi * (i + 1) / (4 * RINGS)
            unit = ring(Vector(), Vector((0, 0, 1)), -math.cos(angle), math.sin(angle))
            rings.append([center + Vector(p * r for p, r in zip(point, radii, strict=True)) for point in unit])
        self.surface(rings, material, lambda _: {bone: 1.0})

    def box(self, bone: str, center: Vector, size: tuple[float, float, float], material: str = "clay") -> None:
        """A box along the armature's axes, flat shaded."""
        corners = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
        rings = [
            [Vector(center) + Vector((x * size[0], y * size[1], z * size[2])) / 2 for x, y in corners] for z in (-1, 1)
        ]
        first = len(self.faces)
        self.surface(rings, material, lambda _: {bone: 1.0})
        self.flat.update(range(first, len(self.faces)))

    def link(self, bone: str, length: float, width: float, radius: float, across: bool, material: str) -> None:
        """An oval ring of a chain, along the bone; `across` turns it by a quarter."""
        rest = self.rig.data.bones[bone]
        middle = (rest.head_local + rest.tail_local) / 2
        along = (rest.tail_local - rest.head_local).normalized()
        side = Vector((0, 1, 0)) if across else Vector((1, 0, 0))
        straight, steps, start = (length - width) / 2, 32, len(self.points)
        normal = along.cross(side)
        for i in range(steps):
            angle = 2 * math.pi * i / steps
            out = side * math.cos(angle) + along * math.sin(angle)
            center = middle + out * (width / 2) + along * math.copysign(straight, math.sin(angle))
            for s in range(10):
                turn = 2 * math.pi * s / 10
                self.weights.setdefault(bone, []).append((len(self.points), 1.0))
                self.points.append(center + (out * math.cos(turn) + normal * math.sin(turn)) * radius)
        for i in range(steps):
            for s in range(10):
                a, b = start + i * 10, start + (i + 1) % steps * 10
                t = (s + 1) % 10
                self._face((a + t, b + t, b + s, a + s), material)

    def bind(self, name: str) -> bpy.types.Object:
        """One mesh object, child of the rig, with vertex groups and an Armature modifier."""
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(self.points, [], self.faces)
        names = list(dict.fromkeys(self.face_materials))
        for material in names:
            mesh.materials.append(stage.material(material))
        for polygon, material in zip(mesh.polygons, self.face_materials, strict=True):
            polygon.material_index = names.index(material)
            polygon.use_smooth = polygon.index not in self.flat
        ob = bpy.data.objects.new(name, mesh)
        bpy.context.scene.collection.objects.link(ob)
        ob.parent = self.rig
        for bone, entries in self.weights.items():
            group = ob.vertex_groups.new(name=bone)
            for index, weight in entries:
                group.add([index], weight, "REPLACE")
        ob.modifiers.new("Armature", "ARMATURE").object = self.rig
        return ob


def _quarter(down: bool = False) -> list[float]:
    """Angles from the pole to the equator; down: from the equator to the pole. The pole itself stays open."""
    steps = [math.pi / 2 * (i + 1) / (RINGS + 1) for i in range(RINGS)]
    return [0.0, *steps] if down else [*steps, math.pi / 2]


def ring(center: Vector, axis: Vector, along: float, radius: float) -> list[Vector]:
    """A circle about the axis, `along` it from the centre."""
    # Not axis.orthogonal(): it jumps from ring to ring and twists the skin.
    across = Vector((1, 0, 0)) if abs(axis.x) < 0.9 else Vector((0, 1, 0))
    side = across.cross(axis).normalized()
    other = axis.cross(side)
    angles = [2 * math.pi * s / SIDES for s in range(SIDES)]
    return [center + axis * along + (side * math.cos(a) + other * math.sin(a)) * radius for a in angles]
