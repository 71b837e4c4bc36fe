"""Pictures of a baked scene: the source as a ghost, the result in colour.

Rendering happens in a child process: without EGL, Workbench aborts the process, and
Cycles takes over.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import bpy

from . import stage

CYCLES_SAMPLES = 16
GHOST_THINNER = 0.004  # [m]
# Workbench's studio: (direction in the camera's view, strength, softness)
AMBIENT = 0.42
LIGHTS = (((-0.45, 0.75, 0.5), 0.95, 0.25), ((0.85, 0.15, 0.5), 0.32, 0.5), ((0.1, -0.4, -0.9), 0.25, 0.6))


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
        for slot in range(len(copy.data.materials)):
            copy.data.materials[slot] = stage.material("ghost", alpha=stage.GHOST_ALPHA)
        bpy.context.scene.collection.objects.link(copy)


def render(blend: Path, frames: list[int], folder: Path) -> list[Path]:
    """One PNG a frame, by Workbench, or by Cycles where Workbench dies."""
    tiles = [folder / f"{frame:04d}.png" for frame in frames]
    for engine in ("BLENDER_WORKBENCH", "CYCLES"):
        command = [sys.executable, "-m", "sample_scenes.picture", engine, blend, folder, *frames]
        done = subprocess.run([str(part) for part in command], cwd=stage.ROOT, capture_output=True, text=True)
        if done.returncode == 0 and all(tile.exists() for tile in tiles):
            return tiles
        print(f"{engine} gave no picture (exit {done.returncode}).")
    sys.exit(done.stdout + done.stderr)


def strip(blend: Path, frames: tuple[int, ...], target: Path) -> None:
    """Some frames side by side."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        tiles = [Image.open(tile).convert("RGB") for tile in render(blend, list(frames), Path(folder))]
        width, height = tiles[0].size
        sheet = Image.new("RGB", (width * len(tiles), height))
        for i, tile in enumerate(tiles):
            sheet.paste(tile, (i * width, 0))
    target.parent.mkdir(parents=True, exist_ok=True)
    sheet.quantize(colors=256, kmeans=2, dither=Image.Dither.NONE).save(target, optimize=True)


def movie(blend: Path, target: Path, step: int = 2, scale: float = 0.6) -> None:
    """Every second frame as a looping GIF."""
    from PIL import Image

    scene = bpy.context.scene
    frames = list(range(scene.frame_start, scene.frame_end + 1, step))
    with tempfile.TemporaryDirectory() as folder:
        tiles = [Image.open(tile).convert("RGB") for tile in render(blend, frames, Path(folder))]
        size = tuple(round(side * scale) for side in tiles[0].size)
        tiles = [tile.resize(size, Image.Resampling.LANCZOS) for tile in tiles]
        palette = tiles[len(tiles) // 2].quantize(colors=96, kmeans=2)
        tiles = [tile.quantize(palette=palette, dither=Image.Dither.NONE) for tile in tiles]
    target.parent.mkdir(parents=True, exist_ok=True)
    duration = round(1000 * step / scene.render.fps / 10) * 10
    tiles[0].save(target, save_all=True, append_images=tiles[1:], duration=duration, loop=0, optimize=True)


def light_workbench(scene: bpy.types.Scene) -> None:
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_shadows, shading.shadow_intensity = True, 0.3
    shading.show_cavity, shading.cavity_type = True, "WORLD"
    shading.show_specular_highlight = True
    scene.display.render_aa = "8"
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


def render_here(engine: str, blend: str, folder: str, *frames: str) -> None:
    """In the child process: open the file and render the frames."""
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
        light_workbench(scene)
    for frame in map(int, frames):
        scene.frame_set(frame)
        scene.render.filepath = str(Path(folder) / f"{frame:04d}.png")
        bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    render_here(*sys.argv[1:])
