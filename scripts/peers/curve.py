"""A least-squares fit of a decay of n points by SciPy, lmfit, iminuit or NLSQ.

The input is {"peer": name, "n": points}. Data are made as in optim/peer_bench_test.go.
"""

import numpy as np

from serve import asked, serve

given = asked()
n = given["n"]
i = np.arange(n, dtype=float)
x = 10 * i / n
y = 5 * np.exp(-x / 2.3) + 1 + 0.05 * np.sin(1.7 * i * i % 101)
start = {"a": 4.0, "tau": 2.0, "c": 0.5}


def decay(x, a, tau, c):
    return a * np.exp(-x / tau) + c


def slopes(x, a, tau, c):
    e = np.exp(-x / tau)
    return np.stack([e, a * e * x / tau**2, np.ones_like(x)], 1)


if given["peer"] == "SciPy":
    import scipy
    from scipy.optimize import curve_fit

    version = f"SciPy {scipy.__version__}"

    def work():
        return 1, float(curve_fit(decay, x, y, list(start.values()), jac=slopes)[0][1])

elif given["peer"] == "lmfit":
    import lmfit

    version = f"lmfit {lmfit.__version__}"
    model = lmfit.Model(decay)

    def work():
        return 1, float(model.fit(y, x=x, **start).params["tau"].value)

elif given["peer"] == "NLSQ":
    import jax
    import jax.numpy as jnp
    import nlsq

    jax.config.update("jax_enable_x64", True)
    version = f"NLSQ {nlsq.__version__} with JAX {jax.__version__}"
    fit = nlsq.CurveFit()

    def traced(x, a, tau, c):
        return a * jnp.exp(-x / tau) + c

    def work():
        p, _ = fit.curve_fit(traced, x, y, p0=list(start.values()))
        return 1, float(p[1])

    work()  # compiles

else:
    import iminuit
    from iminuit.cost import LeastSquares

    version = f"iminuit {iminuit.__version__}"
    cost = LeastSquares(x, y, 0.05, decay)

    def work():
        m = iminuit.Minuit(cost, **start)
        m.migrad()
        return 1, float(m.values["tau"])


serve(version, work)
