# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes unary.zip: every unary operation and its first three derivatives, from mpmath with 60 digits or more.

Run `python unary.py` in this folder with mpmath 1.3 or newer. Each member of the archive is named after an operation
and holds ROWS rows of little-endian float64: x, f, f', f'', and the third derivative, which tells the test how far the
second may move when x is rounded. Rows of even number have an x that is a float32 too. Rows are magnitudes
over the whole range, neighbourhoods of zeros and poles, ends, and random numbers. NaN means that the row does
not say.
"""
import math, random, struct, sys, zipfile
import mpmath as mp

ROWS = 400
INF, NAN = mp.inf, mp.nan


def to_float(v):
    """The float64 next to v; infinite beyond the largest."""
    if isinstance(v, mp.mpc):
        raise ValueError("complex")
    if mp.isnan(v) or mp.isinf(v):
        return float(v)
    if v != 0 and mp.log(abs(v), 10) > 308.2547:
        return math.inf if v > 0 else -math.inf
    if v != 0 and mp.log(abs(v), 10) < -330:
        return 0.0
    return float(v)


def sure(f, x):
    """f(x) at growing precision until two answers agree to 25 digits; a 0 is believed last."""
    last = None
    for digits in (60, 160, 700, 3500):
        with mp.workdps(digits):
            try:
                now = [v if v is None else mp.mpf(v) for v in f(mp.mpf(x))]
            except (ZeroDivisionError, ValueError, OverflowError, mp.libmp.NoConvergence):
                return None
        if last and (digits == 3500 or all(now)) and all(a == b or abs(a - b) <= abs(b) * mp.mpf(10) ** -25 for a, b in zip(last, now)):
            return now
        last = now
    return None


def f32(x):
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.inf


# ---- the functions: x -> [f, f', f'', f''']

def power(p):
    def f(x):
        y = x**p
        return [y, p * y / x, p * (p - 1) * y / x**2, p * (p - 1) * (p - 2) * y / x**3]
    return f


def cbrt(x):
    y = mp.sign(x) * mp.cbrt(abs(x))
    return [y, y / x / 3, -2 * y / x**2 / 9, 10 * y / x**3 / 27]


def logarithm(base):
    def f(x):
        c = 1 / mp.log(base) if base else mp.mpf(1)
        return [c * mp.log(x), c / x, -c / x**2, 2 * c / x**3]
    return f


def tan(x):
    t = mp.tan(x)
    s = 1 + t * t
    return [t, s, 2 * t * s, 2 * s * (1 + 3 * t * t)]


def tanh(x):
    t = mp.tanh(x)
    s = mp.sech(x) ** 2
    return [t, s, -2 * t * s, -2 * s * (1 - 3 * t * t)]


def asin(sign):
    def f(x):
        w = 1 / mp.sqrt((1 - x) * (1 + x))
        return [(mp.asin if sign > 0 else mp.acos)(x), sign * w, sign * x * w**3, sign * (w**3 + 3 * x * x * w**5)]
    return f


def atan(x):
    w = 1 / (1 + x * x)
    return [mp.atan(x), w, -2 * x * w**2, (6 * x * x - 2) * w**3]


def asinh(x):
    w = 1 / mp.sqrt(1 + x * x)
    return [mp.asinh(x), w, -x * w**3, (2 * x * x - 1) * w**5]


def acosh(x):
    w = 1 / mp.sqrt((x - 1) * (x + 1))
    return [mp.acosh(x), w, -x * w**3, (2 * x * x + 1) * w**5]


def atanh(x):
    w = 1 / ((1 - x) * (1 + x))
    return [mp.atanh(x), w, 2 * x * w**2, (2 + 6 * x * x) * w**3]


def inverse_hypot1(x):
    w = 1 / mp.sqrt(1 + x * x)
    return [w, -x * w**3, (2 * x * x - 1) * w**5, (9 * x - 6 * x**3) * w**7]


def sinc(x):
    s, c = mp.sin(x), mp.cos(x)
    return [s / x, c / x - s / x**2, -s / x - 2 * c / x**2 + 2 * s / x**3,
            -c / x + 3 * s / x**2 + 6 * c / x**3 - 6 * s / x**4]


def spherical_j1(x):
    s, c = mp.sin(x), mp.cos(x)
    return [-v for v in sinc(x)[1:]] + [-(s / x + 4 * c / x**2 - 12 * s / x**3 - 24 * c / x**4 + 24 * s / x**5)]


def tail(x):
    """erfc, which mpmath refuses for huge x."""
    return mp.erfc(x) if abs(x) < 1e6 else mp.mpf(0) if x > 0 else mp.mpf(2)


def erf(x):
    g = 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)
    return [1 - tail(x) if x > 0 and x > 100 else tail(-x) - 1 if x < -100 else mp.erf(x), g, -2 * x * g, (4 * x * x - 2) * g]


def spherical_j2(x):
    """j2 = -j1' + j1/x, by j0 and its derivatives: j2 = (3 j0'' + j0)/2."""
    s, c = mp.sin(x), mp.cos(x)
    d = sinc(x)
    d4 = s / x + 4 * c / x**2 - 12 * s / x**3 - 24 * c / x**4 + 24 * s / x**5
    d5 = c / x - 5 * s / x**2 - 20 * c / x**3 + 60 * s / x**4 + 120 * c / x**5 - 120 * s / x**6
    return [(3 * a + b) / 2 for a, b in zip([d[2], d[3], d4, d5], d)]


def log_factorial_rest(x):
    if x < 1e-40:
        v = x * (1 - mp.euler - mp.log(x) + mp.zeta(2) / 2 * x)
    else:
        v = mp.loggamma(x + 1) - x * mp.log(x) + x if x < 1e20 else mp.log(2 * mp.pi * x) / 2 + 1 / (12 * x)
    d = [mp.psi(k, x + 1) for k in range(3)]
    return [v, d[0] - mp.log(x), d[1] - 1 / x, d[2] + 1 / x**2]


def erfc(x):
    g = -2 / mp.sqrt(mp.pi) * mp.exp(-x * x)
    return [tail(x), g, -2 * x * g, (4 * x * x - 2) * g]


def mills(t, n):
    """Derivatives 0..n of Mills' ratio R(t): by its continued fraction far right, which does not cancel."""
    if t > 50:
        delta, keep = mp.mpf(0), {}  # delta_k = k/(t + delta_(k+1)), R = 1/(t + delta_1)
        for k in range(8 + int(100 * mp.mp.dps / t), 0, -1):
            delta = k / (t + delta)
            keep[k] = delta
        out = [1 / (t + keep[1])]
        for k in range(1, n + 1):
            out.append(-out[-1] * keep[k])
        return out
    r = [mp.sqrt(mp.pi / 2) * mp.exp(t * t / 2) * tail(t / mp.sqrt(2))]
    r.append(t * r[0] - 1)
    for k in range(1, n):
        r.append(t * r[k] + k * r[k - 1])
    return r[: n + 1]


def erfcx(m):
    def f(x):
        q = mp.sqrt(2)
        return [mp.sqrt(2 / mp.pi) * q**k * v for k, v in enumerate(mills(q * x, m + 3))][m:]
    return f


def erfinv(x):
    y = mp.erfinv(x) if abs(x) < 0.5 else None
    if y is None:  # Newton on erfc, which keeps the digits near the ends
        a = 1 - abs(x)
        y = mp.sqrt(-mp.log(a))
        for _ in range(200):
            step = (mp.erfc(y) - a) / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
            step = step / (1 - y * step) if abs(y * step) < 0.5 else step / (1 + abs(y * step))
            y += step
            if abs(step) < abs(y) * mp.mpf(10) ** (5 - mp.mp.dps):
                break
        y = mp.sign(x) * y
    d = mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
    return [y, d, 2 * y * d * d, d**3 * (2 + 8 * y * y)]


def log_phi(m):
    def f(x):
        r = mills(-x, 6)
        u = [v / r[0] for v in r]  # t = -x: log Phi = -t^2/2 + log R(t) + const
        value = mp.log1p(-tail(x / mp.sqrt(2)) / 2) if x > 0 else mp.log(r[0]) - x * x / 2 - mp.log(2 * mp.pi) / 2
        # derivatives of log R in t
        l1 = u[1]
        l2 = u[2] - l1**2
        l3 = u[3] - 3 * u[2] * l1 + 2 * l1**3
        l4 = u[4] - 4 * u[3] * l1 - 3 * u[2] ** 2 + 12 * u[2] * l1**2 - 6 * l1**4
        l5 = u[5] - 5 * u[4] * u[1] - 10 * u[3] * u[2] + 20 * u[3] * u[1]**2 + 30 * u[2]**2 * u[1] - 60 * u[2] * u[1]**3 + 24 * u[1]**5
        return [value, -x - l1, -1 + l2, -l3, l4, -l5, mp.mpf(0)][m : m + 4]
    return f


def lgamma(x):
    if x > 0:
        v = mp.loggamma(x) if x < 1e30 else x * mp.log(x) - x - mp.log(x) / 2 + mp.log(2 * mp.pi) / 2 + 1 / (12 * x)
    else:
        v = mp.log(abs(mp.gamma(x)))
    return [v] + [mp.psi(k, x) for k in range(3)]


def polygamma(n):
    return lambda x: [mp.psi(n + k, x) for k in range(4)]


def stirling(n):
    def f(x):
        def d(k):
            if x > 1e4:  # the asymptotic series, with more digits than 60
                s, term = mp.mpf(0), None
                for j in range(1, 40):
                    c = mp.bernoulli(2 * j) / (2 * j * (2 * j - 1)) * x ** (1 - 2 * j)
                    for i in range(k):
                        c *= -(2 * j - 1 + i) / x
                    s += c
                    if abs(c) < abs(s) * mp.mpf(10) ** (-mp.mp.dps - 5):
                        break
                return s
            l = [x * mp.log(x) - x - mp.log(x) / 2 + mp.log(2 * mp.pi) / 2, mp.log(x) - 1 / (2 * x)]
            if k == 0:
                return mp.loggamma(x) - l[0]
            if k == 1:
                return mp.psi(0, x) - l[1]
            # d^k of log x - 1/(2x), k-1 times more
            m = k - 1
            lead = (-1) ** (m - 1) * mp.factorial(m - 1) / x**m - (-1) ** m * mp.factorial(m) / x ** (m + 1) / 2
            return mp.psi(m, x) - lead
        return [d(n + k) for k in range(4)]
    return f


def bessel_j(n):
    def f(x):
        if abs(x) > 1e18:
            return [NAN] * 4
        j = lambda k: (-1) ** k * mp.besselj(-k, x) if k < 0 else mp.besselj(k, x)
        return [j(n), (j(n - 1) - j(n + 1)) / 2, (j(n - 2) - 2 * j(n) + j(n + 2)) / 4,
                (j(n - 3) - 3 * j(n - 1) + 3 * j(n + 1) - j(n + 3)) / 8]
    return f


def bessel_i(n, x):
    """exp(-x) I_n(x) for x > 0, by the asymptotic series where its terms are small enough."""
    if x > 2000:
        s, t = mp.mpf(1), mp.mpf(1)
        for k in range(1, 3000):
            t *= -mp.mpf(4 * n * n - (2 * k - 1) ** 2) / (k * 8 * x)
            if abs(t) < mp.mpf(10) ** (-mp.mp.dps - 5):
                break
            s += t
        return s / mp.sqrt(2 * mp.pi * x)
    return mp.exp(-x) * mp.besseli(n, x)


def bessel_ie(n):
    def f(x):
        a, side = abs(x), mp.sign(x)
        i = lambda k: bessel_i(abs(k), a)
        d = [i(n), (i(n - 1) + i(n + 1)) / 2, (i(n - 2) + 2 * i(n) + i(n + 2)) / 4,
             (i(n - 3) + 3 * i(n - 1) + 3 * i(n + 1) + i(n + 3)) / 8]
        e = [d[0], d[1] - d[0], d[2] - 2 * d[1] + d[0], d[3] - 3 * d[2] + 3 * d[1] - d[0]]
        return [v * side ** (k + n) for k, v in enumerate(e)]
    return f


def log_i0e(m):
    def f(x):
        a, side = abs(x), mp.sign(x)
        i0, i1 = bessel_i(0, a), bessel_i(1, a)
        r = i1 / i0
        d1 = 1 - r / a - r * r
        d2 = -(d1 / a - r / a**2) - 2 * r * d1
        d3 = -(d2 / a - 2 * d1 / a**2 + 2 * r / a**3) - 2 * d1 * d1 - 2 * r * d2
        d4 = -d3 / a + 3 * d2 / a**2 - 6 * d1 / a**3 + 6 * r / a**4 - 6 * d1 * d2 - 2 * r * d3
        return [v * side**k for k, v in enumerate([mp.log(i0), r - 1, d1, d2, d3, d4, 0])][m : m + 4]
    return f


def log1mexp(m):
    def f(x):
        e = mp.exp(x)
        q = 1 / -mp.expm1(x)  # 1/(1-e)
        d1 = -e * q
        d2 = -e * q * q
        d3 = -e * (1 + e) * q**3
        d4 = -e * (1 + 4 * e + e * e) * q**4
        v = mp.log1p(-e) if x < -1 else mp.log(-mp.expm1(x))
        return [v, d1, d2, d3, d4][m : m + 4]
    return f


def exp_remainder(k):
    def f(x):
        def phi(n):
            if abs(x) < 1:
                s, t = mp.mpf(0), 1 / mp.factorial(n)
                for j in range(1, 400):
                    s += t
                    t *= x / (n + j)
                    if abs(t) < abs(s) * mp.mpf(10) ** (-mp.mp.dps - 5):
                        break
                return s
            v = mp.exp(x)
            for j in range(n):
                v = (v - 1 / mp.factorial(j)) / x
            return v
        # phi_k' = phi_k - k phi_(k+1)
        def d(n, m):
            return phi(n) if m == 0 else d(n, m - 1) - n * d(n + 1, m - 1)
        return [d(k, m) for m in range(4)]
    return f


def log1p_square(m):
    def f(x):
        w = 1 / (1 + x * x)
        return [mp.log1p(x * x), 2 * x * w, 2 * (1 - x * x) * w**2, (4 * x**3 - 12 * x) * w**3,
                -12 * (x**4 - 6 * x**2 + 1) * w**4][m : m + 4]
    return f


def softplus(x):
    s, c = 1 / (1 + mp.exp(-x)), 1 / (1 + mp.exp(x))
    return [mp.log1p(mp.exp(-abs(x))) + max(x, 0), s, s * c, s * c * (c - s)]


def sigmoid(x):
    s, c = 1 / (1 + mp.exp(-x)), 1 / (1 + mp.exp(x))
    return [s, s * c, s * c * (c - s), s * c * (1 - 6 * s * c)]


def step(g):
    return lambda x: [g(x), 0, 0, 0]


def rint(x):
    return mp.mpf(round(float(x))) if abs(x) < 1e15 else x


LN2 = mp.log(2)
# name: (function, lower end, upper end, typical size, special points, {end: (f, f', f'')})
TABLE = {
    "neg": (lambda x: [-x, -1, 0, 0], -INF, INF, 3, [], {INF: (-INF, -1, 0), 0.0: (0, -1, 0)}),
    "square": (lambda x: [x * x, 2 * x, 2, 0], -INF, INF, 3, [], {0.0: (0, 0, 2)}),
    "reciprocal": (lambda x: [1 / x, -1 / x**2, 2 / x**3, -6 / x**4], -INF, INF, 3, [], {INF: (0, 0, 0), -INF: (0, 0, 0), 0.0: (INF, -INF, INF)}),
    "sqrt": (lambda x: power(mp.mpf(1) / 2)(x), 0, INF, 4, [], {0.0: (0, INF, -INF), INF: (INF, 0, 0)}),
    "rsqrt": (lambda x: power(-mp.mpf(1) / 2)(x), 0, INF, 4, [], {0.0: (INF, -INF, INF), INF: (0, 0, 0)}),
    "cbrt": (cbrt, -INF, INF, 4, [], {0.0: (0, INF, NAN), INF: (INF, 0, 0), -INF: (-INF, 0, 0)}),
    "exp": (lambda x: [mp.exp(x)] * 4, -INF, INF, 30, [], {-INF: (0, 0, 0), INF: (INF, INF, INF)}),
    "exp2": (lambda x: [2**x * mp.log(2) ** k for k in range(4)], -INF, INF, 30, [], {-INF: (0, 0, 0), INF: (INF, INF, INF)}),
    "expm1": (lambda x: [mp.expm1(x)] + [mp.exp(x)] * 3, -INF, INF, 30, [], {-INF: (-1, 0, 0), INF: (INF, INF, INF), 0.0: (0, 1, 1)}),
    "log": (logarithm(None), 0, INF, 4, [1], {0.0: (-INF, INF, -INF), INF: (INF, 0, 0)}),
    "log1p": (lambda x: [mp.log1p(x), 1 / (1 + x), -1 / (1 + x) ** 2, 2 / (1 + x) ** 3], -1, INF, 4, [-1], {-1.0: (-INF, INF, -INF), INF: (INF, 0, 0), 0.0: (0, 1, -1)}),
    "log2": (logarithm(2), 0, INF, 4, [1], {0.0: (-INF, INF, -INF), INF: (INF, 0, 0)}),
    "log10": (logarithm(10), 0, INF, 4, [1], {0.0: (-INF, INF, -INF), INF: (INF, 0, 0)}),
    "erf": (erf, -INF, INF, 6, [], {INF: (1, 0, 0), -INF: (-1, 0, 0), 0.0: (0, 2 / mp.sqrt(mp.pi), 0)}),
    "erfc": (erfc, -INF, INF, 25, [], {INF: (0, 0, 0), -INF: (2, 0, 0)}),
    "erfcx": (erfcx(0), -INF, INF, 27, [25, 1.8, -26.6], {INF: (0, 0, 0), -INF: (INF, -INF, INF)}),
    "erfcx_1": (erfcx(1), -INF, INF, 27, [25, 1.8, -26.6], {INF: (0, 0, 0), -INF: (-INF, INF, -INF)}),
    "erfcx_2": (erfcx(2), -INF, INF, 27, [25, 1.8, -26.6], {INF: (0, 0, 0), -INF: (INF, -INF, INF)}),
    "erfinv": (erfinv, -1, 1, 1, [1, -1], {1.0: (INF, INF, INF), -1.0: (-INF, INF, -INF), 0.0: (0, mp.sqrt(mp.pi) / 2, 0)}),
    "log_phi": (log_phi(0), -INF, INF, 38, [-1, -5, -35.3, 38], {INF: (0, 0, 0), -INF: (-INF, INF, -1)}),
    "log_phi_slope": (log_phi(1), -INF, INF, 38, [-1, -5, -35.3, 38], {INF: (0, 0, 0), -INF: (INF, -1, 0)}),
    "log_phi_curve": (log_phi(2), -INF, INF, 38, [-1, -5, -35.3, 38], {INF: (0, 0, 0), -INF: (-1, 0, 0)}),
    "lgamma": (lgamma, -170, INF, 40, [1, 2, -1, -3, -20], {INF: (INF, INF, 0), 0.0: (INF, -INF, INF)}),
    "digamma": (polygamma(0), -170, INF, 40, [1.4616321449683622, -1, -3, -20], {INF: (INF, 0, 0), 0.0: (-INF, INF, -INF)}),
    "polygamma_1": (polygamma(1), -170, INF, 40, [-1, -3, -20], {INF: (0, 0, 0), 0.0: (INF, -INF, INF)}),
    "polygamma_2": (polygamma(2), -170, INF, 40, [-1, -3, -20], {INF: (0, 0, 0), 0.0: (-INF, INF, -INF)}),
    "polygamma_3": (polygamma(3), 0, INF, 40, [], {INF: (0, 0, 0), 0.0: (INF, -INF, INF)}),
    "stirling_error_0": (stirling(0), 0, INF, 20, [10], {INF: (0, 0, 0), 0.0: (INF, -INF, INF)}),
    "stirling_error_1": (stirling(1), 0, INF, 20, [10], {INF: (0, 0, 0), 0.0: (-INF, INF, -INF)}),
    "bessel_j0": (bessel_j(0), -1e6, 1e6, 40, [2.404825557695773], {0.0: (1, 0, -0.5), INF: (0, 0, 0)}),
    "bessel_j1": (bessel_j(1), -1e6, 1e6, 40, [3.8317059702075123], {0.0: (0, 0.5, 0), INF: (0, 0, 0)}),
    "bessel_i0e": (bessel_ie(0), -INF, INF, 40, [20], {INF: (0, 0, 0), -INF: (0, 0, 0)}),
    "bessel_i1e": (bessel_ie(1), -INF, INF, 40, [20], {INF: (0, 0, 0), -INF: (0, 0, 0), 0.0: (0, 0.5, NAN)}),
    "bessel_log_i0e": (log_i0e(0), -INF, INF, 40, [20, 1], {INF: (-INF, 0, 0), -INF: (-INF, 0, 0)}),
    "bessel_log_i0e_slope": (log_i0e(1), -INF, INF, 40, [20, 1], {INF: (0, 0, 0), -INF: (0, 0, 0)}),
    "sin": (lambda x: [mp.sin(x), mp.cos(x), -mp.sin(x), -mp.cos(x)], -INF, INF, 7, [3.141592653589793], {0.0: (0, 1, 0)}),
    "cos": (lambda x: [mp.cos(x), -mp.sin(x), -mp.cos(x), mp.sin(x)], -INF, INF, 7, [1.5707963267948966], {0.0: (1, 0, -1)}),
    "tan": (tan, -INF, INF, 7, [1.5707963267948966], {0.0: (0, 1, 0)}),
    "asin": (asin(1), -1, 1, 1, [1, -1], {0.0: (0, 1, 0), 1.0: (mp.pi / 2, INF, INF), -1.0: (-mp.pi / 2, INF, -INF)}),
    "acos": (asin(-1), -1, 1, 1, [1, -1], {0.0: (mp.pi / 2, -1, 0), 1.0: (0, -INF, -INF), -1.0: (mp.pi, -INF, INF)}),
    "atan": (atan, -INF, INF, 4, [], {0.0: (0, 1, 0), INF: (mp.pi / 2, 0, 0), -INF: (-mp.pi / 2, 0, 0)}),
    "sinh": (lambda x: [mp.sinh(x), mp.cosh(x)] * 2, -INF, INF, 30, [], {0.0: (0, 1, 0), INF: (INF, INF, INF)}),
    "cosh": (lambda x: [mp.cosh(x), mp.sinh(x)] * 2, -INF, INF, 30, [], {0.0: (1, 0, 1), INF: (INF, INF, INF)}),
    "tanh": (tanh, -INF, INF, 20, [], {0.0: (0, 1, 0), INF: (1, 0, 0), -INF: (-1, 0, 0)}),
    "asinh": (asinh, -INF, INF, 4, [], {0.0: (0, 1, 0), INF: (INF, 0, 0), -INF: (-INF, 0, 0)}),
    "acosh": (acosh, 1, INF, 5, [1], {INF: (INF, 0, 0), 1.0: (0, INF, -INF)}),
    "atanh": (atanh, -1, 1, 1, [1, -1], {0.0: (0, 1, 0), 1.0: (INF, INF, INF), -1.0: (-INF, INF, -INF)}),
    "inverse_hypot1": (inverse_hypot1, -INF, INF, 4, [], {0.0: (1, 0, -1), INF: (0, 0, 0), -INF: (0, 0, 0)}),
    "one_less_square": (lambda x: [(1 - x) * (1 + x), -2 * x, -2, 0], -INF, INF, 2, [1, -1], {}),
    "log_phi_third": (log_phi(3), -INF, INF, 38, [-1, -5, -35.3, 38], {INF: (0, 0, 0), -INF: (0, 0, 0)}),
    "sinc": (sinc, -INF, INF, 7, [3.141592653589793], {0.0: (1, 0, -mp.mpf(1) / 3), INF: (0, 0, 0)}),
    "spherical_j1": (spherical_j1, -INF, INF, 7, [4.493409457909064], {0.0: (0, mp.mpf(1) / 3, 0), INF: (0, 0, 0)}),
    "bessel_log_i0e_curve": (log_i0e(2), -INF, INF, 40, [20, 1], {INF: (0, 0, 0), -INF: (0, 0, 0)}),
    "bessel_log_i0e_third": (log_i0e(3), -INF, INF, 40, [20, 1], {INF: (0, 0, 0), -INF: (0, 0, 0)}),
    "bessel_j2": (bessel_j(2), -1e6, 1e6, 40, [5.135622301840683], {0.0: (0, 0, 0.25), INF: (0, 0, 0)}),
    "spherical_j2": (spherical_j2, -INF, INF, 7, [5.763459196894550], {0.0: (0, 0, mp.mpf(2) / 15), INF: (0, 0, 0)}),
    "log_factorial_rest": (log_factorial_rest, 0, INF, 30, [0.001, 10], {}),
    "log1mexp": (log1mexp(0), -INF, 0, 40, [-0.6931471805599453, -709.7, -89], {-INF: (0, 0, 0), 0.0: (-INF, -INF, -INF)}),
    "log1mexp_slope": (log1mexp(1), -INF, 0, 40, [-0.6931471805599453, -709.7, -89], {-INF: (0, 0, 0), 0.0: (-INF, -INF, -INF)}),
    "exp_remainder_1": (exp_remainder(1), -INF, INF, 30, [1, -1], {0.0: (1, 0.5, mp.mpf(1) / 3), -INF: (0, 0, 0), INF: (INF, INF, INF)}),
    "exp_remainder_2": (exp_remainder(2), -INF, INF, 30, [1.5, -1.5], {0.0: (0.5, mp.mpf(1) / 6, mp.mpf(1) / 12), -INF: (0, 0, 0), INF: (INF, INF, INF)}),
    "log1p_square": (log1p_square(0), -INF, INF, 4, [1], {0.0: (0, 0, 2), INF: (INF, 0, 0), -INF: (INF, 0, 0)}),
    "log1p_square_slope": (log1p_square(1), -INF, INF, 4, [1], {0.0: (0, 2, 0), INF: (0, 0, 0), -INF: (0, 0, 0)}),
    "softplus": (softplus, -INF, INF, 40, [], {INF: (INF, 1, 0), -INF: (0, 0, 0)}),
    "sigmoid": (sigmoid, -INF, INF, 40, [], {INF: (1, 0, 0), -INF: (0, 0, 0)}),
    "abs": (lambda x: [abs(x), mp.sign(x), 0, 0], -INF, INF, 3, [], {0.0: (0, 0, 0), INF: (INF, 1, 0), -INF: (INF, -1, 0)}),
    "sign": (step(mp.sign), -INF, INF, 3, [], {0.0: (0, 0, 0), INF: (1, 0, 0)}),
    "floor": (step(mp.floor), -INF, INF, 30, [1, -2], {0.0: (0, 0, 0), INF: (INF, 0, 0)}),
    "ceil": (step(mp.ceil), -INF, INF, 30, [1, -2], {0.0: (0, 0, 0), INF: (INF, 0, 0)}),
    "trunc": (step(lambda x: mp.sign(x) * mp.floor(abs(x))), -INF, INF, 30, [1, -2], {0.0: (0, 0, 0), INF: (INF, 0, 0)}),
    "round": (step(rint), -INF, INF, 30, [0.5, -1.5], {0.0: (0, 0, 0), INF: (INF, 0, 0)}),
    "stop_gradient": (lambda x: [x, 0, 0, 0], -INF, INF, 3, [], {}),
}


def points(lo, hi, size, special, rng):
    """All x of a function: those that cover the range, then random ones."""
    def draw(wide):
        if rng.random() < 0.5:
            return rng.uniform(-size, size)
        return rng.choice((-1, 1)) * 10 ** (rng.uniform(-307, 308) if wide else rng.uniform(-37, 38))
    first = []
    for s in special:
        for j in (1, 3, 6, 10, 16, 22, 23, 30, 40, 50):
            for side in (1, -1):
                first += [s * (1 + side * 2.0**-j), s + side * 2.0**-j]
    for e in list(range(-320, -40, 35)) + list(range(-38, 39)) + list(range(60, 309, 25)):
        for side in (1, -1):
            first.append(side * rng.uniform(1, 9.9) * 10.0**e if e > -308 else side * 10.0**e)
    first += [side * v for v in (5e-324, 2.3e-308, 1.4e-45, 1.2e-38, 1.7e308, 3.4e38) for side in (1, -1)]
    out, number = [], 0
    seen = set()
    def add(x):
        if len(out) % 2 == 0:
            x = f32(x)
        if math.isfinite(x) and x != 0 and lo < x < hi and x not in seen and x != 1e309:
            seen.add(x)
            out.append(x)
    for x in first + first:
        add(x)
    rng.shuffle(out)
    out[:] = sorted(out, key=lambda x: x == f32(x))
    even = [x for x in out if x == f32(x)]
    odd = [x for x in out if x != f32(x)]
    out[:] = []
    def mix(count):
        while len(out) < count:
            if len(out) % 2 == 0:
                x = even.pop() if even else f32(draw(False))
            else:
                x = odd.pop() if odd else draw(True)
            if math.isfinite(x) and x != 0 and lo < x < hi:
                out.append(x)
    mix(ROWS)
    return out


def rows(name, entry):
    f, lo, hi, size, special, ends = entry
    rng = random.Random(name)
    table = []
    for end, v in ends.items():
        table.append([float(end)] + [to_float(mp.mpf(u)) for u in v] + [math.nan])
        if len(table) % 2 == 1:
            table.append(table[-1])
    lost = 0
    for x in points(lo, hi, size, special, rng):
        if len(table) == ROWS:
            break
        v = sure(f, x)
        if v is None or any(mp.isnan(u) for u in v):
            lost += 1
            v = [mp.nan] * 4
        table.append([x] + [to_float(u) for u in v])
    print(name, "without an answer:", lost, file=sys.stderr, flush=True)
    return table[:ROWS]


def work(item):
    name, entry = item
    return name, b"".join(struct.pack("<5d", *r) for r in rows(name, entry))


def main():
    only = sys.argv[1:]
    names = only or sorted(TABLE)
    from multiprocessing import get_context
    with get_context("fork").Pool(2) as pool:
        made = pool.map(by_name, names, chunksize=1)
    old = {}
    if only:
        with zipfile.ZipFile("unary.zip") as z:
            old = {n: z.read(n) for n in z.namelist()}
    old.update(made)
    with zipfile.ZipFile("unary.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name in sorted(old):
            z.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), old[name], zipfile.ZIP_DEFLATED)


def by_name(name):
    return work((name, TABLE[name]))


if __name__ == "__main__":
    main()
