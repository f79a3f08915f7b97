#!/usr/bin/env python3
# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes random_points/*.bin.gz: log densities and tails of distributions, with derivatives, at random points.

The formulas of reference_families.py are evaluated with error bounds, gradients and second derivatives (jets.py), at 60
digits and then at more until the bounds settle every number; the script says how many points did not settle at 4,500 digits
and were replaced by others. Distribution functions of families that have no tails as logarithms (reference_cdf.py) are NaN
where they do not settle in five seconds. Second derivatives tell how far half a unit in the last place of the inputs moves
the first ones: the number of bits that they lose to it is stored beside each. At ties both branches of a formula are
evaluated, and derivatives that differ are NaN.

Parameters and values have 12 bits of mantissa, so that three bytes hold them, and results are rounded to five bytes
(values) and four bytes (derivatives). The files are read by random_points_slow_test.go. Needs python-flint 0.9. Usage: random_points.py [-n POINTS] [FAMILY ...]
"""
import gzip
import math
import multiprocessing
import os
import random
import signal
import struct
import sys
import time

from flint import arb


from reference_cdf import CDF
from reference_families import FAMILIES, NOTHING, L, P, U
from jets import TIES, VARIABLES, ZERO, Jet, TooHard, Unsettled, ctx, pairs

TINY, HUGE, NOT = arb(2) ** -1090, arb(2) ** 1024, arb.nan()


def short(x):
    """x with 12 bits of mantissa"""
    return struct.unpack(">d", struct.pack(">d", x)[:3] + bytes(5))[0]


def size(rng):
    """a positive number: mostly of ordinary size, sometimes extreme"""
    u = rng.random()
    e = rng.uniform(-7, 7) if u < 0.7 else rng.uniform(-50, 50) if u < 0.9 else rng.uniform(-300, 300)
    return short(2.0**e)


def parameter(rng, kind):
    if kind == "r":
        return 0.0 if rng.random() < 0.3 else rng.choice([-1, 1]) * short(min(size(rng), 2.0**100))
    if kind == "p":
        return size(rng)
    if kind == "u":
        v = short(2.0 ** -rng.uniform(0.1, 12 if rng.random() < 0.8 else 200))
        return short(1 - v) if rng.random() < 0.3 and v > 2.0**-11 else v
    if kind == "n":
        return float(int(short(2.0 ** rng.uniform(0, 11 if rng.random() < 0.8 else 40))))
    if kind == "i":
        return rng.choice([-1, 1]) * float(int(short(2.0 ** rng.uniform(-1, 11 if rng.random() < 0.8 else 40))))
    raise ValueError(kind)


def parameters(rng, kinds):
    out, i = [], 0
    while i < len(kinds):
        if kinds[i] == "<":
            a, b = parameter(rng, kinds[i + 1]), parameter(rng, kinds[i + 1])
            while a == b:
                b = parameter(rng, kinds[i + 1])
            out += sorted([a, b])
            i += 1
        elif kinds[i] == "-":
            out.insert(1, inside(rng, *out))
        elif kinds[i] == "h":
            total = parameter(rng, "n")
            out += [total, float(int(short(rng.random() * total))), float(int(short(rng.random() * total)))]
        elif kinds[i] == "m":
            out.append(inside(rng, *out[:2]))
        else:
            out.append(parameter(rng, kinds[i]))
        i += 1
    return out


def inside(rng, a, b):
    for _ in range(100):
        t = 2.0 ** -rng.uniform(0.2, 12)
        v = short(a + t * (b - a)) if rng.random() < 0.5 else short(b - t * (b - a))
        if a < v < b:
            return v
    raise TooHard


def value(rng, how, p):
    t = rng.choice([2.0 ** rng.uniform(-3, 4), 2.0 ** rng.uniform(-10, 10), size(rng)])
    if how == L or how == "location1":
        m, s = (p[0], p[1]) if how == L else (p[1], p[2])
        return short(m + rng.choice([-1, 1]) * t * s)
    if how == "noncentral":
        return short(p[1] + rng.choice([-1, 1]) * t * (1 + abs(p[1]) / p[0] ** 0.5))
    if how == P:
        return short(t)
    if how == U:
        return parameter(rng, "u")
    if how == "rate":
        return short(t / p[0])
    if how in ("scale", "scale0"):
        return short(t * p[0])
    if how == "scale1":
        return short(p[1] * t ** (1 / max(p[0], 1e-2)) if rng.random() < 0.7 else p[1] * t)
    if how == "root":
        return short(t * p[0] ** 0.5)
    if how == "above":
        return short(p[0] * (1 + t))
    if how == "gamma":
        return short(p[0] / p[1] * t)
    if how == "invgamma":
        return short(p[1] / p[0] * t)
    if how == "between":
        return inside(rng, p[0], p[1])
    if how == "between2":
        return inside(rng, p[2], p[3])
    if how == "between02":
        return inside(rng, p[0], p[2])
    if how == "inside":
        v = p[0] + float(int(short(rng.random() * (p[1] - p[0] + 1))))
        return min(short(v), p[1])
    if how == "marked":
        lo, hi = max(0, p[2] + p[1] - p[0]), min(p[1], p[2])
        mean = p[1] * p[2] / p[0]
        v = rng.choice([lo, hi, mean + rng.gauss(0, 2) * mean**0.5, lo + rng.random() * (hi - lo)])
        v = float(int(short(min(max(v, lo), hi))))
        if not lo <= v <= hi:
            raise TooHard
        return v
    if how == "difference":
        v = p[0] - p[1] + rng.choice([0, rng.gauss(0, 2) * (p[0] + p[1]) ** 0.5, rng.gauss(0, 20)])
        if abs(v) > 2.0**41:
            raise TooHard
        v = short(v)
        return float(int(v))
    if how == "angle":
        return short(rng.uniform(-3.14, 3.14))
    if how == "bit":
        return float(rng.randrange(2))
    if how == "upto":
        return float(int(short(rng.choice([0, 1, p[0] - 1, p[0], rng.random() * p[0]]))))
    mean = {"count": p[0], "count1": p[-1], "count0": 1 / max(p[0], 1e-12), "countexp": 2.0 ** min(p[0] * 1.44, 40)}[how]
    return float(int(short(rng.choice([0, 1, 2, min(mean, 2.0**40) * t, rng.random() * 200]) % 2.0**41)))


def settled(v, needed):
    """whether a ball tells its first bits, or that it is beyond the range of float64"""
    return v.is_zero() or v.is_finite() and (v.rel_accuracy_bits() >= needed or v.abs_upper() < TINY or v.abs_lower() > HUGE)


def once(f, x, each):
    VARIABLES[0] = sum(k in "rpu" for k in each)
    free = iter(range(VARIABLES[0]))
    v = f(*[Jet.variable(a, next(free)) if k in "rpu" else Jet(a) for a, k in zip(x, each)])
    if v is NOTHING:
        return v
    if v.d is None:
        v.d, v.h = [ZERO] * VARIABLES[0], [ZERO] * len(pairs())
    if not settled(v.v, 45) or any(d.is_finite() and not settled(d, 45) or not d.is_finite() and not d.is_nan() for d in v.d):
        raise Unsettled
    return v


def evaluate(f, x, each, scales=None, seconds=30):
    """value, derivatives, and the bits that each derivative loses to the last places of the inputs, or of numbers as large as the scales; None if there are none"""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        for ctx.prec in (200, 400, 1000, 2500, 6000, 15000):
            try:
                TIES.less = TIES.seen = False
                v = once(f, x, each)
                if v is NOTHING:
                    return v, [NOT] * len(x), [255] * len(x)
                other = v
                if TIES.seen:
                    TIES.less = True
                    other = once(f, x, each)
                return gradient(v, other, scales or x, each)
            except (Unsettled, ZeroDivisionError, ValueError):
                continue
        return None
    except (TooHard, OverflowError, MemoryError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def gradient(v, other, x, each):
    grads, lost, i = [], [], -1
    for k in each:
        if k not in "rpu":
            grads.append(ZERO)
            lost.append(255)
            continue
        i += 1
        d = v.d[i]
        if d.is_nan() or not d.overlaps(other.d[i]):
            d = NOT  # a kink
        elif not abs(d) > TINY:
            d = ZERO
        grads.append(d)
        if d.is_nan():
            lost.append(255)
            continue
        moves = ZERO
        for j, a in enumerate([a for a, k in zip(x, each) if k in "rpu"]):
            moves += abs(v.h[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] * a)
        if d.is_zero() and abs(x[len(grads) - 1]) * moves < HUGE and moves > TINY * 2**200:
            grads[-1] = d = moves / 2**200  # tells how far from 0 rounding leads
        elif d.is_zero():
            lost.append(255)
            continue
        ratio = (moves / abs(d)).abs_upper()
        lost.append(254 if not ratio.is_finite() else int(min(254, max(0, math.ceil(float(ratio.log().mid()) / math.log(2))))) if ratio > 0 else 0)
    return v.v, grads, lost


def rounded(v, n):
    """the first n bytes of a ball, rounded"""
    v = as_float(v.mid() if not v.is_nan() else v)
    if v != v:
        return b"\x7f\xf8" + bytes(n - 2)
    bits = struct.unpack(">Q", struct.pack(">d", v))[0]
    shift = 64 - 8 * n
    if bits & (0x7FF << 52) != 0x7FF << 52:
        bits += 1 << (shift - 1)
    return struct.pack(">Q", bits)[:n]


def as_float(v):
    if v.is_nan():
        return math.nan
    if abs(v) < TINY:
        return 0.0
    return float(v) if abs(v) < HUGE else math.inf if v > 0 else -math.inf


DISCRETE = {"poisson", "poissonlog", "negbinomial2", "negbinomial2log", "bernoulli", "bernoullilogit", "geometric", "binomial", "binomiallogit", "betabinomial", "zeroinflatedpoisson", "discreteuniform", "hypergeometric", "skellam"}
ABOVE_ZERO = {"lognormal", "exponential", "halfnormal", "halfcauchy", "rayleigh", "weibull", "frechet", "gamma", "inversegamma", "chi", "chisquared", "f", "inversegaussian"}


CDF_EACH = {"vonmises": "rri"}  # the inputs in which CDF has derivatives


def alarm(*_):
    raise TooHard


def chunk(job):
    """rows of a family, as bytes, and how many points had no reference, for each function"""
    name, first, n = job
    signal.signal(signal.SIGALRM, alarm)
    kinds, how, *functions = FAMILIES[name]
    each = ("i" if name in DISCRETE else "r" if how in (L, "location1", "angle", "noncentral") else "p") + kinds.replace("<r-", "rrr").replace("<i", "ii").replace("<r", "rr").replace("<p", "pp").replace("m", "r").replace("h", "iii").replace("n", "i")
    rows, failed = [], [0] * len(functions)
    start = time.time()
    for i in range(first, first + n):
        rng = random.Random("euryale %s %d" % (name, i))
        while True:
            try:
                p = parameters(rng, kinds)
                x = value(rng, how, p)
            except (TooHard, OverflowError):
                continue
            if (name in ABOVE_ZERO and not 2.0**-900 < x < 2.0**900) or abs(x) > 2.0**900 or how == "above" and x <= p[0]:
                continue
            if each[0] != "i" and how in ("between", "between2", "between02") and not (min(p) <= x):
                continue
            row = [struct.pack(">d", v)[:3] for v in [x] + p]
            bad = 0
            for k, f in enumerate(functions):
                if f is None:
                    continue
                out = evaluate(f, [x] + p, each)
                if out is None:
                    bad += 1
                    failed[k] += 1
                    out = Jet(NOT), [NOT] * len(each), [255] * len(each)
                row.append(rounded(out[0].v if isinstance(out[0], Jet) else out[0], 5))
                for e, d, b in list(zip(each, out[1], out[2]))[name in DISCRETE:]:
                    row += [rounded(d, 4), bytes([b])]
            if bad:
                continue  # another point in its place
            if name in CDF:
                out = evaluate(CDF[name], [x] + p, CDF_EACH.get(name, "i" * len(each)), seconds=5) or (NOT, [NOT] * len(each), [255] * len(each))
                row.append(rounded(out[0].v if isinstance(out[0], Jet) else out[0], 5))
                for d, b in list(zip(out[1], out[2]))[name in DISCRETE:]:
                    row += [rounded(d, 4), bytes([b])]
            rows.append(row)
            break
    return rows, failed, time.time() - start


def write(name, rows):
    functions = FAMILIES[name][2:]
    body = b"".join(bytes(v[plane] for v in c) for c in zip(*rows) for plane in range(len(c[0])))
    params = 1 + sum(1 for k in FAMILIES[name][0] if k not in "<-h") + 3 * ("h" in FAMILIES[name][0]) + ("<" in FAMILIES[name][0]) + ("-" in FAMILIES[name][0])
    head = struct.pack(">BBBI", sum(1 << i for i, f in enumerate([*functions, CDF.get(name)]) if f is not None), params - 1, name in DISCRETE, len(rows))
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "random_points")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".bin.gz"), "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as out:
        out.write(head + body)


def main():
    args = sys.argv[1:]
    n, step = 2000, 10
    if args[:1] == ["-n"]:
        n, args = int(args[1]), args[2:]
    with multiprocessing.Pool(int(os.environ.get("JOBS", "2"))) as pool:
        for name in args or sorted(FAMILIES):
            rows, failed, took = [], [0, 0, 0], 0.0
            for more, bad, seconds in pool.imap(chunk, [(name, i, min(step, n - i)) for i in range(0, n, step)]):
                rows += more
                took += seconds
                failed = [a + b for a, b in zip(failed, bad)]
            write(name, rows)
            print("%s: %d points in %.0f s; without a reference %s" % (name, n, took, failed), flush=True)


if __name__ == "__main__":
    main()
