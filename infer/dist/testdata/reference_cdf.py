# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Logarithms of distribution functions of families without LogCDF, for random_points.py.

Derivatives say how far the result moves with the value and with parameters on which it depends as strongly; the others are
left at 0.
"""
from flint import arb

from jets import ZERO, Jet, TooHard, Unsettled, combine, ctx
from reference_families import choose, skellam
from reference_functions import bits, log_i, logbeta
import jets

MOST = 30000  # terms of a sum


def tail_sum(first, ratio, steps):
    """first (1 + r1 + r1 r2 + ...), where ratio(i) is that of term i to term i-1 and they fall in the end"""
    term = total = first
    for i in range(1, steps + 1):
        if i > MOST:
            raise TooHard
        r = ratio(i)
        term = term * r
        total += term
        if r < 0.999 and term / (1 - r) < total * arb(2) ** -80:
            return total * (1 + arb(2) ** -79 * arb(0, 1))
    return total


def whole_number_cdf(k, lo, hi, mean, log_p, ratio):
    """log of the sum of probabilities lo..k, from the side of the smaller tail; ratio(k) is P(k+1)/P(k)"""
    k = int(k)
    if k >= hi:
        return ZERO
    with bits(ctx.prec + 60):
        if k <= mean:
            return tail_sum(log_p(k).exp(), lambda i: 1 / ratio(k - i), k - lo).log()
        return jets.log1p(-tail_sum(log_p(k + 1).exp(), lambda i: ratio(k + i), hi - k - 1))


def betabinomial(k, n, a, b):
    n, a, b = int(float(n.v)), a.v, b.v
    p = lambda k: (choose(Jet(n), Jet(k)) + logbeta(Jet(k + a), Jet(n - k + b)) - logbeta(Jet(a), Jet(b))).v
    return Jet(whole_number_cdf(float(k.v), 0, n, float(n * a / (a + b)), p, lambda k: (n - k) * (k + a) / ((k + 1) * (n - k - 1 + b))))


def hypergeometric(k, t, m, n):
    t, m, n = (int(float(v.v)) for v in (t, m, n))
    lo, hi = max(0, n + m - t), min(m, n)
    p = lambda k: (choose(Jet(m), Jet(k)) + choose(Jet(t - m), Jet(n - k)) - choose(Jet(t), Jet(n))).v
    return Jet(whole_number_cdf(float(k.v), lo, hi, m * n / t, p, lambda k: arb((m - k) * (n - k)) / ((k + 1) * (t - m - n + k + 1))))


def skellam_cdf(k, m1, m2):
    """m1 p(k-1) = k p(k) + m2 p(k+1)"""
    k, a, b = int(float(k.v)), m1.v, m2.v
    down = k <= float(a - b)
    with bits(4 * ctx.prec):
        log_p = lambda k: skellam(Jet(k), Jet(a), Jet(b)).v
        if not down:
            k, a, b = -k - 1, b, a  # the upper tail
            log_p = lambda k: skellam(Jet(k), Jet(a), Jet(b)).v
        q, p = log_p(k + 1).exp(), log_p(k).exp()
        total, i = p, 0
        while True:
            q, p = p, (k * p + b * q) / a
            k -= 1
            total += p
            i += 1
            if not p > 0:
                raise Unsettled
            if i > MOST:
                raise TooHard
            r = p / q
            if r < 0.999 and p / (1 - r) < total * arb(2) ** -80:
                break
        total *= 1 + arb(2) ** -79 * arb(0, 1)
        v = total.log() if down else jets.log1p(-total)
    return Jet(v)


def vonmises(x, m, kappa):
    """log of the integral of the density from -pi"""
    k, pi = kappa.v, arb.pi()
    at, start = x.v - m.v, -pi - m.v
    log_norm = (2 * pi).log() + (log_i(ZERO, k) - k if k > arb(2) ** -200 else -k)
    density = lambda d: (-2 * k * (d / 2).sin() ** 2 - log_norm).exp()
    with bits(2 * ctx.prec + 100):
        v = fourier(at, start, k) if k < 10000 else narrow(at, start, k, log_norm)
        if not v > 0:
            raise Unsettled
        v = v.log()
        f = [(density(d).log() - v).exp() for d in (at, start)]
    return combine([x, m], v, [f[0], f[1] - f[0]], [[ZERO], [ZERO, ZERO]])


def fourier(at, start, k):
    """by the series of ratios of Bessel functions, from a recurrence whose end is settled by its start"""
    n = int(float((2 * k * ctx.prec).sqrt())) + ctx.prec
    ratio, ratios = arb(0), []
    for j in range(n, 0, -1):
        ratio = 1 / (2 * j / k + ratio)
        ratios.append(ratio)
    total, part = (at - start) / 2, arb(1)
    for j, r in enumerate(reversed(ratios), 1):
        part = part * r
        total += part / j * ((j * at).sin() - (j * start).sin())
    return total / arb.pi() * (1 + arb(2) ** -(ctx.prec // 2) * arb(0, 1))


def narrow(at, start, k, log_norm):
    """by u = sqrt(2 k) sin(half of the angle to the mean): powers of u^2/(2 k) times exp(-u^2)"""
    def beyond(d):
        """what the turn has beyond d in [0, pi]"""
        u = 2 * k * (d / 2).sin() ** 2
        if u > 2500:
            return arb(0)
        total, c, n = arb(0), arb(1), 0
        while True:
            term = c * u.gamma_upper(n + arb(1) / 2)
            total += term
            n += 1
            c = c * (2 * n - 1) / (2 * n) / (2 * k)
            if term < total * arb(2) ** -120:
                return total * (-log_norm).exp() / (2 * k).sqrt() * (1 + arb(2) ** -110 * arb(0, 1))

    def place(d):
        """whole turns, the side of the mean, and what is beyond"""
        turns = (d / (2 * arb.pi()) + arb(1) / 2).floor()
        if not turns.is_exact():
            raise Unsettled
        d -= 2 * arb.pi() * turns
        return turns, bool(d > 0), beyond(abs(d))

    turns, right, tail = place(at)
    before, was_right, rest = place(start)
    return turns - before + (int(right) - int(was_right)) + (-tail if right else tail) - (-rest if was_right else rest)


def noncentral_t(x, nu, mu):
    """mean of Phi(x s - mu), where s^2 nu/2 = exp(w) has a Gamma distribution of shape a = nu/2, by the trapezoidal rule in w"""
    a, c, m = nu.v / 2, x.v, mu.v
    if not (arb(2) ** -8 < a < arb(2) ** 80) or abs(m) > 300 * (1 + a.sqrt()):
        raise TooHard
    upper = bool(c > m)
    if upper:
        c, m = -c, -m
    norm = a * a.log() - a - a.lgamma()
    wide = 17 / a.sqrt()
    lo, hi = -wide - 80 / a, (1 + wide + 80 / a).log()

    def f(d):
        return (a * (d - jets.expm1(d)) + norm).exp() * ((m - c * (d / 2).exp()) / arb(2).sqrt()).erfc() / 2

    def rule(step):
        n = int(float(((hi - lo) / step).mid())) + 1
        if n > MOST:
            raise TooHard
        return step * sum((f(lo + step * i) for i in range(n + 1)), arb(0))

    with bits(ctx.prec + 60):
        step = (arb(1) / 5 / max(1, float(a.sqrt()), float(abs(m)))).mid()
        first, v = rule(step), rule(step / 2)
        if not v > 1e-25:
            raise TooHard
        v += 2 * abs(v - first) * arb(0, 1)
    return Jet(jets.log1p(-v) if upper else v.log())


CDF = {"vonmises": vonmises, "skellam": skellam_cdf, "betabinomial": betabinomial, "hypergeometric": hypergeometric, "noncentralt": noncentral_t}
