# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0

"""Tests of the package: python -m unittest discover -s python/tests, with EURYALE set to the program or the package installed."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import euryale
from euryale import program


def decay(seed=1, sd=0.05):
    t = np.linspace(0, 5, 40)
    return {"t": t, "y": 3 * np.exp(-t / 2) + 0.5 + np.random.default_rng(seed).normal(0, sd, t.size)}


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(folder.name)

    def by_command(self, *arguments):
        """The document of a command line."""
        done = subprocess.run([str(program.path()), *arguments, "--json", "--quiet"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


class Fits(InFolder):
    def test_a_curve(self):
        fit = euryale.fit_curve(decay(), "a*exp(-t/tau) + c", sigma=0.05, quiet=True)
        self.assertTrue(fit.ok)
        self.assertLess(abs(fit.x["tau"] - 2), 4 * fit.sd["tau"])
        self.assertIn("agrees", repr(fit))
        self.assertEqual(fit.verdicts[0]["word"], "agrees")
        self.assertIsNone(fit.report)

    def test_values_that_are_masked_are_not_used(self):
        table = decay()
        hidden = np.ma.array(table["y"], mask=np.arange(40) == 5)
        together = np.ma.array(np.rec.fromarrays([table["t"], table["y"]], names="t,y"), mask=np.arange(40) == 5)
        for data in ({**table, "y": hidden}, together):
            with self.assertRaisesRegex(euryale.DataError, "NaN in row 6"):
                euryale.fit_curve(data, "a*exp(-t/tau) + c", y="y", sigma=0.05, quiet=True)
        with self.assertRaisesRegex(euryale.DataError, "observation 2 of y is NaN"):
            model = "data { vector[3] y; }\nparameters { real mu; }\nmodel { y ~ normal(mu, 1); }\n"
            euryale.sample_stan(model, data={"y": np.ma.array([1.0, 2, 3], mask=[0, 1, 0])}, quiet=True)
        self.assertEqual(program.unmasked(np.ma.array([1, 2], mask=[0, 1])).tolist()[0], 1.0)
        self.assertEqual(program.unmasked(np.ma.array(["a", "b"], mask=[0, 1])).tolist(), ["a", ""])

    def test_durations_are_no_numbers(self):
        table = decay()
        table["t"] = (table["t"] * 1e9).astype("timedelta64[ns]")
        with self.assertRaisesRegex(euryale.DataError, "nanoseconds"):
            euryale.fit_curve(table, "a*exp(-t/tau) + c", y="y", sigma=0.05, quiet=True)
        with self.assertRaisesRegex(TypeError, "divide by np.timedelta64"):
            euryale.fit_nlsq({"expr": "a*t", "y": "y", "data": table, "start": {"a": 1}}, quiet=True)

    def test_an_index_is_a_column(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("lacks pandas")
        frame = pandas.DataFrame(decay()).set_index("t")
        self.assertTrue(euryale.fit_curve(frame, "a*exp(-t/tau) + c", sigma=0.05, quiet=True).ok)
        self.assertIn('"y": [1.0, 2.0]', Path(program.Files(Path("."), "sample stan").name({"y": pandas.Series([1.0, 2])}, True)).read_text())

    def test_values_of_numpy_and_a_minus(self):
        fit = euryale.fit_curve(
            decay(), "-a*exp(-t/tau) + c", sigma=0.05, start={"a": np.array(-2.0)}, bounds={"tau": np.array([0.5, 9])}, quiet=True
        )
        self.assertLess(abs(fit.x["a"] + 3), 0.2)
        self.assertEqual(program.Files(Path("."), "fit spectra").flag("targetid", np.array([1, 2])), ["--targetid=1,2"])

    def test_a_folder_within_another(self):
        os.mkdir("sub")
        fit = euryale.fit_curve(decay(), "a*exp(-t/tau) + c", sigma=0.05, quiet=True, out="fit", cwd="sub")
        os.chdir("sub")
        self.assertIsNotNone(fit.report)

    def test_settings_with_names(self):
        fit = euryale.fit_curve(decay(), "a*exp(-t/tau) + c", sigma=0.05, fixed={"c": 0.5}, bounds={"tau": (0, None)}, start={"a": 3.0, "tau": 1}, quiet=True)
        self.assertEqual(fit.document["x"].get("c", 0.5), 0.5)
        self.assertLess(abs(fit.x["tau"] - 2), 0.3)

    def test_a_wrong_model_disagrees(self):
        data = decay(sd=0.01)
        fit = euryale.fit_curve(data, "a + b*t", sigma=0.01, quiet=True)
        self.assertFalse(fit.ok)
        with self.assertRaises(euryale.Disagreement):
            euryale.fit_curve(data, "a + b*t", sigma=0.01, strict=True, quiet=True)

    def test_a_folder_with_a_report(self):
        fit = euryale.fit_curve(decay(), "a*exp(-t/tau) + c", sigma=0.05, out="fit", quiet=True)
        self.assertTrue(fit.report.exists())
        self.assertTrue((fit.save("copy") / "fit.json").exists())

    def test_correlations_as_the_command(self):
        euryale.demo_g2(out="demo", quiet=True)
        fit = euryale.fit_g2("demo/g2_result.hdf", bins=[1, 3], quiet=True)
        self.assertEqual(fit.document, self.by_command("fit", "g2", "demo/g2_result.hdf", "--bins", "1,3"))
        self.assertEqual(fit.x["tau"].shape, (2,))
        self.assertEqual(fit.units["tau"], "s")

    def test_correlations_as_arrays(self):
        tau = np.geomspace(1e-4, 1, 50)
        g2 = 1 + 0.2 * np.exp(-2 * tau / 0.02) + np.random.default_rng(2).normal(0, 0.003, tau.size)
        fit = euryale.fit_g2({"tau": tau, "g2": g2, "g2_err": np.full(tau.size, 0.003)}, quiet=True)
        self.assertLess(abs(fit.x["tau"][0] - 0.02), 4 * fit.sd["tau"][0])

    def test_a_problem(self):
        data = decay()
        problem = {"expr": "a*exp(-t/tau) + c", "data": {**data, "s": np.full(40, 0.05)}, "y": "y", "sigma": "s", "start": {"a": 1, "tau": 1, "c": 0}}
        self.assertTrue(euryale.fit_nlsq(problem, quiet=True).ok)


class Posteriors(InFolder):
    def test_a_curve(self):
        posterior = euryale.sample_curve(decay(), "a*exp(-t/tau) + c", sigma=0.05, seed=1, quiet=True, no_report=True)
        draws = posterior.draws()
        self.assertEqual(draws["tau"].shape, (4, 1000))
        self.assertAlmostEqual(draws["tau"].mean(), posterior.summary["tau"]["mean"], 9)
        self.assertTrue(posterior.ok)
        self.assertIn("r_hat", repr(posterior))
        again = euryale.sample_curve(decay(), "a*exp(-t/tau) + c", sigma=0.05, seed=1, quiet=True, no_report=True, out="again")
        np.testing.assert_array_equal(again.draws()["tau"], draws["tau"])
        np.testing.assert_array_equal(euryale.open_run("again").draws()["tau"], draws["tau"])

    def test_trees_of_xarray(self):
        try:
            import xarray  # noqa: F401
            import zarr  # noqa: F401
        except ImportError:
            self.skipTest("lacks xarray and zarr")
        posterior = euryale.sample_curve(decay(), "a*exp(-t/tau) + c", sigma=0.05, seed=1, quiet=True, no_report=True)
        tree = posterior.to_xarray()
        np.testing.assert_array_equal(tree["posterior"]["tau"].values, posterior.draws()["tau"])
        try:
            import arviz  # noqa: F401
        except ImportError:
            return
        data, want = posterior.to_arviz(), tree["posterior"]["tau"].values
        del posterior, tree
        np.testing.assert_array_equal(data["posterior"]["tau"].values, want)

    def test_a_deviation_that_is_infinite(self):
        model = "parameters { real<lower=0> w; }\nmodel { w ~ inv_gamma(1.5, 2); }\n"
        posterior = euryale.sample_stan(model, quiet=True, no_report=True, seed=2)
        self.assertTrue(np.isnan(posterior.summary["w"]["sd"]))
        posterior.document["summary"]["w"]["mean"] = None
        self.assertTrue(np.isnan(posterior.summary["w"]["mean"]))
        self.assertIn("nan", repr(posterior))

    def test_a_stan_program(self):
        model = "data { int n; vector[n] y; }\nparameters { real mu; }\nmodel { y ~ normal(mu, 1); }\n"
        posterior = euryale.sample_stan(model, data={"n": 3, "y": np.array([1.0, 2, 3])}, quiet=True, no_report=True, seed=2)
        self.assertLess(abs(posterior.draws()["mu"].mean() - 2), 0.1)

    @unittest.skipIf(os.name == "nt", "signals of this kind are those of Unix")
    def test_an_interrupt_keeps_the_draws(self):
        def interrupt():
            while not Path("run/checkpoint").exists():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        long = {"sigma": 0.05, "seed": 1, "quiet": True, "no_report": True, "draws": 200000, "out": "run", "checkpoint": "100ms"}
        with self.assertRaises(euryale.Interrupted) as caught:
            euryale.sample_curve(decay(), "a*exp(-t/tau) + c", **long)
        self.assertIn("resume", str(caught.exception))


class Simulations(InFolder):
    def test_assemblies(self):
        script = {"p": 0.05, "stimuli": {"S": 50}, "areas": {"A": {"n": 1000, "k": 50}}, "run": [{"form": "A", "stimulus": "S"}]}
        run = euryale.sim_assembly(script, quiet=True)
        self.assertEqual(run["areas"][0]["fired"], 50)
        self.assertTrue((run.folder / "trace.csv").exists())

    def test_a_morphology(self):
        try:
            import h5py  # noqa: F401
            import xarray  # noqa: F401
        except ImportError:
            self.skipTest("lacks h5py and xarray")
        from euryale.nrss import Material, Morphology, OpticalConstants

        _z, y, x = np.mgrid[0:4, 0:32, 0:32]
        ball = ((y - 16) ** 2 + (x - 16) ** 2 < 64).astype(float)
        energies = [284.7, 270.0]
        carbon = OpticalConstants.calc_constants(
            energies, {"Energy": [260, 300], "DeltaPara": [1e-3, 2e-3], "BetaPara": [1e-4, 3e-4], "DeltaPerp": [1e-3, 2e-3], "BetaPerp": [1e-4, 2e-4]}
        )
        film = Morphology(
            2,
            {1: Material(1, ball, S=0.5 * ball, theta=np.pi / 2, psi=0.3, opt_constants=carbon), 2: Material(2, 1 - ball, name="vacuum")},
            PhysSize=2.0,
            config={"Energies": energies, "EAngleRotation": [0.0, 30.0, 150.0]},
        )
        patterns = film.run(stdout=False, stderr=False, precision=64, folder="kept")
        self.assertEqual(patterns.dims, ("energy", "qy", "qx"))
        self.assertEqual(patterns.energy.values.tolist(), energies)
        self.assertGreater(float(patterns.sel(energy=284.7).max()), float(patterns.sel(energy=270.0).max()))
        np.testing.assert_allclose(patterns.qx.values[16], 0, atol=1e-12)
        again = Morphology.load_morph_hdf5("kept/morphology.h5")
        np.testing.assert_array_equal(again.materials[1].psi, film.materials[1].psi)
        self.assertEqual(OpticalConstants.load_matfile("kept/Material1.txt").opt_constants, carbon.opt_constants)
        with self.assertRaisesRegex(ValueError, "sum to 2"):
            Morphology(2, {1: film.materials[1], 2: Material(2, np.ones((4, 32, 32)), name="vacuum")}, PhysSize=2.0).validate_all()
        with self.assertRaisesRegex(ValueError, "outside"):
            OpticalConstants.calc_constants([310], {"Energy": [260, 300], "DeltaPara": [0, 0], "BetaPara": [0, 0], "DeltaPerp": [0, 0], "BetaPerp": [0, 0]})


class Errors(InFolder):
    def test_exceptions(self):
        for error, call in {
            euryale.MissingFile: lambda: euryale.fit_curve("none.csv", "a*x"),
            euryale.UsageError: lambda: euryale.fit_curve(decay(), "a*exp("),
            TypeError: lambda: euryale.fit_curve(decay(), "a*t", colour="red"),
            ValueError: lambda: euryale.fit_curve({"t": [1, 2], "y": [1, 2, 3]}, "a*t"),
        }.items():
            with self.subTest(error.__name__), self.assertRaises(error):
                call()
        with self.assertRaises(FileNotFoundError) as caught:
            euryale.fit_g2("none.hdf")
        self.assertEqual(caught.exception.code, 66)
        self.assertIn("none.hdf", str(caught.exception))

    def test_a_program_that_is_missing(self):
        with mock.patch.dict(os.environ, {"EURYALE": "/none/euryale"}), self.assertRaisesRegex(FileNotFoundError, "variable EURYALE is /none/euryale"):
            euryale.version()

    def test_nothing_is_left_behind(self):
        with mock.patch.object(tempfile, "tempdir", os.getcwd()), self.assertRaises(ValueError):
            euryale.fit_curve({"t": [1, 2], "y": [1, 2, 3]}, "a*t")
        self.assertEqual(os.listdir(), [])

    def test_the_command(self):
        done = subprocess.run(
            [sys.executable, "-m", "euryale", "--version"],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(euryale.__file__).parents[1])},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("euryale", done.stdout)


if __name__ == "__main__":
    unittest.main()
