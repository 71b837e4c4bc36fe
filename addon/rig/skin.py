"""Skin of each bone: vertices by weight, and volumes, cached until meshes change.

Owns reading vertex weights, and the cache. Must not know shapes or physics.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np

from ...engine.anatomy import skin_volumes
from ..blender import sample_poses
from ..memory import LOAD, REMOVE, REREAD, UNDO, Memo

# More vertices of a mesh than this are thinned out: a shape needs no more.
MOST_VERTICES = 20_000
# The number of bones of a vertex that count, by weight.
BONES = 4
KEPT = 64  # volumes of skins


@dataclass(frozen=True, eq=False)
class Skin:
    """points: (k, 3) vertices by the bone with most of their weight; names: of all bones; pieces: the meshes with their
    weights. At rest in armature space."""

    points: dict[str, np.ndarray]
    names: tuple[str, ...]
    pieces: tuple[skin_volumes.Piece, ...]

    @cached_property
    def holds(self) -> skin_volumes.Moments:
        """The volume moments of each bone inside the meshes; computed on first use."""
        return _fill(self.pieces, len(self.names))


_kept: Memo[int, tuple[tuple, Skin]] = Memo("skins", "rig", (LOAD, UNDO, REREAD, REMOVE))
# Filling a skin is slow and depends on nothing but the skin.
_filled: Memo[tuple, skin_volumes.Moments] = Memo("volumes of skins", "content", most=KEPT)


def meshes_of(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """The mesh objects in any scene that the armature deforms."""
    return [ob for ob in bpy.data.objects if ob.type == "MESH" and rig in skinned_by(ob) and ob.users_scene]


def skinned_by(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The armatures that deform a mesh object."""
    found = [modifier.object for modifier in ob.modifiers if modifier.type == "ARMATURE" and modifier.object]
    if ob.parent is not None and ob.parent.type == "ARMATURE" and ob.parent_type == "ARMATURE":
        found.append(ob.parent)
    return found


def fingerprint(rig: bpy.types.Object) -> tuple:
    """The inputs of the skin, fast enough for every change of a slider."""
    return tuple((ob.name_full, mesh_sum(ob.data), len(ob.vertex_groups), _stack(ob)) for ob in meshes_of(rig))


def mesh_sum(mesh: bpy.types.Mesh) -> int:
    """A checksum of a mesh's vertices and faces."""
    co = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", co)
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return zlib.crc32(corners, zlib.crc32(co))


def read(rig: bpy.types.Object, scene: bpy.types.Scene) -> Skin:
    """The skin of a rig."""
    now = fingerprint(rig)
    kept = _kept.get(rig.session_uid)
    if kept is None or kept[0] != now:
        names = tuple(bone.name for bone in rig.data.bones)
        pieces = [_read(rig, ob, scene, names) for ob in meshes_of(rig)]
        pieces = tuple(piece for piece in pieces if piece is not None)
        kept = (now, Skin(_points(pieces, names), names, pieces))
        _kept[rig.session_uid] = kept
    return kept[1]


def points(rig: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, np.ndarray]:
    """(k, 3) vertices by the bone with most of their weight, at rest in armature space."""
    return read(rig, scene).points


def _points(pieces: Sequence[skin_volumes.Piece], names: tuple[str, ...]) -> dict[str, np.ndarray]:
    found: dict[str, list[np.ndarray]] = {}
    for piece in pieces:
        thin = slice(None, None, max(1, -(-len(piece.vertices) // MOST_VERTICES)))
        spots, bones, held = piece.vertices[thin], piece.bones[thin, 0], piece.weights[thin, 0] > 0.0
        for bone in np.unique(bones[held]):
            found.setdefault(names[bone], []).append(spots[held & (bones == bone)])
    return {bone: np.concatenate(parts) for bone, parts in found.items()}


def _fill(pieces: Sequence[skin_volumes.Piece], count: int) -> skin_volumes.Moments:
    """The volume moments of the pieces, cached by their content."""
    arrays = [np.ascontiguousarray(a) for p in pieces for a in (p.vertices, p.triangles, p.bones, p.weights)]
    key = (count, *(zlib.crc32(array) for array in arrays), *(len(array) for array in arrays))
    return _filled.remember(key, lambda: skin_volumes.fill(pieces, count))


def _stack(ob: bpy.types.Object) -> tuple[str, ...]:
    """The modifiers that build the mesh before the armature deforms it."""
    names = []
    for modifier in ob.modifiers:
        if modifier.type == "ARMATURE":
            break
        if modifier.show_viewport:
            names.append(modifier.type)
    return tuple(names)


def _read(rig, ob: bpy.types.Object, scene: bpy.types.Scene, names: tuple[str, ...]) -> skin_volumes.Piece | None:
    """One mesh, in armature space; for each vertex the bones by falling weight."""
    place = {name: i for i, name in enumerate(names)}
    bones = {group.index: place[group.name] for group in ob.vertex_groups if group.name in place}
    if not bones:
        return None
    to = _to_armature(rig, ob)
    with sample_poses.undeformed_mesh(ob, scene, whole=not _stack(ob)) as mesh:
        vertices, triangles = sample_poses.vertices_of(mesh), sample_poses.triangles_of(mesh)
        index = np.zeros((len(vertices), BONES), dtype=np.int64)
        weights = np.zeros((len(vertices), BONES))
        for i, vertex in enumerate(mesh.vertices):
            entries = [(g.weight, bones[g.group]) for g in vertex.groups if g.weight > 0.0 and g.group in bones]
            entries.sort(reverse=True)
            for k, (weight, bone) in enumerate(entries[:BONES]):
                index[i, k], weights[i, k] = bone, weight
    return skin_volumes.Piece(vertices @ to[:3, :3].T + to[:3, 3], triangles, index, weights)


def _to_armature(rig: bpy.types.Object, ob: bpy.types.Object) -> np.ndarray:
    """(4, 4) from the mesh object's space to the armature's."""
    if ob.parent == rig and ob.parent_type in {"OBJECT", "ARMATURE"}:
        return np.array(ob.matrix_parent_inverse @ ob.matrix_basis, dtype=np.float64)
    inverse = np.linalg.inv(np.array(rig.matrix_world, dtype=np.float64))
    return inverse @ np.array(ob.matrix_world, dtype=np.float64)
