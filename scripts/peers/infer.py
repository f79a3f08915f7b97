"""NUTS of other libraries on posteriors of the reference.

    infer.py nutpie|numpyro MODEL

The input is the data of the reference file. A run makes 4 chains of 1000 + 1000 draws;
its units are the least bulk effective sample size of the stored quantities. Neither
compiling nor counting the units is part of the time. The chains of nutpie share the
threads; those of NumPyro, which hands threads to single operations, follow one another.
"""

import os
import sys

from serve import THREADS, asked, serve

if THREADS == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np

CHAINS, WARMUP, DRAWS = 4, 1000, 1000


def eight_schools(l, d):
    z = l.normal("z", 0, 1, 8)
    mu = l.normal("mu", 0, 5)
    tau = l.half_cauchy("tau", 5)
    theta = l.store("theta", mu + tau * z)
    l.observe("y", theta, d["sigma"], d["y"])


def ark(l, d):
    y = np.array(d["y"])
    past = np.stack([y[5 - k - 1 : len(y) - k - 1] for k in range(5)], 1)
    alpha = l.normal("alpha", 0, 10)
    beta = l.normal("beta", 0, 10, 5)
    sigma = l.half_cauchy("sigma", 2.5)
    l.observe("y", alpha + l.dot(past, beta), sigma, y[5:])


def blr(l, d):
    beta = l.normal("beta", 0, 10, 5)
    sigma = l.half_normal("sigma", 10)
    l.observe("y", l.dot(np.array(d["X"]), beta), sigma, d["y"])


def diamonds(l, d):
    x = np.array(d["X"])[:, 1:]
    b = l.normal("b", 0, 1, x.shape[1])
    intercept = l.student("Intercept", 3, 8, 10)
    sigma = l.half_student("sigma", 3, 10)
    l.observe("y", intercept + l.dot(x - x.mean(0), b), sigma, d["Y"])


def mixture(l, d):
    mu = l.ordered_normal("mu", 0, 2, 2)
    sigma = l.half_normal("sigma", 2, 2)
    theta = l.beta("theta", 5, 5)
    l.mixture("y", theta, mu, sigma, d["y"])


def g2_single(l, d):
    x = np.array(d["x"])
    tau = l.log_normal("tau", 0, 2)
    base = l.normal("baseline", 1, 0.1)
    contrast = l.half_normal("contrast", 1)
    l.observe("y", base + contrast * l.exp(-2 * x / tau), d["yerr"], d["y"])


def g2_double(l, d):
    x = np.array(d["x"])
    tau1 = l.log_normal("tau1", 0, 2)
    factor = l.log_normal("tau2_factor", 0, 1)
    tau2 = l.store("tau2", tau1 * (1 + factor))
    base = l.normal("baseline", 1, 0.1)
    c1 = l.half_normal("contrast1", 0.5)
    c2 = l.half_normal("contrast2", 0.5)
    l.observe("y", base + c1 * l.exp(-2 * x / tau1) + c2 * l.exp(-2 * x / tau2), d["yerr"], d["y"])


MODELS = {
    "eight_schools-eight_schools_noncentered": eight_schools,
    "arK-arK": ark,
    "low_dim_gauss_mix-low_dim_gauss_mix": mixture,
    "sblrc-blr": blr,
    "diamonds-diamonds": diamonds,
    "g2_single_exp": g2_single,
    "g2_double_exp": g2_double,
}


class NumPyro:
    """The models' words in NumPyro."""

    def __init__(self):
        import jax
        import numpyro

        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp
        import numpyro.distributions as dist

        self.jax, self.np, self.numpyro, self.dist = jax, jnp, numpyro, dist
        self.exp, self.dot = jnp.exp, jnp.matmul
        self.version = "numpyro " + numpyro.__version__

    def draw(self, name, law, n=None):
        return self.numpyro.sample(name, law.expand([n]).to_event(1) if n else law)

    def normal(self, name, mu, sd, n=None):
        return self.draw(name, self.dist.Normal(mu, sd), n)

    def half_normal(self, name, sd, n=None):
        return self.draw(name, self.dist.HalfNormal(sd), n)

    def half_cauchy(self, name, scale):
        return self.draw(name, self.dist.HalfCauchy(scale))

    def log_normal(self, name, mu, sd):
        return self.draw(name, self.dist.LogNormal(mu, sd))

    def student(self, name, nu, mu, sd):
        return self.draw(name, self.dist.StudentT(nu, mu, sd))

    def half_student(self, name, nu, sd):
        return sd * self.draw(name, self.dist.FoldedDistribution(self.dist.StudentT(nu, 0, 1)))

    def beta(self, name, a, b):
        return self.draw(name, self.dist.Beta(a, b))

    def ordered_normal(self, name, mu, sd, n):
        flat = self.dist.ImproperUniform(self.dist.constraints.ordered_vector, (), (n,))
        v = self.draw(name, flat)
        self.numpyro.factor("prior of " + name, self.dist.Normal(mu, sd).log_prob(v).sum())
        return v

    def store(self, name, v):
        return self.numpyro.deterministic(name, v)

    def observe(self, name, mean, sd, y):
        self.numpyro.sample(name, self.dist.Normal(mean, self.np.array(sd)), obs=self.np.array(y, dtype=float))

    def mixture(self, name, theta, mu, sd, y):
        parts = self.dist.Normal(mu, sd).log_prob(self.np.array(y)[:, None])
        weights = self.np.log(self.np.array([theta, 1 - theta]))
        self.numpyro.factor(name, self.jax.scipy.special.logsumexp(parts + weights, 1).sum())

    def prepare(self, model, data):
        infer = self.numpyro.infer
        kernel = infer.NUTS(lambda: model(self, data))
        mcmc = infer.MCMC(kernel, num_warmup=WARMUP, num_samples=DRAWS, num_chains=CHAINS,
                          chain_method="sequential", progress_bar=False)

        def run(seed):
            mcmc.run(self.jax.random.PRNGKey(seed))
            return {k: np.array(v) for k, v in mcmc.get_samples(group_by_chain=True).items()}

        return run


class Nutpie:
    """The models' words in PyMC, sampled by nutpie."""

    def __init__(self):
        import nutpie
        import pymc
        import pytensor.tensor as pt

        self.nutpie, self.pm, self.pt = nutpie, pymc, pt
        self.exp, self.dot = pt.exp, pt.dot
        self.version = "nutpie " + nutpie.__version__

    def normal(self, name, mu, sd, n=None):
        return self.pm.Normal(name, mu, sd, shape=n)

    def half_normal(self, name, sd, n=None):
        return self.pm.HalfNormal(name, sd, shape=n)

    def half_cauchy(self, name, scale):
        return self.pm.HalfCauchy(name, scale)

    def log_normal(self, name, mu, sd):
        return self.pm.LogNormal(name, mu, sd)

    def student(self, name, nu, mu, sd):
        return self.pm.StudentT(name, nu=nu, mu=mu, sigma=sd)

    def half_student(self, name, nu, sd):
        return self.pm.HalfStudentT(name, nu=nu, sigma=sd)

    def beta(self, name, a, b):
        return self.pm.Beta(name, a, b)

    def ordered_normal(self, name, mu, sd, n):
        return self.pm.Normal(name, mu, sd, shape=n, transform=self.pm.distributions.transforms.ordered,
                              initval=np.linspace(-1, 1, n))

    def store(self, name, v):
        return self.pm.Deterministic(name, v)

    def observe(self, name, mean, sd, y):
        self.pm.Normal(name, mean, np.array(sd) if isinstance(sd, list) else sd, observed=np.array(y, dtype=float))

    def mixture(self, name, theta, mu, sd, y):
        self.pm.NormalMixture(name, w=self.pt.stack([theta, 1 - theta]), mu=mu, sigma=sd, observed=np.array(y))

    def prepare(self, model, data):
        with self.pm.Model() as m:
            model(self, data)
        compiled = self.nutpie.compile_pymc_model(m)

        def run(seed):
            trace = self.nutpie.sample(compiled, draws=DRAWS, tune=WARMUP, chains=CHAINS, cores=THREADS, seed=seed,
                                       progress_bar=False)
            return {k: np.array(v) for k, v in trace.posterior.data_vars.items()}

        return run


def least_ess(draws):
    import arviz

    least = np.inf
    for v in draws.values():
        v = v.reshape(v.shape[0], v.shape[1], -1)
        for k in range(v.shape[2]):
            least = min(least, float(arviz.ess(np.ascontiguousarray(v[:, :, k]))))
    return least


library = {"nutpie": Nutpie, "numpyro": NumPyro}[sys.argv[1]]()
run, seed = library.prepare(MODELS[sys.argv[2]], asked()), 0


def work():
    global seed
    seed += 1
    draws = run(seed)
    return lambda: least_ess(draws), None


serve(library.version, work)
