"""What the engine does not do yet as it should: tests that state the wanted limit and are known to miss it.

Each is expected to fail, and a test that passes must leave this list (strict), except for the batches of
random scenes, whose outcome may differ from one processor to another.
"""

from __future__ import annotations

MOMENTUM = "contact that lasts keeps angular momentum to 3e-4 … 2e-2 of what is there, not to rounding"
REDUNDANT = "redundant contacts do not share evenly: a box's corners, and the spin of a sliding box"
STACK = "a stack that gets heavier upwards still creeps at 3 cm/s"
BALL_STRENGTH = "the spent drive of a ball joint does not settle on the exact direction"
WEAK_ASSISTED = "an assisted root with joints weaker than their motion takes can fly apart"
WILD = "random scenes: weak joints under assisted roots, and with ties that cannot all hold"
ENERGY = "with bounce or mass ratios of a thousand a jointed body can gain energy in impacts"

_finite = "test_random_scenes_stay_finite"
_energy = "test_random_limp_scenes_gain_no_energy"
_rods = "test_rods_that_fall_gain_no_energy"
_steps = ("24", "240")

STRICT = {
    **{f"test_two_bodies_meet_and_keep_their_momentum[stay-{s}]": MOMENTUM for s in _steps},
    **{f"test_a_ball_hits_a_free_doll_and_momentum_stays[{s}-limp]": MOMENTUM for s in _steps},
    "test_a_doll_that_hits_itself_keeps_its_momentum": MOMENTUM,
    "test_a_stack_of_ten_stands_ten_seconds[heavier]": STACK,
    **{f"test_a_box_slides_and_spins_to_rest[{s}]": REDUNDANT for s in _steps},
    **{f"test_four_corners_share_the_weight[{s}]": REDUNDANT for s in _steps},
    "test_strength_finds_the_exact_minimum[hinges and balls]": BALL_STRENGTH,
    "test_one_ball_joint_slips_the_right_way": BALL_STRENGTH,
    "test_a_weak_character_stays_finite_whatever_holds_its_root[HINGE-ASSISTED]": WEAK_ASSISTED,
    "test_a_weak_character_stays_finite_whatever_holds_its_root[BALL-ASSISTED]": WEAK_ASSISTED,
    **{f"{_rods}[{k}-2-1000.0]": ENERGY for k in ("0.0", "0.5", "1.0")},
    **{f"{_rods}[1.0-{k}]": ENERGY for k in ("1-1.0", "2-1.0", "2-10.0", "2-0.001")},
}
LOOSE = {
    **{f"{_finite}[{k}]": WILD for k in range(10)},
    **{f"{_energy}[{k}]": ENERGY for k in range(10)},
}
