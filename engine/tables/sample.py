"""A sample of the target curves: the keys' pose and rates of a body at one time.

Owns its columns, which are part of the tables with samples (`Aim`).
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
