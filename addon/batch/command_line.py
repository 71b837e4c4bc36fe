"""`blender -b shot.blend --command heft bake`: physics without a window.

Owns the command line's arguments and exit codes. Must not know how the work is done.
"""

from __future__ import annotations

import argparse
import sys

import bpy

from ...engine import HeftError
from .. import declare, settings
from ..bake import bake_result
from ..errors import RigError
from ..memory import Value
from ..read import mend_frames, shot
from ..result import missed_keys
from ..simulate import session

NAME = "heft"
YES, NO = ("1", "true", "on", "yes"), ("0", "false", "off", "no")


def run(arguments: list[str]) -> int:
    """Blender calls this with the arguments after `--command heft`. Returns 0 on success."""
    options = _parser().parse_args(arguments)
    try:
        rigs = _rigs(options.armature)
        for rig in rigs:
            _prepare(rig, options)
        for rig in shot.leaders(rigs):
            session.simulate(rig, bpy.context.scene)
            for each in shot.of(rig).rigs:
                for warning in (
                    *mend_frames.warnings(each),
                    *each.heft.message.splitlines(),
                    missed_keys.sentence(each),
                ):
                    if warning:
                        print(f"heft: {each.name}: {warning}")
        for rig in rigs:
            _bake(rig, options)
        if options.output:
            bpy.ops.wm.save_as_mainfile(filepath=options.output, check_existing=False)
        elif bpy.data.filepath:
            bpy.ops.wm.save_mainfile()
    except HeftError as error:
        print(f"heft: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="blender -b shot.blend --command heft", description="Give keyframes weight.")
    commands = parser.add_subparsers(dest="command", required=True)
    bake = commands.add_parser("bake", help="simulate and bake, then save")
    bake.add_argument("--armature", metavar="NAME", help="this armature only; else all with physics, or the only one")
    bake.add_argument("--set", metavar="NAME=VALUE", nargs="+", action="extend", default=[], help="settings of ob.heft")
    bake.add_argument("--target", choices=[item[0] for item in bake_result.TARGETS], default="ACTION")
    bake.add_argument("--reduce", type=float, default=0.0, help="degrees a reduced key may miss")
    bake.add_argument("--output", metavar="FILE", help="save here; else over the opened file")
    return parser


def _rigs(name: str | None) -> list[bpy.types.Object]:
    armatures = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]
    if name is not None:
        found = [ob for ob in armatures if ob.name == name]
        if not found:
            raise RigError(f"The scene has no armature '{name}': it has {_listed(armatures)}.")
        return found
    ready = [ob for ob in armatures if settings.has_physics(ob)]
    if ready or len(armatures) == 1:
        return ready or armatures
    raise RigError(f"Say which armature with --armature NAME: the scene has {_listed(armatures)}.")


def _listed(armatures: list[bpy.types.Object]) -> str:
    return ", ".join(f"'{ob.name}'" for ob in armatures) or "none"


def _prepare(rig: bpy.types.Object, options: argparse.Namespace) -> None:
    session.add(rig, bpy.context.scene)
    for pair in options.set:
        apply_setting(rig, pair)


def _bake(rig: bpy.types.Object, options: argparse.Namespace) -> None:
    scene = bpy.context.scene
    baked = session.bake(rig, scene, options.target, reduce=options.reduce)
    for note in baked.notes:
        print(f"heft: {rig.name}: {note}")
    print(
        f"heft: {rig.name}: baked '{baked.action.name}', at most {100.0 * baked.off.offset:.4f} % of the rig's height "
        f"and {baked.off.angle:.4f} degrees from the simulation"
    )


def apply_setting(rig: bpy.types.Object, pair: str) -> None:
    """Set one NAME=VALUE on `ob.heft`; the value is parsed as the property's type."""
    name, equals, text = pair.partition("=")
    if not equals or name not in declare.names(settings.HeftArmature, is_saved=True, hidden=False, is_list=False):
        raise RigError(f"'{pair}' is no setting: use NAME=VALUE with a name of ob.heft.")
    try:
        setattr(rig.heft, name, _value(rig.heft.bl_rna.properties[name], text))
    except (TypeError, ValueError) as error:
        raise RigError(f"'{text}' does not fit the setting '{name}': {error}") from None


def _value(prop: bpy.types.Property, text: str):
    if prop.type == "BOOLEAN":
        if text.lower() not in YES + NO:
            raise ValueError("say true or false")
        return text.lower() in YES
    if prop.type == "POINTER":
        found = bpy.data.collections.get(text)
        if found is None:
            raise ValueError("the file has no collection of that name")
        return found
    convert = {"FLOAT": float, "INT": int}.get(prop.type, str)
    if getattr(prop, "is_array", False):
        return tuple(convert(part) for part in text.split(","))
    return convert(text)


_command: Value[object] = Value("command for the command line", lambda: None)


def register() -> None:
    """Register the command."""
    _command.value = bpy.utils.register_cli_command(NAME, run)


def unregister() -> None:
    """Unregister the command."""
    bpy.utils.unregister_cli_command(_command.value)
