"""Bone names of other programs with the role of each bone, written from the programs' public documentation.

One bone a line, indented below its parent: "name ROLE"; a star stands for both sides. The positions of the bones are
invented: a person in a T-pose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skeletons import LEFT, MIDDLE, RIGHT, Skeleton

if TYPE_CHECKING:
    import bpy

# Offset of a bone's head from its parent's head by its role [m]; AGAIN if the parent has the same role.
STEPS = {
    "PELVIS": (0.0, 0.0, 0.0), "SPINE": (0.0, 0.0, 0.12), "NECK": (0.0, 0.0, 0.14), "HEAD": (0.0, 0.0, 0.1),
    "COLLAR": (0.03, 0.0, 0.1), "UPPER_ARM": (0.15, 0.0, 0.0), "LOWER_ARM": (0.28, 0.0, 0.0), "HAND": (0.25, 0.0, 0.0),
    "FINGER": (0.09, 0.0, 0.0), "THIGH": (0.1, 0.0, -0.05), "SHANK": (0.0, -0.02, -0.42), "FOOT": (0.0, 0.02, -0.42),
    "TOE": (0.0, -0.13, -0.07), "EYE": (0.03, -0.08, 0.08), "JAW": (0.0, -0.05, 0.0), "OTHER": (0.01, 0.05, 0.02),
}  # fmt: skip
AGAIN = {"UPPER_ARM": (0.1, 0.0, 0.0), "LOWER_ARM": (0.1, 0.0, 0.0), "THIGH": (0.0, -0.01, -0.15),
         "SHANK": (0.0, 0.01, -0.15), "FINGER": (0.035, 0.0, 0.0), "TOE": (0.0, -0.05, 0.0)}  # fmt: skip

UNREAL = """
root OTHER
  pelvis PELVIS
    spine_01 SPINE
      spine_02 SPINE
        spine_03 SPINE
          clavicle_* COLLAR
            upperarm_* UPPER_ARM
              upperarm_twist_01_* UPPER_ARM
              lowerarm_* LOWER_ARM
                lowerarm_twist_01_* LOWER_ARM
                hand_* HAND
                  index_01_* FINGER
                    index_02_* FINGER
                      index_03_* FINGER
                  middle_01_* FINGER
                    middle_02_* FINGER
                  pinky_01_* FINGER
                    pinky_02_* FINGER
                  thumb_01_* FINGER
                    thumb_02_* FINGER
          neck_01 NECK
            head HEAD
    thigh_* THIGH
      thigh_twist_01_* THIGH
      calf_* SHANK
        calf_twist_01_* SHANK
        foot_* FOOT
          ball_* TOE
  ik_foot_root OTHER
    ik_foot_* OTHER
  ik_hand_root OTHER
    ik_hand_gun OTHER
      ik_hand_* OTHER
"""
VRM = """
Root OTHER
  J_Bip_C_Hips PELVIS
    J_Bip_C_Spine SPINE
      J_Bip_C_Chest SPINE
        J_Bip_C_UpperChest SPINE
          J_Sec_*_Bust1 OTHER
          J_Bip_C_Neck NECK
            J_Bip_C_Head HEAD
              J_Adj_*_FaceEye EYE
              J_Sec_Hair1_01 OTHER
                J_Sec_Hair2_01 OTHER
          J_Bip_*_Shoulder COLLAR
            J_Bip_*_UpperArm UPPER_ARM
              J_Bip_*_LowerArm LOWER_ARM
                J_Bip_*_Hand HAND
                  J_Bip_*_Index1 FINGER
                    J_Bip_*_Index2 FINGER
                  J_Bip_*_Little1 FINGER
                  J_Bip_*_Thumb1 FINGER
    J_Sec_*_SkirtSide0_01 OTHER
    J_Bip_*_UpperLeg THIGH
      J_Bip_*_LowerLeg SHANK
        J_Bip_*_Foot FOOT
          J_Bip_*_ToeBase TOE
"""
MMD = """
全ての親 OTHER
  センター OTHER|PELVIS
    グルーブ OTHER|PELVIS
      腰 PELVIS|OTHER
        上半身 SPINE
          上半身2 SPINE
            首 NECK
              頭 HEAD
                *目 EYE
            *肩 COLLAR
              *腕 UPPER_ARM
                *腕捩 UPPER_ARM
                  *ひじ LOWER_ARM
                    *手捩 LOWER_ARM
                      *手首 HAND
                        *親指０ FINGER
                          *親指１ FINGER
                        *人指１ FINGER
                          *人指２ FINGER
                        *中指１ FINGER
        下半身 PELVIS
          *足 THIGH
            *ひざ SHANK
              *足首 FOOT
                *つま先 TOE
  *足ＩＫ OTHER
    *つま先ＩＫ OTHER
"""
MMD_ENGLISH = """
ParentNode OTHER
  center OTHER|PELVIS
    upper_body SPINE
      upper_body2 SPINE
        neck NECK
          head HEAD
            eye_* EYE
        shoulder_* COLLAR
          arm_* UPPER_ARM
            arm_twist_* UPPER_ARM
            elbow_* LOWER_ARM
              wrist_twist_* LOWER_ARM
              wrist_* HAND
                thumb0_* FINGER
                  thumb1_* FINGER
                fore1_* FINGER
                  fore2_* FINGER
                third1_* FINGER
    lower_body PELVIS
      leg_* THIGH
        knee_* SHANK
          ankle_* FOOT
            toe_* TOE
  leg_IK_* OTHER
"""
BIPED = """
Bip01 OTHER|PELVIS
  Bip01_Footsteps OTHER
  Bip01_Pelvis PELVIS
    Bip01_Spine SPINE
      Bip01_Spine1 SPINE
        Bip01_Spine2 SPINE
          Bip01_Neck NECK
            Bip01_Head HEAD
              Bip01_HeadNub HEAD
              Bip01_Ponytail1 OTHER
            Bip01_*_Clavicle COLLAR
              Bip01_*_UpperArm UPPER_ARM
                Bip01_*_Forearm LOWER_ARM
                  Bip01_*_Hand HAND
                    Bip01_*_Finger0 FINGER
                      Bip01_*_Finger01 FINGER
                        Bip01_*_Finger0Nub FINGER
                    Bip01_*_Finger1 FINGER
                      Bip01_*_Finger11 FINGER
    Bip01_*_Thigh THIGH
      Bip01_*_Calf SHANK
        Bip01_*_Foot FOOT
          Bip01_*_Toe0 TOE
            Bip01_*_Toe0Nub TOE
"""
GENESIS = """
hip PELVIS
  pelvis PELVIS
    *ThighBend THIGH
      *ThighTwist THIGH
        *Shin SHANK
          *Foot FOOT
            *Metatarsals FOOT|TOE
              *Toe TOE
  abdomenLower SPINE
    abdomenUpper SPINE
      chestLower SPINE
        chestUpper SPINE
          *Collar COLLAR
            *ShldrBend UPPER_ARM
              *ShldrTwist UPPER_ARM
                *ForearmBend LOWER_ARM
                  *ForearmTwist LOWER_ARM
                    *Hand HAND
                      *Thumb1 FINGER
                        *Thumb2 FINGER
                      *Carpal1 FINGER|HAND
                        *Index1 FINGER
          neckLower NECK
            neckUpper NECK
              head HEAD
                *Eye EYE
                lowerJaw JAW
"""
XSENS = """
Pelvis PELVIS
  L5 SPINE
    L3 SPINE
      T12 SPINE
        T8 SPINE
          Neck NECK
            Head HEAD
          *Shoulder COLLAR
            *UpperArm UPPER_ARM
              *ForeArm LOWER_ARM
                *Hand HAND
  *UpperLeg THIGH
    *LowerLeg SHANK
      *Foot FOOT
        *Toe TOE
"""
SMPL = """
Pelvis PELVIS
  *_Hip THIGH
    *_Knee SHANK
      *_Ankle FOOT
        *_Foot TOE
  Spine1 SPINE
    Spine2 SPINE
      Spine3 SPINE
        Neck NECK
          Head HEAD
        *_Collar COLLAR
          *_Shoulder UPPER_ARM
            *_Elbow LOWER_ARM
              *_Wrist HAND
                *_Hand HAND|FINGER
"""
PLAIN = """
root OTHER
  hips PELVIS
    spine SPINE
      chest SPINE
        neck NECK
          head HEAD
        shoulder.* COLLAR
          upper_arm.* UPPER_ARM
            lower_arm.* LOWER_ARM
              hand.* HAND
    leg.upper.* THIGH
      leg.lower.* SHANK
        foot.* FOOT
          toes.* TOE
  hand_target.* OTHER
"""
CREATOR = """
CC_Base_BoneRoot OTHER
  CC_Base_Hip PELVIS
    CC_Base_Pelvis PELVIS
      CC_Base_*_Thigh THIGH
        CC_Base_*_ThighTwist01 THIGH
          CC_Base_*_ThighTwist02 THIGH
        CC_Base_*_Calf SHANK
          CC_Base_*_CalfTwist01 SHANK
          CC_Base_*_KneeShareBone SHANK|THIGH
          CC_Base_*_Foot FOOT
            CC_Base_*_ToeBase TOE
              CC_Base_*_BigToe1 TOE
              CC_Base_*_PinkyToe1 TOE
            CC_Base_*_ToeBaseShareBone TOE|FOOT
    CC_Base_Waist SPINE
      CC_Base_Spine01 SPINE
        CC_Base_Spine02 SPINE
          CC_Base_NeckTwist01 NECK
            CC_Base_NeckTwist02 NECK
              CC_Base_Head HEAD
                CC_Base_FacialBone OTHER
                  CC_Base_JawRoot JAW
                  CC_Base_*_Eye EYE
          CC_Base_*_Clavicle COLLAR
            CC_Base_*_Upperarm UPPER_ARM
              CC_Base_*_UpperarmTwist01 UPPER_ARM
              CC_Base_*_Forearm LOWER_ARM
                CC_Base_*_ForearmTwist01 LOWER_ARM
                CC_Base_*_ElbowShareBone LOWER_ARM|UPPER_ARM
                CC_Base_*_Hand HAND
                  CC_Base_*_Mid1 FINGER
                  CC_Base_*_Thumb1 FINGER
          CC_Base_*_Breast OTHER
"""
MAKEHUMAN_DEFAULT = """
root PELVIS|OTHER
  pelvis.* PELVIS
    upperleg01.* THIGH
      upperleg02.* THIGH
        lowerleg01.* SHANK
          lowerleg02.* SHANK
            foot.* FOOT
              toe1-1.* TOE
                toe1-2.* TOE
              toe2-1.* TOE
  spine05 SPINE
    spine04 SPINE
      spine03 SPINE
        breast.* OTHER
        spine02 SPINE
          spine01 SPINE
            clavicle.* COLLAR
              shoulder01.* COLLAR
                upperarm01.* UPPER_ARM
                  upperarm02.* UPPER_ARM
                    lowerarm01.* LOWER_ARM
                      lowerarm02.* LOWER_ARM
                        wrist.* HAND
                          finger1-1.* FINGER
                          metacarpal1.* FINGER|HAND
                            finger2-1.* FINGER
            neck01 NECK
              neck02 NECK
                neck03 NECK
                  head HEAD
                    jaw JAW
                    eye.* EYE
                    levator02.* OTHER
                    oris04.* OTHER
"""
VALVE = """
ValveBiped.Bip01_Pelvis PELVIS
  ValveBiped.Bip01_Spine SPINE
    ValveBiped.Bip01_Spine1 SPINE
      ValveBiped.Bip01_Spine2 SPINE
        ValveBiped.Bip01_Spine4 SPINE
          ValveBiped.Bip01_Neck1 NECK
            ValveBiped.Bip01_Head1 HEAD
          ValveBiped.Bip01_*_Clavicle COLLAR
            ValveBiped.Bip01_*_UpperArm UPPER_ARM
              ValveBiped.Bip01_*_Forearm LOWER_ARM
                ValveBiped.Bip01_*_Hand HAND
                  ValveBiped.Bip01_*_Finger0 FINGER
                  ValveBiped.Anim_Attachment_*H OTHER
  ValveBiped.Bip01_*_Thigh THIGH
    ValveBiped.Bip01_*_Calf SHANK
      ValveBiped.Bip01_*_Foot FOOT
        ValveBiped.Bip01_*_Toe0 TOE
"""
AUTO_RIG = """
root.x PELVIS
  spine_01.x SPINE
    spine_02.x SPINE
      neck.x NECK
        head.x HEAD
          jawbone.x JAW|OTHER
          c_eye.* EYE
      shoulder.* COLLAR
        arm_stretch.* UPPER_ARM
          arm_twist.* UPPER_ARM
          forearm_stretch.* LOWER_ARM
            forearm_twist.* LOWER_ARM
            hand.* HAND
              c_index1_base.* FINGER
              thumb1.* FINGER
  thigh_stretch.* THIGH
    thigh_twist.* THIGH
    leg_stretch.* SHANK
      leg_twist.* SHANK
      foot.* FOOT
        toes_01.* TOE
"""
# Words that Heft does not know, and sides written G and D: roles can only be found by shape.
FRENCH = """
Bassin PELVIS
  Colonne1 SPINE
    Colonne2 SPINE
      Cou NECK
        Tete HEAD
      Epaule_* COLLAR
        Bras_* UPPER_ARM
          AvantBras_* LOWER_ARM
            Main_* HAND
  Cuisse_* THIGH
    Tibia_* SHANK
      Pied_* FOOT
        Orteil_* TOE
"""
CONVENTIONS = {
    "Unreal": (UNREAL, ("l", "r")), "VRM": (VRM, ("L", "R")), "MikuMikuDance": (MMD, ("左", "右")),
    "MikuMikuDance in English": (MMD_ENGLISH, ("L", "R")), "Biped": (BIPED, ("L", "R")),
    "Genesis": (GENESIS, ("l", "r")), "Xsens": (XSENS, ("Left", "Right")),
    "SMPL": (SMPL, ("L", "R")), "plain English": (PLAIN, ("L", "R")), "Character Creator": (CREATOR, ("L", "R")),
    "MakeHuman's default rig": (MAKEHUMAN_DEFAULT, ("L", "R")), "Valve": (VALVE, ("L", "R")),
    "Auto-Rig Pro": (AUTO_RIG, ("l", "r")), "French": (FRENCH, ("G", "D")),
}  # fmt: skip


def build(text: str, sides: tuple[str, str]) -> tuple[Skeleton, dict[str, tuple[tuple[str, ...], str]]]:
    """The skeleton of a convention, and by bone the right roles and the side."""
    names, parents, heads, truth = [], [], [], {}
    above: list[dict[str, int]] = []
    for row in text.strip("\n").splitlines():
        name, roles = row.split()
        depth = (len(row) - len(row.lstrip())) // 2
        del above[depth:]
        here = {}
        for word, side in zip(sides, (LEFT, RIGHT), strict=True) if "*" in name else (("", MIDDLE),):
            parent = above[-1].get(side, above[-1].get(MIDDLE, -1)) if above else -1
            role = roles.split("|")[0]
            same = parent >= 0 and role in truth[names[parent]][0]
            step = np.array((AGAIN if same and role in AGAIN else STEPS)[role]) * (-1.0 if side == RIGHT else 1.0, 1, 1)
            if role == "FINGER" and not same:
                step[1] += 0.02 * (sum(p == parent for p in parents) - 2)
            start = heads[parent] if parent >= 0 else np.zeros(3)
            heads.append(np.array([0.0, 0.0, 1.0]) if role == "PELVIS" else start + step)
            here[side] = len(names)
            names.append(name.replace("*", word))
            parents.append(parent)
            truth[names[-1]] = (tuple(roles.split("|")), side)
        above.append(here)
    heads = np.array(heads)
    tails = [heads[parents.index(i)] if i in parents else heads[i] + (0.0, 0.0, 0.03) for i in range(len(names))]
    return Skeleton(names, parents, heads, np.array(tails)), truth


def armature(skeleton: Skeleton, size: float = 1.0) -> bpy.types.Object:
    """Create a rig from a skeleton; it is the active object, in Object Mode."""
    import bpy

    data = bpy.data.armatures.new("Person")
    rig = bpy.data.objects.new("Person", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    made = []
    for name, parent, head, tail in zip(*skeleton, strict=True):
        bone = data.edit_bones.new(name)
        away = tail if np.linalg.norm(tail - head) > 1e-4 else head + np.array([0.0, 0.0, 0.01])
        bone.head, bone.tail = head * size, away * size
        bone.parent = made[parent] if parent >= 0 else None
        made.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig
