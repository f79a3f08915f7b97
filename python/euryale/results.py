# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0

"""What commands return: fits with their parameters, posteriors with their draws, and the verdicts of both."""

from __future__ import annotations

import csv
import html
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    import arviz
    import pandas
    import xarray


class Result:
    """The result of a command.

    Attributes
    ----------
    document : dict or None
        The JSON document that the command prints, described in the page on the command line.
    text : str
        All that it printed, for commands without a document.
    notes : list of str
        What it said while it worked.
    folder : pathlib.Path or None
        Folder with the results. Without the keyword ``out`` it is a temporary one, which `save` keeps.
    arguments : list of str
        The command line, without the program and ``--json``.
    """

    keeps: ClassVar[bool] = False

    def __init__(self, document: Any, text: str, notes: list[str], folder: Path | None, arguments: Sequence[str]):
        self.document, self.text, self.notes, self.folder, self.arguments = document, text, notes, folder, list(arguments)

    def __getitem__(self, key: str) -> Any:
        """A part of the document."""
        return self.document[key]

    @property
    def report(self) -> Path | None:
        """The page with pictures, if the command wrote one."""
        page = self.folder / "report.html" if self.folder else None
        return page if page and page.exists() else None

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """The verdict about each model: ``ok``, ``word``, ``summary``, ``p``, ``flags`` and more."""
        return list(_checks(self.document))

    @property
    def ok(self) -> bool:
        """True if every optimiser and all chains did their work, and no model disagrees with its data."""
        return all(v["ok"] for v in self.verdicts) and all(_converged(self.document))

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Copy the folder of the results to a new place, and return that."""
        import shutil

        if self.folder is None:
            raise ValueError("the command wrote no folder: give the keyword out")
        return Path(shutil.copytree(self.folder, folder))

    def show(self, height: int = 600) -> Any:
        """The page of the results, within a notebook."""
        from IPython.display import HTML

        if self.report is None:
            raise ValueError("there is no page: give the keyword out, and not no_report")
        page = html.escape(self.report.read_text(encoding="utf-8"), quote=True)
        return HTML(f'<iframe srcdoc="{page}" width="100%" height="{height}" style="border: 0"></iframe>')

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} of {' '.join(self.arguments[:2])}"]
        lines += [v["line"] for v in self.verdicts[:3]]
        if len(self.verdicts) > 3:
            lines.append(f"and {len(self.verdicts) - 3} more verdicts")
        return "\n".join(lines)


class Run(Result):
    """The result of a command that keeps its work in a folder."""

    keeps = True


class Fit(Result):
    """Fits by least squares, one or many."""

    _columns: dict[str, np.ndarray] | None = None

    def table(self) -> dict[str, np.ndarray]:
        """The columns of the table that ``out="FILE.csv"`` writes: a row for each parameter of a formula, else for each fit.

        Names of columns are those of the table without their units, which are in `units`.
        """
        if self._columns is None:
            from .program import path

            with tempfile.TemporaryDirectory() as folder:
                document, table = Path(folder, "fit.json"), Path(folder, "fits.csv")
                document.write_text(json.dumps(self.document), encoding="utf-8")
                done = subprocess.run([str(path()), "convert", str(document), str(table)], capture_output=True, text=True, encoding="utf-8")
                if done.returncode != 0:
                    raise ValueError(done.stderr.removeprefix("Error: ").strip())
                with open(table, newline="", encoding="utf-8") as f:
                    names, *rows = list(csv.reader(f))
            self._columns = {name.split(" (")[0]: _column([row[i] for row in rows]) for i, name in enumerate(names)}
        return self._columns

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a DataFrame."""
        import pandas

        return pandas.DataFrame(self.table())

    @property
    def units(self) -> dict[str, str]:
        """Units of parameters and columns."""
        return dict(self.document.get("units") or {})

    @property
    def x(self) -> dict[str, Any]:
        """Parameters: a number each, or an array of all fits."""
        return self._each("value", "")

    @property
    def sd(self) -> dict[str, Any]:
        """Standard errors of the parameters."""
        return self._each("sd", "_sd")

    def _each(self, column: str, ending: str) -> dict[str, Any]:
        table = self.table()
        if "parameter" in table:
            names = list(dict.fromkeys(table["parameter"].tolist()))
            of = {name: table[column][table["parameter"] == name] for name in names}
            return {name: float(v[0]) if len(v) == 1 else v for name, v in of.items()}
        return {n.removesuffix("_sd"): table[n.removesuffix("_sd") + ending] for n in table if n.endswith("_sd")}


class Posterior(Run):
    """Draws from a posterior, with their diagnostics."""

    def draws(self) -> dict[str, np.ndarray]:
        """Arrays of shape (chains, draws) by the names of the parameters; elements of vectors are called as in ``theta.1``."""
        chains = []
        for file in sorted(self._folder.glob("chain-*.csv"), key=lambda f: int(f.stem.split("-")[1])):
            with open(file, encoding="utf-8") as f:
                lines = [line for line in f if not line.startswith("#")]
            names = lines[0].strip().split(",")
            chains.append(np.loadtxt(lines[1:], delimiter=",", ndmin=2))
        if not chains:
            raise ValueError(f"{self._folder} holds no chains")
        least = min(len(c) for c in chains)
        all_draws = np.stack([c[:least] for c in chains])
        return {name: all_draws[:, :, i] for i, name in enumerate(names) if not name.endswith("__")}

    def to_xarray(self) -> xarray.DataTree:
        """All groups of the run as ArviZ names them: posterior, sample_stats, log_likelihood and the data. Needs xarray and zarr."""
        import xarray

        return xarray.open_datatree(self._folder / "draws.zarr", engine="zarr").load()

    def to_arviz(self) -> arviz.InferenceData:
        """The run as ArviZ takes it: an InferenceData, or from ArviZ 1 on a tree of xarray. Needs arviz, xarray and zarr."""
        import arviz

        kind = getattr(arviz, "InferenceData", None)
        tree: Any = self.to_xarray()
        return kind.from_datatree(tree) if kind else tree

    @property
    def summary(self) -> dict[str, dict[str, float]]:
        """Means, standard deviations, intervals, effective sample sizes and R-hat by parameter; those that do not exist are NaN."""
        return {name: {k: np.nan if v is None else float(v) for k, v in s.items()} for name, s in self.document["summary"].items()}  # null, or "NaN"

    @property
    def _folder(self) -> Path:
        if self.folder is None:
            raise ValueError("the run has no folder")
        if not list(self.folder.glob("chain-*.csv")):
            folders = [f for f in sorted(self.folder.iterdir()) if (f / "draws.zarr").exists()]
            if folders:
                raise ValueError(f"there are {len(folders)} posteriors, each in a folder of its own: give one bin, or open one of {[f.name for f in folders]}")
        return self.folder

    def __repr__(self) -> str:
        lines = [super().__repr__(), f"{'':12} {'mean':>11} {'sd':>10} {'ess_bulk':>9} {'r_hat':>6}"]
        for name, s in list(self.summary.items())[:20]:
            lines.append(f"{name:12} {s['mean']:11.4g} {s['sd']:10.2g} {s['ess_bulk']:9.0f} {s['r_hat']:6.3f}")
        return "\n".join(lines)


def open_run(folder: str | os.PathLike[str]) -> Posterior:
    """The posterior in a run folder of the program, however it was made."""
    folder = Path(folder)
    file = folder / "summary.json"
    if not file.exists():
        raise FileNotFoundError(f"{folder} has no summary.json: give the folder of a finished run")
    return Posterior(json.loads(file.read_text(encoding="utf-8")), "", [], folder, ["open", str(folder)])


def _checks(document: Any) -> Any:
    """All verdicts within a document."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key == "model_check" and isinstance(value, dict):
                yield value
            elif key != "attempts":
                yield from _checks(value)
    elif isinstance(document, list):
        for value in document:
            yield from _checks(value)


def _converged(document: Any) -> Any:
    """Whether each optimiser and each set of chains did its work."""
    if isinstance(document, dict):
        if isinstance(document.get("status"), str):
            yield document["status"] == "converged"
        if isinstance(document.get("diagnostics"), dict) and "ok" in document["diagnostics"]:
            yield bool(document["diagnostics"]["ok"])
        for key, value in document.items():
            if key not in ("model_check", "diagnostics"):
                yield from _converged(value)
    elif isinstance(document, list):
        for value in document:
            yield from _converged(value)


def _column(cells: list[str]) -> np.ndarray:
    """Numbers where all cells are numbers or empty, else texts."""
    try:
        return np.array([float(c) if c else np.nan for c in cells]) if any(cells) else np.array(cells)
    except ValueError:
        return np.array(cells)
