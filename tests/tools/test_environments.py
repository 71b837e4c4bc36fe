"""What a machine lacks is named with the way to get it; environments are never mistaken for one another."""

from __future__ import annotations

import pytest

from tools import environments


def test_a_missing_python_is_named_with_the_way_to_get_it(monkeypatch):
    monkeypatch.delenv("HEFT_PYTHON", raising=False)
    with pytest.raises(environments.Missing, match=r"No Python 3\.99 here.*pyenv install 3\.99"):
        environments.find_python("3.99")


def test_missing_system_libraries_are_named_with_the_command(monkeypatch):
    monkeypatch.setattr(environments, "missing_system_libraries", lambda env: ["libSM.so.6"])
    monkeypatch.setattr(environments.sys, "platform", "linux")
    monkeypatch.setattr(environments.os, "geteuid", lambda: 1000)
    with pytest.raises(environments.Missing, match=r"(?s)lacks libSM\.so\.6.*sudo apt-get install .*libsm6"):
        environments.ensure_system_libraries(environments.BARE)


def test_environments_are_named_after_their_content():
    one, other = environments.Env("blender", ("bpy==5.0.1",)), environments.Env("blender", ("bpy==4.5.15",))
    assert one.folder != other.folder
    assert one.folder == environments.Env("blender", ("bpy==5.0.1",)).folder
