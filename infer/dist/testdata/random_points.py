#!/usr/bin/env python3
# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes random_points/*.bin.gz: log densities and tails of distributions, with derivatives, at random points.

Every formula is evaluated with mpmath at 320 digits (tails that are series at 120), with derivatives by central differences in
steps of half of that; results that change with more digits are left out.
Parameters and values have 12 bits of mantissa, so that three bytes hold them, and results are rounded to five bytes
(values) and four bytes (derivatives). The files are read by random_points_slow_test.go. Needs mpmath; with gmpy2 it
takes some minutes. Usage: random_points.py [-n POINTS] [FAMILY ...]
"""
import gzip
import multiprocessing
import os
import random
import signal
import struct
import sys

from mpmath import mp, mpf

mp.dps = 60
HALF_LOG_2PI = None


class TooHard(Exception):
    pass


def guarded(f, most):
    """f, where it does not take forever"""

    def g(x):
        if x and abs(mp.log(abs(x))) > most:
            raise TooHard
        return f(x)

    return g


exp, expm1 = guarded(mp.exp, 400), guarded(mp.expm1, 400)
erf, erfc = guarded(mp.erf, 200), guarded(mp.erfc, 200)


def power(x, a):
    return exp(a * mp.log(x)) if x else mpf(0)


def log1mexp(t):
    """log(1 - exp(-t))"""
    return mp.log1p(-exp(-t)) if t > 1 else mp.log(-expm1(-t))


def logerfc(x):
    return mp.log(erfc(x))


def logerf(x):
    return mp.log1p(-erfc(x)) if x > 1 else mp.log(erf(x))


def logphi(z):
    return mp.log1p(-erfc(z / mp.sqrt(2)) / 2) if z > 1 else logerfc(-z / mp.sqrt(2)) - mp.log(2)


def norm(z):
    return -z * z / 2 - mp.log(2 * mp.pi) / 2


def logsigmoid(z):
    return -mp.log1p(exp(-z))


def lgamma(a):
    return mp.loggamma(a) if a < 1e8 else stirling(a)


def stirling(a):
    s = (a - mpf(1) / 2) * mp.log(a) - a + mp.log(2 * mp.pi) / 2
    return s + sum(mp.bernoulli(2 * n) / (2 * n * (2 * n - 1) * a ** (2 * n - 1)) for n in range(1, 9))


def logbeta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def logp(a, x):
    """logarithm of the regularised lower incomplete Gamma function"""
    if a > 3000 or x > 3000:
        raise TooHard
    if x > a + 50:
        return mp.log1p(-exp(logq(a, x)))
    term = total = mpf(1)
    n = 0
    while term > total * mpf(10) ** -mp.dps:
        n += 1
        term *= x / (a + n)
        total += term
    return a * mp.log(x) - x - mp.loggamma(a + 1) + mp.log(total)


def logq(a, x):
    if a > 3000 or x > 3000:
        raise TooHard
    if x <= a + 50:
        with mp.workdps(mp.dps + 60 + int(max(0, x))):
            return mp.log1p(-exp(logp(a, x)))
    f, c, d = None, None, None  # Lentz's method for the continued fraction
    tiny = mpf(10) ** -10000
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    f = d
    for i in range(1, 100000):
        an = -i * (i - a)
        b += 2
        d = an * d + b
        d = tiny if d == 0 else d
        c = b + an / c
        c = tiny if c == 0 else c
        d = 1 / d
        f *= d * c
        if abs(d * c - 1) < mpf(10) ** -(mp.dps - 5):
            return a * mp.log(x) - x - mp.loggamma(a) + mp.log(f)
    raise TooHard


def logi(a, b, x, y):
    """logarithm of the regularised incomplete beta function at x, where y = 1 - x"""
    if a > 500 or b > 500:
        raise TooHard
    front = a * mp.log(x) + b * mp.log(y) - logbeta(a, b)
    if x <= (a + 1) / (a + b + 2) and x < mpf("0.9"):
        return front - mp.log(a) + mp.log(series(a, b, x))
    other = front - mp.log(b) + mp.log(series(b, a, y)) if y < mpf("0.99") else None
    if other is None:
        return front - mp.log(a) + mp.log(mp.hyp2f1(1, a + b, a + 1, x))
    with mp.workdps(mp.dps + 60 + int(-other / 2.3) if other > -1 else mp.dps):
        front = a * mp.log(x) + b * mp.log(y) - logbeta(a, b)
        return mp.log1p(-exp(front - mp.log(b) + mp.log(series(b, a, y))))


def series(a, b, x):
    """2F1(1, a+b; a+1; x), whose terms are positive"""
    term = total = mpf(1)
    n = 0
    while term > total * mpf(10) ** -(mp.dps + 5) or (a + b + n) * x > (a + 1 + n):
        term *= (a + b + n) / (a + 1 + n) * x
        total += term
        n += 1
        if n > 20000:
            raise TooHard
    return total


def logatan(s, d):
    """log(atan2(s, d)/pi)"""
    return mp.log(mp.atan2(s, d) / mp.pi) if d > 0 else mp.log1p(-mp.atan2(s, -d) / mp.pi)


def scaled(core):
    """density of a location-scale family from that of z"""
    return lambda x, m, s: core((x - m) / s) - mp.log(s)


def gumbel(z):
    return -z - exp(-z)


def expmod_cdf(x, m, s, l, upper):
    z, r = (x - m) / s, s * l
    second = exp(r * r / 2 - r * z) * erfc(-(z - r) / mp.sqrt(2)) / 2
    if upper:
        return mp.log(erfc(z / mp.sqrt(2)) / 2 + second)
    return mp.log(erfc(-z / mp.sqrt(2)) / 2 - second)


def wald(x, m, l, upper):
    r = mp.sqrt(l / x)
    a, b = r * (x / m - 1), r * (x / m + 1)
    second = exp(2 * l / m) * erfc(b / mp.sqrt(2)) / 2
    if upper:
        return mp.log(erfc(a / mp.sqrt(2)) / 2 - second)
    return mp.log(erfc(-a / mp.sqrt(2)) / 2 + second)


def triangle_cdf(x, lo, hi, mode, upper):
    if x <= mode:
        p = (x - lo) ** 2 / (hi - lo) / (mode - lo) if x > lo else mpf(0)
        return mp.log1p(-p) if upper else mp.log(p)
    q = (hi - x) ** 2 / (hi - lo) / (hi - mode)
    return mp.log(q) if upper else mp.log1p(-q)


def gn_tail(z, beta, upper):
    size = mp.log(mp.mpf(1) / 2) + logq(1 / beta, power(abs(z), beta))
    return size if (z > 0) == upper else mp.log1p(-exp(size))


def t_tail(x, nu, m, s, upper):
    z = (x - m) / s
    w = z * z / nu
    size = logi(nu / 2, mpf(1) / 2, 1 / (1 + w), w / (1 + w)) - mp.log(2)
    return size if (z > 0) == upper else mp.log1p(-exp(size))


def choose(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def times(k, v):
    return k * v if k else mpf(0)


def nb(k, mu, phi):
    return lgamma(k + phi) - lgamma(phi) - lgamma(k + 1) - phi * mp.log1p(mu / phi) - times(k, mp.log1p(phi / mu))


def nb_cdf(k, mu, phi):
    return logi(phi, k + 1, phi / (mu + phi), mu / (mu + phi))


def nb_ccdf(k, mu, phi):
    return logi(k + 1, phi, mu / (mu + phi), phi / (mu + phi))


def pois(k, r):
    return times(k, mp.log(r)) - r - lgamma(k + 1)


def binom(k, n, s, f):
    return choose(n, k) + times(k, mp.log(s)) + times(n - k, mp.log(f))


def sig(l):
    return 1 / (1 + exp(-l))


def tn(x, m, s, a, b):
    def diff(u, v):
        u, v = (u - m) / s, (v - m) / s
        if u > 0:
            u, v = -v, -u
        return mp.log(erfc(-v / mp.sqrt(2)) - erfc(-u / mp.sqrt(2))) - mp.log(2)
    return diff


# A family has the kinds of its parameters, the function that draws a value, and its log density and tails. Kinds: r any
# number, p above 0, u in (0, 1), n a count from 1, i a whole number.
L, P, U = "location", "positive", "unit"
FAMILIES = {
    "normal": ("rp", L, scaled(norm), lambda x, m, s: logphi((x - m) / s), lambda x, m, s: logphi((m - x) / s)),
    "laplace": ("rp", L, scaled(lambda z: -abs(z) - mp.log(2)),
                lambda x, m, s: (x - m) / s - mp.log(2) if x < m else mp.log1p(-exp((m - x) / s) / 2),
                lambda x, m, s: (m - x) / s - mp.log(2) if x > m else mp.log1p(-exp((x - m) / s) / 2)),
    "logistic": ("rp", L, scaled(lambda z: logsigmoid(z) + logsigmoid(-z)),
                 lambda x, m, s: logsigmoid((x - m) / s), lambda x, m, s: logsigmoid((m - x) / s)),
    "cauchy": ("rp", L, scaled(lambda z: -mp.log1p(z * z) - mp.log(mp.pi)),
               lambda x, m, s: logatan(s, m - x), lambda x, m, s: logatan(s, x - m)),
    "gumbel": ("rp", L, scaled(gumbel), lambda x, m, s: -exp((m - x) / s), lambda x, m, s: log1mexp(exp((m - x) / s))),
    "moyal": ("rp", L, scaled(lambda z: -(z + exp(-z)) / 2 - mp.log(2 * mp.pi) / 2),
              lambda x, m, s: logerfc(exp((m - x) / s / 2) / mp.sqrt(2)),
              lambda x, m, s: logerf(exp((m - x) / s / 2) / mp.sqrt(2))),
    "asymmetriclaplace": ("rpp", L, lambda x, m, b, k: -mp.log(b * (k + 1 / k)) - (x - m) / b * (k if x >= m else -1 / k),
                          lambda x, m, b, k: (x - m) / b / k + mp.log(k * k / (1 + k * k)) if x < m else mp.log1p(-exp(-(x - m) / b * k) / (1 + k * k)),
                          lambda x, m, b, k: mp.log1p(-exp((x - m) / b / k) * k * k / (1 + k * k)) if x < m else -(x - m) / b * k - mp.log1p(k * k)),
    "expmodnormal": ("rpp", L, lambda x, m, s, l: mp.log(l / 2) + l * (m - x) + (l * s) ** 2 / 2 + logerfc((l * s - (x - m) / s) / mp.sqrt(2)),
                     lambda x, m, s, l: expmod_cdf(x, m, s, l, False), lambda x, m, s, l: expmod_cdf(x, m, s, l, True)),
    "skewnormal": ("rpr", L, lambda x, m, s, a: mp.log(2) + norm((x - m) / s) - mp.log(s) + logphi(a * (x - m) / s), None, None),
    "generalizednormal": ("rpp", L, lambda x, m, a, b: mp.log(b) - mp.log(2 * a) - lgamma(1 / b) - power(abs(x - m) / a, b),
                          lambda x, m, a, b: gn_tail((x - m) / a, b, False), lambda x, m, a, b: gn_tail((x - m) / a, b, True)),
    "studentt": ("prp", "location1", lambda x, n, m, s: lgamma((n + 1) / 2) - lgamma(n / 2) - mp.log(n * mp.pi) / 2 - mp.log(s) - (n + 1) / 2 * mp.log1p(((x - m) / s) ** 2 / n),
                 lambda x, n, m, s: t_tail(x, n, m, s, False), lambda x, n, m, s: t_tail(x, n, m, s, True)),
    "exponential": ("p", "rate", lambda x, r: mp.log(r) - r * x, lambda x, r: log1mexp(r * x), lambda x, r: -r * x),
    "halfnormal": ("p", "scale", lambda x, s: norm(x / s) - mp.log(s) + mp.log(2), lambda x, s: logerf(x / s / mp.sqrt(2)), lambda x, s: logerfc(x / s / mp.sqrt(2))),
    "halfcauchy": ("p", "scale", lambda x, s: mp.log(2 / mp.pi) - mp.log(s) - mp.log1p((x / s) ** 2), lambda x, s: mp.log(2 / mp.pi * mp.atan2(x, s)), lambda x, s: mp.log(2 / mp.pi * mp.atan2(s, x))),
    "rayleigh": ("p", "scale", lambda x, s: mp.log(x) - 2 * mp.log(s) - (x / s) ** 2 / 2, lambda x, s: log1mexp((x / s) ** 2 / 2), lambda x, s: -(x / s) ** 2 / 2),
    "weibull": ("pp", "scale1", lambda x, k, l: mp.log(k / l) + (k - 1) * mp.log(x / l) - power(x / l, k), lambda x, k, l: log1mexp(power(x / l, k)), lambda x, k, l: -power(x / l, k)),
    "frechet": ("pp", "scale1", lambda x, a, s: mp.log(a / s) - (1 + a) * mp.log(x / s) - power(x / s, -a), lambda x, a, s: -power(x / s, -a), lambda x, a, s: log1mexp(power(x / s, -a))),
    "pareto": ("pp", "above", lambda x, m, a: mp.log(a) + a * mp.log(m) - (a + 1) * mp.log(x), lambda x, m, a: log1mexp(a * mp.log(x / m)), lambda x, m, a: -a * mp.log(x / m)),
    "lognormal": ("rp", P, lambda x, m, s: norm((mp.log(x) - m) / s) - mp.log(s * x), lambda x, m, s: logphi((mp.log(x) - m) / s), lambda x, m, s: logphi((m - mp.log(x)) / s)),
    "logitnormal": ("rp", U, lambda x, m, s: norm((mp.log(x / (1 - x)) - m) / s) - mp.log(s * x * (1 - x)), lambda x, m, s: logphi((mp.log(x / (1 - x)) - m) / s), lambda x, m, s: logphi((m - mp.log(x / (1 - x))) / s)),
    "inversegaussian": ("pp", "scale0", lambda x, m, l: mp.log(l / (2 * mp.pi * x ** 3)) / 2 - l * (x - m) ** 2 / (2 * m * m * x), lambda x, m, l: wald(x, m, l, False), lambda x, m, l: wald(x, m, l, True)),
    "kumaraswamy": ("pp", U, lambda x, a, b: mp.log(a * b) + (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-power(x, a)), lambda x, a, b: log1mexp(-b * mp.log1p(-power(x, a))), lambda x, a, b: b * mp.log1p(-power(x, a))),
    "uniform": ("<r", "between", lambda x, a, b: -mp.log(b - a), lambda x, a, b: mp.log((x - a) / (b - a)), lambda x, a, b: mp.log((b - x) / (b - a))),
    "loguniform": ("<p", "between", lambda x, a, b: -mp.log(x) - mp.log(mp.log(b / a)), lambda x, a, b: mp.log(mp.log(x / a) / mp.log(b / a)), lambda x, a, b: mp.log(mp.log(b / x) / mp.log(b / a))),
    "triangle": ("<rm", "between", lambda x, a, b, c: mp.log(2 / (b - a)) + (mp.log((x - a) / (c - a)) if x <= c else mp.log((b - x) / (b - c))),
                 lambda x, a, b, c: triangle_cdf(x, a, b, c, False), lambda x, a, b, c: triangle_cdf(x, a, b, c, True)),
    "truncatednormal": ("rp<r", "between2", lambda x, m, s, a, b: norm((x - m) / s) - mp.log(s) - tn(x, m, s, a, b)(a, b),
                        lambda x, m, s, a, b: tn(x, m, s, a, b)(a, x) - tn(x, m, s, a, b)(a, b),
                        lambda x, m, s, a, b: tn(x, m, s, a, b)(x, b) - tn(x, m, s, a, b)(a, b)),
    "gamma": ("pp", "gamma", lambda x, a, b: a * mp.log(b) - lgamma(a) + (a - 1) * mp.log(x) - b * x, lambda x, a, b: logp(a, b * x), lambda x, a, b: logq(a, b * x)),
    "inversegamma": ("pp", "invgamma", lambda x, a, b: a * mp.log(b) - lgamma(a) - (a + 1) * mp.log(x) - b / x, lambda x, a, b: logq(a, b / x), lambda x, a, b: logp(a, b / x)),
    "chi": ("p", "root", lambda x, n: (n - 1) * mp.log(x) - x * x / 2 - (n / 2 - 1) * mp.log(2) - lgamma(n / 2), lambda x, n: logp(n / 2, x * x / 2), lambda x, n: logq(n / 2, x * x / 2)),
    "chisquared": ("p", "scale", lambda x, n: (n / 2 - 1) * mp.log(x) - x / 2 - n / 2 * mp.log(2) - lgamma(n / 2), lambda x, n: logp(n / 2, x / 2), lambda x, n: logq(n / 2, x / 2)),
    "beta": ("pp", U, lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - logbeta(a, b), lambda x, a, b: logi(a, b, x, 1 - x), lambda x, a, b: logi(b, a, 1 - x, x)),
    "betaproportion": ("up", U, lambda x, m, k: (m * k - 1) * mp.log(x) + ((1 - m) * k - 1) * mp.log1p(-x) - logbeta(m * k, (1 - m) * k),
                       lambda x, m, k: logi(m * k, (1 - m) * k, x, 1 - x), lambda x, m, k: logi((1 - m) * k, m * k, 1 - x, x)),
    "f": ("pp", P, lambda x, a, b: a / 2 * mp.log(a) + b / 2 * mp.log(b) + (a / 2 - 1) * mp.log(x) - (a + b) / 2 * mp.log(b + a * x) - logbeta(a / 2, b / 2),
          lambda x, a, b: logi(a / 2, b / 2, a * x / (b + a * x), b / (b + a * x)), lambda x, a, b: logi(b / 2, a / 2, b / (b + a * x), a * x / (b + a * x))),
    "vonmises": ("rp", "angle", lambda x, m, k: k * mp.cos(x - m) - mp.log(2 * mp.pi * mp.besseli(0, k)), None, None),
    "poisson": ("p", "count", pois, lambda k, r: logq(k + 1, r), lambda k, r: logp(k + 1, r)),
    "poissonlog": ("r", "countexp", lambda k, e: pois(k, exp(e)), lambda k, e: logq(k + 1, exp(e)), lambda k, e: logp(k + 1, exp(e))),
    "negbinomial2": ("pp", "count", nb, nb_cdf, nb_ccdf),
    "negbinomial2log": ("rp", "countexp", lambda k, e, f: nb(k, exp(e), f), lambda k, e, f: nb_cdf(k, exp(e), f), lambda k, e, f: nb_ccdf(k, exp(e), f)),
    "bernoulli": ("u", "bit", lambda k, p: mp.log(p) if k else mp.log1p(-p), None, None),
    "bernoullilogit": ("r", "bit", lambda k, l: logsigmoid(l if k else -l), None, None),
    "geometric": ("u", "count0", lambda k, p: mp.log(p) + times(k, mp.log1p(-p)), lambda k, p: log1mexp(-(k + 1) * mp.log1p(-p)), lambda k, p: (k + 1) * mp.log1p(-p)),
    "binomial": ("nu", "upto", lambda k, n, p: binom(k, n, p, 1 - p), lambda k, n, p: logi(n - k, k + 1, 1 - p, p) if k < n else mpf(0), lambda k, n, p: logi(k + 1, n - k, p, 1 - p)),
    "binomiallogit": ("nr", "upto", lambda k, n, l: binom(k, n, sig(l), sig(-l)), lambda k, n, l: logi(n - k, k + 1, sig(-l), sig(l)) if k < n else mpf(0), lambda k, n, l: logi(k + 1, n - k, sig(l), sig(-l))),
    "betabinomial": ("npp", "upto", lambda k, n, a, b: choose(n, k) + logbeta(k + a, n - k + b) - logbeta(a, b), None, None),
    "zeroinflatedpoisson": ("up", "count1", lambda k, w, r: mp.log(w + (1 - w) * exp(-r)) if k == 0 else mp.log1p(-w) + pois(k, r),
                            lambda k, w, r: mp.log1p(-(1 - w) * exp(logp(k + 1, r))), lambda k, w, r: mp.log1p(-w) + logp(k + 1, r)),
}


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
    if how == "angle":
        return short(rng.uniform(-3.14, 3.14))
    if how == "bit":
        return float(rng.randrange(2))
    if how == "upto":
        return float(int(short(rng.choice([0, 1, p[0] - 1, p[0], rng.random() * p[0]]))))
    mean = {"count": p[0], "count1": p[-1], "count0": 1 / max(p[0], 1e-12), "countexp": 2.0 ** min(p[0] * 1.44, 40)}[how]
    return float(int(short(rng.choice([0, 1, 2, min(mean, 2.0**40) * t, rng.random() * 200]) % 2.0**41)))


def derivative(f, x, i, near0):
    """central difference; near0 says that 0 is a point like others for this input"""
    h = max(abs(x[i]), mpf(10) ** -10 if near0 else mpf(0)) * mpf(10) ** -(mp.dps // 2)
    up, down = list(x), list(x)
    up[i] += h
    down[i] -= h
    return (f(*up) - f(*down)) / (2 * h)


def evaluate(f, x, kinds, discrete):
    """value and derivatives, or NaN where there are none"""
    n = len(x)
    signal.alarm(3)
    try:
        v = f(*[mpf(a) for a in x])
        if isinstance(v, mp.mpc) or not mp.isfinite(v):
            raise TooHard
        with mp.workdps(mp.dps + 60):
            if abs(f(*[mpf(a) for a in x]) - v) > abs(v) * mpf(10) ** -35:
                raise TooHard
        g = [derivative(f, [mpf(a) for a in x], i, kinds[i] == "r") for i in range(n) if i or not discrete]
        if any(isinstance(d, mp.mpc) for d in g):
            raise TooHard
        return [v] + g
    except (TooHard, ZeroDivisionError, ValueError, OverflowError, mp.NoConvergence, TypeError):
        return [mp.nan] * (n if discrete else n + 1)
    finally:
        signal.alarm(0)


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


SLOW = {"gamma", "chi", "chisquared", "inversegamma", "poisson", "poissonlog", "negbinomial2log", "negbinomial2", "binomiallogit", "binomial", "beta", "f",
        "betaproportion", "studentt", "generalizednormal", "zeroinflatedpoisson", "vonmises"}
DISCRETE = {"poisson", "poissonlog", "negbinomial2", "negbinomial2log", "bernoulli", "bernoullilogit", "geometric", "binomial", "binomiallogit", "betabinomial", "zeroinflatedpoisson"}


def alarm(*_):
    raise TooHard


def points(job):
    name, n = job
    signal.signal(signal.SIGALRM, alarm)
    mp.dps = 60
    kinds, how, *functions = FAMILIES[name]
    rng = random.Random("euryale " + name)
    each = ("r" if how in (L, "location1", "angle") else "p") + kinds.replace("<r", "rr").replace("<p", "pp").replace("m", "r")
    columns = None
    count = 0
    while count < n:
        try:
            p = parameters(rng, kinds)
            x = value(rng, how, p)
        except (TooHard, OverflowError):
            continue
        bad = name in ("lognormal", "exponential", "halfnormal", "halfcauchy", "rayleigh", "weibull", "frechet", "gamma", "inversegamma", "chi", "chisquared", "f", "inversegaussian") and not 0 < x < 2.0**900
        if bad or abs(x) > 2.0**900 or how == "above" and x <= p[0]:
            continue
        row = [struct.pack(">d", v)[:3] for v in [x] + p]
        for f in functions:
            if f is not None:
                mp.dps = 120 if name in SLOW and f is not functions[0] else 320
                out = evaluate(f, [x] + p, each, name in DISCRETE)
                row += [rounded(v, 5 if i == 0 else 4) for i, v in enumerate(out)]
        columns = columns or [[] for _ in row]
        for c, v in zip(columns, row):
            c.append(v)
        count += 1
    body = b""
    for c in columns:
        for plane in range(len(c[0])):
            body += bytes(v[plane] for v in c)
    has = sum(1 << i for i, f in enumerate(functions) if f is not None)
    head = struct.pack(">BBBI", sum(1 << i for i, f in enumerate(functions) if f is not None), len(p), name in DISCRETE, n)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "random_points")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".bin.gz"), "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as out:
        out.write(head + body)


def main():
    args = sys.argv[1:]
    n = 2000
    if args[:1] == ["-n"]:
        n, args = int(args[1]), args[2:]
    names = args or sorted(FAMILIES)
    with multiprocessing.Pool(int(os.environ.get("JOBS", "2"))) as pool:
        list(pool.imap_unordered(points, [(name, n) for name in names]))


if __name__ == "__main__":
    main()
