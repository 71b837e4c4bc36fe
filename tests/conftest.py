"""What holds for every suite: a run inside Blender's module ends when its tests end."""

from __future__ import annotations

import os
import sys

import pytest

_status = 0


def pytest_sessionfinish(session, exitstatus) -> None:
    global _status
    _status = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config) -> None:
    """Blender as a module may crash (4.2) or wait for ever (4.5) on leaving Python, long after the last
    report is written: leave before its clean-up, with pytest's own status."""
    if "bpy" in sys.modules:
        config.get_terminal_writer().flush()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_status)
