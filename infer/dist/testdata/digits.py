# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of many digits for the references of this folder: MPFR through gmpy2, with the names that mpmath gives them."""
from contextlib import contextmanager

import gmpy2


class Digits:
    """functions of the precision of the context"""

    log, log10, log1p, exp, expm1, sqrt = gmpy2.log, gmpy2.log10, gmpy2.log1p, gmpy2.exp, gmpy2.expm1, gmpy2.sqrt
    sin, cos, atan2, asinh = gmpy2.sin, gmpy2.cos, gmpy2.atan2, gmpy2.asinh
    erf, erfc, digamma, isfinite, floor, ceil = gmpy2.erf, gmpy2.erfc, gmpy2.digamma, gmpy2.is_finite, gmpy2.floor, gmpy2.ceil
    nan, inf = gmpy2.mpfr("nan"), gmpy2.mpfr("inf")

    @property
    def dps(self):
        return self._dps

    @dps.setter
    def dps(self, n):
        self._dps = n
        c = gmpy2.get_context()
        c.emax, c.emin = gmpy2.get_emax_max(), gmpy2.get_emin_min()
        c.precision = int(n * 3.3219281) + 8

    @property
    def pi(self):
        return gmpy2.const_pi()

    @contextmanager
    def workdps(self, n):
        before = self.dps
        self.dps = n
        try:
            yield
        finally:
            self.dps = before

    def loggamma(self, a):
        return gmpy2.lgamma(a)[0]

    def trigamma(self, a):
        with self.workdps(2 * self.dps):
            h = a * mpf(10) ** -(self.dps // 4)
            return (gmpy2.digamma(a + h) - gmpy2.digamma(a - h)) / (2 * h)


mpf = gmpy2.mpfr
mp = Digits()
mp.dps = 60
