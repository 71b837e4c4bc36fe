"""Strength: against the exact minimum of METHODS §1d by a slow solver, and what a joint does when it is spent."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.model.motion import Motion
from engine.simulation.shot import Shot
from how_many import cases
from naive import angle_between, gravity_torques, mass_matrix, mechanics, turns_of
from probe import strength_step
from shapes import chain, hinge_angles, joint_rotations, smooth_motion, still_motion

VELOCITY = 1e-6  # of the largest in the problem
GAP = 1e-12  # duality gap of the slow solver, of what is at stake
ROUNDING = 1e-16
CHAINS = cases(150)  # of each kind
FPS = 24.0


class Slow:
    """½‖v−v*‖²_M + Σ m_i|v−v̂|_i, the norms joint by joint; `first`: where each joint's rates begin."""

    def __init__(self, mass, loose, asked, first, most):
        self.mass, self.loose, self.asked, self.first, self.most = mass, loose, asked, first, most
        self.owner = np.repeat(np.arange(len(first)), np.diff([*first, len(loose)]))
        self.same = self.owner[:, None] == self.owner

    def sizes(self, d, soft=0.0):
        return np.sqrt(np.add.reduceat(d * d, self.first) + soft * soft)

    def value(self, d, soft=0.0):
        away = d + self.asked - self.loose
        return 0.5 * away @ self.mass @ away + self.most @ self.sizes(d, soft)

    def newton(self, d, soft, held):
        """Minimise from d = v − v̂ with every norm √(|·|² + soft²); joints that are `held` stay."""
        free = ~held[self.owner]
        for _ in range(100):
            size = np.where(held, 1.0, self.sizes(d, soft))
            pull = np.where(held, 0.0, self.most / size)[self.owner]
            slope = self.mass @ (d + self.asked - self.loose) + pull * d
            unit = d / size[self.owner]
            bend = self.mass + np.diag(pull) - self.same * pull * np.outer(unit, unit)
            step = np.zeros(len(d))
            step[free] = np.linalg.solve(bend[np.ix_(free, free)], -slope[free])
            t, now = 1.0, self.value(d, soft)
            judged = -(slope @ step) > ROUNDING * abs(now)  # else the value is rounded to more than there is to gain
            while judged and t > 1e-9 and self.value(d + t * step, soft) > now + 1e-4 * t * (slope @ step):
                t *= 0.5
            d = d + t * step
            if np.abs(step).max() < 1e-14 * np.abs(self.loose - self.asked).max() or t <= 1e-9:
                break
        return d

    def minimum(self):
        """v (nv,), and a bound on how far its value is from the minimum, relative: the duality gap.

        Softened ever less, until it is plain which joints hold; then exactly.
        """
        scale = np.abs(self.loose - self.asked).max()
        stake = 0.5 * (self.loose - self.asked) @ self.mass @ (self.loose - self.asked)
        none = np.zeros(len(self.first), dtype=bool)
        d, gap = self.loose - self.asked, np.inf
        v = self.loose
        for soft in scale * 10.0 ** -np.arange(1.0, 15.0):
            d = self.newton(d, soft, none)
            if soft > 2e-4 * scale:
                continue
            held = self.sizes(d) < np.sqrt(soft * scale)
            sharp = self.newton(np.where(held[self.owner], 0.0, d), 0.0, held)
            v = sharp + self.asked
            impulse = self.mass @ (v - self.loose)
            impulse *= np.minimum(1.0, self.most / np.maximum(self.sizes(impulse), 1e-300))[self.owner]
            dual = -0.5 * impulse @ np.linalg.solve(self.mass, impulse) - impulse @ (self.loose - self.asked)
            gap = (self.value(sharp) - dual) / stake
            if gap < GAP:
                break
        return v, gap


def first_step(model, motion, strength, gravity):
    scene = engine.Scene(gravity=gravity)
    shot = Shot([engine.Actor(model, motion, engine.Follow(strength=strength, settle_time=0.2))], scene, FPS)
    return strength_step(shot)


def random_chain(rng, kinds):
    links = int(rng.integers(2, 21))
    model = chain(
        links, "HINGE", length=rng.uniform(0.1, 0.4), mass=10.0 ** rng.uniform(-0.5, 0.5), along=(1.0, 0.0, 0.0)
    )
    words = [str(rng.choice(kinds)) for _ in range(links)]
    axes = rng.normal(size=(links, 3))
    if "UNIVERSAL" in kinds:
        axes = np.stack([axes, rng.normal(size=(links, 3))], axis=1)
    return engine.Model.from_tree(
        model.names, model.parents, model.offsets, None, words, model.masses, model.centers, model.inertias, axes
    )


@pytest.mark.parametrize(
    "kinds",
    [("HINGE",), ("HINGE", "BALL"), ("HINGE", "UNIVERSAL", "BALL")],
    ids=["hinges", "hinges and balls", "all kinds"],
)
def test_strength_finds_the_exact_minimum(kinds, figure, rng):
    """Random chains, poses, motions and gravity; strengths from far too little to ample."""
    errors, turns, slips, worst_gap = [], [], [], 0.0
    for _ in range(CHAINS):
        model = random_chain(rng, kinds)
        motion = smooth_motion(model, rng, 3, FPS, reach=1.0)
        gravity = tuple(rng.normal(size=3) * 10.0)
        h = 1.0 / FPS
        first = model.dof_starts[:-1]
        # what following takes sets the scale: some joints have plenty, some too little
        loose, asked, middle, _ = first_step(model, motion, np.zeros(len(model)), gravity)
        rotations = turns_of(model, middle)
        mass = mass_matrix(model, rotations, model.offsets)
        needed = mass @ (asked - loose) / h
        size = np.sqrt(np.add.reduceat(needed**2, first))
        strength = size * 10.0 ** rng.uniform(-1.5, 0.7, len(model)) + 1e-9
        found, again, _, count = first_step(model, motion, strength, gravity)
        assert again == pytest.approx(asked, abs=1e-12)
        v, gap = Slow(mass, loose, asked, first, h * strength).minimum()
        worst_gap = max(worst_gap, gap)
        errors.append(np.abs(found - v).max() / max(1.0, np.abs(loose).max(), np.abs(asked).max()))
        turns.append(count)
        slips.append(np.mean(np.add.reduceat((v - asked) ** 2, first) > 1e-12))
    name = f"strength, {CHAINS} chains of 2 to 20 {' and '.join(k.lower() + 's' for k in kinds)}"
    errors = np.array(errors)
    figure(f"{name}: the slow solver's duality gap", worst_gap, GAP)
    counts = " ".join(f"{x:g}" for x in np.percentile(turns, [50, 95, 100]))
    figure.note(f"{name}: factorisations median, 95 %, most", counts)
    figure.note(f"{name}: share of joints that slip", float(np.mean(slips)))
    figure.note(f"{name}: chains beyond 1e-6", f"{int((errors > VELOCITY).sum())}")
    figure(f"{name}: rates off the minimum", errors.max(), VELOCITY)


@pytest.mark.parametrize("kind", ["HINGE", "BALL"])
def test_no_strength_is_limp(kind, figure):
    """An arm let go: 0.5 s of fall."""
    model = chain(3, kind)
    source = still_motion(model, 0.5, FPS)
    off = []
    for steps in (240, 960, 3840):
        weak = engine.simulate(model, source, engine.Follow(strength=0.0), steps_per_second=steps).motion
        limp = engine.simulate(model, source, engine.Limp(tone=0.0), steps_per_second=steps).motion
        off.append(np.degrees(angle_between(weak.rotations, limp.rotations).max()))
    figure.note(f"strength 0 against limp, {kind}: 240, 960, 3840/s [°]", " ".join(f"{x:.2g}" for x in off))
    figure(f"strength 0 against limp, {kind}, 960 steps/s [°]", off[1], 0.5)


@pytest.mark.parametrize("kind", ["HINGE", "BALL"])
@pytest.mark.parametrize("heaviness", [0.0, 0.5])
def test_enough_strength_changes_nothing(kind, heaviness, figure, rng):
    model = chain(5, kind)
    source = smooth_motion(model, rng, 49, FPS, reach=0.6)
    ample = engine.simulate(model, source, engine.Follow(strength=1e4, heaviness=heaviness)).motion
    plain = engine.simulate(model, source, engine.Follow(heaviness=heaviness)).motion
    figure(
        f"ample strength, {kind}, heaviness {heaviness}: off the unlimited one",
        np.abs(ample.rotations - plain.rotations).max(),
        1e-9,
    )


@pytest.mark.parametrize("steps", [24, 240])
def test_no_drive_gives_more_than_it_has(steps, figure, rng):
    """A waving arm with half the strength its motion takes."""
    model = chain(4, "HINGE")
    source = smooth_motion(model, rng, 73, FPS, reach=0.8)
    whole = np.abs(engine.simulate(model, source, engine.Follow(), steps_per_second=steps).torques).max(axis=(0, 2))
    result = engine.simulate(model, source, engine.Follow(strength=0.5 * whole), steps_per_second=steps)
    share = (np.linalg.norm(result.torques, axis=2) / (0.5 * whole)).max()
    if steps == 24:
        figure.note("half the strength, 24 steps/s: largest torque, of the strength", share)
    else:
        figure(f"half the strength, {steps} steps/s: largest torque, of the strength", share, 1.01)
    assert angle_between(result.motion.rotations, source.rotations).max() > 0.02, "it falls behind"


@pytest.mark.parametrize("steps", [24, 240])
def test_too_strong_a_blow_makes_the_joint_give_way_and_come_back(steps, figure):
    """A push on a held-out arm with twice the strength that holding it takes."""
    model = chain(1, "HINGE", mass=3.0)
    hold = np.abs(gravity_torques(model, still_motion(model, 0.0, FPS).rotations[0], model.offsets, (0, 0, -9.81)))[0]
    source = still_motion(model, 4.0, FPS)
    bend = {}
    for strength in (np.inf, 2.0 * hold, 0.5 * hold):
        scene = engine.Scene(pushes=[engine.Push("link0", (0.0, 0.0, -3.0), 12, (0.3, 0.0, 0.0))])
        control = engine.Follow(strength=strength, settle_time=0.2)
        result = engine.simulate(model, source, control, scene, steps)
        bend[strength] = hinge_angles(model, result.motion)[:, 0]
    strong, weak, too_weak = bend.values()
    name = f"a blow, {steps} steps/s"
    figure.note(f"{name}: deepest with all, twice and half the strength to hold [°]", " ".join(
        f"{np.degrees(x.max()):.1f}" for x in bend.values()))  # fmt: skip
    assert np.abs(weak[:12]).max() < 1e-9, "holds until the blow"
    assert weak.max() > 1.5 * strong.max(), "gives way"
    figure(f"{name}: left of it in the end with twice the strength [rad]", abs(weak[-1]), 1e-6)
    assert too_weak[11] > 0.1, "half the strength does not hold it even before the blow"


def test_a_stiff_arm_with_little_strength_stays_bounded(figure):
    """A target that jumps, all settle times: it chases within its strength and never flies apart."""
    model = chain(5, "BALL")
    frames = 97
    angles = np.zeros((frames, len(model), 3))
    angles[24:, :, 1] = 0.6
    stepped = np.zeros((frames, len(model)), dtype=bool)
    stepped[24] = True
    source = Motion.build(model, FPS, joint_rotations(model, angles), stepped=stepped)
    worst = 0.0
    for settle in (0.05, 0.2, 1.0):
        for strength in (0.1, 5.0, 30.0):
            for steps in (24, 96, 240):
                result = engine.simulate(
                    model, source, engine.Follow(settle_time=settle, strength=strength), steps_per_second=steps
                )
                worst = max(worst, np.abs(result.velocities).max())
    figure("little strength, all settle times and steps: fastest joint [rad/s]", worst, 200.0)


def test_one_ball_joint_slips_the_right_way(figure, rng):
    """The least there is: one rod, ten times as light about its own axis, on a ball that is too weak."""
    worst, most = 0.0, 0
    for _ in range(50):
        model = chain(1, "BALL")
        motion = smooth_motion(model, rng, 3, FPS, reach=1.0)
        gravity = tuple(rng.normal(size=3) * 10.0)
        loose, asked, middle, _ = first_step(model, motion, 0.0, gravity)
        mass = mass_matrix(model, turns_of(model, middle), model.offsets)
        strength = 0.5 * np.linalg.norm(mass @ (asked - loose)) * FPS
        found, _, _, turns = first_step(model, motion, strength, gravity)
        v, _ = Slow(mass, loose, asked, np.array([0]), np.array([strength / FPS])).minimum()
        worst, most = max(worst, np.abs(found - v).max() / max(1.0, np.abs(v).max())), max(most, turns)
    figure.note("strength, one ball joint, half of what it takes: most factorisations", most)
    figure("strength, one ball joint, half of what it takes: rates off the minimum", worst, VELOCITY)


@pytest.mark.parametrize("root", ["ASSISTED", "FREE", "ANIMATED"])
@pytest.mark.parametrize("kind", ["HINGE", "BALL"])
def test_a_weak_character_stays_finite_whatever_holds_its_root(root, kind, figure, rng):
    """Too little strength for its own motion, any heaviness and settle time."""
    model = chain(3, kind, base="FREE")
    source = smooth_motion(model, rng, 25, FPS, reach=0.5)
    bad = runs = 0
    fastest, off = 0.0, 0.0
    for strength in (1e-3, 0.1, 3.0):
        for settle in (0.05, 0.5):
            for heaviness in (0.0, 0.5, 1.0):
                for steps in (24, 240):
                    control = engine.Follow(root=root, strength=strength, settle_time=settle, heaviness=heaviness)
                    runs += 1
                    try:
                        result = engine.simulate(model, source, control, steps_per_second=steps)
                    except engine.SimulationError:
                        bad += 1
                        continue
                    fastest = max(fastest, np.abs(result.velocities).max())
                    off = max(off, np.abs(result.motion.positions[:, 0] - source.positions[:, 0]).max())
    name = f"a weak character, root {root.lower()}, {kind}, {runs} runs"
    figure(f"{name}: flew apart", bad, 0)
    figure(f"{name}: fastest joint [rad/s]", fastest, 100.0)
    if root != "FREE":
        figure(f"{name}: root off its keys [m]", off, 0.2)


def test_limbs_that_slip_make_no_momentum(figure, rng):
    """Next to no guiding force, limbs too weak for their motion: the tree gets the momentum that its keys have,
    whatever the limbs ask for and do not do."""
    model = chain(3, "BALL", base="FREE")
    source = smooth_motion(model, rng, 25, FPS, reach=0.5)
    scene = engine.Scene(gravity=(0.0, 0.0, 0.0))
    strong = engine.simulate(model, source, engine.Follow(root="ANIMATED"), scene)
    weak = engine.simulate(
        model, source, engine.Follow(root="ASSISTED", strength=0.02, heaviness=0.5, assist=1e-6), scene
    )
    keys, found = (mechanics(model, r.motion, r.velocities, scene.gravity).linear for r in (strong, weak))
    assert angle_between(weak.motion.rotations, source.rotations).max() > 0.2, "it slips"
    figure("limbs that slip: momentum off the keys' own", np.abs(found - keys).max() / np.abs(keys).max(), 0.01)


def test_an_assisted_root_with_a_fixed_child_keeps_its_motion(figure, rng):
    """A joint without degrees of freedom has no load to feel."""
    model = chain(2, "FIXED", base="FREE")
    source = smooth_motion(model, rng, 25, FPS, reach=0.5)
    result = engine.simulate(model, source, engine.Follow(root="ASSISTED", heaviness=0.8))
    off = max(
        np.abs(result.motion.positions - source.positions).max(),
        angle_between(result.motion.rotations, source.rotations).max(),
    )
    figure("assisted root, fixed child, heavy: off the keys [m, rad]", off, 1e-12)
