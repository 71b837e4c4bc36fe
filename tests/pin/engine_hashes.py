"""Write the hashes of the forty engine scenes (`tests/engine/pinned_scenes.py`) as JSON.

python tests/pin/engine_hashes.py FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "engine")]

import pinned_scenes  # noqa: E402  isort: skip

if __name__ == "__main__":
    hashes = {name: pinned_scenes.digest_of(pinned_scenes.results_of(name)) for name in pinned_scenes.names()}
    Path(sys.argv[1]).write_text(json.dumps(hashes, indent=1))
