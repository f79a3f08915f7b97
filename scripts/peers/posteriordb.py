"""Samples a posterior of posteriordb by a peer, with the gradients of stanli, for BenchmarkPeerSamplersOfPosteriorDB of models/stan.

    posteriordb.py PEER PROGRAM.stan DATA.json SEED COLUMN... < /dev/null

PEER is stanli (Stan's sampler), nutpie (diagonal metric), nutpie-lowrank, owalnuts (within-orbit steps; each gradient is a call through Python) or
blackjax (the no-U-turn sampler with window adaptation and densities in JAX, for the programs of densities); each with 4 chains, its own warm-up and
1000 draws. It prints a JSON document: processor seconds of the sampling, gradients with those of the warm-up, and the named columns, [chain][draw].

Needs pip install stanli nutpie bridgestan stanio owalnuts blackjax.
"""
import contextlib
import json
import os
import pathlib
import resource
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")


def seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def column(values, name):
    """values maps names of variables to arrays [chain, draw, ...]; name is as in theta[1,2]."""
    base, _, rest = name.partition("[")
    at = tuple(int(i) - 1 for i in rest.rstrip("]").split(",")) if rest else ()
    return np.asarray(values(base))[(slice(None), slice(None)) + at].tolist()


def by_stanli(program, data, seed):
    import stanli

    model = stanli.Model(stan_file=program, data=data)
    start = seconds()
    fit = model.sample(chains=4, seed=seed, save_warmup=True, parallel_chains=1, refresh=0)
    spent = seconds() - start
    steps = stanli.SAMPLER_COLUMNS.index("n_leapfrog__")
    stats = np.asarray(fit.sampler_stats if not callable(fit.sampler_stats) else fit.sampler_stats())
    return spent, int(stats[..., steps].sum()), lambda name: np.asarray(fit.draws(name))[:, -1000:]


def by_nutpie(program, data, seed, low_rank):
    import nutpie
    import stanli
    from nutpie import _lib
    from nutpie.compile_stan import CompiledStanModel

    with open(data) as f:
        payload = json.load(f)
    mir, name = stanli._resolve_program(program, None, None, None, None)
    payload["__stanli"] = {"build_id": stanli.build_id(), "mir": mir, "name": name}
    library = _lib.StanLibrary(str(stanli._runtime_lib_path()))
    model = _lib.StanModel(library, {}, {}, {}, seed, json.dumps(payload), lambda *a, **k: None)
    compiled = CompiledStanModel(code="", library=library, dims={}, _coords={}, model_name=name, model=model, data=None)
    start = seconds()
    trace = nutpie.sample(compiled, chains=4, cores=1, draws=1000, seed=seed, progress_bar=False, low_rank_modified_mass_matrix=low_rank)
    spent = seconds() - start
    steps = int(trace.sample_stats.n_steps.sum() + trace.warmup_sample_stats.n_steps.sum())
    return spent, steps, lambda name: trace.posterior[name].values


def by_owalnuts(program, data, seed):
    import owalnuts
    import stanli

    model = stanli.bridgestan_model(stan_file=program, data=data)
    names = [name.replace(".", "[", 1).replace(".", ",") + ("]" if "." in name else "") for name in model.param_names(include_tp=True)]
    calls = 0

    def density(q):
        nonlocal calls
        calls += 1
        try:
            return model.log_density_gradient(q)
        except RuntimeError:
            return -np.inf, np.zeros_like(q)

    start = seconds()
    result = owalnuts.sample(density, dim=model.param_unc_num(), chains=4, warmup=1000, draws=1000, seed=seed)
    spent = seconds() - start
    rows = np.array([[model.param_constrain(q, include_tp=True) for q in chain] for chain in np.asarray(result.samples)])
    return spent, calls, lambda name: rows[:, :, names.index(name)]


def densities():
    """By the name of a program: the number of unconstrained parameters, the log density of these, and the columns of a draw, as functions of the data."""
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def normal(x, loc, scale):
        return jnp.sum(-((x - loc) ** 2) / (2 * scale**2) - jnp.log(scale) * jnp.ones_like(x - loc))

    def covariance(x, rho, alpha, more):
        d = x[:, None] - x[None, :]
        return jnp.linalg.cholesky(alpha**2 * jnp.exp(-(d**2) / (2 * rho**2)) + more * jnp.eye(len(x)))

    def eight_schools(d):
        y, s = jnp.array(d["y"], float), jnp.array(d["sigma"], float)

        def parts(q):
            return q[:8] * jnp.exp(q[9]) + q[8], q[8], jnp.exp(q[9])

        def density(q):
            theta, mu, tau = parts(q)
            return normal(q[:8], 0, 1.0) + normal(y, theta, s) + normal(mu, 0, 5.0) - jnp.log1p((tau / 5) ** 2) + q[9]

        def columns(q):
            theta, mu, tau = parts(q)
            return {"theta": theta, "mu": mu, "tau": tau}

        return 10, density, columns

    def autoregression(d):
        y, k = jnp.array(d["y"], float), d["K"]
        past = jnp.stack([y[k - 1 - i : len(y) - 1 - i] for i in range(k)], axis=1)

        def density(q):
            sigma = jnp.exp(q[k + 1])
            return normal(q[: k + 1], 0, 10.0) - jnp.log1p((sigma / 2.5) ** 2) + q[k + 1] + normal(y[k:], q[0] + past @ q[1 : k + 1], sigma)

        return k + 2, density, lambda q: {"alpha": q[0], "beta": q[1 : k + 1], "sigma": jnp.exp(q[k + 1])}

    def regression(d):
        x, y, n = jnp.array(d["X"], float), jnp.array(d["y"], float), d["D"]

        def density(q):
            sigma = jnp.exp(q[n])
            return normal(q[:n], 0, 10.0) + normal(sigma, 0, 10.0) + q[n] + normal(y, x @ q[:n], sigma)

        return n + 1, density, lambda q: {"beta": q[:n], "sigma": jnp.exp(q[n])}

    def process(d):
        x, y = jnp.array(d["x"], float), jnp.array(d["y"], float)

        def density(q):
            rho, alpha, sigma = jnp.exp(q)
            factor = covariance(x, rho, alpha, sigma)
            white = solve_triangular(factor, y, lower=True)
            return 24 * q[0] - 4 * rho + normal(alpha, 0, 2.0) + normal(sigma, 0, 1.0) + jnp.sum(q) - white @ white / 2 - jnp.sum(jnp.log(jnp.diag(factor)))

        return 3, density, lambda q: dict(zip(("rho", "alpha", "sigma"), jnp.exp(q)))

    def counts(d):
        x, k = jnp.array(d["x"], float), jnp.array(d["k"], float)

        def function(q):
            return covariance(x, jnp.exp(q[0]), jnp.exp(q[1]), 1e-10) @ q[2:]

        def density(q):
            f = function(q)
            return 24 * q[0] - 4 * jnp.exp(q[0]) + normal(jnp.exp(q[1]), 0, 2.0) + q[0] + q[1] + normal(q[2:], 0, 1.0) + jnp.sum(k * f - jnp.exp(f))

        return len(x) + 2, density, lambda q: {"rho": jnp.exp(q[0]), "alpha": jnp.exp(q[1]), "f": function(q)}

    return {"eight_schools_noncentered": eight_schools, "arK": autoregression, "blr": regression, "gp_regr": process, "gp_pois_regr": counts}


def by_blackjax(program, data, seed):
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import blackjax
    import jax

    jax.config.update("jax_enable_x64", True)
    name = pathlib.Path(program).stem
    if name not in densities():
        raise SystemExit("no density in JAX")
    with open(data) as f:
        dim, density, columns = densities()[name](json.load(f))

    @jax.jit
    def chain(key):
        begin, warm, draw = jax.random.split(key, 3)
        adaptation = blackjax.window_adaptation(blackjax.nuts, density)
        (state, parameters), info = adaptation.run(warm, jax.random.uniform(begin, (dim,), minval=-2.0, maxval=2.0), 1000)
        step = blackjax.nuts(density, **parameters).step

        def one(state, key):
            state, info = step(key, state)
            return state, (state.position, info.num_integration_steps)

        _, (draws, steps) = jax.lax.scan(one, state, jax.random.split(draw, 1000))
        return draws, steps.sum() + info.info.num_integration_steps.sum()

    keys = jax.random.split(jax.random.key(seed), 4)
    compiled = chain.lower(keys[0]).compile()
    start = seconds()
    results = [jax.block_until_ready(compiled(key)) for key in keys]
    spent = seconds() - start
    rows = jax.vmap(jax.vmap(columns))(np.array([draws for draws, _ in results]))
    return spent, int(sum(steps for _, steps in results)), lambda name: np.asarray(rows[name])


def main():
    peer, program, data, seed = sys.argv[1:5]
    with contextlib.redirect_stdout(sys.stderr):
        if peer == "stanli":
            spent, gradients, values = by_stanli(program, data, int(seed))
        elif peer == "owalnuts":
            spent, gradients, values = by_owalnuts(program, data, int(seed))
        elif peer == "blackjax":
            spent, gradients, values = by_blackjax(program, data, int(seed))
        else:
            spent, gradients, values = by_nutpie(program, data, int(seed), peer == "nutpie-lowrank")
        own = peer == "owalnuts"  # whose columns are numbers already
        out = {name: values(name).tolist() if own else column(values, name) for name in sys.argv[5:]}
    json.dump({"seconds": spent, "gradients": gradients, "columns": out}, sys.stdout)


main()
