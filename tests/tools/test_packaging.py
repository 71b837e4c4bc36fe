"""Zips: which Blender takes which."""

from __future__ import annotations

import pytest

from tools import packaging


def test_zips_never_fight_over_a_blender():
    """Two zips of one platform are apart by Blender version, or, for 5.2, by the Python of their wheels."""

    def number(version):
        return tuple(int(part) for part in (version or "99.0.0").split("."))

    targets = packaging.zips()
    for one in targets:
        for other in targets:
            if one is other or one.platform != other.platform:
                continue
            apart = number(one.blender_max) <= number(other.blender_min)
            apart = apart or number(other.blender_max) <= number(one.blender_min)
            assert apart or {one.python_version, other.python_version} == {"3.13", "3.14"}


def test_a_manifest_is_narrowed_to_its_zip():
    tomllib = pytest.importorskip("tomllib")
    target = packaging.Zip("linux-x64", "3.11", "4.2.0", "5.1.0", ("numba==0.68.1",))
    manifest = tomllib.loads(packaging.manifest_text(target, ["numba-0.68.1-cp311.whl"]))
    assert manifest["blender_version_min"] == "4.2.0"
    assert manifest["blender_version_max"] == "5.1.0"
    assert manifest["platforms"] == ["linux-x64"]
    assert manifest["wheels"] == ["./wheels/numba-0.68.1-cp311.whl"]
    assert manifest["id"] == "heft"
    assert set(manifest["permissions"]) == {"files"}
