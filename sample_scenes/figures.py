"""What the manual shows: one scene several times, with one setting changed from tile to tile.

Owns the choice of scenes, values, frames and cameras; `picture` knows how they are rendered.
Moving pictures have several frames, stills one; all lie in addon/manual/pictures.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy

from . import picture, stage
from .figure_scenes import (
    TOUCHES,
    drop,
    fall,
    held,
    hold_pose,
    hug,
    passing,
    slide,
    struck_by_push,
    thrown,
    windy_chain,
    ymca_struck,
)

TARGET = stage.ROOT / "addon" / "manual" / "pictures"
Build = Callable[[], bpy.types.Object]
Change = Callable[[bpy.types.Object], None]
TILE = (232, 214)  # [pixels]


@dataclass(frozen=True)
class Figure:
    """One picture of the manual.

    build     makes the scene; its active rig is handed to the tiles' changes. One for all tiles, or one each
    tiles     captions, each with what it changes
    frames    one for a still, several for a moving picture
    camera    eye, what it looks at, lens; None: the scene's own
    trail     an object and the frames on which it is shown too, as a ghost
    """

    name: str
    build: Build | tuple[Build, ...]
    tiles: Sequence[tuple[str, Change]]
    frames: Sequence[int]
    columns: int = 4
    size: tuple[int, int] = TILE
    camera: tuple[tuple, tuple, float] | None = None
    zoom: float = 1.0  # times the lens
    ghosts: bool = True
    trail: tuple[str, Sequence[int]] | None = None
    milliseconds: int = 80  # a picture of a moving one
    moments: Sequence[str] = ()  # captions of the frames of a single tile, side by side instead of one after another

    @property
    def path(self) -> Path:
        return TARGET / f"{self.name}.webp"


@dataclass(frozen=True)
class Screenshots:
    """One picture of the manual put together from pictures of the window, since renders leave overlays out.

    tiles     captions, each with its picture in out/overlays
    crop      left, top, right and bottom of what is kept of each [pixels]
    """

    name: str
    tiles: Sequence[tuple[str, str]]
    crop: tuple[int, int, int, int]
    columns: int
    size: tuple[int, int]
    command: str = "python3 tests/gui/overlay_pictures.py 5.2"

    @property
    def path(self) -> Path:
        return TARGET / f"{self.name}.webp"

    @property
    def paths(self) -> list[Path]:
        return [stage.ROOT / "out" / "overlays" / f"5.2-{file}.png" for _, file in self.tiles]


def make(figure: Figure, folder: Path) -> None:
    """Bake every tile into a file of its own, render them, put them together."""
    from PIL import Image  # noqa: PLC0415 - only pictures need Pillow

    stage.load_addon()
    blends = []
    for k, (_, change) in enumerate(figure.tiles):
        rig = figure.build[k]() if isinstance(figure.build, tuple) else figure.build()
        change(rig)
        scene = bpy.context.scene
        if figure.camera is None:
            scene.render.resolution_x, scene.render.resolution_y = figure.size
        else:
            eye, at, lens = figure.camera
            stage.camera(eye, at, lens, figure.size)
        scene.camera.data.lens *= figure.zoom
        picture.bake(rig, figure.ghosts)
        if figure.trail:
            picture.add_trail(bpy.data.objects[figure.trail[0]], figure.trail[1])
        blends.append(folder / f"{figure.name}-{k}.blend")
        picture.save(blends[-1])
    with tempfile.TemporaryDirectory() as place:
        rendered = picture.render(blends, figure.frames, Path(place))
        tiles = [[Image.open(path).convert("RGB") for path in paths] for paths in rendered]
    if figure.moments:
        sheets = [picture.sheet(tiles[0], figure.moments, figure.columns)]
    else:
        captions = [caption for caption, _ in figure.tiles]
        sheets = [picture.sheet(row, captions, figure.columns) for row in zip(*tiles, strict=True)]
    if len(sheets) > 1:
        picture.save_moving(sheets, figure.path, figure.milliseconds)
    else:
        picture.save_still(sheets[0], figure.path)
    print(f"{figure.path.relative_to(stage.ROOT)}  {figure.path.stat().st_size / 1000:.0f} kB")


def make_screenshots(shots: Screenshots) -> None:
    """Put pictures of the window together, as they were taken by a command of their own."""
    from PIL import Image  # noqa: PLC0415 - only pictures need Pillow

    absent = [path for path in shots.paths if not path.exists()]
    if absent:
        print(f"{shots.name} stays as it is: {absent[0].relative_to(stage.ROOT)} is taken by {shots.command}")
        return
    tiles = [Image.open(path).convert("RGB").crop(shots.crop).resize(shots.size) for path in shots.paths]
    picture.save_still(picture.sheet(tiles, [caption for caption, _ in shots.tiles], shots.columns), shots.path)
    print(f"{shots.path.relative_to(stage.ROOT)}  {shots.path.stat().st_size / 1000:.0f} kB")


# --- what changes from tile to tile ----------------------------------------------------------------


def scene(name: str) -> Callable[[], bpy.types.Object]:
    """A sample scene."""
    return lambda: importlib.import_module(f"sample_scenes.{name}").build()


def rig_has(**settings) -> Change:
    """Settings of the armature."""

    def change(rig: bpy.types.Object) -> None:
        for name, value in settings.items():
            setattr(rig.heft, name, value)

    return change


def bones_have(prefixes: tuple[str, ...], **settings) -> Change:
    """Settings of the bones whose names begin so."""

    def change(rig: bpy.types.Object) -> None:
        for bone in rig.pose.bones:
            if bone.name.startswith(prefixes):
                for name, value in settings.items():
                    setattr(bone.heft, name, value)

    return change


def thing_has(*names: str, **settings) -> Change:
    """Settings of objects that the character meets."""

    def change(_rig: bpy.types.Object) -> None:
        for ob in names:
            for name, value in settings.items():
                setattr(bpy.data.objects[ob].heft_collider, name, value)

    return change


def pushed_by(impulse: float) -> Change:
    """The rig's first push, in newton seconds."""

    def change(rig: bpy.types.Object) -> None:
        rig.heft.pushes[0].impulse = impulse

    return change


def both(*changes: Change) -> Change:
    def change(rig: bpy.types.Object) -> None:
        for one in changes:
            one(rig)

    return change


def row(name: str, values: Sequence, unit: str = "", label: str = "", change=rig_has, also: dict | None = None):
    """A tile a value of one setting."""
    label = label or name.replace("_", " ")
    return [(f"{label} {value:g}{unit}", change(**{name: value}, **(also or {}))) for value in values]


def of_bones(*prefixes: str):
    return lambda **settings: bones_have(prefixes, **settings)


def of_things(*names: str):
    return lambda **settings: thing_has(*names, **settings)


WALKER = ((3.0, -5.0, 1.6), (0.12, -0.1, 0.86), 82)
BLOW = (0.0, 0.12, 0.25, 0.42, 0.62, 1.5)  # [s] after the ball hits
PUSHED = ((3.0, -5.0, 1.6), (-0.05, 0.4, 0.84), 74)
TAIL = ((-1.6, -4.0, 2.9), (-0.1, 0.2, 0.62), 74)
TAIL_AT_START = ((4.6, 1.0, 1.9), (0.0, 0.18, 0.66), 70)
WINDY = ((0.6, -5.6, 1.9), (0.5, 0.0, 1.2), 76)
TAIL_TIP = ("tail.05", "tail.06", "tail.07", "tail.08", "tail.09")
ARM_L = ("upper_arm.L", "forearm.L", "hand.L")

FIGURES = (
    # On top of README and manual
    Figure(
        "hero", (scene("ball_hits_walker"), scene("net"), scene("tail")), [("", rig_has())] * 3, range(1, 60, 2),
        columns=3, size=(264, 264), zoom=1.12,
    ),
    # The controllers, moving
    Figure(
        "follow", scene("ball_hits_walker"), row("settle_time", (0.15, 0.5, 1.2), " s"), range(19, 60, 2), columns=3,
        size=(236, 300), camera=((3.0, -5.0, 1.6), (0.12, 0.0, 0.86), 72),
    ),
    Figure(
        "on_time", ymca_struck,
        [("Follow", rig_has(controller="FOLLOW", settle_time=0.7)), ("On Time", rig_has(controller="ON_TIME"))],
        range(1, 68, 2), columns=2, size=(280, 320),
    ),
    Figure("limp", fall, [("", rig_has())], range(1, 62, 2), columns=1, size=(420, 360), ghosts=False),
    # The grid
    Figure(
        "grid", scene("tail"),
        [(f"settle {settle:g} s, heaviness {heavy:g}", rig_has(settle_time=settle, heaviness=heavy))
         for heavy in (0.0, 0.3, 0.6, 1.0) for settle in (0.1, 0.3, 0.8)],
        [17], columns=3, size=(232, 196), camera=TAIL,
    ),
    # Follow
    Figure("settle_time", scene("arm"), row("settle_time", (0.1, 0.3, 0.6, 1.2), " s"), [11], zoom=1.4),
    Figure("damping_ratio", scene("arm"), row("damping_ratio", (0.2, 0.5, 1.0, 2.0), also={"settle_time": 0.4}), [15],
           zoom=1.4),
    Figure("heaviness", scene("chain"), row("heaviness", (0.0, 0.3, 0.6, 1.0)), [18]),
    Figure(
        "recovery_time", scene("ball_hits_walker"), row("recovery_time", (0.0, 0.25, 0.8, 2.5), " s", "recovery"), [33],
        camera=WALKER, size=(200, 260),
    ),
    Figure("strength", hold_pose, row("strength", (1.0, 0.15, 0.05, 0.0), also={"use_strength": True}), [16],
           size=(200, 250)),
    Figure(
        "root", struck_by_push,
        [(word.title(), both(pushed_by(90), rig_has(root=word, assist=1.0)))
         for word in ("ANIMATED", "ASSISTED", "FREE")],
        [20], columns=3, camera=PUSHED, size=(220, 260),
    ),
    Figure("assist", hold_pose,
           row("assist", (0.0, 0.25, 0.5, 1.0),
               also={"controller": "LIMP", "root": "ASSISTED", "ground": True, "touch_self": True}), [36],
           size=(200, 250), zoom=0.95),
    # On Time
    Figure("shape", scene("ymca"), row("shape", (3.5, 5.0, 7.0, 9.5)), [13], size=(200, 240)),
    Figure("arrive", passing,
           [(word, rig_has(arrival=name)) for word, name in (("At Rest", "REST"), ("As Keyed", "CURVE"))],
           range(1, 31, 2), columns=2, size=(240, 220), camera=((5.2, -1.9, 1.5), (0.0, -0.2, 1.1), 92), ghosts=False),
    # Bones
    Figure("behaviour", scene("mannequin"),
           [(word.title(), bones_have(ARM_L, behaviour=word, settle_scale=3.0, heaviness_scale=3.0))
            for word in ("ANIMATED", "SIMULATED", "LIMP", "IGNORED")], [25], size=(200, 260), zoom=1.1),
    Figure("settle_scale", scene("tail"),
           row("settle_scale", (0.2, 1.0, 3.0, 8.0), label="tip: settle x", change=of_bones(*TAIL_TIP)), [17],
           camera=TAIL),
    Figure("heaviness_scale", scene("tail"),
           [(f"tip: heaviness x {value:g}",
             both(rig_has(settle_time=0.8), bones_have(TAIL_TIP, heaviness_scale=value))) for value in (0.0, 1.0, 3.0)],
           [20], columns=3, camera=TAIL),
    Figure("strength_scale", hold_pose,
           [(f"left arm: strength x {value:g}",
             both(rig_has(use_strength=True), bones_have(ARM_L, strength_scale=value)))
            for value in (1.0, 0.08, 0.0)], [16], columns=3, size=(200, 250)),
    Figure("mass", scene("mace"), row("mass", (1.0, 6.0, 30.0), " kg", "head", of_bones("head")), [34], columns=3,
           ghosts=False),
    Figure("mix", scene("tail"), row("mix", (0.0, 0.33, 0.66, 1.0)), [17], camera=TAIL),
    Figure("swing", scene("ball_hits_chain"),
           [(f"swing {degrees}°", bones_have(("link",), use_limits=True, limits_from="OWN",
                                            limit_swing=degrees * 3.14159265 / 180)) for degrees in (4, 12, 30, 90)],
           [17]),
    # Contacts
    Figure("blow", thrown, [("", rig_has())], [TOUCHES + round(24 * after) for after in BLOW], columns=len(BLOW),
           size=(164, 250), moments=[f"{after:g} s" for after in BLOW]),
    Figure("total_mass", scene("ball_hits_walker"), row("total_mass", (20.0, 70.0, 250.0), " kg"), [32], columns=3,
           camera=WALKER, size=(220, 260)),
    Figure("ball_mass", scene("ball_hits_walker"), row("mass", (1.0, 5.0, 15.0), " kg", "ball", of_things("Ball")),
           [32], columns=3, camera=WALKER, size=(220, 260)),
    Figure("friction", slide,
           [(f"friction {value:g}", both(thing_has("Box", friction=value), rig_has(ground_friction=value)))
            for value in (0.0, 0.1, 0.3, 0.8)], [28], trail=("Box", range(4, 28, 4)), zoom=1.3, ghosts=False),
    Figure("bounce", drop, row("bounce", (0.0, 0.4, 0.7, 0.95), change=of_things("Ball")), [31], zoom=1.2,
           trail=("Ball", range(3, 31, 3)), ghosts=False),
    Figure("gravity", drop,
           [(word, rig_has(gravity=(0, 0, -value))) for word, value in
            (("9.81: the earth", 9.81), ("3.7: Mars", 3.7), ("1.6: the moon", 1.6), ("0", 0.0))], [31], zoom=1.2,
           trail=("Ball", range(3, 31, 3)), ghosts=False),
    Figure("wind", windy_chain,
           [(f"wind {value:g} m/s", rig_has(wind=(value, 0, 0))) for value in (0.0, 10.0, 20.0, 30.0)], [60],
           camera=WINDY),
    Figure("wind_strength", windy_chain,
           row("wind_strength", (0.0, 2.0, 5.0, 10.0), also={"wind": (10, 0, 0)}), [60], camera=WINDY),
    Figure("response", scene("block"),
           [(word, thing_has("Block near", "Block far", response=name))
            for word, name in (("Gives Way", "GIVES_WAY"), ("Braces", "BRACES"))], [58], columns=2),
    Figure("impulse", struck_by_push,
           [(f"impulse {value} N s", pushed_by(value)) for value in (0, 20, 60, 120)], [17], camera=PUSHED,
           size=(200, 260)),
    Figure("ties", held,
           [("no tie", lambda rig: rig.heft.ties.clear()),
            ("Pin", lambda rig: setattr(rig.heft.ties[0], "kind", "PIN")),
            ("Weld", lambda rig: setattr(rig.heft.ties[0], "kind", "WELD"))],
           [40], columns=3, camera=WINDY),
    Figure("touch_itself", hug, [("off", rig_has(touch_self=False)), ("Touch Itself", rig_has(touch_self=True))], [24],
           columns=2, size=(220, 240)),
    # Result
    Figure("pre_roll", scene("tail"),
           [(f"frame 1, pre-roll {value}", rig_has(pre_roll=value, heaviness=1.0)) for value in (0, 48)], [1],
           columns=2, camera=TAIL_AT_START),
)  # fmt: skip

SCREENSHOTS = (
    Screenshots(
        "overlays",
        (
            ("Shapes", "walk-shapes"), ("Limits", "walk-limits"), ("Centre of Mass", "jump-mass"),
            ("Support", "walk-support"), ("Contacts", "walk-contacts"), ("Joint Stress", "walk-stress"),
            ("Ghost", "walk-ghost"), ("Onion Skins", "walk-onion"), ("Motion Arcs", "walk-arcs"),
        ),
        crop=(440, 0, 1220, 900), columns=3, size=(300, 346),
    ),
)  # fmt: skip
