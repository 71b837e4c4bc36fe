"""Pictures of baked scenes: the source as a ghost, the result in colour; strips, sheets and moving pictures of them.

Rendering happens in a child process: without EGL, Workbench aborts the process, and
Cycles takes over. Must not know any single scene or figure.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from . import stage

if TYPE_CHECKING:
    from PIL import Image

CYCLES_SAMPLES = 16
GHOST_THINNER = 0.004  # [m]
# Workbench's studio: (direction in the camera's view, strength, softness)
AMBIENT = 0.42
LIGHTS = (((-0.45, 0.75, 0.5), 0.95, 0.25), ((0.85, 0.15, 0.5), 0.32, 0.5), ((0.1, -0.4, -0.9), 0.25, 0.6))
# Captions of a sheet's tiles: height of their band and of their letters [pixels], ink and paper.
BAND, LETTERS, INK, PAPER = 22, 13, (52, 60, 74), (244, 246, 248)
GAP = 3  # [pixels] between tiles
MANY = 10  # pictures that move, and are seen too shortly for the finest edges


def bake(rig: bpy.types.Object, ghosts: bool = True) -> None:
    """Bake the shot of a rig through the add-on's operators, with ghosts of its sources."""
    cast = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and ob.heft.enabled]
    for member in cast if ghosts else ():
        add_ghost(member)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.simulate()
    for member in cast:
        bpy.context.view_layer.objects.active = member
        bpy.ops.heft.bake(target="ACTION")


def save(path: Path) -> None:
    """The opened scene, for the process that renders it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)


def add_ghost(rig: bpy.types.Object) -> None:
    """A see-through copy of the rig and its skin that keeps the source action."""
    ghost = rig.copy()
    ghost.name = f"{rig.name} source"
    ghost.heft.enabled = False  # or it would be one more character of the shot, in the same place
    bpy.context.scene.collection.objects.link(ghost)
    ghost.hide_render = ghost.hide_viewport = False
    for child in [child for child in rig.children if child.type == "MESH"]:
        copy = child.copy()
        copy.data = child.data.copy()
        copy.name = f"{child.name} source"
        copy.parent = ghost
        copy.modifiers["Armature"].object = ghost
        # A little thinner than the result, so that it hides inside where the two agree.
        thinner = copy.modifiers.new("Thinner", "DISPLACE")
        thinner.strength, thinner.mid_level = -GHOST_THINNER, 0.0
        make_ghostly(copy)
        bpy.context.scene.collection.objects.link(copy)


def add_trail(ob: bpy.types.Object, frames: Iterable[int]) -> None:
    """See-through copies of an object where it is on these frames."""
    scene, here = bpy.context.scene, bpy.context.scene.frame_current
    for frame in frames:
        scene.frame_set(frame)
        copy = bpy.data.objects.new(f"{ob.name} at {frame}", ob.data.copy())
        copy.matrix_world = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.copy()
        make_ghostly(copy)
        scene.collection.objects.link(copy)
    scene.frame_set(here)


def make_ghostly(ob: bpy.types.Object) -> None:
    for slot in range(len(ob.data.materials)):
        ob.data.materials[slot] = stage.material("ghost", alpha=stage.GHOST_ALPHA)


def render(blends: Sequence[Path], frames: Sequence[int], folder: Path) -> list[list[Path]]:
    """One PNG a frame of each file, by Workbench, or by Cycles where Workbench dies."""
    tiles = [[folder / f"{k}-{frame:04d}.png" for frame in frames] for k in range(len(blends))]
    order = folder / "order.json"
    order.write_text(json.dumps({"blends": [str(b) for b in blends], "frames": list(frames), "folder": str(folder)}))
    for engine in ("BLENDER_WORKBENCH", "CYCLES"):
        command = [sys.executable, "-m", "sample_scenes.picture", engine, str(order)]
        done = subprocess.run(command, cwd=stage.ROOT, capture_output=True, text=True)
        if done.returncode == 0 and all(tile.exists() for row in tiles for tile in row):
            return tiles
        print(f"{engine} gave no picture (exit {done.returncode}).")
    sys.exit(done.stdout + done.stderr)


def strip(blend: Path, frames: tuple[int, ...], target: Path) -> None:
    """Some frames side by side."""
    from PIL import Image  # noqa: PLC0415 - only pictures need Pillow

    with tempfile.TemporaryDirectory() as folder:
        (paths,) = render([blend], frames, Path(folder))
        tiles = [Image.open(tile).convert("RGB") for tile in paths]
        width, height = tiles[0].size
        sheet = Image.new("RGB", (width * len(tiles), height))
        for i, tile in enumerate(tiles):
            sheet.paste(tile, (i * width, 0))
    target.parent.mkdir(parents=True, exist_ok=True)
    sheet.quantize(colors=256, kmeans=2, dither=Image.Dither.NONE).save(target, optimize=True)


def movie(blend: Path, target: Path, step: int = 2, scale: float = 0.6) -> None:
    """Every second frame as a looping GIF."""
    from PIL import Image  # noqa: PLC0415 - only pictures need Pillow

    scene = bpy.context.scene
    frames = list(range(scene.frame_start, scene.frame_end + 1, step))
    with tempfile.TemporaryDirectory() as folder:
        (paths,) = render([blend], frames, Path(folder))
        tiles = [Image.open(tile).convert("RGB") for tile in paths]
        size = tuple(round(side * scale) for side in tiles[0].size)
        tiles = [tile.resize(size, Image.Resampling.LANCZOS) for tile in tiles]
        palette = tiles[len(tiles) // 2].quantize(colors=96, kmeans=2)
        tiles = [tile.quantize(palette=palette, dither=Image.Dither.NONE) for tile in tiles]
    target.parent.mkdir(parents=True, exist_ok=True)
    duration = round(1000 * step / scene.render.fps / 10) * 10
    tiles[0].save(target, save_all=True, append_images=tiles[1:], duration=duration, loop=0, optimize=True)


def sheet(tiles: Sequence[Image.Image], captions: Sequence[str], columns: int) -> Image.Image:
    """Tiles in rows, each below its caption; a caption of nothing has no band."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 - only pictures need Pillow

    width, height = tiles[0].size
    band = BAND if any(captions) else 0
    rows = -(-len(tiles) // columns)
    size = (columns * (width + GAP) - GAP, rows * (height + band + GAP) - GAP)
    paper = Image.new("RGB", size, PAPER)
    pen, font = ImageDraw.Draw(paper), ImageFont.load_default(LETTERS)
    for i, (tile, caption) in enumerate(zip(tiles, captions, strict=True)):
        x, y = (i % columns) * (width + GAP), (i // columns) * (height + band + GAP)
        pen.text((x + width / 2, y + band / 2), caption, fill=INK, font=font, anchor="mm")
        paper.paste(tile, (x, y + band))
    return paper


def save_still(image: Image.Image, target: Path) -> None:
    """As WebP, which every browser and the repository's page show: a fifth of a PNG."""
    target.parent.mkdir(parents=True, exist_ok=True)
    image.save(target, quality=88, method=6)


def save_moving(images: Sequence[Image.Image], target: Path, milliseconds: int) -> None:
    """A looping WebP that holds its last picture for a while."""
    target.parent.mkdir(parents=True, exist_ok=True)
    durations = [milliseconds] * (len(images) - 1) + [milliseconds + 700]
    images[0].save(
        target, save_all=True, append_images=images[1:], duration=durations, loop=0, quality=74, method=4, kmax=1000
    )


def light_workbench(scene: bpy.types.Scene, smooth: bool) -> None:
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_shadows, shading.shadow_intensity = True, 0.3
    shading.show_cavity, shading.cavity_type = True, "WORLD"
    shading.show_specular_highlight = True
    scene.display.render_aa = "8" if smooth else "5"
    scene.display.light_direction = (-0.3, 0.35, 0.9)
    system = bpy.context.preferences.system
    system.use_studio_light_edit = True
    system.light_ambient = (AMBIENT,) * 3
    for light, (direction, strength, softness) in zip(system.solid_lights, LIGHTS, strict=False):
        light.use, light.direction, light.smooth = True, direction, softness
        light.diffuse_color = (strength,) * 3
        light.specular_color = (strength * 0.25,) * 3
    for light in list(system.solid_lights)[len(LIGHTS) :]:
        light.use = False


def render_here(engine: str, order: str) -> None:
    """In the child process: open each file and render its frames."""
    wanted = json.loads(Path(order).read_text())
    for k, blend in enumerate(wanted["blends"]):
        bpy.ops.wm.open_mainfile(filepath=blend)
        scene = bpy.context.scene
        scene.render.engine = engine
        scene.render.image_settings.file_format = "PNG"
        scene.view_settings.view_transform = "Standard"
        if engine == "CYCLES":
            scene.cycles.samples = CYCLES_SAMPLES
            scene.cycles.use_denoising = True
            scene.cycles.max_bounces = 3
        else:
            light_workbench(scene, smooth=len(wanted["frames"]) < MANY)
        for frame in wanted["frames"]:
            scene.frame_set(frame)
            scene.render.filepath = str(Path(wanted["folder"]) / f"{k}-{frame:04d}.png")
            bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    render_here(*sys.argv[1:])
