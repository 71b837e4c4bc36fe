"""Queue of long Live simulations, run in slices by a timer so that the window stays responsive.

Owns the running jobs, one for each shot, and when they restart. Must not know what a simulation does.

A job never pushes an undo step and never waits for the mouse. If it is cancelled half way, the keys written so far are
stamped as unfinished (`stamps`), and `live` restarts it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass

import bpy

from ...engine import HeftError
from .. import events
from ..blender import redraw_views
from ..memory import LOAD, REMOVE, Memo, Value
from ..read.source_cache import Step

# The length of one slice [s].
SLICE = 0.02
# The longest delay of a visible result by further changes: after it the running job is finished first [s].
PATIENCE = 1.0
# How often the progress is drawn [s].
DRAWN_EVERY = 0.5

Begin = Callable[[], Generator[Step, None, object]]


@dataclass(eq=False)
class Job:
    """One shot's running simulation.

    leader      session_uid of the shot's leader
    begin       makes the generator, when the job is started
    since       time of the first change that is not shown yet
    again       True if something has changed since it started: it restarts at its end
    """

    leader: int
    begin: Begin
    since: float
    steps: Generator[Step, None, object] | None = None
    latest: Step | None = None
    again: Begin | None = None

    def close(self) -> None:
        """Close the generator."""
        steps, self.steps = self.steps, None
        if steps is not None:
            # What it would restore may be deleted.
            with events.paused(), suppress(ReferenceError):
                steps.close()


class _Jobs(Memo):
    """Jobs by the leader of their shot. Undo and loading cancel jobs beforehand, because the blocks they refer to may
    be gone afterwards."""

    def drop(self, uids: frozenset[int] | None = None) -> None:
        """Cancel the jobs of these rigs, or all."""
        for uid in [uid for uid in self if uids is None or uid in uids]:
            self.pop(uid).close()


_jobs: Memo[int, Job] = _Jobs("jobs", "rig", (LOAD, REMOVE))
# Time of the last progress redraw [s].
_drawn = Value("last drawing of progress", float)


def start(leader: bpy.types.Object, begin: Begin) -> None:
    """Simulate a shot in slices. A running job is restarted, unless no result was shown for long: then it is finished
    first."""
    job = _jobs.get(leader.session_uid)
    now = time.perf_counter()
    if job is None:
        _jobs[leader.session_uid] = Job(leader.session_uid, begin, now)
    elif now - job.since < PATIENCE:
        job.close()
        job.begin, job.latest = begin, None
    else:
        job.again = begin
    go_on()


def go_on() -> None:
    """Start the timer for remaining jobs: Blender drops a timer that raised an error, which may concern one shot
    alone."""
    if _jobs and not bpy.app.background and not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=0.0, persistent=True)


def of(leader: bpy.types.Object) -> Job | None:
    """The job of the shot with this leader."""
    return _jobs.get(leader.session_uid)


def any_left() -> bool:
    """True if any job is running."""
    return bool(_jobs)


def cancel(leader: bpy.types.Object | None = None) -> bool:
    """Cancel a shot's job, or all. Returns True if there was one."""
    chosen = list(_jobs) if leader is None else [leader.session_uid]
    found = [_jobs.pop(uid) for uid in chosen if uid in _jobs]
    for job in found:
        job.close()
    return bool(found)


def finish(leader: bpy.types.Object) -> None:
    """Run a shot's job to its end now."""
    while leader.session_uid in _jobs:
        _work(_jobs[leader.session_uid], 3600.0)


def tick() -> float | None:
    """Timer callback: one slice of the first job. Returns the delay until the next call [s]."""
    if not _jobs:
        return None
    if bpy.app.is_job_running("RENDER"):
        # A render reads the blocks that would be written.
        return 0.2
    job = next(iter(_jobs.values()))
    waits = _work(job, SLICE)
    _draw(not _jobs)
    if not _jobs:
        return None
    return 0.004 if waits else 0.0


def _work(job: Job, seconds: float) -> bool:
    """Work on a job. Returns True if it waits for a background computation."""
    end = time.perf_counter() + seconds
    try:
        with events.paused():
            if job.steps is None:
                job.steps = job.begin()
            while True:
                job.latest = next(job.steps)
                if time.perf_counter() >= end:
                    return False
                if job.latest.waits:
                    if seconds <= SLICE:
                        return True
                    time.sleep(0.001)
    except StopIteration:
        _end(job)
    except HeftError as error:
        _end(job)
        events.job_failed(job.leader, str(error))
    except ReferenceError:
        # The armature or something it needs was deleted meanwhile.
        _end(job, False)
    except BaseException:
        _end(job, False)
        raise
    return False


def _end(job: Job, goes_on: bool = True) -> None:
    if _jobs.get(job.leader) is job:
        del _jobs[job.leader]
    job.steps = None
    if goes_on and job.again is not None:
        _jobs[job.leader] = Job(job.leader, job.again, time.perf_counter())
    # Look for changes that had no callback.
    events.job_ended()


def _draw(ended: bool) -> None:
    """Redraw the sidebars now and then, and at the end everything that shows the result."""
    if not ended and time.perf_counter() - _drawn.value < DRAWN_EVERY:
        return
    _drawn.value = time.perf_counter()
    if ended:
        redraw_views.views()
    else:
        redraw_views.views("UI")
