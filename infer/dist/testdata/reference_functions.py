# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Special functions of many digits for reference_families.py, whose finite differences in steps of 1e-150 are exact too.

A function that takes long is computed once at each point, with its first and second derivatives; its values nearby, where
the differences want them, are those of the Taylor polynomial, so that errors of the value cancel in differences.
"""
from digits import mp, mpf


class TooHard(Exception):
    """There is no reference of enough digits here."""


CACHE = {}  # emptied for each point
EXTRA = [0]  # digits that the second computation adds


def forget(extra):
    CACHE.clear()
    EXTRA[0] = extra


def near(key, args):
    """the base point of a cached function that is a step away, and the steps"""
    for base in CACHE.setdefault(key, []):
        steps = [x - b for x, b in zip(args, base[0])]
        if all(abs(d) <= (abs(b) or mpf(10) ** 5) * mpf(10) ** -60 for d, b in zip(steps, base[0])):
            return base, steps
    return None, None


def taylor(f):
    """f returns the value, the gradient and the second derivatives at a point"""

    def g(*args):
        args = [mpf(a) for a in args]
        base, steps = near(f.__name__, args)
        if base is None:
            base = (args, *f(*args))
            CACHE[f.__name__].append(base)
            return base[1]
        _, v, d, h = base
        n = range(len(args))
        return v + sum(d[i] * steps[i] for i in n) + sum(h[i][j] * steps[i] * steps[j] for i in n for j in n) / 2

    return g


def size(*args):
    """digits before the point of the largest of the numbers and their inverses"""
    return max([0] + [abs(int(mp.log10(abs(a)))) for a in args if a])


def exp(x):
    if abs(x) > mpf(10) ** 400:
        raise TooHard
    return mp.exp(x)


def expm1(x):
    if abs(x) > mpf(10) ** 400:
        raise TooHard
    return mp.expm1(x)


def power(x, a):
    return exp(a * mp.log(x)) if x else mpf(0)


def log1mexp(t):
    """log(1 - exp(-t))"""
    return mp.log1p(-exp(-t)) if t > 1 else mp.log(-expm1(-t))


def logaddexp(a, b):
    return max(a, b) + mp.log1p(exp(-abs(a - b)))


def logsubexp(a, b):
    """log(exp(a) - exp(b))"""
    if not a > b:
        raise TooHard
    return a + log1mexp(a - b)


@taylor
def logphi(z):
    """logarithm of the normal distribution function"""
    if abs(z) > mpf(10) ** 190 or z and size(z) > 400:
        raise TooHard
    with mp.workdps((250 + 3 * size(z) if z else 1200) + EXTRA[0]):
        z = mpf(z)
        if z < -2000:
            t, series, n = mpf(1), mpf(1), 0
            while abs(t) > mpf(10) ** -mp.dps:
                n += 1
                t *= -(2 * n - 1) / (z * z)
                series += t
            return norm(z) - mp.log(-z) + mp.log(series), [-z / series], [[z / series * (z - z / series)]]
        v = mp.log1p(-mp.erfc(z / mp.sqrt(2)) / 2) if z > 1 else mp.log(mp.erfc(-z / mp.sqrt(2)) / 2)
        d = exp(norm(z) - v)
        return v, [d], [[-d * (z + d)]]


def norm(z):
    return -z * z / 2 - mp.log(2 * mp.pi) / 2


def logerfc(x):
    return logphi(-mp.sqrt(2) * x) + mp.log(2)


def logerf(x):
    """log erf(x) for x > 0"""
    if size(x) > 150:  # 1, or the first term of the power series
        return mpf(0) if x > 1 else mp.log(2 * x / mp.sqrt(mp.pi))
    return logerf_of(x)


@taylor
def logerf_of(x):
    with mp.workdps(250 + 3 * size(x) + EXTRA[0]):
        v = mp.log1p(-mp.erfc(x)) if x > 1 else mp.log(mp.erf(x))
        d = 2 / mp.sqrt(mp.pi) * exp(-x * x - v)
        return v, [d], [[-d * (2 * x + d)]]


def logsigmoid(z):
    return -mp.log1p(exp(-z))


@taylor
def lgamma(a):
    if not a > 0:
        raise TooHard
    with mp.workdps(300 + 2 * size(a) + EXTRA[0]):
        return mp.loggamma(mpf(a)), [mp.digamma(mpf(a))], [[mp.trigamma(mpf(a))]]


def digamma(a):
    return mp.digamma(mpf(a))


def logbeta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


NODES = {}


def nodes(digits):
    """abscissas and weights of the integral from 0 to infinity of something that falls like exp(-t)"""
    if digits not in NODES:
        step = mpf(1) / (16 if digits < 90 else 24)
        out, k = [], -int(5.6 / step)
        while True:
            u = k * step
            y = mp.exp(u - mp.exp(-u))
            if y > 400:
                break
            out.append((y, step * y * (1 + mp.exp(-u))))
            k += 1
        NODES[digits] = out
    return NODES[digits]


def moments(phi, scale, digits, statistics):
    """logarithm of the integral of exp(phi(y)) over y > 0, and means and covariances of statistics(y) under it"""
    total, first, second = mpf(0), None, None
    for t, w in nodes(digits):
        y = t * scale
        p = w * exp(phi(y))
        x = statistics(y)
        if first is None:
            first = [mpf(0)] * len(x)
            second = [[mpf(0)] * len(x) for _ in x]
        total += p
        if p < total * mpf(10) ** -(digits + 10) and t > 1:
            break
        for i, a in enumerate(x):
            first[i] += p * a
            for j, b in enumerate(x):
                second[i][j] += p * a * b
    mean = [a / total for a in first]
    cov = [[s / total - mean[i] * mean[j] for j, s in enumerate(row)] for i, row in enumerate(second)]
    return mp.log(total * scale), mean, cov


def gamma_series(a, x, digits):
    """log P(a, x)"""
    with mp.workdps(digits):
        term = total = mpf(1)
        n = 0
        while term > total * mpf(10) ** -digits:
            n += 1
            term *= x / (a + n)
            total += term
            if n > 20000:
                raise TooHard
        return a * mp.log(x) - x - mp.loggamma(a + 1) + mp.log(total)


def gamma_fraction(a, x, digits):
    """log Q(a, x) by Lentz's method for the continued fraction"""
    with mp.workdps(digits):
        b = x + 1 - a
        d = 1 / b
        f, c = d, mpf(10) ** 10000
        for i in range(1, 20000):
            an = -i * (i - a)
            b += 2
            d = 1 / (an * d + b)
            c = b + an / c
            f *= d * c
            if abs(d * c - 1) < mpf(10) ** -(digits - 10):
                return a * mp.log(x) - x - mp.loggamma(a) + mp.log(f)
    raise TooHard


def gamma_tail(a, x):
    """whether the tail with fewer digits to lose is the upper one, its logarithm and the derivatives of that with respect to a"""
    digits = 90 + size(a, x) + EXTRA[0]
    if a > 3000 and abs(x - a) < a / 5:
        with mp.workdps(70 + 2 * size(a, x) + EXTRA[0]):
            upper = x > a
            sign = 1 if upper else -1
            v, mean, cov = moments(lambda y: sign * a * y - x * mp.expm1(sign * y), 1 / (mp.sqrt(a) + abs(x - a)), 60 + EXTRA[0], lambda y: [sign * y])
            return upper, a * mp.log(x) - x - mp.loggamma(a) + v, mp.log(x) - digamma(a) + mean[0], cov[0][0] - mp.trigamma(a)
    f, upper = (gamma_fraction, True) if x > a + 30 and x > 1.1 * a else (gamma_series, False)
    h = a * mpf(10) ** -20
    v, u, w = f(a, x, digits), f(a + h, x, digits), f(a - h, x, digits)
    if not upper and v > -0.7: # digits of the other tail
        lost = int(-mp.log10(-v)) if v else 2 * digits
        if lost > 10:
            v, u, w = (f(b, x, digits + min(lost, 400)) for b in (a, a + h, a - h))
        with mp.workdps(digits + min(lost, 400)):
            v, u, w = (mp.log(-mp.expm1(t)) for t in (v, u, w))
        upper = True
    return upper, v, (u - w) / (2 * h), (u - 2 * v + w) / (h * h)


def gamma_both(a, x):
    """logarithms of P(a, x) and Q(a, x)"""
    key = near("gamma", [a, x])
    base, steps = key
    if base is None:
        if not (a > 0 and x > 0):
            raise TooHard
        with mp.workdps(150 + 2 * size(a, x) + EXTRA[0]):
            upper, v, va, vaa = gamma_tail(a, x)
            sign = -1 if upper else 1
            h = sign * exp(a * mp.log(x) - x - mp.loggamma(a) - v)  # derivative with respect to log x
            hs, ha = h * (a - x - h), h * (mp.log(x) - digamma(a) - va)
            base = ([a, x], upper, v, va, vaa, h / x, (hs - h) / (x * x), ha / x)
        CACHE["gamma"].append(base)
        steps = [mpf(0), mpf(0)]
    _, upper, v, va, vaa, vx, vxx, vax = base
    da, dx = steps
    own = v + va * da + vx * dx + (vaa * da * da + vxx * dx * dx) / 2 + vax * da * dx
    other = log1mexp(-own)
    return (other, own) if upper else (own, other)


def logp(a, x):
    return first_of_gamma(a, x) if tiny(x, 1) else gamma_both(a, x)[0]


def logq(a, x):
    return log1mexp(-first_of_gamma(a, x)) if tiny(x, 1) else gamma_both(a, x)[1]


def tiny(x, b):
    """whether the first term of the power series in x is all of it"""
    if not 0 < x < mpf(10) ** 1000:
        raise TooHard
    return x * (1 + b) < mpf(10) ** -900


def first_of_gamma(a, x):
    return a * mp.log(x) - lgamma(a + 1)


def first_of_beta(a, b, x):
    return a * mp.log(x) - mp.log(a) - logbeta(a, b)


def beta_series(a, b, x, y, digits):
    """log I_x(a, b), or None where the series is long"""
    if x > 0.9 or (a + b) * x > 500:
        return None
    with mp.workdps(digits):
        term = total = mpf(1)
        n = 0
        while term > total * mpf(10) ** -digits or (a + b + n) * x > (a + 1 + n):
            term *= (a + b + n) / (a + 1 + n) * x
            total += term
            n += 1
            if n > 20000:
                return None
        c = a + b
        return a * mp.log(x) + b * mp.log(y) - mp.log(a) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(c) + mp.log(total)


def beta_tail(a, b, x, y):
    """whether the tail is that above x, its logarithm, and gradient and second derivatives in a and b"""
    digits = 90 + 2 * size(a, b) + size(x, y) + EXTRA[0]
    left = a * y > b * x  # x is below the mode
    for first in ([True, False] if x < 0.5 else [False, True]):
        f = (lambda a, b, d: beta_series(a, b, x, y, d)) if first else (lambda a, b, d: beta_series(b, a, y, x, d))
        v = f(a, b, digits)
        if v is None:
            continue
        lost, upper = 0, not first
        if v > -0.7:
            lost = min(int(-mp.log10(-v)) if v else 2 * digits, 400)
            upper = first
        with mp.workdps(digits + lost):
            k = (lambda v: mp.log(-mp.expm1(v))) if lost or v > -0.7 else (lambda v: v)
            h, g = a * mpf(10) ** -20, b * mpf(10) ** -20
            at = lambda i, j: k(f(a + i * h, b + j * g, digits + lost))
            v, pa, pb = at(0, 0), at(1, 0), at(0, 1)
            if EXTRA[0]:  # the second computation, which does not need second derivatives
                return upper, v, [(pa - v) / h, (pb - v) / g], [[mpf(0)] * 2] * 2
            ma, mb, pp = at(-1, 0), at(0, -1), at(1, 1)
            aa, bb, ab = (pa - 2 * v + ma) / h**2, (pb - 2 * v + mb) / g**2, (pp - pa - pb + v) / (h * g)
            return upper, v, [(pa - ma) / (2 * h), (pb - mb) / (2 * g)], [[aa, ab], [ab, bb]]
    with mp.workdps(70 + 3 * size(a, b, x, y) + EXTRA[0]):
        upper = not left
        if upper:
            a, b, x, y = b, a, y, x
        c = a + b
        scale = 1 / (abs(a * y - b * x) + mp.sqrt(c * x * y))

        def softer(t):  # log(y + x exp(-t))
            return mp.log1p(x * mp.expm1(-t))

        v, mean, cov = moments(lambda t: -a * t - c * softer(t), scale, 60 + EXTRA[0], lambda t: [-t - softer(t), -softer(t)])
        v += a * mp.log(x) + b * mp.log(y) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(c)
        more = digamma(c)
        grad = [mp.log(x) - digamma(a) + more + mean[0], mp.log(y) - digamma(b) + more + mean[1]]
        c = mp.trigamma(c)
        cov = [[cov[0][0] - mp.trigamma(a) + c, cov[0][1] + c], [cov[1][0] + c, cov[1][1] - mp.trigamma(b) + c]]
        if upper:
            grad, cov = grad[::-1], [row[::-1] for row in cov[::-1]]
        return upper, v, grad, cov


def logi(a, b, x, y):
    """logarithm of the regularised incomplete beta function at x, where y = 1 - x"""
    if a < b:
        return beta_both(b, a, y, x)[1]
    return beta_both(a, b, x, y)[0]


def beta_both(a, b, x, y):
    """logarithms of I_x(a, b) and of 1 less that"""
    if tiny(x, b):
        own = first_of_beta(a, b, x)
        return own, log1mexp(-own)
    if tiny(y, a):
        own = first_of_beta(b, a, y)
        return log1mexp(-own), own
    base, steps = near("beta", [a, b, x, y])
    if base is None:
        if not (a > 0 and b > 0 and x > 0 and y > 0):
            raise TooHard
        with mp.workdps(150 + 3 * size(a, b, x, y) + EXTRA[0]):
            upper, v, grad, hess = beta_tail(a, b, x, y)
            sign = -1 if upper else 1
            lx, ly, c = mp.log(x), mp.log(y), digamma(a + b)
            h = sign * exp(a * lx + b * ly - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b) - v)
            hs = h * (a * y - b * x - h)
            ha, hb = h * (lx - digamma(a) + c - grad[0]), h * (ly - digamma(b) + c - grad[1])
        base = ([a, b, x, y], upper, v, grad, hess, h, hs, ha, hb)
        CACHE["beta"].append(base)
        steps = [mpf(0)] * 4
    _, upper, v, grad, hess, h, hs, ha, hb = base
    da, db, dx, dy = steps
    ds = mp.log1p(dx / base[0][2]) - mp.log1p(dy / base[0][3])  # step of the logit
    own = v + grad[0] * da + grad[1] * db + h * ds
    own += (hess[0][0] * da * da + hess[1][1] * db * db + hs * ds * ds) / 2 + hess[0][1] * da * db + ha * da * ds + hb * db * ds
    other = log1mexp(-own)
    return (other, own) if upper else (own, other)


@taylor
def log_bessel_of(k, x):
    """log I_k(x) and its derivatives with respect to x, by the integral through the saddle point"""
    with mp.workdps(80 + 2 * size(x, k) + EXTRA[0]):
        def log_i(k):
            w = mp.sqrt(k * k + x * x)
            step = min(mpf(1) / 40, mpf("0.2") / mp.sqrt(w)) if w > 1 else mpf(1) / 40
            n = int(mp.floor(mp.pi / step)) + 1
            step = mp.pi / n
            total = mpf(1) / 2
            for i in range(1, n + 1):
                t = i * step
                term = exp(-2 * w * mp.sin(t / 2) ** 2) * mp.cos(k * (mp.sin(t) - t))
                total += term / 2 if i == n else term
                if w * t * t > 2 * (200 + EXTRA[0]):
                    break
            return w - k * mp.asinh(k / x) + mp.log(total * step / mp.pi)

        v = log_i(k)
        r = exp(log_i(k + 1) - v)
        d = r + k / x
        return v, [mpf(0), d], [[mpf(0)] * 2, [mpf(0), 1 + (k * k / x - d) / x - d * d]]


def log_bessel(k, x):
    """log I_k(x) for whole k; there is no derivative with respect to k"""
    if x < mpf(10) ** -8 * (k + 1):
        t = x * x / 4
        terms, sum_ = mpf(1), mpf(1)
        for n in range(1, 80):
            terms *= t / n / (k + n)
            sum_ += terms
        return k * mp.log(x / 2) - lgamma(k + 1) + mp.log(sum_)
    return log_bessel_of(k, x)


@taylor
def log_partial_moment(nu, m):
    """logarithm of the integral of y^nu exp(-(y-m)^2/2) over y > 0, by the trapezoidal rule in log y"""
    digits = 80 + 2 * size(nu, m) + EXTRA[0]
    with mp.workdps(digits + size(nu, m)):
        a = nu + 1
        root = mp.sqrt(m * m + 4 * a)
        y = (m + root) / 2 if m > 0 else 2 * a / (root - m)
        wide = mp.sqrt(2 * digits * mp.log(10))
        step = min(2 * mp.pi / wide / mp.sqrt(2 * y * y - m * y + 1) / 2, mpf("5.6") / wide / 2)
        total, first, second = mpf(0), [mpf(0)] * 2, [[mpf(0)] * 2 for _ in range(2)]
        for side in (-1, 1):
            for i in range(side > 0, 100000):
                t = side * i * step
                e = y * mp.expm1(t)
                p = exp(a * t - e * (y - m) - e * e / 2)
                if p < total * mpf(10) ** -(digits + 5):
                    break
                x = [t, e]
                total += p
                for j in (0, 1):
                    first[j] += p * x[j]
                    for k in (0, 1):
                        second[j][k] += p * x[j] * x[k]
        mean = [f / total for f in first]
        cov = [[second[j][k] / total - mean[j] * mean[k] for k in (0, 1)] for j in (0, 1)]
        cov[1][1] -= 1
        v = a * mp.log(y) - (y - m) ** 2 / 2 + mp.log(total * step)
        return v, [mp.log(y) + mean[0], y - m + mean[1]], cov


def skew_slope(z, a):
    """derivative of the log density of the skew normal distribution with respect to z"""
    return -z + a * exp(norm(a * z) - logphi(a * z))


@taylor
def log_skew(z, a):
    """logarithm of the distribution function of the skew normal distribution, for z below the mode"""
    with mp.workdps(80 + 2 * size(z, a) + EXTRA[0]):
        CACHE.pop("logphi", None)
        k = skew_slope(z, a)
        if not k >= 0:
            raise TooHard
        start = mp.log(mpf(2)) + norm(z) + logphi(a * z)

        def phi(y):
            t = z - y
            CACHE["logphi"] = []
            return mp.log(mpf(2)) + norm(t) + logphi(a * t) - start

        v, _, _ = moments(phi, 1 / (k + 1 + abs(a)), 60 + EXTRA[0], lambda y: [])
        CACHE["logphi"] = []
        v += start
        w = 1 + a * a
        h, g = exp(start - v), -exp(-z * z * w / 2 - v) / (mp.pi * w)
        return v, [h, g], [[h * (k - h), -z * w * g - h * g], [-z * w * g - h * g, g * (-z * z * a - 2 * a / w - g)]]


def skew_tails(z, a):
    """logarithms of the probabilities below and above z"""
    if skew_slope(z, a) >= 0:
        v = log_skew(z, a)
        return v, log1mexp(-v)
    v = log_skew(-z, -a)
    return log1mexp(-v), v
