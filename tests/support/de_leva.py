"""de Leva's table of the body segments of people, read from the data folder next to the project."""

from __future__ import annotations

from pathlib import Path

import numpy as np

TABLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "biomech"


def de_leva() -> dict[str, np.ndarray]:
    """Mass, centre and radii of gyration by segment, as means of men and women."""
    out = {}
    for line in zip(
        *((TABLE / f"BSP{who}_ZdeLeva.txt").read_text().splitlines()[1:] for who in ("male", "female")), strict=True
    ):
        rows = [each.split("\t") for each in line]
        assert rows[0][0].strip() == rows[1][0].strip()
        out[rows[0][0].strip()] = np.mean([[float(x) for x in row[2:]] for row in rows], axis=0)
    return out
