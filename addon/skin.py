"""The skin that follows each bone: which points of the deformed meshes a bone takes along.

Owns reading vertex weights, capped and kept until the meshes change. Must not know
shapes or physics.
"""

from __future__ import annotations

import zlib

import bpy
import numpy as np

from . import sampling, shot

# More vertices of a mesh than this are thinned out: a shape needs no more.
MOST_VERTICES = 20_000

_kept: dict[int, tuple[tuple, dict[str, np.ndarray]]] = {}


def forget(rig: bpy.types.Object | None = None) -> None:
    """Drop what was read of one rig's skin, or of all."""
    if rig is None:
        _kept.clear()
    else:
        _kept.pop(rig.session_uid, None)


def meshes_of(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """The mesh objects in any scene that the armature deforms."""
    return [ob for ob in bpy.data.objects if ob.type == "MESH" and rig in shot.skinned_by(ob) and ob.users_scene]


def fingerprint(rig: bpy.types.Object) -> tuple:
    """What the skin depends on, cheap enough for every change of a slider."""
    return tuple((ob.name_full, mesh_sum(ob.data), len(ob.vertex_groups), _stack(ob)) for ob in meshes_of(rig))


def mesh_sum(mesh: bpy.types.Mesh) -> int:
    """A checksum of where a mesh's vertices are and how its faces join them."""
    co = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", co)
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return zlib.crc32(corners, zlib.crc32(co))


def points(rig: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, np.ndarray]:
    """(k, 3) vertices by the bone that has most of their weight, at rest in armature space."""
    now = fingerprint(rig)
    kept = _kept.get(rig.session_uid)
    if kept is None or kept[0] != now:
        found: dict[str, list[np.ndarray]] = {}
        for ob in meshes_of(rig):
            for bone, spots in _read(rig, ob, scene).items():
                found.setdefault(bone, []).append(spots)
        kept = (now, {bone: np.concatenate(parts) for bone, parts in found.items()})
        _kept[rig.session_uid] = kept
    return kept[1]


def _stack(ob: bpy.types.Object) -> tuple[str, ...]:
    """The modifiers that build the mesh before the armature deforms it."""
    names = []
    for modifier in ob.modifiers:
        if modifier.type == "ARMATURE":
            break
        if modifier.show_viewport:
            names.append(modifier.type)
    return tuple(names)


def _read(rig: bpy.types.Object, ob: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, np.ndarray]:
    """One mesh's vertices by their bone."""
    names = {group.index: group.name for group in ob.vertex_groups if group.name in rig.data.bones}
    if not names:
        return {}
    place = _to_armature(rig, ob)
    with sampling.undeformed_mesh(ob, scene, whole=not _stack(ob)) as mesh:
        chosen = range(0, len(mesh.vertices), max(1, -(-len(mesh.vertices) // MOST_VERTICES)))
        spots: dict[int, list] = {}
        for i in chosen:
            vertex = mesh.vertices[i]
            best = max(
                ((entry.weight, entry.group) for entry in vertex.groups if entry.group in names), default=(0.0, -1)
            )
            if best[0] > 0.0:
                spots.setdefault(best[1], []).append(vertex.co[:])
    return {names[g]: np.array(co) @ place[:3, :3].T + place[:3, 3] for g, co in spots.items()}


def _to_armature(rig: bpy.types.Object, ob: bpy.types.Object) -> np.ndarray:
    """(4, 4) from the mesh object's space to the armature's."""
    if ob.parent == rig and ob.parent_type in {"OBJECT", "ARMATURE"}:
        return np.array(ob.matrix_parent_inverse @ ob.matrix_basis, dtype=np.float64)
    inverse = np.linalg.inv(np.array(rig.matrix_world, dtype=np.float64))
    return inverse @ np.array(ob.matrix_world, dtype=np.float64)
