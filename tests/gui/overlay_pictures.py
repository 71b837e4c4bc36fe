"""Pictures of every overlay, alone and together, taken in the real window: out/overlays/*.png

    python3 tests/gui/overlay_pictures.py [4.3|5.2 …] [--folder FOLDER]

FOLDER keeps the user folder and the compiled kernels, so that a second run is quick. Exits 1 on a traceback.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import window  # noqa: E402
from screen import Screen  # noqa: E402

from tools import environments, real_blenders  # noqa: E402

OUT = ROOT / "out" / "overlays"
SWITCHES = (
    "show_shapes", "show_limits", "show_mass", "show_support", "show_contacts", "show_stress", "show_ghost",
    "show_onion", "show_arcs",
)  # fmt: skip
HELP = """
import mathutils
def rig():
    return next(ob for ob in bpy.context.scene.objects if ob.type == 'ARMATURE' and ob.heft.enabled)
def views():
    return [a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == 'VIEW_3D']
def within():
    area = max(views(), key=lambda a: a.width * a.height)
    region = next(r for r in area.regions if r.type == 'WINDOW')
    window = bpy.context.window_manager.windows[0]
    return bpy.context.temp_override(window=window, area=area, region=region, space_data=area.spaces[0])
def look(distance, at, turn):
    space = views()[0].spaces[0]
    view = space.region_3d
    view.view_perspective = 'PERSP'
    space.lens = 60
    view.view_location, view.view_distance = at, distance
    view.view_rotation = mathutils.Euler(turn).to_quaternion()
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.overlay.show_cursor = space.overlay.show_extras = False
    space.overlay.show_relationship_lines = False
    space.overlay.show_text = True
def wide():
    with within():
        bpy.ops.screen.screen_full_area(use_hide_panels=True)
def simulate():
    with within():
        bpy.context.view_layer.objects.active = rig()
        return list(bpy.ops.heft.simulate('EXEC_DEFAULT'))
def only(*names):
    for name in SWITCHES:
        setattr(rig().heft, name, name in names)
def ready():
    import sys
    found = sys.modules.get('bl_ext.user_default.heft.addon.simulate.compile_engine')
    return found is not None and not found.is_running()
"""
FALL = "rig().heft.controller, rig().heft.root, rig().heft.ground = 'LIMP', 'FREE', True"
# picture, scene, what is set before simulating, frame, and the look at it: distance, where to, turn
SHOTS = (
    ("walk", "ball_hits_walker", "", 29, 3.0, (0.0, 0.15, 0.85), (1.40, 0.0, 0.6)),
    ("jump", "mannequin", "", 27, 3.4, (0.0, 0.0, 1.0), (1.42, 0.0, 0.75)),
    ("fall", "mannequin", FALL, 27, 3.4, (0.0, 0.0, 0.6), (1.25, 0.0, 0.75)),
)
# What each shot is there to show; the first shows everything.
SHOWN = {
    "walk": SWITCHES,
    "jump": ("show_mass", "show_arcs", "show_support"),
    "fall": ("show_contacts", "show_support", "show_ghost"),
}


@contextmanager
def opened(version: str, folder: Path, pictures: Path) -> Iterator[window.Window]:
    """A window with the add-on of this folder, its kernels kept in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "console.txt").unlink(missing_ok=True)
    screen = Screen(real_blenders.TOOL)
    try:
        yield window.Window(version, folder, window.build_zip(version, folder), screen, pictures)
    finally:
        screen.close()


def show(found: window.Window, *names: str) -> None:
    """These overlays alone, until they are on the screen."""
    found.ask(f"only(*{names!r})")
    for _ in range(4):
        time.sleep(0.4)
        found.ask("[area.tag_redraw() for area in views()]")
    time.sleep(0.4)


def take(found: window.Window, name: str, scene: str, setup: str, frame: int, *look) -> None:
    """All pictures of one shot."""
    found.open(str(ROOT / "sample_scenes" / f"{scene}.blend"))
    try:
        found.ask(f"SWITCHES = {SWITCHES!r}\n{HELP}")
        found.wait_for("ready()", 900.0)
        found.ask("wide()")
        time.sleep(1.0)
        found.ask(f"look{look!r}")
        found.ask(f"{setup}\nsimulate()", 600.0)
        found.ask(f"bpy.context.scene.frame_set({frame})")
        for switch in SHOWN[name]:
            show(found, switch)
            found.picture(f"{name}-{switch.removeprefix('show_')}")
        show(found, *SWITCHES)
        found.picture(f"{name}-all")
        show(found)
        found.picture(f"{name}-none")
    finally:
        found.close()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("versions", nargs="*", default=[], help="4.3, 5.2")
    options.add_argument("--folder", type=Path, default=environments.cache_folder() / "overlay-window")
    chosen = options.parse_args()
    bad = []
    for version in chosen.versions or real_blenders.VERSIONS:
        reason = real_blenders.why_not(version)
        if reason is not None:
            print(f"No pictures: {reason}")
            return 1
        with opened(version, chosen.folder / version, OUT) as found:
            for shot in SHOTS:
                take(found, *shot)
            bad += found.complaints()
    print("\n".join([*bad, f"{OUT}: {len(list(OUT.glob('*.png')))} pictures"]))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
