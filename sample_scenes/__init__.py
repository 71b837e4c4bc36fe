"""Sample scenes: one capability each, a small .blend and the script that builds it.

Rebuild all with `python3 dev.py scenes`. Nothing here is downloaded.
"""

# Every scene: a module of this name with build(), and NAME.blend beside it.
SCENES = (
    "chain",
    "tail",
    "arm",
    "mannequin",
    "block",
    "ball_hits_chain",
    "obstructed",
    "ball_hits_walker",
    "mace",
    "carry_box",
    "two_bump",
    "net",
    "ymca",
    "conductor",
    "straight_and_bent",
    "catch",
)
