"""Build, bake and picture the sample scenes. Run by dev.py inside bpy:

python -m sample_scenes build [NAME…]     write NAME.blend; without names also the panel's sample character
python -m sample_scenes picture [NAME…]   all that README and manual show, or these scenes and figures of it
python -m sample_scenes demo [NAME]       bake a scene into out/, with a picture
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import bpy

from . import SCENES, character, figures, picture, stage

HERE = Path(__file__).resolve().parent


def build(name: str) -> None:
    stage.load_addon()
    importlib.import_module(f"sample_scenes.{name}").build()
    path = HERE / f"{name}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
    print(f"{path.relative_to(stage.ROOT)}  {path.stat().st_size / 1000:.0f} kB")


def bake(name: str, path: Path) -> tuple[int, ...]:
    """Bake the scene, with a ghost of the source; the frames worth a look."""
    stage.load_addon()
    module = importlib.import_module(f"sample_scenes.{name}")
    picture.bake(module.build())
    picture.save(path)
    return module.PICTURE_FRAMES


def main(command: str, *names: str) -> None:
    drawn = {figure.name: figure for figure in (*figures.FIGURES, *figures.SCREENSHOTS)}
    known = [*SCENES, *drawn] if command == "picture" else SCENES
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"No sample scene '{unknown[0]}': there are {', '.join(known)}.")
    out = stage.ROOT / "out"
    if command == "build":
        for name in names or SCENES:
            build(name)
        if not names:
            character.write()
    elif command == "picture":
        for name in names or known:
            if name in SCENES:
                frames = bake(name, out / f"{name}.blend")
                picture.strip(out / f"{name}.blend", frames, HERE / "pictures" / f"{name}.png")
                picture.movie(out / f"{name}.blend", HERE / "pictures" / f"{name}.gif")
            elif isinstance(drawn[name], figures.Figure):
                figures.make(drawn[name], out / "figures")
            else:
                figures.make_screenshots(drawn[name])
    elif command == "demo":
        name = names[0] if names else "mannequin"
        blend, image = out / f"{name}.blend", out / f"{name}.png"
        frames = bake(name, blend)
        picture.strip(blend, frames, image)
        print(f"baked   {blend.relative_to(stage.ROOT)}\npicture {image.relative_to(stage.ROOT)}")
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
# bpy 4.2 as a module dies on leaving with classes registered, after the work is done: leave without its farewell.
sys.stdout.flush()
os._exit(0)
