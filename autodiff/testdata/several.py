# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes several.zip: special functions of two and three arguments with first and second derivatives, with error bounds.

Run `python several.py` in this folder with python-flint 0.9; names of operations as arguments make those only. Functions
are written for jets of balls, with those of the distributions (infer/dist/testdata). Each member of the archive is named
after an operation and holds columns of ROWS big-endian numbers, as planes of bytes: the arguments (8 bytes each), the
value (7), the gradient (7 each) and the second derivatives (5 each, row by row up to the diagonal). After each of these
columns comes one of bytes: the power of two by which the number moves, relative to itself, for a relative change of 1 of
all arguments; 255 says that it is 0, or a derivative with respect to a whole number, which there is none of. Second
derivatives are computed twice for that, at arguments that differ by 2^-40. Arguments of even rows have 12 bits. The quick
test reads the first rows.
"""
import math
import os
import random
import signal
import struct
import sys
import zipfile
from multiprocessing import get_context

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../infer/dist/testdata"))
from flint import arb

from jets import VARIABLES, ZERO, Jet, TooHard, Unsettled, ctx, mp, trigamma
from random_points import TINY, alarm, rounded, settled, short
from reference_families import nb, sig
from reference_functions import exp, log_bessel, log_partial_moment, log_skew, logaddexp, logbeta, logi, logp, logphi, logq, logsubexp

ROWS = 2000


def log_phi_diff(a, b):
    return logsubexp(logphi(-a), logphi(-b)) if a > 0 else logsubexp(logphi(b), logphi(a))


def half_square(a):
    return a * a / 2 + mp.log(2 * mp.pi) / 2


def mills_drop(a, h):
    mills = lambda t: logphi(-t) + half_square(t)
    return logsubexp(mills(a), mills(a + h))


def mills_part(a, w):
    return log_phi_diff(a, a + w) + half_square(a)


def beta_density(a, b, s):
    return -a * mp.log1p(exp(-s)) - b * mp.log1p(exp(s)) - logbeta(a, b)


def bessel(k, x):
    w = mp.sqrt(k * k + x * x)
    return log_bessel(k, x) - w - (k * mp.log(x / (k + w)) if k else 0)


def bessel_ratio(nu, x):
    f = lambda k: abs(x.v).bessel_j(nu.v + k) / abs(x.v) ** (nu.v + k)
    return x.chain(f(0), lambda: -x.v * f(1), lambda: x.v**2 * f(2) - f(1))


def digamma(a):
    return a.chain(a.v.digamma(), lambda: trigamma(a.v), lambda: -2 * arb(3).zeta(a.v))


def atan2(y, x):
    return mp.atan2(y, x) if y > 0 else -mp.atan2(-y, x)


def wide(rng, lo, hi):
    return 10 ** rng.uniform(lo, hi)


def side(rng):
    return rng.choice((-1, 1))


def draw_gamma(rng):
    a = wide(rng, -3, 14)
    if rng.random() < 0.75 and a > 1:
        x = a + side(rng) * math.sqrt(a) * wide(rng, -2, 1.5)
    else:
        x = wide(rng, -6, 6) * a
    return (a, x) if x > 0 else draw_gamma(rng)


def shapes(rng):
    """two shapes, and a deviation of the logit in units of its spread"""
    a, b = wide(rng, -2, 14), wide(rng, -2, 14)
    return a, b, side(rng) * math.sqrt(1 / a + 1 / b) * wide(rng, -2, 1.5)


def draw_beta(rng):
    a, b, t = shapes(rng)
    return a, b, math.log(a / b) + t


def draw_interval(rng):
    a = side(rng) * wide(rng, -2, 3)
    return a, a + wide(rng, -6, 1.5)


def draw_mills(rng):
    while True:
        a, w = side(rng) * wide(rng, -2, 3), wide(rng, -8, 2)
        if a > 0 or (w - a) * w < 8:
            return a, w


def draw_near(lo, hi):
    """two positive numbers, often close to each other"""
    def draw(rng):
        k = wide(rng, lo, hi)
        return k, k * (1 + side(rng) * wide(rng, -12, -0.1)) if rng.random() < 0.5 else wide(rng, lo, hi)
    return draw


def draw_counts(rng):
    mu, phi = wide(rng, -3, 7), wide(rng, -3, 14)
    k = mu + rng.gauss(0, 2) * math.sqrt(mu + mu * mu / phi)
    return float(max(0, int(short(k)))), math.log(mu), phi


TABLE = {  # name: (function, kinds of arguments: r, or i for whole numbers, draw)
    "log_gamma_p_0": (logp, "rr", draw_gamma),
    "log_gamma_q_0": (logq, "rr", draw_gamma),
    "log_beta_i_0_0": (lambda a, b, s: logi(a, b, sig(s), sig(-s)), "rrr", draw_beta),
    "log_beta_density": (beta_density, "rrr", draw_beta),
    "log_f_density": (lambda a, b, t: beta_density(a, b, t + mp.log(a / b)), "rrr", shapes),
    "log_phi_diff": (log_phi_diff, "rr", draw_interval),
    "log_mills_drop": (mills_drop, "rr", lambda r: (side(r) * wide(r, -2, 3) if r.random() < 0.5 else wide(r, -2, 3), wide(r, -8, 2))),
    "log_mills_part": (mills_part, "rr", draw_mills),
    "log_mills_mean": (lambda a, w: mills_part(a, w) - mp.log(w), "rr", draw_mills),
    "logaddexp": (logaddexp, "rr", lambda r: (r.uniform(-50, 50) * wide(r, 0, 2), r.uniform(-50, 50) * wide(r, 0, 2))),
    "hypot": (lambda x, y: mp.sqrt(x * x + y * y), "rr", lambda r: (side(r) * wide(r, -300, 300), side(r) * wide(r, -300, 300)) if r.random() < 0.3 else (side(r) * wide(r, -6, 6), side(r) * wide(r, -6, 6))),
    "atan2": (atan2, "rr", lambda r: (side(r) * wide(r, -150, 150), side(r) * wide(r, -150, 150)) if r.random() < 0.3 else (side(r) * wide(r, -6, 6), side(r) * wide(r, -6, 6))),
    "pow": (lambda x, y: exp(y * mp.log(x)), "rr", lambda r: (wide(r, -300, 300), r.uniform(-1, 1)) if r.random() < 0.5 else (wide(r, -3, 3), r.uniform(-30, 30))),
    "log_ratio": (lambda x, y: mp.log(x / y), "rr", draw_near(-100, 100)),
    "poisson_deviance": (lambda k, m: k * mp.log(k / m) - (k - m), "rr", draw_near(-8, 14)),
    "bernoulli_loglik": (lambda k, m, p: k * mp.log(p) + m * mp.log1p(-p), "rrr", lambda r: (wide(r, -2, 6), wide(r, -2, 6), wide(r, -8, -0.001))),
    "neg_binomial_logprob": (lambda k, eta, phi: nb(k, exp(eta), phi), "irr", draw_counts),
    "square_fall": (lambda nu, z: nu * mp.log1p(z * z / nu), "rr", lambda r: (wide(r, -3, 20), side(r) * wide(r, -8, 8))),
    "log_bessel_i_scaled": (bessel, "ir", lambda r: (float(r.randrange(0, 300)), wide(r, -3, 3.5))),
    "bessel_ratio": (bessel_ratio, "ir", lambda r: (r.randrange(0, 9) / 2, side(r) * wide(r, -3, 3))),
    "gamma_shape_score": (lambda a, x: mp.log(x) - digamma(a), "rr", draw_near(-2, 14)),
    "skew_normal_log_cdf": (log_skew, "rr", lambda r: (side(r) * wide(r, -3, 1.3), side(r) * wide(r, -3, 2))),
    "log_partial_moment_0": (log_partial_moment, "rr", lambda r: (wide(r, -2, 3) - 0.99, side(r) * wide(r, -2, 2.5))),
    "partial_moment_gain": (lambda nu, m: log_partial_moment(nu, m) - log_partial_moment(nu, Jet(0)), "rr", lambda r: (wide(r, -2, 8) - 0.99, side(r) * wide(r, -2, 2.5))),
}


def once(f, x, kinds):
    """the value, the gradient and the second derivatives"""
    VARIABLES[0] = kinds.count("r")
    free = iter(range(VARIABLES[0]))
    v = f(*[Jet.variable(a, next(free)) if k == "r" else Jet(a) for a, k in zip(x, kinds)])
    if not settled(v.v, 60) or not all(settled(d, 60) for d in v.d) or not all(settled(h, 45) for h in v.h):
        raise Unsettled
    return v


def evaluate(f, x, kinds, rng):
    """results and the bits that they lose to the last places of the arguments"""
    signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        for ctx.prec in (200, 400, 1000, 2500, 6000):
            try:
                v = once(f, x, kinds)
                beside = [a * (1 + rng.choice((-1, 1)) * 2.0**-40) if k == "r" else a for a, k in zip(x, kinds)]
                return v, [(a - b) * 2**40 for a, b in zip(once(f, beside, kinds).h, v.h)]
            except (Unsettled, ZeroDivisionError, ValueError):
                continue
        return None
    except (TooHard, OverflowError, MemoryError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def lost(v, moves):
    """the power of two of a ratio"""
    if v.is_zero() or not moves.is_finite() or abs(v) < TINY:
        return b"\xff"
    ratio = (moves / abs(v)).abs_upper()
    return bytes([254 if not ratio.is_finite() else int(min(254, max(0, math.ceil(float(ratio.log().mid()) / math.log(2))))) if ratio > 0 else 0])


def row(x, kinds, v, bends):
    places = [i for i, k in enumerate(kinds) if k == "r"]
    size = [abs(arb(x[i])) for i in places]
    at = lambda i, j: max(i, j) * (max(i, j) + 1) // 2 + min(i, j)
    out = [struct.pack(">d", a) for a in x]
    out += [rounded(v.v, 7), lost(v.v, sum((abs(d) * s for d, s in zip(v.d, size)), ZERO))]
    for i in range(len(kinds)):
        if i not in places:
            out += [bytes(7), b"\xff"]
            continue
        k = places.index(i)
        out += [rounded(v.d[k], 7), lost(v.d[k], sum((abs(v.h[at(k, j)]) * s for j, s in enumerate(size)), ZERO))]
    for i in range(len(kinds)):
        for j in range(i + 1):
            if i not in places or j not in places:
                out += [bytes(5), b"\xff"]
                continue
            k = at(places.index(i), places.index(j))
            out += [rounded(v.h[k], 5), lost(v.h[k], abs(bends[k]))]
    return out


def by_name(name):
    signal.signal(signal.SIGALRM, alarm)
    f, kinds, draw = TABLE[name]
    rng, rows, failed = random.Random(name), [], 0
    while len(rows) < ROWS:
        x = [float(v) for v in draw(rng)]
        if len(rows) % 2 == 0:
            x = [short(v) for v in x]
        v = evaluate(f, x, kinds, rng)
        if v is None:
            failed += 1
            continue
        rows.append(row(x, kinds, *v))
    print(name, "points drawn anew:", failed, flush=True)
    return name, b"".join(bytes(v[plane] for v in c) for c in zip(*rows) for plane in range(len(c[0])))


def main():
    names = sys.argv[1:] or sorted(TABLE)
    made = {}
    if sys.argv[1:]:
        with zipfile.ZipFile("several.zip") as z:
            made = {n: z.read(n) for n in z.namelist()}
    with get_context("fork").Pool(2) as pool:
        made.update(pool.imap_unordered(by_name, names, chunksize=1))
    with zipfile.ZipFile("several.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name in sorted(made):
            z.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), made[name], zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
