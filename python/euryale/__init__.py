# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0

"""Fits and posteriors with exact gradients, by the program that this package brings along.

>>> import euryale, numpy as np
>>> t = np.linspace(0, 5, 40)
>>> fit = euryale.fit_curve({"t": t, "y": 3 * np.exp(-t / 2) + 0.5}, "a*exp(-t/tau) + c", sigma=0.05)
>>> fit.x["tau"]
2.0
"""

from . import nrss
from .commands import *
from .commands import __all__ as _commands
from .program import (
    Bug,
    CannotWrite,
    ConfigError,
    DataError,
    Disagreement,
    EuryaleError,
    Interrupted,
    MissingFile,
    NoDevice,
    UsageError,
    help,
    version,
)
from .results import Fit, Posterior, Result, Run, open_run

__all__ = [
    *_commands, "Bug", "CannotWrite", "ConfigError", "DataError", "Disagreement", "EuryaleError", "Fit", "Interrupted",
    "MissingFile", "NoDevice", "Posterior", "Result", "Run", "UsageError", "help", "nrss", "open_run", "version",
]  # fmt: skip
