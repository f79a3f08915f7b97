# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0

"""The blocks of README.md run, one after the other, with what a reader has at hand."""

import contextlib
import io
import os
import re
import tempfile
import unittest
from pathlib import Path

import numpy as np

import euryale
from euryale import nrss

SCHOOLS = """data { int<lower=0> J; vector[J] y; vector<lower=0>[J] sigma; }
parameters { real mu; real<lower=0> tau; vector[J] theta; }
model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, sigma); }
"""


class Readme(unittest.TestCase):
    def test_its_blocks_run(self):
        for module in ("xarray", "zarr", "h5py"):
            try:
                __import__(module)
            except ImportError:
                self.skipTest(f"lacks {module}")
        text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(blocks), 3)
        tau = np.logspace(-3, 1, 40)
        v = np.zeros((2, 16, 16))
        v[:, 4:12, 4:12] = 1
        constants = nrss.OpticalConstants([284.7, 285.2], {284.7: [-0.002, 0.003, -0.001, 0.002], 285.2: [0.0004, 0.005, -0.001, 0.002]})
        rest = nrss.Material(2, Vfrac=1 - v, S=0 * v, theta=0 * v, psi=0 * v, opt_constants=constants)
        own = [{}, {"tau": tau, "g2": 1 + 0.2 * np.exp(-4 * tau), "g2_err": np.full(40, 1e-3), "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]},
               {"v": v, "s": 0.5 * v, "theta": 0 * v, "psi": 0 * v, "constants": constants, "rest": rest}]
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            os.chdir(folder)
            try:
                Path("eight_schools.stan").write_text(SCHOOLS, encoding="utf-8")
                euryale.demo_g2(quiet=True, out="demo")
                os.replace("demo/g2_result.hdf", "A003_results.hdf")
                names = {}
                for block, more in zip(blocks, own):
                    names.update(more)
                    # Templates and the display of a notebook are the reader's own.
                    lines = [line for line in block.split("\n") if "fit_spectra" not in line and ".show()" not in line]
                    exec("\n".join(lines), names)
            finally:
                os.chdir(before)
        self.assertEqual(names["patterns"].shape, (2, 16, 16))


if __name__ == "__main__":
    unittest.main()
