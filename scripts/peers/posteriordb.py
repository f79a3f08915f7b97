"""Samples a posterior of posteriordb by a peer, with the gradients of stanli, for BenchmarkPeerSamplersOfPosteriorDB of models/stan.

    posteriordb.py PEER PROGRAM.stan DATA.json SEED COLUMN... < /dev/null

PEER is stanli (Stan's sampler), nutpie (diagonal metric) or nutpie-lowrank; each with 4 chains, its own warm-up and 1000 draws. It prints a JSON
document: processor seconds of the sampling, gradients with those of the warm-up, and the named columns, [chain][draw].

Needs pip install stanli nutpie bridgestan stanio.
"""
import contextlib
import json
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


def main():
    peer, program, data, seed = sys.argv[1:5]
    with contextlib.redirect_stdout(sys.stderr):
        if peer == "stanli":
            spent, gradients, values = by_stanli(program, data, int(seed))
        else:
            spent, gradients, values = by_nutpie(program, data, int(seed), peer == "nutpie-lowrank")
    json.dump({"seconds": spent, "gradients": gradients, "columns": {name: column(values, name) for name in sys.argv[5:]}}, sys.stdout)


main()
