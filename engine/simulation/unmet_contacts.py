"""Warnings for the user if keys force bodies through one another.

Owns the sentences. Must not know how contacts are given up.
"""

from __future__ import annotations

import numpy as np

from .assemble import Actor, Cast

# How the sentence ends if another setting helps: the panel searches for it.
USE_ASSISTED = "Set Root to Assisted, so that what is in the way can stop the character."
MOST_SPANS = 4  # of frames that are listed


def forced_warnings(cast: Cast, forced: np.ndarray, start: int, actor: Actor) -> tuple[str, ...]:
    """A sentence on what an actor is forced through, or none. forced (frames, n+1): the row of the body that each is
    forced through, −1 for none; start: the actor's first body."""
    mine = forced[:, start + 1 : start + 1 + len(actor.model)]
    frames, bodies = np.nonzero(mine >= 0)
    if not len(frames):
        return ()
    pairs, counts = np.unique(np.column_stack([bodies, mine[frames, bodies]]), axis=0, return_counts=True)
    body, other = pairs[np.argmax(counts)]
    name = f"'{cast.name_of(int(other))}'"
    if cast.is_actor(int(other)):
        name += " of another character"
    spans = spans_of(np.unique(frames) + actor.motion.frame_start)
    return (
        f"Keys force '{actor.model.names[body]}' through {name} on {spans}: joints give way as far as they can, and "
        f"the contact is given up. {USE_ASSISTED}",
    )


def spans_of(frames: np.ndarray) -> str:
    """Ascending frames in words: 'frame 3', 'frames 3–9 and 12'."""
    parts = np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1)
    words = [f"{part[0]}" if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts]
    if len(frames) == 1:
        return f"frame {words[0]}"
    if len(words) > MOST_SPANS:
        return f"frames {', '.join(words[:MOST_SPANS])} and more"
    return "frames " + (" and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0])
