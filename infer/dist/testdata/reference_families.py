# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Log densities and the logarithms of both tails of the families of distributions of numbers, for random_points.py."""
from jets import mp, mpf

from reference_functions import exp, expm1, lgamma, log1mexp, log_bessel, log_partial_moment, logaddexp, logbeta, logerf, logerfc, logi, logp, logphi, logq, logsigmoid, logsubexp, norm, power, skew_tails

NOTHING = mpf("-inf")  # the logarithm of 0


def logatan(s, d):
    """log(atan2(s, d)/pi)"""
    return mp.log(mp.atan2(s, d) / mp.pi) if d > 0 else mp.log1p(-mp.atan2(s, -d) / mp.pi)


def scaled(core):
    """density of a location-scale family from that of z"""
    return lambda x, m, s: core((x - m) / s) - mp.log(s)


def gumbel(z):
    return -z - exp(-z)


def expmod(z, r, upper):
    """tails at z of the sum of a standard normal number and an exponential one of rate r"""
    second = r * r / 2 - r * z + logphi(z - r)
    return logaddexp(logphi(-z), second) if upper else logsubexp(logphi(z), second)


def wald(x, m, l, upper):
    r = mp.sqrt(l / x)
    a, b = r * (x / m - 1), r * (x / m + 1)
    second = 2 * l / m + logphi(-b)
    return logsubexp(logphi(-a), second) if upper else logaddexp(logphi(a), second)


def half(size, inner):
    """logarithm of a tail of a symmetric distribution: size is that beyond |z|, inner says that z is on the other side"""
    return mp.log1p(-exp(size) / 2) if inner else size - mp.log(2)


def at_middle(z, density, upper):
    """logarithm of a tail of a symmetric distribution at z = 0"""
    return mp.log1p((-2 if upper else 2) * density * z) - mp.log(2)


def gn_tail(z, beta, upper):
    if not z:
        return at_middle(z, beta / 2 * exp(-lgamma(1 / beta)), upper)
    return half(logq(1 / beta, power(abs(z), beta)), (z > 0) != upper)


def t_tail(x, nu, m, s, upper):
    z = (x - m) / s
    w = z * z / nu
    if not z:
        return at_middle(z, exp(lgamma((nu + 1) / 2) - lgamma(nu / 2)) / mp.sqrt(nu * mp.pi), upper)
    return half(logi(nu / 2, mpf(1) / 2, 1 / (1 + w), w / (1 + w)), (z > 0) != upper)


def between(u, v, m, s):
    """logarithm of the probability of a normal distribution between u and v"""
    u, v = (u - m) / s, (v - m) / s
    return logsubexp(logphi(-u), logphi(-v)) if u > 0 else logsubexp(logphi(v), logphi(u))


def ratio(part, rest):
    """logarithm of exp(part)/(exp(part) + exp(rest))"""
    return -mp.log1p(exp(rest - part))


def pert(f):
    def g(x, lo, peak, hi, l):
        w = hi - lo
        return f(1 + l * (peak - lo) / w, 1 + l * (hi - peak) / w, (x - lo) / w, (hi - x) / w, w)
    return g


def skellam(k, m1, m2):
    return -(m1 + m2) + k / 2 * mp.log(m1 / m2) + log_bessel(abs(k), 2 * mp.sqrt(m1 * m2))


def noncentral_t(x, nu, mu):
    r = x * x + nu
    norm = lgamma(nu / 2) + mp.log(nu) / 2 + (nu - 1) / 2 * mp.log(2) + mp.log(mp.pi) / 2
    return log_partial_moment(nu, mu * x / mp.sqrt(r)) - mu * mu * nu / r / 2 - (nu + 1) / 2 * mp.log1p(x * x / nu) - norm


def inflated(k, w, r, upper):
    tail = mp.log1p(-w) + logp(k + 1, r)
    return tail if upper else log1mexp(-tail)


def triangle_cdf(x, lo, hi, mode, upper):
    if x <= mode:
        p = (x - lo) ** 2 / (hi - lo) / (mode - lo) if x > lo else mpf(0)
        return mp.log1p(-p) if upper else mp.log(p)
    q = (hi - x) ** 2 / (hi - lo) / (hi - mode)
    return mp.log(q) if upper else mp.log1p(-q)


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
    "expmodnormal": ("rpp", L, lambda x, m, s, l: mp.log(l) + l * (m - x) + (l * s) ** 2 / 2 + logphi((x - m) / s - l * s),
                     lambda x, m, s, l: expmod((x - m) / s, s * l, False), lambda x, m, s, l: expmod((x - m) / s, s * l, True)),
    "skewnormal": ("rpr", L, lambda x, m, s, a: mp.log(2) + norm((x - m) / s) - mp.log(s) + logphi(a * (x - m) / s),
                   lambda x, m, s, a: skew_tails((x - m) / s, a)[0], lambda x, m, s, a: skew_tails((x - m) / s, a)[1]),
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
    "truncatednormal": ("rp<r", "between2", lambda x, m, s, a, b: norm((x - m) / s) - mp.log(s) - between(a, b, m, s),
                        lambda x, m, s, a, b: ratio(between(a, x, m, s), between(x, b, m, s)),
                        lambda x, m, s, a, b: ratio(between(x, b, m, s), between(a, x, m, s))),
    "gamma": ("pp", "gamma", lambda x, a, b: a * mp.log(b) - lgamma(a) + (a - 1) * mp.log(x) - b * x, lambda x, a, b: logp(a, b * x), lambda x, a, b: logq(a, b * x)),
    "inversegamma": ("pp", "invgamma", lambda x, a, b: a * mp.log(b) - lgamma(a) - (a + 1) * mp.log(x) - b / x, lambda x, a, b: logq(a, b / x), lambda x, a, b: logp(a, b / x)),
    "chi": ("p", "root", lambda x, n: (n - 1) * mp.log(x) - x * x / 2 - (n / 2 - 1) * mp.log(2) - lgamma(n / 2), lambda x, n: logp(n / 2, x * x / 2), lambda x, n: logq(n / 2, x * x / 2)),
    "chisquared": ("p", "scale", lambda x, n: (n / 2 - 1) * mp.log(x) - x / 2 - n / 2 * mp.log(2) - lgamma(n / 2), lambda x, n: logp(n / 2, x / 2), lambda x, n: logq(n / 2, x / 2)),
    "beta": ("pp", U, lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - logbeta(a, b), lambda x, a, b: logi(a, b, x, 1 - x), lambda x, a, b: logi(b, a, 1 - x, x)),
    "betaproportion": ("up", U, lambda x, m, k: (m * k - 1) * mp.log(x) + ((1 - m) * k - 1) * mp.log1p(-x) - logbeta(m * k, (1 - m) * k),
                       lambda x, m, k: logi(m * k, (1 - m) * k, x, 1 - x), lambda x, m, k: logi((1 - m) * k, m * k, 1 - x, x)),
    "f": ("pp", P, lambda x, a, b: a / 2 * mp.log(a) + b / 2 * mp.log(b) + (a / 2 - 1) * mp.log(x) - (a + b) / 2 * mp.log(b + a * x) - logbeta(a / 2, b / 2),
          lambda x, a, b: logi(a / 2, b / 2, a * x / (b + a * x), b / (b + a * x)), lambda x, a, b: logi(b / 2, a / 2, b / (b + a * x), a * x / (b + a * x))),
    "vonmises": ("rp", "angle", lambda x, m, k: k * (mp.cos(x - m) - 1) + k - mp.log(2 * mp.pi) - log_bessel(mpf(0), k), None, None),
    "poisson": ("p", "count", pois, lambda k, r: logq(k + 1, r), lambda k, r: logp(k + 1, r)),
    "poissonlog": ("r", "countexp", lambda k, e: pois(k, exp(e)), lambda k, e: logq(k + 1, exp(e)), lambda k, e: logp(k + 1, exp(e))),
    "negbinomial2": ("pp", "count", nb, nb_cdf, nb_ccdf),
    "negbinomial2log": ("rp", "countexp", lambda k, e, f: nb(k, exp(e), f), lambda k, e, f: nb_cdf(k, exp(e), f), lambda k, e, f: nb_ccdf(k, exp(e), f)),
    "bernoulli": ("u", "bit", lambda k, p: mp.log(p) if k else mp.log1p(-p), lambda k, p: mpf(0) if k else mp.log1p(-p), lambda k, p: NOTHING if k else mp.log(p)),
    "bernoullilogit": ("r", "bit", lambda k, l: logsigmoid(l if k else -l), lambda k, l: mpf(0) if k else logsigmoid(-l), lambda k, l: NOTHING if k else logsigmoid(l)),
    "geometric": ("u", "count0", lambda k, p: mp.log(p) + times(k, mp.log1p(-p)), lambda k, p: log1mexp(-(k + 1) * mp.log1p(-p)), lambda k, p: (k + 1) * mp.log1p(-p)),
    "binomial": ("nu", "upto", lambda k, n, p: binom(k, n, p, 1 - p), lambda k, n, p: logi(n - k, k + 1, 1 - p, p) if k < n else mpf(0), lambda k, n, p: logi(k + 1, n - k, p, 1 - p) if k < n else NOTHING),
    "binomiallogit": ("nr", "upto", lambda k, n, l: binom(k, n, sig(l), sig(-l)), lambda k, n, l: logi(n - k, k + 1, sig(-l), sig(l)) if k < n else mpf(0), lambda k, n, l: logi(k + 1, n - k, sig(l), sig(-l)) if k < n else NOTHING),
    "betabinomial": ("npp", "upto", lambda k, n, a, b: choose(n, k) + logbeta(k + a, n - k + b) - logbeta(a, b), None, None),
    "zeroinflatedpoisson": ("up", "count1", lambda k, w, r: mp.log(w + (1 - w) * exp(-r)) if k == 0 else mp.log1p(-w) + pois(k, r),
                            lambda k, w, r: inflated(k, w, r, False), lambda k, w, r: inflated(k, w, r, True)),
    "pert": ("<r-p", "between02", pert(lambda a, b, x, y, w: (a - 1) * mp.log(x) + (b - 1) * mp.log(y) - logbeta(a, b) - mp.log(w)),
             pert(lambda a, b, x, y, w: logi(a, b, x, y)), pert(lambda a, b, x, y, w: logi(b, a, y, x))),
    "discreteuniform": ("<i", "inside", lambda k, a, b: -mp.log(b - a + 1), lambda k, a, b: mp.log((k - a + 1) / (b - a + 1)),
                        lambda k, a, b: mp.log((b - k) / (b - a + 1)) if k < b else NOTHING),
    "hypergeometric": ("h", "marked", lambda k, t, m, n: choose(m, k) + choose(t - m, n - k) - choose(t, n), None, None),
    "skellam": ("pp", "difference", skellam, None, None),
    "noncentralt": ("pr", "noncentral", noncentral_t, None, None),
}
