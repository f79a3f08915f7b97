"""Least-squares fits of decays by scipy.optimize.curve_fit with an exact Jacobian.

The input is {"x": delays, "y": rows, "start": [baseline, contrast, tau]}.
"""

import numpy as np
import scipy
from scipy.optimize import curve_fit

from serve import asked, serve

given = asked()
x, rows = np.array(given["x"]), np.array(given["y"])


def decay(x, base, contrast, tau):
    return base + contrast * np.exp(-2 * x / tau)


def slopes(x, base, contrast, tau):
    e = np.exp(-2 * x / tau)
    return np.stack([np.ones_like(x), e, contrast * e * 2 * x / tau**2], 1)


def work():
    taus = [curve_fit(decay, x, y, given["start"], jac=slopes)[0][2] for y in rows]
    return len(rows), float(np.mean(taus))


serve(f"SciPy {scipy.__version__}", work)
