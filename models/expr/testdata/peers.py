# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes peers.json: documented examples of lmfit and iminuit, and everyday tasks, with the results of these programs.

Run `python peers.py LMFIT/examples` with SciPy 1.17.1, lmfit 1.3.4 and iminuit 2.33.0, where LMFIT is a clone of lmfit's repository (BSD licence), which
has the data. Tolerances are tightened so that what is stored has more digits than is printed.
"""
import json
import sys

import lmfit
import numpy as np
from iminuit import Minuit
from iminuit.cost import LeastSquares
from lmfit.models import ExponentialModel, GaussianModel, LinearModel, LorentzianModel, StepModel, VoigtModel
from scipy.special import erf

folder = sys.argv[1]
tight = {"fit_kws": {"xtol": 1e-14, "ftol": 1e-14, "gtol": 0}}
out = []


def load(name):
    return np.loadtxt(folder + "/" + name)


def of_lmfit(name, expr, x, y, result, **more):
    names = [n for n, p in result.params.items() if p.vary]
    out.append({"name": name, "peer": "lmfit " + lmfit.__version__, "expr": expr, "columns": {"x": list(x), "y": list(y)}, "relative": True,
                "x": {n: result.params[n].value for n in names}, "sd": {n: result.params[n].stderr for n in names}, "chi2": result.chisqr, **more})


def of_minuit(name, expr, columns, m, **more):
    m.strategy, m.tol = 2, 1e-8
    m.migrad(iterate=20)
    m.hesse()
    m.minos()
    ends = {p: [m.values[p] + m.merrors[p].lower, m.values[p] + m.merrors[p].upper] for p in m.parameters}
    out.append({"name": name, "peer": "iminuit 2.33.0", "expr": expr, "columns": {k: list(v) for k, v in columns.items()}, "x": m.values.to_dict(), "sd": m.errors.to_dict(),
                "chi2": m.fval, "minos": ends, **more})


d = load("model1d_gauss.dat")
r = GaussianModel().fit(d[:, 1], x=d[:, 0], amplitude=5, center=5, sigma=1, **tight)
of_lmfit("doc_model_gaussian", "gaussian(x)", d[:, 0], d[:, 1], r)

d = load("test_peak.dat")
for model, expr in ((GaussianModel(), "gaussian(x)"), (LorentzianModel(), "lorentzian(x)")):
    r = model.fit(d[:, 1], model.guess(d[:, 1], x=d[:, 0]), x=d[:, 0], **tight)
    of_lmfit("doc_builtinmodels_peakmodels " + expr, expr, d[:, 0], d[:, 1], r)
model = VoigtModel()
pars = model.guess(d[:, 1], x=d[:, 0])
of_lmfit("doc_builtinmodels_peakmodels voigt", "voigt(x)", d[:, 0], d[:, 1], model.fit(d[:, 1], pars, x=d[:, 0], **tight), tied={"gamma": "sigma"})
pars["gamma"].set(value=0.7, vary=True, expr="")
of_lmfit("doc_builtinmodels_peakmodels voigt, gamma free", "voigt(x)", d[:, 0], d[:, 1], model.fit(d[:, 1], pars, x=d[:, 0], **tight))

d = load("NIST_Gauss2.dat")
x, y = d[:, 1], d[:, 0]
e = ExponentialModel(prefix="exp_")
pars = e.guess(y, x=x)
g1, g2 = GaussianModel(prefix="g1_"), GaussianModel(prefix="g2_")
pars.update(g1.make_params(center=105, sigma=15, amplitude=2000))
pars.update(g2.make_params(center=155, sigma=15, amplitude=2000))
of_lmfit("doc_builtinmodels_nistgauss", "gaussian(x, g1_) + gaussian(x, g2_) + exponential(x, exp_)", x, y, (g1 + g2 + e).fit(y, pars, x=x, **tight))

x = np.linspace(0, 10, 201)
y = np.ones_like(x)
y[:48] = 0.0
y[48:77] = np.arange(77 - 48) / (77.0 - 48)
np.random.seed(0)
y = 110.2 * (y + 9e-3 * np.random.randn(x.size)) + 12.0 + 2.22 * x
s, l = StepModel(form="erf", prefix="step_"), LinearModel(prefix="line_")
pars = l.make_params(intercept=y.min(), slope=0)
pars += s.guess(y, x=x, center=2.5)
of_lmfit("doc_builtinmodels_stepmodel", "step(x, step_) + linear(x, line_)", x, y, (s + l).fit(y, pars, x=x, **tight))

x = np.linspace(0.3, 10, 100)
np.random.seed(0)
y = 1 / (0.1 * x) + 2 + 0.1 * np.random.randn(x.size)
mini = lmfit.Minimizer(lambda p: 1 / (p["a"] * x) + p["b"] - y, lmfit.create_params(a=0.1, b=1))
r = mini.minimize(xtol=1e-14, ftol=1e-14, gtol=0)
ci = lmfit.conf_interval(mini, r, sigmas=[1, 2], maxiter=500)
of_lmfit("doc_confidence_basic", "1/(a*x) + b", x, y, r, levels={n: [[level, v] for level, v in row] for n, row in ci.items()})

rng = np.random.default_rng(1)
x = np.linspace(0, 1, 10)
y = rng.normal(1 + 2 * x, 0.1)
s = np.full(10, 0.1)
of_minuit("basic: line", "a + b*x", {"x": x, "y": y, "s": s}, Minuit(LeastSquares(x, y, s, lambda x, a, b: a + b * x), a=0, b=0))

x = np.linspace(0.2, 6, 24)  # the saturation of the tutorial on MINOS, with errors that are far from parabolas
rng = np.random.default_rng(4)
s = np.full(24, 0.3)
y = rng.normal(2 * x / (1.5 + x), s)
m = Minuit(LeastSquares(x, y, s, lambda x, v, k: v * x / (k + x)), v=2, k=1)
of_minuit("saturation with MINOS errors", "v*x/(k + x)", {"x": x, "y": y, "s": s}, m)
out[-1]["contour"] = {"names": ["v", "k"], "level": 0.68, "points": [[float(a), float(b)] for a, b in m.mncontour("v", "k", cl=0.68, size=20, interpolated=False)]}

# correlated_data: two results with a common systematic error.
value, sta, sys_ = np.array([1.2, 1.5]), np.array([0.3, 0.3]), np.array([0.1, 0.2])
cov = np.diag(sta**2) + np.outer(sys_, sys_)
inv = np.linalg.inv(cov)
m = Minuit(lambda mean: (value - mean) @ inv @ (value - mean), mean=1)
m.errordef = Minuit.LEAST_SQUARES
of_minuit("correlated data", "mean + 0*x", {"x": [1, 2], "y": value}, m, cov=cov.tolist())

# Everyday tasks.
rng = np.random.default_rng(5)


def task(name, expr, model, x, y, errors=None, **start):
    """Fits y = model(x, ...) by lmfit, with errors taken as they are."""
    with np.errstate(all="ignore"):
        r = lmfit.Model(model, independent_vars=["x"]).fit(y, x=x, weights=None if errors is None else 1 / errors, scale_covar=errors is None, **start, **tight)
    of_lmfit(name, expr, x, y, r)
    if errors is not None:
        out[-1]["columns"]["s"], out[-1]["relative"] = list(errors), False


x = np.linspace(290, 350, 7)
y = 1e9 * np.exp(-55000 / 8.314 / x)
task("Arrhenius", "exp(lnA - Ea/(8.314*x))", lambda x, lnA, Ea: np.exp(lnA - Ea / 8.314 / x), x, y * np.exp(rng.normal(0, 0.03, 7)), 0.03 * y, lnA=20, Ea=50000)
x = np.logspace(-3, 2, 24)
y = 3 + 95 / (1 + (x / 0.7) ** -1.4) + rng.normal(0, 2, 24)
task("dose and response", "lo + (hi - lo)/(1 + (x/ec)^(-h))", lambda x, lo, hi, ec, h: lo + (hi - lo) / (1 + (x / ec) ** -h), x, y, lo=0, hi=100, ec=1, h=1)
x = np.array([0.1, 0.2, 0.5, 1, 2, 5, 10, 20])
task("Michaelis and Menten", "vmax*x/(km + x)", lambda x, vmax, km: vmax * x / (km + x), x, 8 * x / (1.7 + x) + rng.normal(0, 0.08, 8), vmax=5, km=1)
x = np.arange(60.0)
y = rng.poisson(500 * np.exp(-x / 12) + 20).astype(float)
task("counts of a decay", "a*exp(-x/tau) + b", lambda x, a, tau, b: a * np.exp(-x / tau) + b, x, y, np.sqrt(np.maximum(y, 1)), a=400, tau=10, b=10)
x = np.logspace(0, 3, 20)
y = 4.2 * x**-0.73
task("power law", "a*x^k", lambda x, a, k: a * x**k, x, y * (1 + rng.normal(0, 0.02, 20)), 0.02 * y, a=3, k=-1)
x = np.linspace(-5, 5, 60)
y = 3 * (1 + erf((x - 0.6) / 0.5)) + 1 + rng.normal(0, 0.08, 60)
task("edge", "h/2*(1 + erf((x - c)/w)) + b", lambda x, h, c, w, b: h / 2 * (1 + erf((x - c) / w)) + b, x, y, h=5, c=0, w=1, b=0)
x = np.linspace(0, 12, 80)
y = 3 * np.exp(-x / 5) * np.sin(2 * np.pi * 0.8 * x + 0.4) + 0.5 + rng.normal(0, 0.1, 80)
wave = lambda x, a, tau, f, p, c: a * np.exp(-x / tau) * np.sin(2 * np.pi * f * x + p) + c
task("damped oscillation", "a*exp(-x/tau)*sin(2*pi*f*x + p) + c", wave, x, y, a=2, tau=4, f=0.8, p=0, c=0)

with open("peers.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(e, separators=(",", ":")) for e in out) + "\n]\n")
for e in out:
    print(e["name"], e["x"])
