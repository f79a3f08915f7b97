#!/usr/bin/env python3
"""FitBenchmarking with Euryale among its software.

    EURYALE=./euryale python scripts/peers/fitbenchmarking_euryale.py -s euryale scipy_ls -p NIST/high_difficulty CUTEst

takes the arguments of the command fitbenchmarking. Each fit is a process of `euryale fit nlsq`, which
gets the formula, the data and the start as a problem file and answers with a JSON document; run times
therefore hold the start of a process and the reading of the problem. Problems whose formula
FitBenchmarking does not tell, which are those of other formats than NIST's, are refused.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from fitbenchmarking.controllers.base_controller import Controller
from fitbenchmarking.utils.exceptions import IncompatibleProblemError
from fitbenchmarking.utils.options import Options

METHODS = ["lm", "trf", "dogbox"]
FLAGS = {"converged": 0, "max_evaluations": 1}


class EuryaleController(Controller):
    """Runs `euryale fit nlsq` on problems that have a formula."""

    controller_name = "euryale"
    algorithm_check = {
        **{name: [] for name in Controller.algorithm_check},
        "all": METHODS,
        "ls": METHODS,
        "trust_region": METHODS,
        "levenberg-marquardt": ["lm"],
    }
    support_for_bounds = True

    def __init__(self, cost_func):
        super().__init__(cost_func)
        if not isinstance(self.problem.equation, str) or self.problem.format != "nist":
            raise IncompatibleProblemError(f"{self.problem.name} has no formula that euryale could read")
        if type(cost_func).__name__ not in ("NLLSCostFunc", "WeightedNLLSCostFunc"):
            raise IncompatibleProblemError("euryale fit nlsq minimises sums of squares: choose nlls or weighted_nlls")
        self.document = None
        self.answer = None

    def setup(self):
        data = {"x": self.data_x.tolist(), "y": self.data_y.tolist()}
        start = dict(zip(self.par_names, self.initial_params))
        self.document = {"expr": self.problem.equation, "y": "y", "data": data, "start": start, "method": self.minimizer}
        if type(self.cost_func).__name__ == "WeightedNLLSCostFunc":
            data["e"] = self.data_e.tolist()
            self.document["sigma"] = "e"
        if self.value_ranges is not None:
            ends = [[v if np.isfinite(v) else None for v in ends] for ends in self.value_ranges]
            self.document["bounds"] = dict(zip(self.par_names, ends))

    def fit(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
            json.dump(self.document, f)
        command = [os.environ.get("EURYALE", "euryale"), "fit", "nlsq", f.name, "--json", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        os.unlink(f.name)
        if not done.stdout:
            raise RuntimeError(done.stderr)
        self.answer = json.loads(done.stdout)

    def cleanup(self):
        self.flag = FLAGS.get(self.answer["status"], 2)
        self.func_evals = self.answer["nfev"]
        self.iteration_count = self.answer["njev"]
        self.final_params = np.array([float(self.answer["x"][name]) for name in self.par_names])


def register():
    """Makes FitBenchmarking find the controller and offer it as a choice of -s."""
    sys.modules["fitbenchmarking.controllers.euryale_controller"] = sys.modules[__name__]
    Options.VALID_FITTING["software"].append("euryale")
    Options.VALID_MINIMIZERS["euryale"] = METHODS
    Options.DEFAULT_MINIMZERS["euryale"] = METHODS


if __name__ == "__main__":
    from fitbenchmarking.cli.main import main

    register()
    main()
