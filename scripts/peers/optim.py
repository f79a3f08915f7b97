"""Least-squares fits of decays by scipy.optimize.curve_fit with an exact Jacobian, lmfit or iminuit.

The input is {"peer": name, "x": delays, "y": rows, "start": [baseline, contrast, tau]}.
"""

import numpy as np
from scipy.optimize import curve_fit

from serve import asked, serve

given = asked()
x, rows = np.array(given["x"]), np.array(given["y"])


def decay(x, base, contrast, tau):
    return base + contrast * np.exp(-2 * x / tau)


def slopes(x, base, contrast, tau):
    e = np.exp(-2 * x / tau)
    return np.stack([np.ones_like(x), e, contrast * e * 2 * x / tau**2], 1)


start = dict(zip(["base", "contrast", "tau"], given["start"]))

if given["peer"] == "lmfit":
    import lmfit

    version = f"lmfit {lmfit.__version__}"
    model = lmfit.Model(decay)
    params = model.make_params(**start)
    params["tau"].set(min=1e-6)  # without it, lmfit aborts some fits at negative times

    def fit(y):
        return model.fit(y, params, x=x).params["tau"].value

elif given["peer"] == "iminuit":
    import iminuit
    from iminuit.cost import LeastSquares

    version = f"iminuit {iminuit.__version__}"

    def fit(y):
        m = iminuit.Minuit(LeastSquares(x, y, 2e-3, decay), **start)
        m.migrad()
        return m.values["tau"]

else:
    import scipy

    version = f"SciPy {scipy.__version__}"

    def fit(y):
        return curve_fit(decay, x, y, given["start"], jac=slopes)[0][2]


def work():
    taus = [fit(y) for y in rows]
    return len(rows), float(np.mean(taus))


serve(version, work)
