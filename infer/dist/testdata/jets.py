# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers with error bounds, gradients and second derivatives, for the references of this folder.

A Jet holds balls of python-flint (arb): every number has a bound of its error, so that more digits can be used until all
results are settled. Comparisons that the bounds leave open raise Unsettled. Ties between numbers that have derivatives
are noted, since there may be a kink: TIES tells which side to take, so that both can be tried.
"""
import flint
from flint import arb

ctx = flint.ctx


class Unsettled(Exception):
    """More digits are needed."""


class TooHard(Exception):
    """There is no reference of enough digits here."""


class Ties:
    less, seen = False, False


TIES = Ties()
VARIABLES = [0]  # how many inputs have derivatives
ZERO, ONE = arb(0), arb(1)


def pairs():
    n = VARIABLES[0]
    return [(i, j) for i in range(n) for j in range(i + 1)]


class Jet:
    """v is the value, d the gradient (None: a constant), and h the second derivatives, row by row up to the diagonal"""

    __slots__ = ("v", "d", "h")

    def __init__(self, v, d=None, h=None):
        self.v, self.d, self.h = v if isinstance(v, arb) else arb(v), d, h

    @staticmethod
    def variable(v, i):
        n = VARIABLES[0]
        return Jet(arb(v), [ONE if j == i else ZERO for j in range(n)], [ZERO] * (n * (n + 1) // 2))

    def chain(self, f, f1, f2):
        """a function of one variable whose value and derivatives here are f, f1 and f2; the latter may be functions"""
        if self.d is None:
            return Jet(f)
        f1, f2 = f1() if callable(f1) else f1, f2() if callable(f2) else f2
        d = self.d
        return Jet(f, [f1 * a if a else ZERO for a in d], [(f1 * s if s else ZERO) + (f2 * d[i] * d[j] if d[i] and d[j] else ZERO) for s, (i, j) in zip(self.h, pairs())])

    def __add__(self, o):
        o = jet(o)
        if o.d is None or self.d is None:
            return Jet(self.v + o.v, self.d or o.d, self.h or o.h)
        return Jet(self.v + o.v, [a + b for a, b in zip(self.d, o.d)], [a + b for a, b in zip(self.h, o.h)])

    __radd__ = __add__

    def __neg__(self):
        return self.chain(-self.v, -ONE, ZERO)

    def __sub__(self, o):
        return self + -jet(o)

    def __rsub__(self, o):
        return jet(o) + -self

    def __mul__(self, o):
        o = jet(o)
        if o.d is None:
            return self.chain(self.v * o.v, o.v, ZERO)
        if self.d is None:
            return o.chain(self.v * o.v, self.v, ZERO)
        u, w, a, b = self.v, o.v, self.d, o.d
        return Jet(u * w, [u * y + w * x for x, y in zip(a, b)],
                   [u * y + w * x + a[i] * b[j] + a[j] * b[i] for x, y, (i, j) in zip(self.h, o.h, pairs())])

    __rmul__ = __mul__

    def inverse(self):
        if self.v.is_zero():
            raise ZeroDivisionError
        r = 1 / self.v
        return self.chain(r, lambda: -r * r, lambda: 2 * r * r * r)

    def __truediv__(self, o):
        return self * jet(o).inverse()

    def __rtruediv__(self, o):
        return jet(o) * self.inverse()

    def __pow__(self, n):
        if not isinstance(n, int) or n < 2:
            raise TypeError("powers are whole numbers from 2")
        v = self.v
        return self.chain(v**n, lambda: n * v ** (n - 1), lambda: n * (n - 1) * v ** (n - 2))

    def __bool__(self):
        if self.v.is_zero():
            return False
        if self.v.contains(ZERO):
            raise Unsettled
        return True

    def sign(self, other):
        """of the difference to other"""
        other = jet(other)
        d = self.v - other.v
        if d > 0:
            return 1
        if d < 0:
            return -1
        if not d.is_zero():
            raise Unsettled
        if self.d is None and other.d is None:
            return 0
        TIES.seen = True
        return -1 if TIES.less else 1

    def __lt__(self, o):
        return self.sign(o) < 0

    def __gt__(self, o):
        return self.sign(o) > 0

    def __le__(self, o):
        return self.sign(o) <= 0

    def __ge__(self, o):
        return self.sign(o) >= 0

    def __eq__(self, o):
        return self.sign(o) == 0

    def __abs__(self):
        return self if self > 0 else -self


def jet(x):
    return x if isinstance(x, Jet) else Jet(x)


def combine(args, v, grad, hess):
    """a function of several jets, from its value, gradient and second derivatives (rows up to the diagonal; functions of no arguments may stand for lists)"""
    if all(a.d is None for a in args):
        return Jet(v)
    grad, hess = grad() if callable(grad) else grad, hess() if callable(hess) else hess
    n, k = VARIABLES[0], len(args)
    d, h = [ZERO] * n, [ZERO] * (n * (n + 1) // 2)
    for a, g in zip(args, grad):
        if a.d is not None:
            d = [x + g * y for x, y in zip(d, a.d)]
            h = [x + g * y for x, y in zip(h, a.h)]
    for p in range(k):
        for q in range(k):
            a, b, s = args[p].d, args[q].d, hess[max(p, q)][min(p, q)]
            if a is not None and b is not None:
                h = [x + s * a[i] * b[j] for x, (i, j) in zip(h, pairs())]
    return Jet(v, d, h)


class Functions:
    """elementary and special functions, of jets"""

    inf, nan = Jet(arb.pos_inf()), Jet(arb.nan())

    @property
    def pi(self):
        return Jet(arb.pi())

    def log(self, x):
        x = jet(x)
        if x.v <= 0:
            raise ValueError("logarithm of a number that is not above 0")
        return x.chain(x.v.log(), lambda: 1 / x.v, lambda: -1 / (x.v * x.v))

    def log1p(self, x):
        x = jet(x)
        w = 1 + x.v
        if w <= 0:
            raise ValueError("logarithm of a number that is not above 0")
        return x.chain(log1p(x.v), lambda: 1 / w, lambda: -1 / (w * w))

    def exp(self, x):
        x = jet(x)
        y = x.v.exp()
        return x.chain(y, y, y)

    def expm1(self, x):
        x = jet(x)
        y = expm1(x.v)
        return x.chain(y, lambda: y + 1, lambda: y + 1)

    def sqrt(self, x):
        x = jet(x)
        y = x.v.sqrt()
        return x.chain(y, lambda: 1 / (2 * y), lambda: -1 / (4 * x.v * y))

    def cos(self, x):
        x = jet(x)
        s, c = x.v.sin_cos()
        return x.chain(c, -s, -c)

    def sin(self, x):
        x = jet(x)
        s, c = x.v.sin_cos()
        return x.chain(s, c, -s)

    def asinh(self, x):
        x = jet(x)
        w = 1 + x.v * x.v
        return x.chain(x.v.asinh(), lambda: 1 / w.sqrt(), lambda: -x.v / (w * w.sqrt()))

    def atan2(self, y, x):
        """for y > 0"""
        y, x = jet(y), jet(x)
        r = x.v * x.v + y.v * y.v
        c, s = x.v / r, y.v / r
        return combine([y, x], arb.atan2(y.v, x.v), [c, -s], lambda: [[-2 * c * s], [s * s - c * c, 2 * c * s]])

    def loggamma(self, a):
        a = jet(a)
        return a.chain(a.v.lgamma(), lambda: a.v.digamma(), lambda: trigamma(a.v))


def near_zero(f):
    """f, which is x near 0, also where arb would keep few bits"""

    def g(x):
        return x * (1 + x * arb(0, 1)) if abs(x) < arb(2) ** -ctx.prec else f(x)

    return g


expm1, log1p = near_zero(arb.expm1), near_zero(arb.log1p)


def erf(x):
    return 2 / arb.pi().sqrt() * x * (1 + x * arb(0, 1)) if abs(x) < arb(2) ** -ctx.prec else x.erf()


def trigamma(a):
    return 1 / (a * a) + arb(2).zeta(a + 1) if a < 1 else arb(2).zeta(a)


mp = Functions()
mpf = Jet
