"""S1 Fig. 10: a net of 16 × 16 nodes with a driven skeleton in it; 735 joints and 225 loops closed by ties."""

from __future__ import annotations

import time

import numpy as np

import engine
from engine.model.model import Model
from engine.model.motion import Motion
from naive import forward
from props import capsule_chain
from shapes import joint_rotations, rod_inertia

NODES = 16
SPACING = 0.1  # [m]
SLACK = 0.5  # [rad] how steep the rods are at first
LOOP = 1e-3  # [m]
DROP = 1.0  # [m/s] how fast the skeleton comes down: the slack net falls too
FPS = 24.0


def net(side):
    """Model, what closes its loops (rod, node and the rod's end there) and three corners; the fourth is the root.

    Every other node stands higher, so that a net held at its corners has room to sag.
    """
    room = SPACING * np.array([np.cos(SLACK), np.cos(SLACK), np.sin(SLACK)])
    place = {("n", i, j): room * [i, j, (i + j) % 2] for i in range(side) for j in range(side)}
    joints = {}
    for i in range(side):
        for j in range(side):
            for a, b in ((1, 0), (0, 1)):
                if i + a < side and j + b < side:
                    rod = ("x" if a else "y", i, j)
                    joints[rod] = [("n", i, j), ("n", i + a, j + b)]
                    place[rod] = 0.5 * (place[joints[rod][0]] + place[joints[rod][1]])
    links = {key: [] for key in place}
    for rod, ends in joints.items():
        for node in ends:
            links[rod].append(node)
            links[node].append(rod)
    # breadth first: short ways to everything
    order, parent = [("n", 0, 0)], {("n", 0, 0): None}
    for here in order:
        for other in links[here]:
            if other not in parent:
                parent[other] = here
                order.append(other)
    # a joint is where rod and node meet: at the node
    names = {key: f"{key[0]}{key[1]}.{key[2]}" for key in order}
    anchor = {key: place[key] if key[0] == "n" else place[parent[key]] for key in order}
    offsets = [anchor[key] - (anchor[parent[key]] if parent[key] else 0.0) for key in order]
    masses, centers, inertias, shapes = [], [], [], []
    for key in order:
        node = key[0] == "n"
        masses.append(0.02 if node else 0.05)
        centers.append(place[key] - anchor[key])
        if node:
            inertias.append(np.eye(3) * 0.4 * 0.02 * 0.015**2)
            shapes.append(None)
            continue
        along = (place[joints[key][1]] - place[joints[key][0]]) / SPACING
        inertias.append(rod_inertia(0.05, SPACING, 0.01, along))
        middle, half = place[key] - anchor[key], 0.4 * SPACING * along
        shapes.append(engine.Capsule(0.01, tuple(middle - half), tuple(middle + half)))
    model = Model.from_tree(
        [names[key] for key in order],
        [None if parent[key] is None else names[parent[key]] for key in order],
        offsets,
        None,
        ["FREE"] + ["BALL"] * (len(order) - 1),
        masses,
        centers,
        inertias,
        shapes=shapes,
    )
    loops = []
    for rod, ends in joints.items():
        for node in ends:
            if parent[rod] != node and parent[node] != rod:
                loops.append((names[rod], names[node], place[node] - anchor[rod]))
    corners = [names[("n", i, j)] for i in (0, side - 1) for j in (0, side - 1) if (i, j) != (0, 0)]
    return model, loops, corners


def loop_error(model, motion, loops):
    """(frames,) the widest open loop [m]."""
    bodies = forward(model, motion.rotations, motion.positions)
    worst = np.zeros(len(motion))
    for rod, node, point in loops:
        r, n = model.index(rod), model.index(node)
        off = bodies.anchors[:, r] + bodies.turns[:, r] @ point - bodies.anchors[:, n]
        worst = np.maximum(worst, np.linalg.norm(off, axis=1))
    return worst


def catch(side, frames, steps):
    """A driven skeleton dropped into a net held at its corners: model, loops, both results and seconds a frame."""
    model, loops, corners = net(side)
    middle = 0.5 * SPACING * np.cos(SLACK) * (side - 1)
    still = Motion.build(model, FPS, np.tile([1.0, 0.0, 0.0, 0.0], (frames, len(model), 1)))
    limb = capsule_chain(4, "BALL", length=0.15, mass=0.8, radius=0.04)
    kinds = ["FREE", "BALL", "BALL", "BALL"]
    skeleton = Model.from_tree(
        limb.names, limb.parents, limb.offsets, None, kinds, limb.masses, limb.centers, limb.inertias,
        shapes=[s[0] for s in limb.shapes],
    )  # fmt: skip
    angles = np.zeros((frames, 4, 3))
    angles[:, 1:, 2] = 0.4 * np.sin(5.0 * np.arange(frames) / FPS)[:, None]
    places = np.broadcast_to(skeleton.offsets, (frames, 4, 3)).copy()
    places[:, 0] = (middle - 0.25, middle, 0.11)
    places[:, 0, 2] -= DROP * np.arange(frames) / FPS
    motion = Motion.build(skeleton, FPS, joint_rotations(skeleton, angles), places)
    ties = [engine.Tie("PIN", (0, rod), (0, node), tuple(point)) for rod, node, point in loops]
    ties += [engine.Tie("PIN", (0, corner)) for corner in corners]
    scene = engine.Scene(ties=ties, touch_self=False)
    actors = [
        engine.Actor(model, still, engine.Limp(tone=0.0, root="ANIMATED")),
        engine.Actor(skeleton, motion, engine.Follow(root="FREE", settle_time=0.2)),
    ]
    engine.warm_up()
    begin = time.perf_counter()
    results = engine.simulate_together(actors, scene, steps)
    return model, loops, results, (time.perf_counter() - begin) / (frames - 1)


def test_the_net_is_the_papers():
    model, loops, corners = net(NODES)
    assert (len(model), len(model) - 1, len(loops), len(corners)) == (736, 735, 225, 3)


def test_a_small_net_catches_a_skeleton(figure):
    """6 × 6 nodes for a second: long enough to fall in and hang."""
    model, loops, results, seconds = catch(6, 25, 240)
    figure.note(f"a net of {len(model)} bodies: time a frame, 240 steps/s [s]", seconds)
    error = loop_error(model, results[0].motion, loops)
    figure(f"a net of {len(model)} bodies, {len(loops)} loops: widest open [m]", error.max(), LOOP)
    assert results[0].contacts.frames.size, "it is in the net"


def test_the_papers_net_catches_a_skeleton(figure):
    """16 × 16 nodes; a short shot at 96 steps a second, since every step solves 684 tie rows at once."""
    frames = 5
    model, loops, results, seconds = catch(NODES, frames, 96)
    error = loop_error(model, results[0].motion, loops)
    figure.note(f"the paper's net, {frames - 1} frames at 96 steps/s: time a frame [s]", seconds)
    figure("the paper's net, 735 joints, 225 loops: widest open [m]", error.max(), LOOP)
    assert results[0].contacts.frames.size, "the skeleton is in the net"
