"""Who is on time: On Time beside S2's torques, hand-tuned gains and gains of the single link (S2 Fig. 7 and 8).

Prints a table and draws the right shoulder's way through both scripts into out/on_time.svg (`dev.py bench on_time`).
Ends with 1 if On Time misses a key.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "engine")]

import numpy as np  # noqa: E402

import engine  # noqa: E402
from comparison import FPS, LAWS, ON_ITS_WAY, Outcome, play  # noqa: E402
from naive import angle_between  # noqa: E402
from performer import SCRIPTS, SWINGS  # noqa: E402

POSE_LIMIT, TIMING_LIMIT = 0.1, 1.0 / 24.0  # [°], a frame [s]
SHOWN = "right upper arm"
COLORS = dict(zip(LAWS, ("#1b7837", "#2166ac", "#b2182b", "#e08214"), strict=True))
WIDTH, HEIGHT, MARGIN = 900, 260, 50


def table(outcomes: dict[str, dict[str, Outcome]]) -> bool:
    """Prints it; returns whether On Time met every key."""
    good = True
    print(f"{'':<12}{'':<28}{'worst pose error':>18}{'worst timing error':>21}{'late':>12}")
    for name, laws in outcomes.items():
        for law, outcome in laws.items():
            pose, timing, bound = outcome.summary()
            moving = int(np.isfinite(outcome.timings).sum())
            mark = "> " if bound else ""
            late = f"{outcome.late.sum()} of {moving}"
            print(f"{name:<12}{law:<28}{pose:>16.2g} °{mark + f'{timing:.2g} s':>21}{late:>12}")
            if law == LAWS[0]:
                good = good and pose <= POSE_LIMIT and timing <= TIMING_LIMIT
    print(
        "pose: when the key is due. timing: when nine tenths of the way to a key are gone, against when they should;\n"
        "late: of the keys a joint moves to, those of which they were not gone when the key was due."
    )
    return good


def swings() -> None:
    """S2 Fig. 1: the same key, the elbow straight and bent; nothing is changed but what is tuned by itself."""
    runs = {name: play(script, SWINGS["straight"]) for name, script in SWINGS.items()}
    print(f"\n{'the shoulder, swung forward 90 ° in a second':<48}{'straight':>14}{'bent':>14}")
    for law in LAWS:
        poses, times = [], []
        for model, motion, outcomes in runs.values():
            k = list(motion.keys.bodies).index(model.index(SHOWN))
            poses.append(f"{np.degrees(outcomes[law].poses[k]):.2g} °")
            mark = "> " if outcomes[law].late[k] else ""
            times.append(f"{mark}{ON_ITS_WAY + outcomes[law].timings[k]:.3f} s")
        print(f"{law:<28}{'off at the key':>20}{poses[0]:>14}{poses[1]:>14}")
        print(f"{'':<28}{'nine tenths gone at':>20}{times[0]:>14}{times[1]:>14}")


def draw(runs: dict) -> Path:
    """A panel a script: how far the shoulder is from where it began."""
    parts = []
    for row, (name, (model, motion, outcomes)) in enumerate(runs.items()):
        body = model.index(SHOWN)
        parts.append(f'<g transform="translate({MARGIN} {MARGIN + row * (HEIGHT + MARGIN)})">')
        parts += _panel(name, motion, body, {law: outcome.rotations[:, body] for law, outcome in outcomes.items()})
        parts.append("</g>")
    for k, law in enumerate(LAWS):
        parts.append(f'<text x="{MARGIN + 220 * k}" y="24" fill="{COLORS[law]}">{law}</text>')
    height = len(runs) * (HEIGHT + MARGIN) + MARGIN
    size = f'width="{WIDTH + 2 * MARGIN}" height="{height}"'
    path = ROOT / "out" / "on_time.svg"
    path.parent.mkdir(exist_ok=True)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="14">'
    path.write_text("\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"]), "utf-8")
    return path


def _panel(name: str, motion: engine.Motion, body: int, ways: dict[str, np.ndarray]) -> list[str]:
    start, mine = motion.rotations[0, body], np.asarray(motion.keys.bodies) == body
    last = float(motion.keys.frames.max())
    top = max(np.degrees(angle_between(np.broadcast_to(start, way.shape), way)).max() for way in ways.values())

    def spot(frame: float, angle: float) -> tuple[float, float]:
        return WIDTH * frame / last, HEIGHT * (1.0 - angle / top)

    title = f"{name}: {SHOWN}, degrees from where it began (0 to {top:.0f}), over {last / FPS:g} s"
    parts = [f'<text x="0" y="-8">{title}</text>']
    parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>')
    for law, way in ways.items():
        angles = np.degrees(angle_between(np.broadcast_to(start, way.shape), way))[: int(last) + 1]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (spot(f, a) for f, a in enumerate(angles)))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLORS[law]}" stroke-width="2"/>')
    for frame, turn in zip(motion.keys.frames[mine], motion.keys.rotations[mine], strict=True):
        x, y = spot(frame, float(np.degrees(angle_between(start, turn))))
        parts.append(f'<line x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{HEIGHT}" stroke="#ccc" stroke-dasharray="4"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="black"/>')
    return parts


def main() -> int:
    runs = {name: play(script) for name, script in SCRIPTS.items()}
    good = table({name: outcomes for name, (_, _, outcomes) in runs.items()})
    swings()
    print(f"\ndrawn: {draw(runs).relative_to(ROOT)}")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
