"""A sample of the target curves: what the keys ask of a body at one instant.

Owns its columns, which stand in the tables of those who keep samples (`Aim`).
"""

from __future__ import annotations

from ..compile.columns import Columns

# Columns of a sample (see `motion.evaluate`)
columns = Columns()
VALUE = columns(4)
RATE = columns(3)
ANCHOR = columns(3)
ANCHOR_RATE = columns(3)
COLUMNS = columns.count
