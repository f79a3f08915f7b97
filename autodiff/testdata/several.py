# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes several.zip: special functions of two and three arguments and their first derivatives, from mpmath.

Run `python several.py` in this folder with mpmath 1.3 or newer. Each member is named after an operation and holds ROWS
rows of little-endian float64: x, y, z (NaN for two arguments), the value, its three derivatives, and by how many of its
own size the result moves per relative change of the arguments where that is inherent (the slack). Integrals are sums
over pieces of Gauss-Legendre with 30 points about their peak at 50 digits, normalised by loggamma.
"""
import math, random, struct, sys, zipfile
import mpmath as mp
from unary import to_float

ROWS = 300
mp.mp.dps = 50
NAN = mp.nan


def legendre(n):
    """Nodes and weights of Gauss-Legendre with n points on -1..1."""
    out = []
    for k in range(n):
        x = mp.cos(mp.pi * (k + mp.mpf(3) / 4) / (n + mp.mpf(1) / 2))
        for _ in range(8):
            p, q = mp.mpf(1), mp.mpf(0)
            for j in range(n):
                p, q = ((2 * j + 1) * x * p - j * q) / (j + 1), p
            d = n * (x * p - q) / (x * x - 1)
            x -= p / d
        out.append((x, 2 / ((1 - x * x) * d * d)))
    return out


NODES = legendre(30)


def integrate(phi, lo, hi, peak, width, weights):
    """Integrals of w(s) exp(phi(s) - phi(top)) over lo..hi by pieces of Gauss-Legendre, and phi(top)."""
    top = min(max(peak, lo), hi)
    f0 = phi(top)
    total = [mp.mpf(0)] * len(weights)
    tiny = width * mp.mpf(10) ** -12
    slope = abs(phi(top + tiny) - phi(top - tiny)) / (2 * tiny)
    for side in (1, -1):
        end, s = (hi if side > 0 else lo), top
        step = min(width, 1 / slope if slope else width, mp.mpf(1))
        for k in range(400):
            if s == end or phi(s) - f0 < -60:
                break
            a, b = s, (min(s + step, end) if side > 0 else max(s - step, end))
            for x, w in NODES:
                at = (a + b) / 2 + (b - a) / 2 * x
                e = abs(b - a) / 2 * w * mp.exp(phi(at) - f0)
                for i, g in enumerate(weights):
                    total[i] += g(at) * e
            s = b
            if k < 25:
                continue  # pieces as wide as the peak or its slope, while the function bends
            drop = phi(s) - phi(s - side * step / 1000)
            if abs(drop) * 1000 < 3:
                step *= 2
            elif abs(drop) * 1000 > 8:
                step /= 2
    return f0, total


def gamma_cdf(upper, other=True):
    def f(a, x, _):
        s0, m = mp.log(x), mp.log(a)
        phi = lambda s: a * s - mp.exp(s)
        lo, hi = (s0, mp.inf) if upper else (-mp.inf, s0)
        top, (n, first) = integrate(phi, lo, hi, m, 1 / mp.sqrt(a), [lambda s: 1, lambda s: s - m])
        value = top + mp.log(n) - mp.loggamma(a)
        by_a = first / n + m - mp.psi(0, a)
        h = mp.exp(phi(s0) - top) / n / x
        if other and value > -0.7:  # from the other tail, whose digits are left
            v, d, g, _, _ = gamma_cdf(not upper, False)(a, x, None)
            value, r = mp.log1p(-mp.exp(v)), mp.exp(v)
            by_a, h = -r / (1 - r) * d, abs(g) * r / (1 - r)
        return [value, by_a, -h if upper else h, NAN, 1]
    return f


def beta_cdf(a, b, s0, other=True):
    soft = lambda s: mp.log1p(mp.exp(-abs(s))) + max(s, 0)
    phi = lambda s: -a * soft(-s) - b * soft(s)
    m = mp.log(a / b)
    mx, my = -soft(-m), -soft(m)
    top, (n, fa, fb) = integrate(phi, -mp.inf, s0, m, mp.sqrt(1 / a + 1 / b), [lambda s: 1, lambda s: -soft(-s) - mx, lambda s: -soft(s) - my])
    beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    c = mp.psi(0, a + b)
    h = mp.exp(phi(s0) - top) / n
    p, q = 1 / (1 + mp.exp(-s0)), 1 / (1 + mp.exp(s0))
    value, by_a, by_b = top + mp.log(n) - beta, fa / n + mx - mp.psi(0, a) + c, fb / n + my - mp.psi(0, b) + c
    if other and value > -0.7:
        v, db, da, g, _ = beta_cdf(b, a, -s0, False)
        r = mp.exp(v)
        value, by_a, by_b, h = mp.log1p(-r), -r / (1 - r) * da, -r / (1 - r) * db, g * r / (1 - r)
    return [value, by_a, by_b, h, 1 + abs(s0) * (abs(a * q - b * p) + h)]


def log_phi_diff(a, b, _):
    # of the side where both tails are small
    with mp.workdps(120):
        lo, hi = (a, b) if a + b <= 0 else (-b, -a)
        d = (mp.erfc(-hi / mp.sqrt(2)) - mp.erfc(-lo / mp.sqrt(2))) / 2
        phi = lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)
        return [mp.log(d), -phi(a) / d, phi(b) / d, NAN, 1]


def log_add_exp(x, y, _):
    p = 1 / (1 + mp.exp(y - x))
    return [max(x, y) + mp.log1p(mp.exp(-abs(x - y))), p, 1 / (1 + mp.exp(x - y)), NAN, 1 + abs(x - y) * 0]


def hypot(x, y, _):
    r = mp.sqrt(x * x + y * y)
    return [r, x / r, y / r, NAN, 1]


def atan2(y, x, _):
    r = x * x + y * y
    return [mp.atan2(y, x), x / r, -y / r, NAN, 1]


def power(x, y, _):
    z = x**y
    return [z, y * z / x, z * mp.log(x), NAN, 1 + abs(y * mp.log(x))]


def bessel_i(nu, x, _):
    w = mp.sqrt(nu * nu + x * x)
    i, up = mp.besseli(nu, x), mp.besseli(nu + 1, x)
    return [mp.log(i) - w - nu * mp.log(x / (nu + w)), NAN, up / i + (nu - w) / x, NAN, 1]


def skew_normal(z, alpha, _):
    phi = lambda x: -z * z * (1 + x * x) / 2
    with mp.workdps(60):
        # F = Phi(z) - 2 T(z, alpha), T = 1/(2 pi) integral of exp(-z^2 (1+x^2)/2)/(1+x^2) over 0..alpha
        g = lambda x: mp.exp(-z * z * (1 + x * x) / 2) / (1 + x * x)
        log_g = lambda x: -z * z * (1 + x * x) / 2 - mp.log1p(x * x)
        a = abs(alpha)
        f0, (n,) = integrate(log_g, a, mp.inf, a, min(1 / (z * z * a), 1 / abs(z), mp.mpf(1)), [lambda x: 1])
        far = mp.exp(f0) * n / mp.pi
        p = mp.erfc(-z / mp.sqrt(2)) / 2
        if alpha >= 0:
            v = far if z <= 0 else 2 * p - 1 + far
        else:
            v = 2 * p - far if z <= 0 else 1 - far
        density = 2 * mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi) * mp.erfc(-alpha * z / mp.sqrt(2)) / 2
        return [mp.log(v), density / v, -g(alpha) / mp.pi / v, NAN, 1]


def partial_moment(nu, m, _):
    phi = lambda w: (nu + 1) * w - (mp.exp(w) - m) ** 2 / 2
    p = nu + 1
    y = (m + mp.sqrt(m * m + 4 * p)) / 2
    k = mp.log(y)
    width = 1 / mp.sqrt(y * (2 * y - m))
    top, (n, first, mean) = integrate(phi, -mp.inf, mp.inf, k, width, [lambda w: 1, lambda w: w - k, lambda w: mp.exp(w) - y])
    return [top + mp.log(n), first / n + k, mean / n + y - m, NAN, 1]


def wide(rng, lo, hi):
    return 10 ** rng.uniform(lo, hi)


def draw_gamma(rng):
    a = wide(rng, -3, 14)
    sd = math.sqrt(a)
    if rng.random() < 0.75 and a > 1:
        x = a + rng.choice((-1, 1)) * sd * wide(rng, -2, 1.5)
    else:
        x = wide(rng, -6, 6) * a
    return (a, x) if x > 0 else draw_gamma(rng)


def draw_beta(rng):
    a, b = wide(rng, -2, 14), wide(rng, -2, 14)
    s = math.log(a / b) + rng.choice((-1, 1)) * math.sqrt(1 / a + 1 / b) * wide(rng, -2, 1.5)
    return a, b, s


def draw_interval(rng):
    a = rng.choice((-1, 1)) * wide(rng, -2, 3)
    return a, a + wide(rng, -6, 1.5)


TABLE = {
    "log_gamma_p_0": (gamma_cdf(False), draw_gamma),
    "log_gamma_q_0": (gamma_cdf(True), draw_gamma),
    "log_beta_i_0_0": (beta_cdf, draw_beta),
    "log_phi_diff": (log_phi_diff, draw_interval),
    "logaddexp": (log_add_exp, lambda r: (r.uniform(-50, 50) * wide(r, 0, 2), r.uniform(-50, 50) * wide(r, 0, 2))),
    "hypot": (hypot, lambda r: (r.choice((-1, 1)) * wide(r, -300, 300), r.choice((-1, 1)) * wide(r, -300, 300))),
    "atan2": (atan2, lambda r: (r.choice((-1, 1)) * wide(r, -150, 150), r.choice((-1, 1)) * wide(r, -150, 150))),
    "pow": (power, lambda r: (wide(r, -300, 300), r.uniform(-1, 1)) if r.random() < 0.5 else (wide(r, -3, 3), r.uniform(-30, 30))),
    "log_bessel_i_scaled": (bessel_i, lambda r: (float(r.randrange(0, 300)), wide(r, -3, 3.5))),
    "skew_normal_log_cdf": (skew_normal, lambda r: (r.uniform(-6, 6), r.choice((-1, 1)) * wide(r, -2, 1))),
    "log_partial_moment_0": (partial_moment, lambda r: (wide(r, -2, 3) - 1 + 0.01, r.choice((-1, 1)) * wide(r, -2, 2.5))),
}


def by_name(name):
    f, draw = TABLE[name]
    rng, rows, lost = random.Random(name), [], 0
    while len(rows) < ROWS:
        at = [float(v) for v in draw(rng)]
        at += [math.nan] * (3 - len(at))
        try:
            v = f(*[mp.mpf(u) for u in at])
        except (ZeroDivisionError, ValueError, OverflowError, mp.libmp.NoConvergence):
            lost += 1
            continue
        rows.append(at + [to_float(u) for u in v])
    print(name, "points drawn anew:", lost, file=sys.stderr, flush=True)
    return name, b"".join(struct.pack("<8d", *r) for r in rows)


def main():
    from multiprocessing import get_context
    names = sys.argv[1:] or sorted(TABLE)
    with get_context("fork").Pool(2) as pool:
        made = dict(pool.imap_unordered(by_name, names, chunksize=1))
    if sys.argv[1:]:
        with zipfile.ZipFile("several.zip") as z:
            made = {n: z.read(n) for n in z.namelist()} | made
    with zipfile.ZipFile("several.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name in sorted(made):
            z.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), made[name], zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
