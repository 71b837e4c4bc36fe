"""The kernels of a simulation that are compiled separately, and the smallest shot that provides their arguments.

Owns the two suites: `alone`, and `touching` for shots with contacts, ties or limits. `touching` is compiled after
`alone`, so that a shot without contacts, ties and limits does not wait for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..collision.broad_phase import find_pairs
from ..collision.narrow_phase import collide
from ..collision.time_of_impact import time_of_impact
from ..compile.precompile import Suite, register
from ..contact.before_step import meet
from ..contact.footfall import lead_feet
from ..contact.impacts import collide_now
from ..contact.island_solver import eliminate_ties, solve_island
from ..contact.joint_space import fill_matrix, find_islands, lay_paths
from ..contact.ragdoll_candidates import solve_candidates
from ..contact.ragdoll_sweeps import solve_ragdolls
from ..contact.return_to_motion import let_return
from ..contact.settling import settle_rates
from ..contact.standing_feet import allow_source
from ..contact.step_size import brake_whirls, even_part, note_quickening, remember, return_to, too_far
from ..contact.sustained import brace, lean, press
from ..contact.tie_rows import add_limits, add_ties, strike
from ..contact.unmet_contacts import give_up
from ..controllers import Follow
from ..controllers.follow.reference import aim_step, begin_frame, end_step, keep_appointments
from ..controllers.on_time.torque_law import apply_law
from ..controllers.shared.recovery import make_deadlines
from ..controllers.shared.root_assist import feed_forward, hold_back
from ..controllers.shared.strength import any_limit, give_in
from ..dynamics.articulated import composite_inertia, factorise, generalized, momentum_of, solve
from ..dynamics.kinematics import forward, momenta, velocities
from ..dynamics.momentum import carry_over, leftover, turn_spins
from ..geometry.shape_table import Shapes
from ..geometry.shapes import Sphere
from ..model.model import Model
from ..model.motion import Motion
from ..model.scene import Collider, Scene
from ..step.close_ties import close_ties, still_ties
from ..step.compliant_solve import (
    answer_secants,
    factor_at,
    first_half,
    measure_deflection,
    prepare_factor,
    second_half,
    share_load,
    stages,
    step_load,
)
from ..step.contact_points import carry_rows
from ..step.energy_guard import keep_energy, note_work
from ..step.free_roots import balance_roots, place_roots, turn_roots
from ..step.run_frames import run_frames
from ..step.shared_momentum import balance_together
from ..step.sleeping import note_quiet, sleeps
from ..step.step import drive_torques, finish, middle_pose, move
from ..tables import work as W
from ..tables.classes import Aim, Control, Factor, Holds, Pose, Record, Rows, State, Target, Touch, Tree, Work
from ..tables.work import factor_of, pose_of
from .assemble import Actor
from .shot import Shot

# In order of priority: the next kernel to compile is the first one whose dependencies are compiled.
ALONE = (
    aim_step, velocities, generalized, factorise, solve, forward, leftover, share_load, composite_inertia, factor_at,
    prepare_factor, stages, measure_deflection, turn_spins, step_load, answer_secants, momenta, momentum_of, first_half,
    brake_whirls, feed_forward, give_in, turn_roots, balance_roots, begin_frame, keep_appointments, apply_law,
    carry_over, second_half, hold_back, middle_pose, move, finish, place_roots, close_ties, still_ties, note_work,
    keep_energy, end_step, drive_torques, even_part, note_quickening, remember, return_to, too_far, any_limit,
    note_quiet, sleeps, settle_rates, run_frames,
)  # fmt: skip
TOUCHING = (
    collide, solve_ragdolls, lay_paths, solve_candidates, fill_matrix, find_islands, solve_island, press, collide_now,
    time_of_impact, allow_source, add_ties, add_limits, find_pairs, make_deadlines, give_up, let_return, meet, brace,
    lean, prepare_factor, stages, first_half, give_in, strike, turn_roots, balance_roots, place_roots, carry_rows,
    balance_together, note_work, keep_energy, eliminate_ties, close_ties, still_ties, second_half, drive_torques,
    lead_feet, note_quiet, sleeps, settle_rates, run_frames,
)  # fmt: skip
# Compile time of a kernel on one core [s]; only ratios matter. Kernels not listed count as small.
ALONE_COSTS = {
    "aim_step": 3.7, "run_frames": 2.7, "brake_whirls": 2.0, "keep_energy": 1.1, "prepare_factor": 1.0,
    "give_in": 0.9, "factorise": 0.8, "stages": 0.6, "feed_forward": 0.6, "solve": 0.5, "measure_deflection": 0.5,
    "step_load": 0.5, "begin_frame": 0.5, "note_quiet": 0.4, "answer_secants": 0.4, "forward": 0.4, "move": 0.3,
    "second_half": 0.3, "balance_roots": 0.3, "share_load": 0.3, "turn_roots": 0.3, "keep_appointments": 0.3,
}  # fmt: skip
TOUCHING_COSTS = {
    "solve_island": 4.9, "collide": 4.9, "meet": 4.1, "run_frames": 2.7, "press": 2.6, "collide_now": 2.5,
    "give_up": 1.8, "solve_ragdolls": 1.5, "close_ties": 1.1, "time_of_impact": 1.0, "strike": 1.0,
    "allow_source": 1.0, "note_quiet": 0.9, "add_limits": 0.9, "lead_feet": 0.9, "let_return": 0.8, "carry_rows": 0.8,
    "give_in": 0.7, "solve_candidates": 0.7, "find_pairs": 0.6, "brace": 0.6, "prepare_factor": 0.6,
    "balance_together": 0.5, "add_ties": 0.5, "first_half": 0.5, "still_ties": 0.5, "keep_energy": 0.5,
    "lay_paths": 0.4, "turn_roots": 0.4, "eliminate_ties": 0.4, "second_half": 0.4,
}  # fmt: skip


def sample_shot(touching: bool) -> Shot:
    """The smallest shot that has all tables of the compiled kernels."""
    model = Model.from_tree(["root", "tip"], [None, "root"], np.zeros((2, 3)))
    motion = Motion.build(model, 24.0, np.tile([1.0, 0.0, 0.0, 0.0], (2, 2, 1)))
    scene = Scene(colliders=[Collider("ball", [Sphere(0.1)])]) if touching else Scene()
    return Shot([Actor(model, motion, Follow(heaviness=0.5, root="FREE"))], scene, 24.0)


def _samples(touching: bool) -> dict[type, Any]:
    """One table of each class, as sample arguments."""
    shot = sample_shot(touching)
    found = {
        Tree: shot.tree,
        Target: shot.target,
        Control: shot.control,
        State: shot.state,
        Aim: shot.aim,
        Work: shot.work,
        Touch: shot.touch,
        Record: shot.record,
        Pose: pose_of.py_func(shot.work, W.MIDDLE),
        Factor: factor_of.py_func(shot.work, W.MAIN),
    }
    if shot.touch is not None:
        found |= {Shapes: shot.touch.shapes, Rows: shot.touch.rows, Holds: shot.touch.holds}
    return found


register(Suite("alone", ".simulation.kernel_suites", ALONE, lambda: _samples(False), ALONE_COSTS, 0.1, waited=True))
register(
    Suite("touching", ".simulation.kernel_suites", TOUCHING, lambda: _samples(True), TOUCHING_COSTS, 0.2, waited=True)
)
