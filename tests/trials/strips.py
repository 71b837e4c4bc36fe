"""Strips of pictures of what a trial measured: the source as a grey figure, the result in colour, some moments side by
side, seen from the side that shows most. Lines from joint to joint, drawn by Pillow: no renderer, no window.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

SIZE = (260, 420)  # [pixels] of one moment
PAPER, GROUND = (244, 246, 248), (200, 205, 212)
SOURCE, RESULT, BALL = (176, 184, 196), (214, 96, 40), (60, 110, 190)


def draw(
    path: Path,
    parents: np.ndarray,
    source: np.ndarray,
    result: np.ndarray,
    frames: Sequence[int],
    captions: Sequence[str],
    across: np.ndarray,
    ground: float,
    ball: tuple[np.ndarray, float] | None = None,
) -> None:
    """parents (n,); source and result (frames, n, 3) places of joints [m]; across (3,) the direction that goes to the
    right in the picture; ground: its height [m]; ball: its places (frames, 3) and radius."""
    tall = float(np.ptp(source[frames, :, 2])) + 0.35
    scale = SIZE[1] / max(tall, 1.0)
    sheet = Image.new("RGB", (SIZE[0] * len(frames), SIZE[1]), PAPER)
    pen = ImageDraw.Draw(sheet)
    for k, (frame, caption) in enumerate(zip(frames, captions, strict=True)):
        middle = source[frame].mean(axis=0)

        def spot(point, k=k, middle=middle):
            x = (k + 0.5) * SIZE[0] + scale * float((point - middle) @ across)
            return x, SIZE[1] - 20 - scale * float(point[2] - ground)

        pen.line([(k * SIZE[0], SIZE[1] - 20), ((k + 1) * SIZE[0], SIZE[1] - 20)], fill=GROUND, width=2)
        for joints, color, width in ((source, SOURCE, 7), (result, RESULT, 4)):
            for i, parent in enumerate(parents):
                if parent >= 0:
                    pen.line([spot(joints[frame, parent]), spot(joints[frame, i])], fill=color, width=width)
        if ball is not None:
            x, y = spot(ball[0][frame])
            wide = scale * ball[1]
            pen.ellipse([x - wide, y - wide, x + wide, y + wide], outline=BALL, width=3)
        pen.text((k * SIZE[0] + 6, 4), caption, fill=(40, 40, 40))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path)
