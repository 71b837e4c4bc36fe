"""Random rigs: simulated or refused with a reason, never a traceback, and left as they were found.

Some in every run; thousands by `python3 dev.py rigs wild`.
"""

from __future__ import annotations

import hypothesis
from hypothesis import strategies

import wild

RIGS = 20


_endings: list[str] = []


@hypothesis.settings(
    max_examples=RIGS,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    # Another seed is another rig, not a simpler one.
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
)
@hypothesis.given(seed=strategies.integers(0, 10**6))
def test_wild_rigs(seed):
    ending = wild.trial(seed)
    print(f"seed {seed}: {ending}")
    _endings.append(ending)


def test_most_wild_rigs_are_simulated():
    """A refusal is an ending too, but one that refuses all would pass the trial."""
    simulated = [ending for ending in _endings if not ending.startswith("refused")]
    assert len(simulated) >= RIGS // 2
    assert "calm" in simulated and "simulated" in simulated
