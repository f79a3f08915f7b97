"""Writes power_scaling.json: sensitivities to powers of prior and likelihood by arviz-stats 0.8.0 (pip install arviz-stats arviz-base)."""
import json

import arviz_base as ab
import numpy as np
from arviz_stats.psense import psense

rng = np.random.default_rng(12)
cases = []
for mean, sd, prior_sd, skew in [(0.0, 1.0, 10.0, 0.0), (2.0, 1.0, 1.0, 0.0), (3.0, 0.5, 1.0, 0.7), (5.0, 0.3, 0.6, 0.0)]:
    x = mean + sd * rng.standard_normal((4, 40))
    x = (x + skew * np.exp(x - mean)).round(5)
    prior = (-0.5 * (x / prior_sd) ** 2).round(5)
    like = (-0.5 * ((x - mean) / sd) ** 2).round(5)
    data = ab.from_dict({"posterior": {"x": x}, "log_prior": {"x": prior}, "log_likelihood": {"y": like}})
    cases.append({"x": x.ravel().tolist(), "log_prior": prior.ravel().tolist(), "log_lik": like.ravel().tolist(),
                  "prior": float(psense(data, group="prior")["x"]), "likelihood": float(psense(data, group="likelihood")["x"])})
with open("power_scaling.json", "w") as f:
    json.dump(cases, f)
