#!/usr/bin/env python3
# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes random_points/*.bin.gz: log densities and tails of distributions, with derivatives, at random points.

The formulas of reference_families.py are evaluated by MPFR at 450 digits or more. Derivatives are differences in steps
of 1e-150. A second computation has more digits, other steps, and steps to the other side; points where it differs are left
out, and the script says how many. Second derivatives tell how far half a unit in the last place of the inputs moves the
first ones: the number of bits that they lose to it is stored beside each.

Parameters and values have 12 bits of mantissa, so that three bytes hold them, and results are rounded to five bytes
(values) and four bytes (derivatives). The files are read by random_points_slow_test.go. Needs gmpy2. Usage: random_points.py [-n POINTS] [FAMILY ...]
"""
import gzip
import multiprocessing
import os
import random
import signal
import struct
import sys
import time

from digits import mp, mpf

from reference_families import FAMILIES, NOTHING, L, P, U
from reference_functions import TooHard, forget, size as digits_of


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


def differences(f, x, each, step, second):
    """value, first and second derivatives of f, by differences to one side"""
    free = [i for i, kind in enumerate(each) if kind in "rpu"]
    h = {i: (abs(x[i]) or mpf(1)) * step for i in free}

    def at(*moved):
        y = list(x)
        for i in moved:
            y[i] += h[i]
        return f(*y)

    v = at()
    if not mp.isfinite(v):
        return v, {}, {}
    one = {i: at(i) for i in free}
    if any(not mp.isfinite(w) for w in one.values()):
        raise TooHard
    g = {i: (one[i] - v) / h[i] for i in free}
    hess = {}
    for i in free if second else []:
        for j in free:
            if j >= i:
                hess[i, j] = hess[j, i] = (at(i, j) - one[i] - one[j] + v) / (h[i] * h[j])
    return v, g, hess


def evaluate(f, x, each):
    """value, derivatives, and the bits that each derivative loses to the last places of the inputs; None if there are none"""
    x = [mpf(a) for a in x]
    mp.dps = 450 if max([0] + [digits_of(a) for a, k in zip(x, each) if k in "rpu"]) < 20 else 850
    signal.setitimer(signal.ITIMER_REAL, 20)
    try:
        forget(0)
        v, g, hess = differences(f, x, each, mpf(10) ** -150, True)
        if not mp.isfinite(v):
            if v is NOTHING:
                return v, [mp.nan] * len(x), [255] * len(x)
            return None
        forget(60)
        mp.dps += 100
        w, k, _ = differences(f, x, each, -mpf(10) ** -170, False)
        if abs(v - w) > abs(v) * mpf(10) ** -25:
            return None
        grads, lost = [], []
        for i in range(len(x)):
            if i not in g:
                grads.append(mpf(0))
                lost.append(255)
                continue
            d = g[i]
            noise = abs(hess[i, i]) * (abs(x[i]) or 1) * mpf(10) ** -149
            cond = sum(abs(hess[i, j] * x[j]) for j in g)
            if abs(d) <= noise:
                d = mpf(0)
            elif abs(d - k[i]) > abs(d) * mpf(10) ** -12 + noise:
                if abs(d - k[i]) < abs(d) * mpf(10) ** -3:
                    return None
                d = mp.nan  # a kink
            grads.append(d)
            lost.append(255 if d == 0 or d != d else int(min(254, max(0, mp.ceil(mp.log(cond / abs(d)) / 0.6931471805599453))) if cond else 0))
        return v, grads, lost
    except (TooHard, ZeroDivisionError, ValueError, OverflowError, MemoryError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def rounded(v, n):
    """the first n bytes of v, rounded"""
    if v != v:
        return b"\x7f\xf8" + bytes(n - 2)
    try:
        v = float(v)
    except OverflowError:
        v = float("inf") if v > 0 else float("-inf")
    bits = struct.unpack(">Q", struct.pack(">d", v))[0]
    shift = 64 - 8 * n
    if bits & (0x7FF << 52) != 0x7FF << 52:
        bits += 1 << (shift - 1)
    return struct.pack(">Q", bits)[:n]


DISCRETE = {"poisson", "poissonlog", "negbinomial2", "negbinomial2log", "bernoulli", "bernoullilogit", "geometric", "binomial", "binomiallogit", "betabinomial", "zeroinflatedpoisson", "discreteuniform", "hypergeometric", "skellam"}
ABOVE_ZERO = {"lognormal", "exponential", "halfnormal", "halfcauchy", "rayleigh", "weibull", "frechet", "gamma", "inversegamma", "chi", "chisquared", "f", "inversegaussian"}


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
                    out = mp.nan, [mp.nan] * len(each), [255] * len(each)
                row.append(rounded(out[0], 5))
                for e, d, b in list(zip(each, out[1], out[2]))[name in DISCRETE:]:
                    row += [rounded(d, 4), bytes([b])]
            if bad:
                continue  # another point in its place
            rows.append(row)
            break
    return rows, failed, time.time() - start


def write(name, rows):
    functions = FAMILIES[name][2:]
    body = b"".join(bytes(v[plane] for v in c) for c in zip(*rows) for plane in range(len(c[0])))
    params = 1 + sum(1 for k in FAMILIES[name][0] if k not in "<-h") + 3 * ("h" in FAMILIES[name][0]) + ("<" in FAMILIES[name][0]) + ("-" in FAMILIES[name][0])
    head = struct.pack(">BBBI", sum(1 << i for i, f in enumerate(functions) if f is not None), params - 1, name in DISCRETE, len(rows))
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
