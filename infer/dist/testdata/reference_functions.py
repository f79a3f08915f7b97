# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Special functions of many digits, with first and second derivatives, for reference_families.py.

Functions that are integrals or series here are evaluated at the middle of their arguments, and the bound of the result
grows by what the arguments leave open. Derivatives with respect to parameters of incomplete gamma and beta functions are
differences of more digits.
"""
import math
from contextlib import contextmanager

from flint import arb

import jets
from jets import ZERO, TooHard, Unsettled, combine, ctx, jet, mp, mpf, trigamma

SMALL = arb(10) ** -900


@contextmanager
def bits(n):
    before, ctx.prec = ctx.prec, int(n)
    try:
        yield
    finally:
        ctx.prec = before


def digits():
    return int(ctx.prec * 0.301)


def size(*args):
    """digits before the point of the largest of the numbers and their inverses"""
    out = 0
    for a in args:
        if not a.mid().is_zero():
            man, exponent = a.mid().man_exp()
            out = max(out, abs(int(exponent) + man.bit_length()))
    return min(0.302 * out, 5000)


def wide(v, *moves):
    """v with a larger bound: what the radius of each argument, times the slope with respect to it, moves"""
    r = v.rad()
    for slope, x in moves:
        r += (abs(slope) * x.rad()).abs_upper()
    return arb(v.mid(), r.abs_upper()) if not r.is_zero() else v


def near(v, *sizes):
    """v with the error of a quadrature: what is left out is that small, compared with the sizes or with v itself"""
    return v + sum((abs(s) for s in sizes), abs(v)) * arb(0, arb(10) ** -digits())


def rough(v, step, *sizes):
    """v with the error of a difference in steps of that size, for sizes of v and of its next derivatives"""
    return v + sum((abs(s) for s in sizes), abs(v)) * 16 * step * step * arb(0, 1)


def exp(x):
    return mp.exp(x)


def expm1(x):
    return mp.expm1(x)


def power(x, a):
    """x to the a, for x from 0; derivatives at 0 have no sense unless they are 0"""
    x, a = jet(x), jet(a)
    if x:
        return exp(a * mp.log(x))
    if x.d is None:
        return mpf(0)
    first = ZERO if a.v > 1 else arb.nan()
    second = ZERO if a.v > 2 else arb.nan()
    return x.chain(ZERO, first, second)


def log1mexp(t):
    """log(1 - exp(-t))"""
    t = jet(t)
    return mp.log1p(-exp(-t)) if t.v.mid() > 1 else mp.log(-expm1(-t))


def logaddexp(a, b):
    a, b = jet(a), jet(b)
    return (a if a > b else b) + mp.log1p(exp(-abs(a - b)))


def logsubexp(a, b):
    """log(exp(a) - exp(b))"""
    return a + log1mexp(a - b)


def log_half_erfc(x, z):
    """log(erfc(x)/2), where z is -x sqrt(2) and stands for both"""
    if abs(x) * SMALL > 1:  # the first term is all of it
        return (-x * x - (2 * x * arb.pi().sqrt()).log(), -z, arb(-1)) if x > 0 else (ZERO, ZERO, ZERO)
    m = x.mid()  # arb's bound for erfc of a ball far out is too large
    v = jets.log1p(-((-m).erfc() / 2)) if m < 0 else (m.erfc() / 2).log()
    v = wide(v, (2 * (-m * m - v).exp() / arb.pi().sqrt(), x))
    d = (-z * z / 2 - (2 * arb.pi()).log() / 2 - v).exp()
    return v, d, -d * (z + d)


def logphi(z):
    """logarithm of the normal distribution function"""
    z = jet(z)
    v, d, h = log_half_erfc(-z.v / arb(2).sqrt(), z.v)
    return z.chain(v, d, h)


def norm(z):
    return -z * z / 2 - mp.log(2 * mp.pi) / 2


def logerfc(x):
    return logphi(-mp.sqrt(2) * x) + mp.log(2)


def logerf(x):
    """log erf(x) for x > 0"""
    x = jet(x)
    t, m = x.v, x.v.mid()
    v = jets.log1p(-m.erfc()) if m > 1 else jets.erf(m).log()
    v = wide(v, (2 / arb.pi().sqrt() * (-m * m - v).exp(), t))
    d = 2 / arb.pi().sqrt() * (-t * t - v).exp()
    return x.chain(v, d, -d * (2 * t + d))


def logsigmoid(z):
    return -mp.log1p(exp(-z))


def lgamma(a):
    if not jet(a).v > 0:
        raise TooHard
    return mp.loggamma(a)


def logbeta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


NODES = {}


def nodes(finer=1):
    """abscissas and weights of the integral from 0 to infinity of something that falls like exp(-t)"""
    n = digits()
    if (n, finer) not in NODES:
        per = (n // 4 + 4) * finer
        step = arb(1) / per
        top, k, out = 2.4 * n + 30, -int(per * math.log(2.4 * n + 30)) - 1, []
        while True:
            u = k * step
            y = (u - (-u).exp()).exp()
            if y > top:
                break
            out.append((y.mid(), (step * y * (1 + (-u).exp())).mid()))
            k += 1
        NODES[n, finer] = out
    return NODES[n, finer]


def moments(phi, scale, statistics=lambda y: [], finer=1):
    """logarithm of the integral of exp(phi(y)) over y > 0, and means and covariances of statistics(y) under it"""
    scale = scale.mid()
    total, first, second = arb(0), None, None
    tiny = arb(10) ** -(digits() + 10)
    for t, w in nodes(finer):
        y = t * scale
        p = w * phi(y).exp()
        x = statistics(y)
        if first is None:
            first = [arb(0)] * len(x)
            second = [[arb(0)] * len(x) for _ in x]
        total += p
        if t > 1 and p < total * tiny:
            break
        for i, a in enumerate(x):
            q = p * a
            first[i] += q
            for j, b in enumerate(x[: i + 1]):
                second[i][j] += q * b
    if not total > 0:
        raise Unsettled
    mean = [near(a / total) for a in first]
    cov = [[near(second[i][j] / total) - mean[i] * mean[j] for j in range(i + 1)] for i in range(len(mean))]
    return near(total * scale).log(), mean, cov


def gamma_series(a, x):
    """log P(a, x)"""
    term = total = arb(1)
    n, end = 0, arb(2) ** -ctx.prec
    while not term < total * end:
        n += 1
        term = term * x / (a + n)
        total += term
        if n > 20000:
            raise TooHard
    return a * x.log() - x - (a + 1).lgamma() + total.log()


def gamma_fraction(a, x):
    """log Q(a, x) by Lentz's method for the continued fraction"""
    b = x + 1 - a
    d = 1 / b
    f, c, end = d, None, arb(2) ** (10 - ctx.prec)
    for i in range(1, 20000):
        an = i * (a - i)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c if c is not None else b
        f = f * d * c
        if not abs(d * c - 1) > end:
            return a * x.log() - x - a.lgamma() + f.log()
    raise TooHard


def gamma_tail(a, x):
    """whether the smaller tail is the upper one, its logarithm and the derivatives of that with respect to a"""
    if a > 3000 and abs(x - a) < a / 5:
        with bits(ctx.prec + 7 * size(a, x)):
            upper = bool(x > a)
            sign = 1 if upper else -1
            v, mean, cov = moments(lambda y: sign * a * y - x * jets.expm1(sign * y), 1 / (a.sqrt() + abs(x - a)), lambda y: [sign * y])
            return upper, a * x.log() - x - a.lgamma() + v, x.log() - a.digamma() + mean[0], cov[0][0] - trigamma(a)
    with bits(2 * ctx.prec + 7 * size(a, x)):
        step = arb(2) ** -(ctx.prec // 5)
        h = a * step
        if x > a + 30 and x > 1.1 * a:
            upper, own = True, lambda b: gamma_fraction(b, x)
        else:
            upper, own = bool(gamma_series(a, x) > -0.6), lambda b: gamma_series(b, x)
            if upper:
                own = lambda b: (-jets.expm1(gamma_series(b, x))).log()
        v, u, w = own(a), own(a + h), own(a - h)
        va, vaa = (u - w) / (2 * h), (u - 2 * v + w) / (h * h)
        return upper, v, rough(va, step, vaa * a), rough(vaa, step, va / a)


def gamma_both(a, x):
    """logarithms of P(a, x) and Q(a, x)"""
    a, x = jet(a), jet(x)
    am, xm = a.v.mid(), x.v.mid()
    if not (am > 0 and xm > 0):
        raise TooHard
    upper, v, va, vaa = gamma_tail(am, xm)
    with bits(ctx.prec + 7 * size(am, xm)):
        sign = -1 if upper else 1
        h = sign * (am * xm.log() - xm - am.lgamma() - v).exp()  # derivative with respect to log x
        hs, ha = h * (am - xm - h), h * (xm.log() - am.digamma() - va)
        vx, vxx, vax = h / xm, (hs - h) / (xm * xm), ha / xm
    moves = lambda f, fa, fx: wide(f, (fa, a.v), (fx, x.v))
    own = combine([a, x], moves(v, va, vx), [moves(va, vaa, vax), moves(vx, vax, vxx)], [[vaa], [vax, vxx]])
    other = log1mexp(-own)
    return (other, own) if upper else (own, other)


def logp(a, x):
    if huge(a, x):
        return log1mexp(-last_of_gamma(a, x))
    return first_of_gamma(a, x) if tiny(x, 1) else gamma_both(a, x)[0]


def logq(a, x):
    if huge(a, x):
        return last_of_gamma(a, x)
    return log1mexp(-first_of_gamma(a, x)) if tiny(x, 1) else gamma_both(a, x)[1]


def huge(a, x):
    """whether the first term of the asymptotic series of the upper incomplete gamma function is all of it"""
    return bool(jet(x).v * SMALL > 1 and jet(a).v < jet(x).v.log() ** 40)


def last_of_gamma(a, x):
    return (a - 1) * mp.log(x) - x - lgamma(a)


def tiny(x, b):
    """whether the first term of the power series in x is all of it"""
    x = jet(x)
    if not x.v > 0:
        raise Unsettled if x.v.contains(ZERO) else TooHard
    return bool(x.v * (1 + jet(b).v) < SMALL)


def first_of_gamma(a, x):
    return a * mp.log(x) - lgamma(a + 1)


def first_of_beta(a, b, x):
    return a * mp.log(x) - mp.log(a) - logbeta(a, b)


def beta_series(a, b, x, y):
    """log I_x(a, b)"""
    term = total = arb(1)
    n, end = 0, arb(2) ** -ctx.prec
    c, d = a + b, a + 1
    while not term < total * end or (c + n) * x > d + n:
        term = term * (c + n) / (d + n) * x
        total += term
        n += 1
        if n > 20000:
            raise TooHard
    return a * x.log() + b * y.log() - a.log() - a.lgamma() - b.lgamma() + c.lgamma() + total.log()


def beta_tail(a, b, x, y):
    """whether the smaller tail is that above x, its logarithm, and gradient and second derivatives in a and b"""
    left = bool(x < y)
    p, q, s, t = (a, b, x, y) if left else (b, a, y, x)
    if (a + b) * s < 500:
        with bits(2 * ctx.prec + 7 * size(a, b, x, y)):
            v = beta_series(p, q, s, t)
            upper = not left
            f = lambda v: v
            if v > -0.6:
                upper, f = left, lambda v: (-jets.expm1(v)).log()
            step = arb(2) ** -(ctx.prec // 5)
            h, g = p * step, q * step
            at = lambda i, j: f(beta_series(p + i * h, q + j * g, s, t))
            v, pa, pb, ma, mb, pp = f(v), at(1, 0), at(0, 1), at(-1, 0), at(0, -1), at(1, 1)
            aa, bb, ab = (pa - 2 * v + ma) / (h * h), (pb - 2 * v + mb) / (g * g), (pp - pa - pb + v) / (h * g)
            da, db = (pa - ma) / (2 * h), (pb - mb) / (2 * g)
            grad, hess = [rough(da, step, aa * p), rough(db, step, bb * q)], [[aa], [ab, bb]]
    else:
        with bits(ctx.prec + 10 * size(a, b, x, y)):
            left = bool(a * y > b * x)  # x is below the mean
            p, q, s, t = (a, b, x, y) if left else (b, a, y, x)
            upper = not left
            c = p + q
            softer = lambda u: jets.log1p(s * jets.expm1(-u))  # log(t + s exp(-u))

            def both(u):
                f = softer(u)
                return [-u - f, -f]

            v, mean, cov = moments(lambda u: -p * u - c * softer(u), 1 / (abs(p * t - q * s) + (c * s * t).sqrt()), both)
            v += p * s.log() + q * t.log() - p.lgamma() - q.lgamma() + c.lgamma()
            more, tri = c.digamma(), trigamma(c)
            grad = [s.log() - p.digamma() + more + mean[0], t.log() - q.digamma() + more + mean[1]]
            hess = [[cov[0][0] - trigamma(p) + tri], [cov[1][0] + tri, cov[1][1] - trigamma(q) + tri]]
    if p is b:
        grad, hess = grad[::-1], [[hess[1][1]], [hess[1][0], hess[0][0]]]
    return upper, v, grad, hess


def logi(a, b, x, y):
    """logarithm of the regularised incomplete beta function at x, where y = 1 - x"""
    return beta_both(a, b, x, y)[0]


def beta_both(a, b, x, y):
    """logarithms of I_x(a, b) and of 1 less that"""
    a, b, x, y = jet(a), jet(b), jet(x), jet(y)
    if tiny(x, b):
        own = first_of_beta(a, b, x)
        return own, log1mexp(-own)
    if tiny(y, a):
        own = first_of_beta(b, a, y)
        return log1mexp(-own), own
    am, bm = a.v.mid(), b.v.mid()
    if not (am > 0 and bm > 0):
        raise TooHard
    with bits(ctx.prec + 7 * size(x.v, y.v)):
        xm, ym = (x.v.mid(), 1 - x.v.mid()) if x.v < y.v else (1 - y.v.mid(), y.v.mid())
    upper, v, (va, vb), ((aa,), (ab, bb)) = beta_tail(am, bm, xm, ym)
    with bits(ctx.prec + 10 * size(am, bm, xm, ym)):
        lx, ly, c = xm.log(), ym.log(), (am + bm).digamma()
        h = (-1 if upper else 1) * (am * lx + bm * ly - am.lgamma() - bm.lgamma() + (am + bm).lgamma() - v).exp()
        hs = h * (am * ym - bm * xm - h)
        ha, hb = h * (lx - am.digamma() + c - va), h * (ly - bm.digamma() + c - vb)
    s = mp.log(x) - mp.log(y)
    moves = lambda f, fa, fb, fs: wide(f, (fa, a.v), (fb, b.v), (fs, s.v))
    own = combine([a, b, s], moves(v, va, vb, h), [moves(va, aa, ab, ha), moves(vb, ab, bb, hb), moves(h, ha, hb, hs)], [[aa], [ab, bb], [ha, hb, hs]])
    other = log1mexp(-own)
    return (other, own) if upper else (own, other)


def log_i(k, x):
    """log I_k(x) by the integral through the saddle point"""
    w = (k * k + x * x).sqrt()
    n = digits()
    step = min([arb(4) / (n + 30)] + ([4 / (n + 30) ** 0.5 / w.sqrt() / 1.5] if w > 1 else []), key=float).mid()
    count = int(float(arb.pi() / step)) + 1 if step > 1e-6 else None
    if count:
        step = arb.pi() / count
    total, i = arb(1) / 2, 0
    while True:
        i += 1
        t = i * step
        term = (-2 * w * (t / 2).sin() ** 2).exp() * (k * (t.sin() - t)).cos()
        total += term / 2 if i == count else term
        if i == count or w * t * t > 6 * (n + 10):
            break
    return w - (k * (k / x).asinh() if k else ZERO) + near(total * step / arb.pi()).log()


def log_bessel(k, x):
    """log I_k(x) for whole k; there is no derivative with respect to k"""
    k, x = jet(k), jet(x)
    if x.v < (k.v + 1) / 10**8:
        t = x * x / 4
        terms = sums = mpf(1)
        for n in range(1, digits() // 8 + 10):
            terms = terms * t / n / (k + n)
            sums = sums + terms
        return k * mp.log(x / 2) - lgamma(k + 1) + mp.log(sums)
    c, m = k.v, x.v.mid()
    with bits(ctx.prec + 7 * size(m, c) + 20):
        v = log_i(c, m)
        d = (log_i(c + 1, m) - v).exp() + c / m
        h = 1 + (c * c / m - d) / m - d * d
    return x.chain(wide(v, (d, x.v)), wide(d, (h, x.v)), h)


def log_partial_moment(nu, m):
    """logarithm of the integral of y^nu exp(-(y-m)^2/2) over y > 0, by the trapezoidal rule in log y"""
    nu, m = jet(nu), jet(m)
    f, g = nu.v.mid(), m.v.mid()
    with bits(ctx.prec + 7 * size(f, g)):
        v, d, h = partial_moment(f, g, digits())
    moves = lambda f, fa, fb: wide(f, (fa, nu.v), (fb, m.v))
    return combine([nu, m], moves(v, *d), [moves(d[0], h[0][0], h[1][0]), moves(d[1], h[1][0], h[1][1])], h)


def partial_moment(nu, m, n):
    a = nu + 1
    root = (m * m + 4 * a).sqrt()
    y = ((m + root) / 2 if m > 0 else 2 * a / (root - m)).mid()
    far = (2 * n * arb(10).log()).sqrt()
    step = min(2 * arb.pi() / far / (2 * y * y - m * y + 1).sqrt() / 2, 5.6 / far / 2).mid()
    total, first, second = arb(0), [arb(0)] * 2, [[arb(0)], [arb(0)] * 2]
    end = arb(10) ** -(n + 5)
    for side in (-1, 1):
        for i in range(side > 0, 100000):
            t = side * i * step
            e = y * jets.expm1(t)
            p = (a * t - e * (y - m) - e * e / 2).exp()
            if p < total * end:
                break
            x = [t, e]
            total += p
            for j in (0, 1):
                q = p * x[j]
                first[j] += q
                for k in range(j + 1):
                    second[j][k] += q * x[k]
    mean = [near(s / total, 1 / a.sqrt() * (1, y)[j]) for j, s in enumerate(first)]
    cov = [[near(second[j][k] / total) - mean[j] * mean[k] for k in range(j + 1)] for j in (0, 1)]
    cov[1][1] -= 1
    return a * y.log() - (y - m) ** 2 / 2 + near(total * step).log(), [y.log() + mean[0], y - m + mean[1]], cov


def owen_tail(z, a):
    """log F of the skew normal distribution for z <= 0 and a >= 0: 1/pi times the integral of exp(-z^2 (1+x^2)/2)/(1+x^2) over x > a, with x = sinh w"""
    w, c = a.asinh(), (1 + a * a).sqrt()
    z2, wide2 = z * z, 2 * a * c

    def phi(u):
        s, ch = u.sinh(), u.cosh()
        return -z2 * s * (wide2 * ch + (1 + 2 * a * a) * s) / 2 - (ch + a / c * s).log()

    scale, before, finer = 1 / (z2 * a * c + a / c + abs(z) * c + 1 / (1 + abs(z))), None, 1
    while True:  # for a small z the integrand ends abruptly, which takes more points
        v = moments(phi, scale, finer=finer)[0]
        if before is not None and abs(v - before) < arb(10) ** -(digits() // 2):
            break
        before, finer = v, 2 * finer
        if finer > 64:
            raise TooHard
    v += 16 * (v - before) ** 2 * arb(0, 1)  # each time the error is at most squared
    return v - arb.pi().log() - z2 * c * c / 2 - c.log()


def skew_lower(z, a):
    """logarithm of the distribution function of the skew normal distribution"""
    log1m = lambda v: jets.log1p(-v.exp())
    phi = lambda t: log_half_erfc(-t / arb(2).sqrt(), t)[0]
    if z <= 0:
        if a >= 0:
            return owen_tail(z, a)
        p = phi(z) + arb(2).log()
        return p + log1m(owen_tail(z, -a) - p)
    if a >= 0 and z < 1:
        return (jets.erf(z / arb(2).sqrt()) + owen_tail(-z, a).exp()).log()
    return log1m(skew_lower(-z, -a))


def log_skew(z, a):
    z, a = jet(z), jet(a)
    x, s = z.v.mid(), a.v.mid()
    with bits(ctx.prec + 10 * size(x, s)):
        v = skew_lower(x, s)
        w = 1 + s * s
        phi, phi1, _ = log_half_erfc(-s * x / arb(2).sqrt(), s * x)
        h = (-x * x / 2 + phi - v).exp() * (2 / arb.pi()).sqrt()
        g = -(-x * x * w / 2 - v).exp() / (arb.pi() * w)
        k = -x + s * phi1
        hess = [[h * (k - h)], [-x * w * g - h * g, g * (-x * x * s - 2 * s / w - g)]]
    moves = lambda f, fa, fb: wide(f, (fa, z.v), (fb, a.v))
    return combine([z, a], moves(v, h, g), [moves(h, hess[0][0], hess[1][0]), moves(g, *hess[1])], hess)


def skew_tails(z, a):
    """logarithms of the probabilities below and above z"""
    return log_skew(z, a), log_skew(-z, -a)
