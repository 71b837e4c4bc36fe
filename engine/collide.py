"""Where two shapes touch.

Owns the contact points of a pair, its least gap, and the time of its first impact.
Must not know which pairs to look at or what is done about a contact.

Round shapes touch by closed forms. Solids (box, hull), also against a capsule, touch along
the direction of their nearest points (GJK) or, once they overlap, of the least way out
(separating axes); where a face lies across that direction, the outlines of both faces are
laid over each other and the corners of what they share are the contacts. Grids and planes
are touched by the other's points, and touch with their own.

A pair is always worked on with the simpler shape first (`one`, `two`), in the frame of
`two` where that helps, and told in the caller's order: swapping a and b only turns normals.
"""

from __future__ import annotations

import math

import numpy as np

from .distance import TINY, load9, matrix_unapply, nearest_between, own_distance, own_nearest, place_shape
from .jit import kernel, part
from .shape_tables import (
    AXES,
    BODY,
    BOUNCE,
    BOUND,
    BOX,
    CAPSULE,
    EDGE_END,
    EDGE_FACE,
    EDGE_FIRST,
    EDGE_OTHER,
    EDGE_START,
    EDGE_STOP,
    EXTENT,
    FACE_END,
    FACE_FIRST,
    FACE_NORMAL,
    FACE_OFFSET,
    FRICTION,
    GRID,
    HALF,
    KIND,
    PLANE,
    POINT_END,
    POINT_FIRST,
    POSITION,
    QUATERNION,
    REACH,
    RING_END,
    RING_FIRST,
    ROUNDING,
    SPHERE,
    SPOT,
    XYZ,
)
from .spatial import (
    add,
    axpy,
    cross,
    dot,
    load3,
    load4,
    matrix_apply,
    quat_conj,
    quat_exp,
    quat_log,
    quat_mul,
    scale,
    store3,
    sub,
)

# Columns of a table of contacts
POINT = np.int64(0)  # 3: in the middle between the surfaces
NORMAL = np.int64(3)  # 3: from b to a
GAP = np.int64(6)  # 1: negative where they overlap
CONTACT_FRICTION = np.int64(7)  # 1: geometric mean of the two
CONTACT_BOUNCE = np.int64(8)  # 1: the larger of the two
SPARE = np.int64(9)  # 8: for the solver
CONTACT_COLUMNS = np.int64(17)
# Columns of the table of integers that goes with it
SHAPE_A, SHAPE_B, BODY_A, BODY_B, FEATURE = (np.int64(k) for k in range(5))
TOUCH_COLUMNS = np.int64(5)

KEPT = 4  # contacts of a pair
WINDOW = 96  # rows a pair may use before it is cut down to KEPT
ROUNDS = 60  # of GJK; 4 to 8 are usual
CONVERGED = 1e-10  # of the squared distance
OVERLAP = 1e-7  # of the pair's size: nearer than this, GJK's direction is rounding error
FLAT = 0.98  # cosine to the normal from which on a face lies across it
STEEP = 0.1  # … and below which it is of no use
PARALLEL = 0.02  # squared sine below which capsules lie along each other
SLACK = 1e-3  # of an edge's length: a corner this little outside of a face is still on it
PREFER = 1.02  # what was found first stays unless another is this much better: features do not flicker
ADVANCES = 200  # of time_of_impact; 5 to 20 are usual
# Numbers of features: a corner of one as it is, then
OF_ONE = np.int64(0)
OF_TWO = np.int64(1 << 10)
CROSSING = np.int64(1 << 20)
WITNESS = np.int64(1 << 30)
LOW, HIGH = np.int64(1), np.int64(2)  # ends of where two capsules lie along each other
NO_ROW = np.int64(0)  # where nothing is written


@part
def collide(shapes, placed, a, b, margin, contact, meet, count):
    """Append the contacts of shapes a and b that are no farther apart than the margin; the new count."""
    if count >= len(contact) or _apart(placed, a, b, margin):
        return count
    one, two, sign = _order(shapes.link, a, b)
    kind, other = shapes.link[one, KIND], shapes.link[two, KIND]
    last = count
    if kind == SPHERE or other >= GRID:
        if kind < PLANE:
            last, _, _ = _features_against(shapes, placed, one, two, margin, margin, contact, meet, count, last)
    elif other <= CAPSULE:
        last = _rods(
            load3(placed, one, SPOT), _half_axis(shapes.shape, placed, one),
            load3(placed, two, SPOT), _half_axis(shapes.shape, placed, two),
            shapes.shape[one, ROUNDING], shapes.shape[two, ROUNDING], margin, contact, meet, count,
        )  # fmt: skip
    else:
        last = _solids(shapes, placed, one, two, margin, contact, meet, count)
    last = _keep(contact, meet, count, last)
    friction = math.sqrt(shapes.shape[a, FRICTION] * shapes.shape[b, FRICTION])
    bounce = max(shapes.shape[a, BOUNCE], shapes.shape[b, BOUNCE])
    for row in range(count, last):
        store3(contact, row, NORMAL, scale(sign, load3(contact, row, NORMAL)))
        contact[row, CONTACT_FRICTION], contact[row, CONTACT_BOUNCE] = friction, bounce
        meet[row, SHAPE_A], meet[row, SHAPE_B] = a, b
        meet[row, BODY_A], meet[row, BODY_B] = shapes.link[a, BODY], shapes.link[b, BODY]
    return last


@kernel
def gap_of(shapes, placed, a, b):
    """The least gap of a pair and the direction from b to a there: (gap, nx, ny, nz)."""
    one, two, sign = _order(shapes.link, a, b)
    kind, other = shapes.link[one, KIND], shapes.link[two, KIND]
    if kind == SPHERE or other >= GRID:
        gap, n = math.inf, (0.0, 0.0, 1.0)
        if kind < PLANE:
            # no gap is below minus infinity, so nothing is written: any tables will do for contacts
            _, gap, n = _features_against(
                shapes, placed, one, two, -math.inf, math.inf, placed, shapes.link, NO_ROW, NO_ROW
            )
    elif other <= CAPSULE:
        u, v = _half_axis(shapes.shape, placed, one), _half_axis(shapes.shape, placed, two)
        p, q = load3(placed, one, SPOT), load3(placed, two, SPOT)
        s, t = nearest_between(p, u, q, v)
        gap, n = _direction(axpy(s, u, p), axpy(t, v, q), u, v)
        gap -= shapes.shape[one, ROUNDING] + shapes.shape[two, ROUNDING]
    else:
        m, shift = _relative(placed, one, two)
        gap, n, _ = _convex(shapes, one, two, m, shift, math.inf)
        gap -= shapes.shape[one, ROUNDING]
        n = matrix_apply(load9(placed, two, AXES), n)
    return gap, sign * n[0], sign * n[1], sign * n[2]


@part
def time_of_impact(shapes, before, after, scratch, a, b, slop):
    """When, in 0 … 1 between the bodies' places `before` and `after` (n+1, 7), the gap of shapes a and b first falls
    to the slop; 2 if never. Bodies move straight and turn evenly; `scratch` is a table like `placed`, of which rows
    a and b are used.

    Conservative advancement: as long as the gap lasts at the fastest the pair can close, nothing can happen. A pair
    that starts within the slop meets at 0 if it closes; if not, it is watched until it has parted or closes."""
    body, other = shapes.link[a, BODY], shapes.link[b, BODY]
    place, place2 = load3(before, body, POSITION), load3(before, other, POSITION)
    move = sub(load3(after, body, POSITION), place)
    move2 = sub(load3(after, other, POSITION), place2)
    turn, turn2 = load4(before, body, QUATERNION), load4(before, other, QUATERNION)
    spin = quat_log(quat_mul(quat_conj(turn), load4(after, body, QUATERNION)))
    spin2 = quat_log(quat_mul(quat_conj(turn2), load4(after, other, QUATERNION)))
    path = sub(move, move2)
    length = math.sqrt(dot(path, path))
    rate, rate2 = math.sqrt(dot(spin, spin)), math.sqrt(dot(spin2, spin2))
    bounds = shapes.shape[a, BOUND] + shapes.shape[b, BOUND]
    kind, kind2 = shapes.link[a, KIND], shapes.link[b, KIND]
    sweep = rate * shapes.shape[a, REACH] + rate2 * shapes.shape[b, REACH]
    hollow = kind == GRID or kind2 == GRID
    near, watch = 0.01 * slop + 1e-9, 0.01 * max(slop, 1e-6)
    t, back, last = 0.0, 0.0, 0.0
    touching = True
    for k in range(ADVANCES):
        place_shape(shapes, a, axpy(t, move, place), quat_mul(turn, quat_exp(scale(t, spin))), scratch)
        place_shape(shapes, b, axpy(t, move2, place2), quat_mul(turn2, quat_exp(scale(t, spin2))), scratch)
        if k == 0:
            arm = sub(load3(scratch, a, SPOT), load3(scratch, b, SPOT))
            if kind == PLANE or kind2 == PLANE:
                # a turning plane sweeps the faster the farther away
                far = bounds + length + math.sqrt(dot(arm, arm))
                far += shapes.shape[a, REACH] + shapes.shape[b, REACH]
                sweep += rate * (far if kind == PLANE else 0.0) + rate2 * (far if kind2 == PLANE else 0.0)
            else:
                # cheap: the balls that hold them, moved past each other
                s = min(max(-dot(arm, path) / (length * length), 0.0), 1.0) if length > 0.0 else 0.0
                arm = axpy(s, path, arm)
                if math.sqrt(dot(arm, arm)) > bounds + sweep + slop:
                    return 2.0
        gap, x, y, z = gap_of(shapes, scratch, a, b)
        within = gap <= slop + near
        if within and not touching:
            return t
        # shapes that fill the space between their points close no faster than along the normal
        closing = sweep + (length if hollow else -dot(path, (x, y, z)))
        if k > 0 and within and gap < last - 1e-3 * closing * (t - back):
            return back
        if closing <= 0.0:
            return 2.0
        touching = touching and within
        last, back = gap, t
        # a touch that lasts is looked at ever less often
        t += min(watch / closing, 1.0 / 32.0) if touching else (gap - slop) / closing
        watch *= 1.5
        if t >= 1.0:
            return 2.0
    return 2.0 if touching else t


@kernel
def _order(link, a, b):
    """The simpler shape, the other, and −1 if that is not the order given."""
    kind, other = link[a, KIND], link[b, KIND]
    if kind > other or (kind == other and a > b):
        return b, a, -1.0
    return a, b, 1.0


@kernel
def _apart(placed, a, b, margin):
    """Whether the bounding boxes are apart by more than the margin."""
    for k in range(3):
        far = abs(placed[a, SPOT + k] - placed[b, SPOT + k])
        if far > placed[a, EXTENT + k] + placed[b, EXTENT + k] + margin:
            return True
    return False


@kernel
def _half_axis(shape, placed, s):
    """From a round shape's middle to its end."""
    h = shape[s, HALF + 2]
    return h * placed[s, AXES + 2], h * placed[s, AXES + 5], h * placed[s, AXES + 8]


@kernel
def _direction(x, y, u, v):
    """Distance and unit vector from y to x; for points that coincide, square to both axes."""
    arm = sub(x, y)
    far = math.sqrt(dot(arm, arm))
    if far > TINY:
        return far, scale(1.0 / far, arm)
    n = cross(u, v)
    square = dot(n, n)
    if square <= 1e-12 * dot(u, u) * dot(v, v) or square <= TINY**4:
        axis = u if dot(u, u) > dot(v, v) else v
        # square to the axis and to the world's axis farthest from it
        x, y, z = abs(axis[0]), abs(axis[1]), abs(axis[2])
        n = cross(axis, (0.0, 0.0, 1.0)) if z <= max(x, y) else cross(axis, (1.0, 0.0, 0.0))
        square = dot(n, n)
        if square <= TINY**4:
            return far, (0.0, 0.0, 1.0)
    return far, scale(1.0 / math.sqrt(square), n)


@kernel
def _offer(contact, meet, first, last, margin, x, n, d, radius, other, feature):
    """A contact at point x of one without its rounding, d away from two without its rounding along n: write it behind
    the last if it is within the margin, or in place of the pair's shallowest when there is no room."""
    gap = d - radius - other
    if gap > margin:
        return last
    row = last
    if last >= min(first + WINDOW, len(contact)):
        row = first
        for k in range(first + 1, last):
            if contact[k, GAP] > contact[row, GAP]:
                row = k
        if contact[row, GAP] <= gap:
            return last
    store3(contact, row, POINT, axpy(0.5 * (other - radius - d), n, x))
    store3(contact, row, NORMAL, n)
    contact[row, GAP] = gap
    meet[row, FEATURE] = feature
    return max(last, row + 1)


@kernel
def _features_against(shapes, placed, one, two, margin, far, contact, meet, first, last):
    """Offer the points of one that are within the margin of two; if two is a grid, also its points near one, and the
    edges of one. With the new last row, and the least gap and its normal among what is nearer than `far`."""
    least, best = far, (0.0, 0.0, 1.0)
    solid = shapes.link[one, KIND] >= BOX and shapes.link[two, KIND] == GRID
    for turned in range(2 if solid else 1):
        # the points of s against shape o; told from the other side where that is not one
        s, o, sign, base = (two, one, -1.0, OF_TWO) if turned else (one, two, 1.0, OF_ONE)
        m, spot = load9(placed, o, AXES), load3(placed, o, SPOT)
        own, place = load9(placed, s, AXES), load3(placed, s, SPOT)
        radius = shapes.shape[s, ROUNDING]
        bounded = shapes.link[o, KIND] != PLANE
        half = load3(shapes.shape, o, HALF)
        start = shapes.link[s, POINT_FIRST]
        for i in range(start, shapes.link[s, POINT_END]):
            p = load3(shapes.points, i, XYZ)
            x = add(place, matrix_apply(own, p))
            y = matrix_unapply(m, sub(x, spot))
            wide = shapes.shape[o, ROUNDING] + radius + max(least, margin)
            if bounded and max(abs(y[0]) - half[0], abs(y[1]) - half[1], abs(y[2]) - half[2]) > wide:
                continue
            d, n = own_distance(shapes, o, y)
            n = matrix_apply(m, n)
            if d - radius <= margin and shapes.link[s, KIND] == GRID:
                # a point of a floor beside a box is near, but does not face it
                _, outward = own_distance(shapes, s, p)
                if dot(matrix_apply(own, outward), n) > -0.5:
                    continue
            if turned:
                x = axpy(-d, n, x)
                n = scale(sign, n)
            if d - radius < least:
                least, best = d - radius, n
            last = _offer(contact, meet, first, last, margin, x, n, d, radius, 0.0, base + i - start)
    if shapes.link[one, KIND] >= CAPSULE and shapes.link[two, KIND] == GRID:
        m, shift = _relative(placed, one, two)
        world, spot = load9(placed, two, AXES), load3(placed, two, SPOT)
        radius = shapes.shape[one, ROUNDING]
        start = shapes.link[one, EDGE_FIRST]
        for e in range(start, shapes.link[one, EDGE_END]):
            if shapes.edges[e, EDGE_START] > shapes.edges[e, EDGE_STOP]:
                continue
            p = _corner(shapes.points, shapes.edges[e, EDGE_START], m, shift)
            side = sub(_corner(shapes.points, shapes.edges[e, EDGE_STOP], m, shift), p)
            d, _ = own_distance(shapes, two, axpy(0.5, side, p))
            if d - 0.5 * math.sqrt(dot(side, side)) - radius > max(least, margin):
                continue
            t, d, n = own_nearest(shapes, two, p, add(p, side))
            if t <= 0.01 or t >= 0.99:  # as near at its ends, which are points
                continue
            n = matrix_apply(world, n)
            if d - radius < least:
                least, best = d - radius, n
            x = add(spot, matrix_apply(world, axpy(t, side, p)))
            last = _offer(contact, meet, first, last, margin, x, n, d, radius, 0.0, CROSSING + e - start)
    return last, least, best


@kernel
def _beside(p, u, q, v, s):
    """The point at s of the segment p ± u, its distance from the segment q ± v, and the direction from there."""
    x = axpy(s, u, p)
    square = dot(v, v)
    t = min(max(dot(sub(x, q), v) / square, -1.0), 1.0) if square > TINY * TINY else 0.0
    d, n = _direction(x, axpy(t, v, q), u, v)
    return x, d, n


@kernel
def _rods(p, u, q, v, radius, other, margin, contact, meet, first):
    """Two rounded segments p ± u and q ± v: at the nearest points, or at both ends of where they lie along each
    other."""
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    where, _ = nearest_between(p, u, q, v)
    x, d, n = _beside(p, u, q, v, where)
    last, both = first, False
    if uu > TINY * TINY and vv > TINY * TINY and uu * vv - uv * uv < PARALLEL * uu * vv:
        at, reach = dot(sub(q, p), u) / uu, abs(uv) / uu
        low, high = max(-1.0, at - reach), min(1.0, at + reach)
        if (high - low) * math.sqrt(uu) > 0.1 * radius:
            x1, d1, n1 = _beside(p, u, q, v, low)
            x2, d2, n2 = _beside(p, u, q, v, high)
            both = min(d1, d2) <= d + 0.01 * radius  # else they cross between these ends
            if both:
                x, d, n = x1, d1, n1
                last = _offer(contact, meet, first, last, margin, x2, n2, d2, radius, other, HIGH)
    return _offer(contact, meet, first, last, margin, x, n, d, radius, other, LOW if both else WITNESS)


@kernel
def _relative(placed, row, other):
    """The axes and origin of the shape in a row, in the frame of that in the other."""
    a, b = load9(placed, row, AXES), load9(placed, other, AXES)
    x = matrix_unapply(b, (a[0], a[3], a[6]))
    y = matrix_unapply(b, (a[1], a[4], a[7]))
    z = matrix_unapply(b, (a[2], a[5], a[8]))
    shift = matrix_unapply(b, sub(load3(placed, row, SPOT), load3(placed, other, SPOT)))
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]), shift


@kernel
def _corner(points, i, m, shift):
    return add(shift, matrix_apply(m, load3(points, i, XYZ)))


@kernel
def _farthest(points, first, end, x, y, z):
    """The point of a range that is farthest along a direction."""
    best, at = -math.inf, first
    for i in range(first, end):
        value = points[i, 0] * x + points[i, 1] * y + points[i, 2] * z
        if value > best:
            best, at = value, i
    return at


@kernel
def _convex(shapes, one, two, m, shift, far):
    """Two convex shapes without their rounding, `one` turned by m and shifted in the frame of `two`: their signed
    distance, the direction from two to one, and the point of one: (d, n, x). Farther than `far`, any d above it."""
    d, n, x = _approach(shapes, one, two, m, shift, far)
    if d < 0.0:
        d, n, x = _least_way_out(shapes, one, two, m, shift)
    return d, n, x


@kernel
def _line_weights(a, b):
    """The point of a–b nearest the origin: its squared distance and the weights of a and b."""
    side = sub(b, a)
    square = dot(side, side)
    t = min(max(-dot(a, side) / square, 0.0), 1.0) if square > 0.0 else 0.0
    x = axpy(t, side, a)
    return dot(x, x), 1.0 - t, t


@kernel
def _triangle_weights(a, b, c):
    """The same of a triangle. If the origin is not over it, the nearest point is on a side that sees the origin."""
    u, v = sub(b, a), sub(c, a)
    n = cross(u, v)
    square = dot(n, n)
    x, y, z = dot(n, cross(b, c)), dot(n, cross(c, a)), dot(n, cross(a, b))
    flat = square <= 1e-20 * dot(u, u) * dot(v, v)
    if x > 0.0 and y > 0.0 and z > 0.0 and not flat:
        f = 1.0 / (x + y + z)
        height = dot(n, a)
        return height * height / square, x * f, y * f, z * f
    best, p, q, r = math.inf, 1.0, 0.0, 0.0
    if x <= 0.0 or flat:
        best, q, r = _line_weights(b, c)
        p = 0.0
    if y <= 0.0 or flat:
        d, f, g = _line_weights(c, a)
        if d < best:
            best, p, q, r = d, g, 0.0, f
    if z <= 0.0 or flat:
        d, f, g = _line_weights(a, b)
        if d < best:
            best, p, q, r = d, f, g, 0.0
    return best, p, q, r


@kernel
def _approach(shapes, one, two, m, shift, far):
    """GJK: the point nearest the origin of all differences of points of one and two, by ever better simplices of
    such differences. A distance of −1 if the origin is among them."""
    points = shapes.points
    first, end = shapes.link[one, POINT_FIRST], shapes.link[one, POINT_END]
    other, stop = shapes.link[two, POINT_FIRST], shapes.link[two, POINT_END]
    floor = OVERLAP * (shapes.shape[one, BOUND] + shapes.shape[two, BOUND])
    w0 = w1 = w2 = (0.0, 0.0, 0.0)
    k0 = k1 = k2 = np.int64(-1)
    l0, l1, l2 = 1.0, 0.0, 0.0
    n, square = 0, math.inf
    v = shift if dot(shift, shift) > 0.0 else (1.0, 0.0, 0.0)
    for _ in range(ROUNDS):
        if square <= floor * floor:
            return -1.0, v, v
        x, y, z = matrix_unapply(m, v)
        i = _farthest(points, first, end, -x, -y, -z)
        j = _farthest(points, other, stop, v[0], v[1], v[2])
        w = sub(_corner(points, i, m, shift), load3(points, j, XYZ))
        k = (i << 32) + j
        progress, length = dot(v, w), math.sqrt(dot(v, v))
        if progress > far * length:
            return progress / length, scale(1.0 / length, v), v
        if n > 0 and (k == k0 or k == k1 or k == k2 or square - progress <= CONVERGED * square):
            break
        if n == 0:
            w0, k0 = w, k
        elif n == 1:
            w1, k1 = w, k
            _, l0, l1 = _line_weights(w0, w1)
        elif n == 2:
            w2, k2 = w, k
            _, l0, l1, l2 = _triangle_weights(w0, w1, w2)
        else:
            # a tetrahedron: it holds the origin, or the nearest point is on a side that sees it
            a, b, c = sub(w1, w0), sub(w2, w0), sub(w, w0)
            volume = dot(a, cross(b, c))
            flat = abs(volume) <= 1e-12 * math.sqrt(dot(a, a) * dot(b, b) * dot(c, c))
            against = (dot(w1, cross(w2, w)), -dot(w0, cross(b, c)), -dot(a, cross(w0, c)), -dot(a, cross(b, w0)))
            best, gone = math.inf, 4
            for corner in range(4):
                if flat or against[corner] * volume <= 0.0:
                    d, x, y, z = _triangle_weights(
                        w if corner == 0 else w0, w if corner == 1 else w1, w if corner == 2 else w2
                    )
                    if d < best:
                        best, l0, l1, l2, gone = d, x, y, z, corner
            if gone == 4:
                return -1.0, v, v
            n = 2
            if gone == 0:
                w0, k0 = w, k
            elif gone == 1:
                w1, k1 = w, k
            elif gone == 2:
                w2, k2 = w, k
        # keep what carries weight: the last takes the place of one that goes
        n += 1
        if n > 2 and l2 <= 0.0:
            n -= 1
        if n > 1 and l1 <= 0.0:
            n -= 1
            if n == 2:
                w1, k1, l1 = w2, k2, l2
        if n > 1 and l0 <= 0.0:
            n -= 1
            if n == 2:
                w0, k0, l0 = w2, k2, l2
            else:
                w0, k0, l0 = w1, k1, l1
        if n < 3:
            l2, k2 = 0.0, np.int64(-1)
        if n < 2:
            l1, k1 = 0.0, np.int64(-1)
        v = axpy(l0, w0, axpy(l1, w1, scale(l2, w2)))
        d = dot(v, v)
        if d >= square:
            break
        square = d
    x = scale(l0, _corner(points, k0 >> 32, m, shift))
    if l1 > 0.0:
        x = axpy(l1, _corner(points, k1 >> 32, m, shift), x)
    if l2 > 0.0:
        x = axpy(l2, _corner(points, k2 >> 32, m, shift), x)
    far = math.sqrt(dot(v, v))
    if far <= floor:
        return -1.0, v, v
    return far, scale(1.0 / far, v), x


@kernel
def _least_way_out(shapes, one, two, m, shift):
    """Two convex shapes that overlap: the axis along which they do so least. Those are normals of faces, or square
    to an edge of each where the two edges meet as outlines do."""
    points, edges, faces = shapes.points, shapes.edges, shapes.faces
    first, stop = shapes.link[one, POINT_FIRST], shapes.link[one, POINT_END]
    other, halt = shapes.link[two, POINT_FIRST], shapes.link[two, POINT_END]
    best, n, x = -math.inf, (0.0, 0.0, 1.0), shift
    for f in range(shapes.link[two, FACE_FIRST], shapes.link[two, FACE_END]):
        normal = load3(faces, f, FACE_NORMAL)
        a = matrix_unapply(m, normal)
        i = _farthest(points, first, stop, -a[0], -a[1], -a[2])
        p = _corner(points, i, m, shift)
        d = dot(normal, p) - faces[f, FACE_OFFSET]
        if d > best:
            best, n, x = d, normal, p
    for f in range(shapes.link[one, FACE_FIRST], shapes.link[one, FACE_END]):
        normal = matrix_apply(m, load3(faces, f, FACE_NORMAL))
        j = _farthest(points, other, halt, -normal[0], -normal[1], -normal[2])
        q = load3(points, j, XYZ)
        d = dot(normal, sub(q, shift)) - faces[f, FACE_OFFSET]
        if d > best + (PREFER - 1.0) * abs(best):
            best, n, x = d, scale(-1.0, normal), axpy(-d, normal, q)
    half = load3(shapes.shape, two, HALF)
    for e in range(shapes.link[one, EDGE_FIRST], shapes.link[one, EDGE_END]):
        if edges[e, EDGE_START] > edges[e, EDGE_STOP]:
            continue
        p = _corner(points, edges[e, EDGE_START], m, shift)
        u = sub(_corner(points, edges[e, EDGE_STOP], m, shift), p)
        near = True
        for k in range(3):  # an edge farther away than the overlap is deep has no part in a smaller one
            low, high = min(p[k], p[k] + u[k]), max(p[k], p[k] + u[k])
            near = near and low <= half[k] + abs(best) and high >= -half[k] - abs(best)
        if not near:
            continue
        faced = edges[e, EDGE_FACE] >= 0
        a = b = u
        if faced:
            a = scale(-1.0, matrix_apply(m, load3(faces, edges[e, EDGE_FACE], FACE_NORMAL)))
            b = scale(-1.0, matrix_apply(m, load3(faces, edges[e, EDGE_OTHER], FACE_NORMAL)))
        for g in range(shapes.link[two, EDGE_FIRST], shapes.link[two, EDGE_END]):
            if edges[g, EDGE_START] > edges[g, EDGE_STOP]:
                continue
            c = load3(faces, edges[g, EDGE_FACE], FACE_NORMAL)
            d = load3(faces, edges[g, EDGE_OTHER], FACE_NORMAL)
            cu = dot(c, u)
            if cu * dot(d, u) >= 0.0:
                continue
            q = load3(points, edges[g, EDGE_START], XYZ)
            v = sub(load3(points, edges[g, EDGE_STOP], XYZ), q)
            if faced:
                # the arcs that the normals sweep over the two edges must cross
                bv = dot(b, v)
                if dot(a, v) * bv >= 0.0 or cu * bv <= 0.0:
                    continue
            axis = cross(u, v)
            square = dot(axis, axis)
            if square <= 1e-8 * dot(u, u) * dot(v, v):
                continue
            f = 1.0 / math.sqrt(square)
            axis = scale(f if dot(axis, add(c, d)) > 0.0 else -f, axis)
            depth = dot(axis, sub(p, q))
            if depth > best + (PREFER - 1.0) * abs(best):
                s, _ = nearest_between(axpy(0.5, u, p), scale(0.5, u), axpy(0.5, v, q), scale(0.5, v))
                best, n, x = depth, axis, axpy(0.5 + 0.5 * s, u, p)
    return best, n, x


@kernel
def _facing(faces, first, end, d):
    """The face of a range that looks most along d, and its cosine: (face, cosine)."""
    best, at = -math.inf, first
    for f in range(first, end):
        value = faces[f, FACE_NORMAL] * d[0] + faces[f, FACE_NORMAL + 1] * d[1] + faces[f, FACE_NORMAL + 2] * d[2]
        if value > best:
            best, at = value, f
    return at, best


@kernel
def _over(points, edges, begin, end, p, n):
    """Whether p, seen along n, is within the outline of a face."""
    for e in range(begin, end):
        q = load3(points, edges[e, EDGE_START], XYZ)
        side = sub(load3(points, edges[e, EDGE_STOP], XYZ), q)
        if dot(cross(side, sub(p, q)), n) < -SLACK * dot(side, side):
            return False
    return True


@kernel
def _solids(shapes, placed, one, two, margin, contact, meet, first):
    """A solid and a solid or a capsule."""
    points, edges, faces = shapes.points, shapes.edges, shapes.faces
    m, shift = _relative(placed, one, two)
    radius = shapes.shape[one, ROUNDING]
    d, n, x = _convex(shapes, one, two, m, shift, max(margin + radius, 0.0))
    if d - radius > margin:
        return first
    last = first
    face, across = _facing(faces, shapes.link[two, FACE_FIRST], shapes.link[two, FACE_END], n)
    faced = shapes.link[one, KIND] >= BOX
    mine, begin, end, corners = face, shapes.link[one, EDGE_FIRST], shapes.link[one, EDGE_END], 2
    back = matrix_unapply(m, scale(-1.0, n))  # seen from one
    useful = across >= FLAT
    if faced:
        mine, cosine = _facing(faces, shapes.link[one, FACE_FIRST], shapes.link[one, FACE_END], back)
        useful = max(across, cosine) >= FLAT and min(across, cosine) >= STEEP
        begin, end = shapes.rings[mine, RING_FIRST], shapes.rings[mine, RING_END]
        corners = end - begin
    if useful:
        top, bottom = shapes.rings[face, RING_FIRST], shapes.rings[face, RING_END]
        start, other = shapes.link[one, POINT_FIRST], shapes.link[two, POINT_FIRST]
        # corners of one over the face of two
        normal = load3(faces, face, FACE_NORMAL)
        for k in range(corners):
            i = edges[begin + k, EDGE_START] if faced else start + k
            p = _corner(points, i, m, shift)
            if _over(points, edges, top, bottom, p, n):
                far = max((dot(normal, p) - faces[face, FACE_OFFSET]) / across, d)
                last = _offer(contact, meet, first, last, margin, p, n, far, radius, 0.0, i - start)
        if faced:
            # corners of two over the face of one
            normal = load3(faces, mine, FACE_NORMAL)
            for g in range(top, bottom):
                j = edges[g, EDGE_START]
                q = load3(points, j, XYZ)
                p = matrix_unapply(m, sub(q, shift))
                if _over(points, edges, begin, end, p, back):
                    far = max((dot(normal, p) - faces[mine, FACE_OFFSET]) / dot(normal, back), d)
                    last = _offer(
                        contact, meet, first, last, margin, axpy(far, n, q), n, far, 0.0, 0.0, OF_TWO + j - other
                    )
        # where the outlines cross
        for e in range(begin, end):
            p = _corner(points, edges[e, EDGE_START], m, shift)
            u = sub(_corner(points, edges[e, EDGE_STOP], m, shift), p)
            for g in range(top, bottom):
                q = load3(points, edges[g, EDGE_START], XYZ)
                v = sub(load3(points, edges[g, EDGE_STOP], XYZ), q)
                under = dot(n, cross(u, v))
                if under * under <= 1e-8 * dot(u, u) * dot(v, v):
                    continue
                arm = sub(q, p)
                s, t = dot(n, cross(arm, v)) / under, dot(n, cross(arm, u)) / under
                if s <= 0.0 or s >= 1.0 or t <= 0.0 or t >= 1.0:
                    continue
                arm = axpy(s, u, p)
                far = max(dot(n, sub(arm, axpy(t, v, q))), d)
                feature = CROSSING + ((e - shapes.link[one, EDGE_FIRST]) << 9) + g - shapes.link[two, EDGE_FIRST]
                last = _offer(contact, meet, first, last, margin, arm, n, far, radius, 0.0, feature)
    elif not faced and d > 0.0:
        # a capsule that lies along an edge touches there with a line
        u = scale(shapes.shape[one, HALF + 2], (m[2], m[5], m[8]))
        height = dot(n, x) - d
        for g in range(shapes.link[two, EDGE_FIRST], shapes.link[two, EDGE_END]):
            q = load3(points, edges[g, EDGE_START], XYZ)
            v = scale(0.5, sub(load3(points, edges[g, EDGE_STOP], XYZ), q))
            q = add(q, v)
            uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
            if uv > 0.0 and uu * vv - uv * uv < PARALLEL * uu * vv and height - dot(n, q) < 0.1 * radius:
                last = _rods(shift, u, q, v, radius, 0.0, margin, contact, meet, first)
                break
    lowest = -math.inf if last > first and not useful else math.inf  # a line stands for its middle
    for row in range(first, last):
        lowest = min(lowest, contact[row, GAP])
    if lowest > d - radius + 1e-9 + 1e-6 * abs(d):  # the faces that look this way need not hold the deepest point
        last = _offer(contact, meet, first, last, margin, x, n, d, radius, 0.0, WITNESS)
    world, spot = load9(placed, two, AXES), load3(placed, two, SPOT)
    for row in range(first, last):
        store3(contact, row, POINT, add(spot, matrix_apply(world, load3(contact, row, POINT))))
        store3(contact, row, NORMAL, matrix_apply(world, load3(contact, row, NORMAL)))
    return last


@kernel
def _swap(contact, meet, i, j):
    for k in range(GAP + 1):
        contact[i, k], contact[j, k] = contact[j, k], contact[i, k]
    meet[i, FEATURE], meet[j, FEATURE] = meet[j, FEATURE], meet[i, FEATURE]


@kernel
def _keep(contact, meet, first, last):
    """Of the rows of a pair, put at most KEPT in front: the deepest, then those that span the largest area, seen
    along the normal. Height above the deepest counts against a contact; one at the place of another is dropped."""
    if last - first < 2:
        return last
    at = first
    for row in range(first + 1, last):
        if contact[row, GAP] < contact[at, GAP]:
            at = row
    _swap(contact, meet, first, at)
    p, n, lowest = load3(contact, first, POINT), load3(contact, first, NORMAL), contact[first, GAP]
    u = v = (0.0, 0.0, 0.0)  # to the second and third
    kept = first + 1
    for k in range(1, KEPT):
        best, at = 0.0, -1
        for row in range(kept, last):
            arm = sub(load3(contact, row, POINT), p)
            arm = axpy(-dot(arm, n), n, arm)
            rise = contact[row, GAP] - lowest
            if k == 1:
                score = math.sqrt(dot(arm, arm)) - rise - 1e-6
            else:
                span = math.sqrt(dot(u, u))
                score = abs(dot(cross(u, arm), n)) - span * (rise + 1e-3 * span)
                if k == 3:
                    # what it adds to the triangle: how far it is beyond one of the sides
                    turn = dot(cross(u, v), n)
                    sign = 1.0 if turn > 0.0 else -1.0
                    beyond = -sign * dot(cross(u, arm), n)
                    beyond = max(beyond, sign * dot(cross(v, arm), n))
                    beyond = max(beyond, -sign * dot(cross(sub(v, u), sub(arm, u)), n))
                    score = beyond - span * (rise + 1e-3 * span)
            if score > PREFER * best:
                best, at = score, row
        if at < 0:
            break
        _swap(contact, meet, kept, at)
        arm = sub(load3(contact, kept, POINT), p)
        if k == 1:
            u = arm
        else:
            v = arm
        kept += 1
    return kept
