"""Skeletons with the role of each bone, labelled by hand from their hierarchies and the positions of their bones.

A label is "ROLE name name …"; a star in a name stands for both sides, in the skeleton's own spelling. "A|B": both roles
count as right, because the bone is ambiguous.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

# Real rigs and recordings next to the project, not part of it.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
LEFT, RIGHT, MIDDLE = "LEFT", "RIGHT", "MIDDLE"
FIVE = ("Thumb", "Index", "Middle", "Ring", "Pinky")


class Skeleton(NamedTuple):
    """names, parents (-1 for none), heads (n, 3), tails (n, 3)."""

    names: list[str]
    parents: list[int]
    heads: np.ndarray
    tails: np.ndarray


def labels(text: str, sides: tuple[str, str], prefix: str = "") -> dict[str, tuple[tuple[str, ...], str]]:
    """By bone: the right roles, and its side."""
    out = {}
    for row in text.strip().splitlines():
        roles, *names = row.split()
        for name in names:
            for word, side in zip(sides, (LEFT, RIGHT), strict=True) if "*" in name else (("", MIDDLE),):
                out[prefix + name.replace("*", word)] = (tuple(roles.split("|")), side)
    return out


def _fingers(form: str, fingers=FIVE, joints=(1, 2, 3)) -> str:
    return " ".join(form.format(finger, joint) for finger in fingers for joint in joints)


MIXAMO = labels(
    f"""
    PELVIS Hips
    SPINE Spine Spine1 Spine2
    NECK Neck
    HEAD Head HeadTop_End
    EYE *Eye
    COLLAR *Shoulder
    UPPER_ARM *Arm
    LOWER_ARM *ForeArm
    HAND *Hand
    FINGER {_fingers("*Hand{}{}")}
    THIGH *UpLeg
    SHANK *Leg
    FOOT *Foot
    TOE *ToeBase
    """,
    ("Left", "Right"),
    "mixamorig:",
)
CMU = labels(
    """
    PELVIS Hips
    SPINE LowerBack Spine Spine1
    NECK Neck Neck1
    HEAD Head
    COLLAR *Shoulder
    UPPER_ARM *Arm
    LOWER_ARM *ForeArm
    HAND *Hand
    FINGER *FingerBase *HandIndex1
    THIGH *UpLeg
    SHANK *Leg
    FOOT *Foot
    TOE *ToeBase
    """,
    ("Left", "Right"),
) | labels("PELVIS *HipJoint\nFINGER *Thumb", ("L", "R"))
DAZ = labels(
    f"""
    PELVIS hip *Buttock
    SPINE abdomen chest
    NECK neck
    HEAD head
    COLLAR *Collar
    UPPER_ARM *Shldr
    LOWER_ARM *ForeArm
    HAND *Hand
    FINGER {_fingers("*{}{}", ("Thumb", "Index", "Mid", "Ring", "Pinky"), (1, 2))}
    THIGH *Thigh
    SHANK *Shin
    FOOT *Foot
    """,
    ("l", "r"),
) | labels("EYE *Eye", ("left", "right"))
MAKEHUMAN = labels(
    f"""
    PELVIS Root Hips __UpLeg_*
    SPINE Spine1 Spine2 Spine3
    NECK Neck
    HEAD Head __Jaw
    HEAD|EYE __Eye_*
    EYE Eye_*
    JAW Jaw
    JAW|OTHER __Tongue1 Tongue1 Tongue2 Tongue3
    SPINE|COLLAR __Clavicle_*
    COLLAR Clavicle_*
    UPPER_ARM UpArm_*
    LOWER_ARM LoArm_*
    HAND Hand_*
    HAND|FINGER __Thumb1_* __Index1_* __Ring1_* __Pinky1_*
    FINGER {_fingers("{}{}_*")}
    THIGH UpLeg_*
    SHANK LoLeg_*
    FOOT Foot_*
    TOE Toe_*
    """,
    ("L", "R"),
)
PYBVH = labels(
    """
    PELVIS Hips
    SPINE Chest Chest2 Chest3 Chest4
    NECK Neck
    HEAD Head
    COLLAR *Collar
    UPPER_ARM *Shoulder
    LOWER_ARM *Elbow
    HAND *Wrist
    THIGH *Hip
    SHANK *Knee
    FOOT *Ankle
    TOE *Toe
    """,
    ("Left", "Right"),
)
CESIUM = labels(
    """
    PELVIS Skeleton_torso_joint_1
    SPINE Skeleton_torso_joint_2 torso_joint_3
    NECK Skeleton_neck_joint_1
    HEAD Skeleton_neck_joint_2
    THIGH leg_joint_*_1
    SHANK leg_joint_*_2
    FOOT leg_joint_*_3
    TOE leg_joint_*_5
    """,
    ("L", "R"),
) | {
    f"Skeleton_arm_joint_{name}": ((role,), side)
    for side, names in ((LEFT, ("L__4_", "L__3_", "L__2_")), (RIGHT, ("R", "R__2_", "R__3_")))
    for name, role in zip(names, ("UPPER_ARM", "LOWER_ARM", "HAND"), strict=True)
}
FIGURE = labels(
    """
    PELVIS torso_joint_1
    SPINE torso_joint_2 torso_joint_3
    NECK neck_joint_1
    HEAD neck_joint_2
    UPPER_ARM arm_joint_*_1
    LOWER_ARM arm_joint_*_2
    HAND arm_joint_*_3
    THIGH leg_joint_*_1
    SHANK leg_joint_*_2
    FOOT leg_joint_*_3
    TOE leg_joint_*_5
    """,
    ("L", "R"),
)
ROBOT = labels(
    """
    OTHER Bone PoleTarget.*
    PELVIS Body Hips
    SPINE Abdomen Torso
    NECK Neck
    HEAD Head
    COLLAR Shoulder.*
    UPPER_ARM UpperArm.*
    LOWER_ARM LowerArm.*
    HAND|FINGER Palm1.* Palm2.* Palm3.*
    FINGER Middle1.* Middle2.* Thumb.* Thumb2.* Index.* Index2.* Ring1.* Ring2.*
    THIGH UpperLeg.*
    SHANK LowerLeg.*
    FOOT Foot.*
    """,
    ("L", "R"),
)
# Rigify: the metarig of the basic human, then the deforming bones of generated rigs; for the wolf again the metarig.
METARIG = labels(
    """
    PELVIS spine pelvis.*
    SPINE spine.001 spine.002 spine.003
    NECK spine.004 spine.005
    HEAD spine.006
    COLLAR shoulder.*
    UPPER_ARM upper_arm.*
    LOWER_ARM forearm.*
    HAND hand.*
    OTHER breast.*
    THIGH thigh.*
    SHANK shin.*
    FOOT foot.* heel.02.*
    TOE toe.*
    """,
    ("L", "R"),
)
BASIC_HUMAN = labels(
    """
    PELVIS spine pelvis.*
    SPINE spine.001 spine.002 spine.003
    NECK spine.004 spine.005
    HEAD spine.006
    COLLAR shoulder.*
    UPPER_ARM upper_arm.* upper_arm.*.001
    LOWER_ARM forearm.* forearm.*.001
    HAND hand.*
    OTHER breast.*
    THIGH thigh.* thigh.*.001
    SHANK shin.* shin.*.001
    FOOT foot.*
    TOE toe.*
    """,
    ("L", "R"),
    "DEF-",
)
HUMAN = BASIC_HUMAN | labels(
    f"""
    FINGER {_fingers("f_{}.{:02d}.*", ("index", "middle", "ring", "pinky"))} thumb.01.* thumb.02.* thumb.03.*
    FINGER|HAND palm.01.* palm.02.* palm.03.* palm.04.*
    EAR ear.* ear.*.001 ear.*.002 ear.*.003 ear.*.004
    JAW jaw jaw.* jaw.*.001
    JAW|OTHER chin chin.001 chin.* tongue tongue.001 tongue.002
    OTHER forehead.* forehead.*.001 forehead.*.002 temple.* brow.B.* brow.B.*.001 brow.B.*.002 brow.B.*.003
    OTHER lid.B.* lid.B.*.001 lid.B.*.002 lid.B.*.003 lid.T.* lid.T.*.001 lid.T.*.002 lid.T.*.003
    OTHER brow.T.* brow.T.*.001 brow.T.*.002 brow.T.*.003 cheek.T.* cheek.T.*.001 cheek.B.* cheek.B.*.001
    OTHER nose nose.001 nose.002 nose.003 nose.004 nose.* nose.*.001 lip.B.* lip.B.*.001 lip.T.* lip.T.*.001
    """,
    ("L", "R"),
    "DEF-",
)
# Animals are labelled in part: the border between hip and spine is ambiguous.
WOLF = labels(
    f"""
    PELVIS spine.004
    SPINE spine.006 spine.007 spine.008
    NECK spine.009 spine.010
    HEAD spine.011
    TAIL spine spine.001 spine.002 spine.003
    COLLAR shoulder.*
    UPPER_ARM front_thigh.*
    LOWER_ARM front_shin.*
    HAND front_foot.*
    HAND|FINGER front_toe.*
    FINGER {_fingers("f_{}.{:02d}.*", ("index", "middle", "ring", "pinky"))}
    THIGH thigh.*
    SHANK shin.*
    FOOT foot.*
    TOE toe.* {_fingers("r_{}.{:02d}.*", ("index", "middle", "ring", "pinky"))}
    JAW jaw
    EAR ear.* ear.*.001
    """,
    ("L", "R"),
)
HORSE = labels(
    """
    PELVIS spine.001
    SPINE spine.003 spine.004 spine.005 spine.006 chest
    NECK neck.001 neck.002 neck.003 neck.004
    HEAD head
    TAIL tail.001 tail.002 tail.003 tail.004 tail.005
    COLLAR shoulder.*
    UPPER_ARM upper_arm.* upper_arm.*.001
    LOWER_ARM forearm.* forearm.*.001
    HAND forefoot.* forefoot.*.001
    FINGER f_toe.* f_hoof.*
    THIGH thigh.* thigh.*.001
    SHANK lower_leg.* lower_leg.*.001
    FOOT hind_foot.* hind_foot.*.001
    TOE r_toe.* r_hoof.*
    EYE eye.*
    EAR ear.* ear.*.001
    JAW jaw jaw.001
    """,
    ("L", "R"),
    "DEF-",
)
BIRD = labels(
    """
    PELVIS spine.003
    SPINE spine.005
    SPINE|NECK spine.006
    NECK neck.001 neck.002
    HEAD head
    TAIL spine spine.001 spine.002
    COLLAR shoulder.*
    WING Wing.* Wing.001.* Wing.002.* w_feather.001.* w_feather.002.* w_feather.003.*
    THIGH thigh.* thigh.*.001
    SHANK shin.* shin.*.001
    FOOT foot.* foot.*.001
    TOE toe.* t_index.001.* t_middle.002.* t_ring.003.* t_thumb.001.*
    EYE eye.*
    """,
    ("L", "R"),
    "DEF-",
)
HAND = {
    f"{finger}_{part}_R": (("FINGER",), RIGHT)
    for finger in ("thumb", "index", "middle", "ring", "little")
    for part in ("metacarpal", "proxPhalanx", "distPhalanx", "tip")
} | {"wrist_R": (("HAND",), RIGHT)}
RECORDINGS = {
    "20tab_freebvh": MIXAMO, "cmu_02_01": CMU, "cmu_16_01": CMU, "cmu_90_16": CMU, "threejs_pirouette": DAZ,
    "makehuman_walk1": MAKEHUMAN, "pybvh_test2": PYBVH,
}  # fmt: skip
MESHES = {"CesiumMan": CESIUM, "RiggedFigure": FIGURE, "RobotExpressive": ROBOT}


def recording(stem: str) -> Skeleton:
    """The skeleton of a recording, read from its BVH file."""
    return read_bvh((DATA / "mocap" / f"{stem}.bvh").read_text())


def read_bvh(text: str) -> Skeleton:
    """The hierarchy of a BVH file at rest, from the file's text."""
    names, parents, heads, ends, open_joints = [], [], [], {}, []
    for line in text.partition("MOTION")[0].splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] in ("ROOT", "JOINT"):
            parents.append(open_joints[-1] if open_joints else -1)
            names.append(words[1])
            heads.append(np.zeros(3))
            coming = len(names) - 1
        elif words[0] == "End":
            coming = None
        elif words[0] == "{":
            open_joints.append(coming)
        elif words[0] == "}":
            open_joints.pop()
        elif words[0] == "OFFSET":
            step, joint = np.array([float(word) for word in words[1:4]]), open_joints[-1]
            if joint is None:
                ends[open_joints[-2]] = heads[open_joints[-2]] + step
            else:
                heads[joint] = step + (heads[parents[joint]] if parents[joint] >= 0 else 0.0)
    heads = np.array(heads)
    tails = [ends.get(i, heads[i] if i not in parents else heads[parents.index(i)]) for i in range(len(names))]
    return Skeleton(names, parents, heads, np.array(tails))


def shortened(path: Path, folder: Path) -> Path:
    """Write a copy of a recording with two frames only, which Blender imports quickly. Returns its path."""
    head, _, rest = path.read_text().partition("Frames:")
    lines = rest.splitlines()
    out = folder / path.name
    out.write_text("\n".join([f"{head}Frames: 2", *lines[1:4], ""]))
    return out
