# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Log densities and tails of the families whose values or parameters are arrays, for random_arrays.py.

A family has a function that draws arrays for a size, value first, and functions of them. An Array has a shape, a kind, and
its free numbers: all elements ("all", or "probabilities" that sum to 1), those of the lower triangle with the diagonal ("lower", "symmetric"), or whole
numbers without derivatives ("whole"). Functions are given nested lists of jets: rows of lower triangles, or whole
symmetric matrices. Matrices are made of factors with few bits, so that they are exact and positive definite.
"""
import math
from fractions import Fraction

from jets import mp, mpf

from random_points import parameter, short, size
from reference_families import NOTHING, times
from reference_functions import lgamma, log1mexp, logaddexp, logphi, logsigmoid, norm


class Array:
    def __init__(self, kind, shape, numbers, scales=None):
        self.kind, self.shape, self.numbers = kind, shape, [float(v) for v in numbers]
        self.scales = scales or self.numbers  # what a rounding of an element is relative to

    def nested(self, numbers):
        """the numbers in rows"""
        if not self.shape:
            return numbers[0]
        if len(self.shape) == 1:
            return numbers
        if self.kind in ("all", "whole"):
            return [numbers[i * self.shape[1]:(i + 1) * self.shape[1]] for i in range(self.shape[0])]
        rows = [numbers[i * (i + 1) // 2:(i + 1) * (i + 2) // 2] for i in range(self.shape[0])]
        return rows if self.kind == "lower" else [[rows[max(i, j)][min(i, j)] for j in range(len(rows))] for i in range(len(rows))]


# ---- draws

def scalar(rng, kind):
    return Array("all", (), [parameter(rng, kind)])


def vector(rng, kind, n):
    return Array("all", (n,), [parameter(rng, kind) for _ in range(n)])


def number(v):
    return Array("whole", (), [v])


def coarse(v):
    """v with 5 bits of mantissa"""
    if not v:
        return 0.0
    m, e = math.frexp(v)
    return round(m * 32) / 32 * 2.0**e


def lower(rng, n):
    """the rows of a Cholesky factor, of ordinary or of extreme scales"""
    scales = [2.0 ** rng.randrange(-6, 7) for _ in range(n)] if rng.random() < 0.8 else [2.0 ** rng.randrange(-60, 61) for _ in range(n)]
    tilt = 2.0 ** rng.choice([0, 0, -3, -8])  # a small diagonal makes strong correlations
    return [[scales[i] * (coarse(rng.uniform(0.5, 2)) * (tilt if i else 1) if i == j else rng.choice([0.0, 1, 1]) * coarse(rng.gauss(0, 1))) for j in range(i + 1)] for i in range(n)]


def flat(rows):
    return [v for r in rows for v in r]


def factor(rng, n):
    return Array("lower", (n, n), flat(lower(rng, n)))


def product(l):
    """the lower triangle of L L^T, exactly"""
    exact = [[Fraction(v) for v in r] for r in l]
    rows = [[sum(a * b for a, b in zip(exact[i], exact[j])) for j in range(i + 1)] for i in range(len(l))]
    assert all(Fraction(float(v)) == v for v in flat(rows))
    return [[float(v) for v in r] for r in rows]


def covariance(rng, n, l=None):
    rows = product(l or lower(rng, n))
    sd = [rows[i][i] ** 0.5 for i in range(n)]
    return Array("symmetric", (n, n), flat(rows), [sd[i] * sd[j] for i in range(n) for j in range(i + 1)])


def point(rng, mu, l):
    """mu + L z with heavy tails"""
    z = [rng.gauss(0, 1) * rng.choice([1, 1, 10]) for _ in mu]
    return Array("all", (len(mu),), [short(m + sum(a * b for a, b in zip(row, z))) for m, row in zip(mu, l)])


def simplex(rng, n):
    """probabilities whose sum is 1 up to a rounding"""
    spread = rng.choice([1, 4, 40, 200])
    w = sorted(short(2.0 ** -rng.uniform(0, spread)) for _ in range(n))
    w = [short(v / sum(w)) for v in w[:-1]]
    w.append(1 - sum(w))
    rng.shuffle(w)
    return Array("probabilities", (n,), w) if min(w) > 0 else simplex(rng, n)


def ascending(rng, n):
    while True:
        v = sorted(parameter(rng, "r") if rng.random() < 0.2 else short(rng.gauss(0, 4)) for _ in range(n))
        if len(set(v)) == n:
            return Array("all", (n,), v)


def counts(rng, n):
    top = rng.choice([3, 30, 2.0**20, 2.0**40])
    return [float(int(short(rng.random() ** 3 * top))) for _ in range(n)]


def normal_point(rng, n, matrix, *first):
    mu, l = [parameter(rng, "r") if rng.random() < 0.3 else short(rng.gauss(0, 1)) for _ in range(n)], lower(rng, n)
    params = [Array("all", (n,), mu), Array("lower", (n, n), flat(l)) if matrix == "lower" else covariance(rng, n, l)]
    return [point(rng, mu, l), *first, *params]


def low_rank(rng, n):
    k = rng.randrange(1, n + 1)
    w, d = [coarse(rng.gauss(0, 1)) * 2.0 ** rng.randrange(-4, 5) for _ in range(n * k)], [short(2.0 ** rng.uniform(-6, 6)) for _ in range(n)]
    mu = [short(rng.gauss(0, 1)) for _ in range(n)]
    z = [rng.gauss(0, 1) for _ in range(k)]
    x = [short(m + rng.gauss(0, 2) * v**0.5 + sum(w[i * k + j] * z[j] for j in range(k))) for i, (m, v) in enumerate(zip(mu, d))]
    return [Array("all", (n,), x), Array("all", (n,), mu), Array("all", (n, k), w), Array("all", (n,), d)]


def wishart_point(rng, n):
    nu = short(n - 1 + 2.0 ** rng.uniform(-6, 6 if rng.random() < 0.8 else 40))
    l = lower(rng, n)
    near = [[(v if rng.random() < 0.5 else 2 * v) for v in r] for r in l] if rng.random() < 0.7 else lower(rng, n)
    scale = 2.0 ** round(rng.choice([1, -1]) * 0.5 * max(0, math.frexp(nu)[1]))
    x = [[v * scale for v in r] for r in near]
    return [covariance(rng, n, x), Array("all", (), [nu]), covariance(rng, n, l)]


def correlation(rng, n):
    eta = short(rng.choice([2.0 ** rng.uniform(-5, 5), 2.0 ** rng.uniform(-20, 40)]))
    rows = [[1.0]]
    for i in range(1, n):
        r = [rng.gauss(0, 1) for _ in range(i)]
        length = rng.choice([rng.random(), 2.0 ** -rng.uniform(0, 20), 1 - 2.0 ** -rng.uniform(1, 20), min(0.9, eta**-0.5)])
        norm2 = sum(v * v for v in r) ** 0.5
        r = [v / norm2 * length for v in r]
        rest = 1 - sum(v * v for v in r)
        if rest <= 0:
            return correlation(rng, n)
        rows.append(r + [rest**0.5])
    return [Array("lower", (n, n), flat(rows)), Array("all", (), [eta])]


def mixture_point(rng, n):
    mu, s = vector(rng, "r", n), vector(rng, "p", n)
    if rng.random() < 0.6:
        mu, s = Array("all", (n,), [short(rng.gauss(0, 3)) for _ in range(n)]), Array("all", (n,), [short(2.0 ** rng.uniform(-3, 3)) for _ in range(n)])
    j = rng.randrange(n)
    x = short(mu.numbers[j] + rng.gauss(0, 2) * s.numbers[j])
    return [Array("all", (), [x]), Array("all", (n,), [short(rng.gauss(0, rng.choice([1, 20]))) for _ in range(n)]), mu, s]


def series(rng, n, *params):
    steps = [rng.gauss(0, 1) * (params[-1].numbers[0] if params[-1].numbers[0] < 1e30 else 1) for _ in range(n)]
    return [Array("all", (n,), [short(sum(steps[:i + 1])) for i in range(n)]), *params]


def autoregressive(rng, n):
    p = short(1 - 2.0 ** -rng.uniform(0, 11)) * rng.choice([-1, 1]) if rng.random() < 0.6 else short(rng.uniform(-0.9, 0.9))
    return series(rng, n, Array("all", (), [p]), scalar(rng, "p"))


def horseshoe_point(rng, n):
    return [Array("all", (2, n), [short(rng.gauss(0, 1) * size(rng)) for _ in range(n)] + [size(rng) for _ in range(n)]), scalar(rng, "p")]


def chosen(rng, n, p):
    return [number(rng.randrange(n)), p]


def counted(rng, n, p):
    c = counts(rng, n)
    return [Array("whole", (n,), c), number(sum(c)), p]


# ---- densities

def solved(l, r):
    """L^-1 r"""
    z = []
    for row, v in zip(l, r):
        for a, b in zip(row, z):
            v = v - a * b
        z.append(v / row[-1])
    return z


def cholesky(a):
    l = []
    for i in range(len(a)):
        row = []
        for j in range(i + 1):
            v = a[i][j]
            for b, c in zip(row, l[j] if j < i else row):
                v = v - b * c
            row.append(mp.sqrt(v) if i == j else v / l[j][j])
        l.append(row)
    return l


def log_diagonal(l):
    return sum((mp.log(r[-1]) for r in l), mpf(0))


def square(z):
    return sum((v * v for v in z), mpf(0))


def mvn(x, mu, l):
    return -square(solved(l, [a - b for a, b in zip(x, mu)])) / 2 - log_diagonal(l) - len(x) * mp.log(2 * mp.pi) / 2


def mvt(x, nu, mu, l):
    n = len(x)
    q = square(solved(l, [a - b for a, b in zip(x, mu)]))
    return lgamma((nu + n) / 2) - lgamma(nu / 2) - n * mp.log(nu * mp.pi) / 2 - log_diagonal(l) - (nu + n) / 2 * mp.log1p(q / nu)


def low_rank_mvn(x, mu, w, d):
    n = len(x)
    cov = [[sum((a * b for a, b in zip(w[i], w[j])), d[i] if i == j else mpf(0)) for j in range(n)] for i in range(n)]
    return mvn(x, mu, cholesky(cov))


def trace_solved(l, x):
    """tr((L L^T)^-1 X)"""
    m = cholesky(x)
    n = len(m)
    return sum((square(solved(l, [m[i][j] if j <= i else mpf(0) for i in range(n)])) for j in range(n)), mpf(0))


def multigamma(p, a):
    return sum((lgamma(a - mpf(i) / 2) for i in range(p)), p * (p - 1) * mp.log(mp.pi) / 4)


def wishart(x, nu, v):
    p, l = len(x), cholesky(v)
    return (nu - p - 1) * log_diagonal(cholesky(x)) - trace_solved(l, x) / 2 - nu * p / 2 * mp.log(2) - nu * log_diagonal(l) - multigamma(p, nu / 2)


def inverse_wishart(x, nu, v):
    p, l = len(x), cholesky(x)
    return nu * log_diagonal(cholesky(v)) - (nu + p + 1) * log_diagonal(l) - trace_solved(l, v) / 2 - nu * p / 2 * mp.log(2) - multigamma(p, nu / 2)


def lkj(l, eta):
    k = len(l)
    total = (k - 1) * lgamma(eta + mpf(k - 1) / 2)
    for j in range(1, k):
        total = total - lgamma(eta + mpf(k - 1 - j) / 2) - mpf(j) / 2 * mp.log(mp.pi)
    return sum(((k - i - 3 + 2 * eta) * mp.log(l[i][i]) for i in range(1, k)), total)


def total(v):
    return sum(v, mpf(0))


def dirichlet(x, a):
    return total((b - 1) * mp.log(v) - lgamma(b) for v, b in zip(x, a)) + lgamma(total(a))


def ways(c, n):
    return lgamma(n + 1) - total(lgamma(v + 1) for v in c)


def multinomial(c, n, p):
    return ways(c, n) + total(times(k, mp.log(v)) for k, v in zip(c, p))


def softmax_log(l):
    """logarithms of probabilities"""
    return [-mp.log1p(total(mp.exp(w - v) for j, w in enumerate(l) if j != i)) for i, v in enumerate(l)]


def dirichlet_multinomial(c, n, a):
    return ways(c, n) + total(lgamma(k + v) - lgamma(v) for k, v in zip(c, a)) - lgamma(n + total(a)) + lgamma(total(a))


def whole(k):
    return int(k.v.unique_fmpz())


def log_sum(logs):
    out = logs[0]
    for v in logs[1:]:
        out = logaddexp(out, v)
    return out


def below(k, p):
    """logarithm of the sum of the probabilities up to k"""
    i = whole(k) + 1
    return mp.log(total(p[:i])) if i < len(p) else mpf(0)


def above(k, p):
    i = whole(k) + 1
    return mp.log(total(p[i:])) if i < len(p) else NOTHING


def cut_log(k, l, upper):
    """the same from logits"""
    i = whole(k) + 1
    if i == len(l):
        return NOTHING if upper else mpf(0)
    odds = log_sum(l[:i]) - log_sum(l[i:])
    return logsigmoid(-odds if upper else odds)


def ordered(k, eta, c):
    i = whole(k)
    if i == 0:
        return logsigmoid(c[0] - eta)
    if i == len(c):
        return logsigmoid(eta - c[-1])
    return logsigmoid(eta - c[i - 1]) + logsigmoid(c[i] - eta) + log1mexp(c[i] - c[i - 1])


def ordered_tail(k, eta, c, upper):
    i = whole(k)
    if i == len(c):
        return NOTHING if upper else mpf(0)
    return logsigmoid(eta - c[i] if upper else c[i] - eta)


def walk(x, mu, first, s):
    z = [(x[0] - mu) / first] + [(b - a) / s for a, b in zip(x, x[1:])]
    return total(norm(v) for v in z) - mp.log(first) - (len(x) - 1) * mp.log(s)


def ar1(x, phi, s):
    root = mp.sqrt((1 - phi) * (1 + phi))
    z = [x[0] * root / s] + [(b - phi * a) / s for a, b in zip(x, x[1:])]
    return total(norm(v) for v in z) + mp.log(root) - len(x) * mp.log(s)


def horseshoe(x, tau):
    return total(norm(b / (l * tau)) - mp.log(l * tau) + mp.log(2 / mp.pi) - mp.log1p(l * l) for b, l in zip(*x))


def mixed(f):
    return lambda x, w, mu, s: log_sum([a + f((x - m) / b) - c for a, m, b, c in zip(softmax_log(w), mu, s, [mp.log(b) if f is norm else mpf(0) for b in s])])


FAMILIES = {
    "multivariatenormalcholesky": (lambda g, n: normal_point(g, n, "lower"), mvn, None, None),
    "multivariatenormal": (lambda g, n: normal_point(g, n, "symmetric"), lambda x, mu, c: mvn(x, mu, cholesky(c)), None, None),
    "multivariatestudenttcholesky": (lambda g, n: normal_point(g, n, "lower", scalar(g, "p")), mvt, None, None),
    "lowrankmultivariatenormal": (low_rank, low_rank_mvn, None, None),
    "wishart": (lambda g, n: wishart_point(g, n), wishart, None, None),
    "inversewishart": (lambda g, n: wishart_point(g, n), inverse_wishart, None, None),
    "lkjcholesky": (correlation, lkj, None, None),
    "dirichlet": (lambda g, n: [simplex(g, n), vector(g, "p", n)], dirichlet, None, None),
    "multinomial": (lambda g, n: counted(g, n, simplex(g, n)), multinomial, None, None),
    "multinomiallogits": (lambda g, n: counted(g, n, Array("all", (n,), [short(g.gauss(0, g.choice([1, 30]))) for _ in range(n)])),
                          lambda c, n, l: ways(c, n) + total(times(k, v) for k, v in zip(c, softmax_log(l))), None, None),
    "dirichletmultinomial": (lambda g, n: counted(g, n, vector(g, "p", n)), dirichlet_multinomial, None, None),
    "categorical": (lambda g, n: chosen(g, n, simplex(g, n)), lambda k, p: mp.log(p[whole(k)]), below, above),
    "categoricallogits": (lambda g, n: chosen(g, n, Array("all", (n,), [short(g.gauss(0, g.choice([1, 30]))) for _ in range(n)])),
                          lambda k, l: softmax_log(l)[whole(k)], lambda k, l: cut_log(k, l, False), lambda k, l: cut_log(k, l, True)),
    "orderedlogistic": (lambda g, n: [number(g.randrange(n + 1)), scalar(g, "r"), ascending(g, n)], ordered,
                        lambda k, e, c: ordered_tail(k, e, c, False), lambda k, e, c: ordered_tail(k, e, c, True)),
    "gaussianrandomwalk": (lambda g, n: series(g, n, scalar(g, "r"), scalar(g, "p"), scalar(g, "p")), walk, None, None),
    "ar1": (autoregressive, ar1, None, None),
    "horseshoe": (horseshoe_point, horseshoe, None, None),
    "mixturenormal": (mixture_point, mixed(norm), mixed(logphi), mixed(lambda z: logphi(-z))),
}
