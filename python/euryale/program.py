# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0

"""Runs the program: Python values become its arguments and files, its exit codes exceptions."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Union

import numpy as np

from .results import Result

Text = Union[str, "os.PathLike[str]"]
"""A text, or the name of a file."""

Data = Union[str, "os.PathLike[str]", Mapping[str, Any], "np.ndarray", Any]
"""A file by its name; or a mapping of names to arrays, a pandas DataFrame or an xarray Dataset, which become a table;
or, where a command takes JSON or YAML, a mapping, which becomes that."""


class Common(TypedDict, total=False):
    """Keywords of all commands."""

    out: Text | None
    """Folder for the results; a temporary one that lives as long as the result otherwise."""
    overwrite: bool
    """Replace the results in that folder."""
    resume: Text | None
    """Run folder of an interrupted run, which goes on with the same draws."""
    seed: int | None
    """Seed of all random numbers."""
    threads: int | None
    """Largest number of threads; one per processor otherwise."""
    device: str | None
    """auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all."""
    precision: int | None
    """Bits of floating-point numbers, 32 or 64."""
    strict: bool
    """Raise `Disagreement` if a model disagrees with its data, or a fit or chains did not converge."""
    verbose: bool
    """All findings of verdicts, not only one line."""
    quiet: bool
    """Show no progress and no notes."""
    cwd: Text | None
    """Folder to run in, which relative names in files refer to; the working directory otherwise."""


class EuryaleError(Exception):
    """The program ended with an error.

    Attributes
    ----------
    code : int
        Its exit code.
    command : list of str
        Its command line.
    """

    def __init__(self, text: str, code: int, command: Sequence[str]):
        super().__init__(text)
        self.code, self.command = code, list(command)


class UsageError(EuryaleError, TypeError):
    """Arguments or keywords that the command does not take."""


class DataError(EuryaleError, ValueError):
    """A file or an array with content that cannot be used."""


class MissingFile(EuryaleError, FileNotFoundError):
    """A file that does not exist or cannot be read."""


class NoDevice(EuryaleError, RuntimeError):
    """A device that is not available, is lost or is out of memory."""


class Bug(EuryaleError, RuntimeError):
    """A bug in Euryale, or in a part that was added to it."""


class CannotWrite(EuryaleError, OSError):
    """Results that could not be written."""


class ConfigError(EuryaleError, ValueError):
    """A configuration or a problem with settings that cannot be used."""


class Disagreement(EuryaleError, RuntimeError):
    """What the keyword ``strict`` asks for: a model that disagrees with its data, or what did not converge; also any other failure."""


class Interrupted(EuryaleError, KeyboardInterrupt):
    """The run was interrupted. Its folder, where it has one, goes on with the keyword ``resume``."""


_errors: dict[int, type[EuryaleError]] = {
    1: Disagreement, 64: UsageError, 65: DataError, 66: MissingFile, 69: NoDevice, 70: Bug, 73: CannotWrite, 78: ConfigError, 130: Interrupted,
}  # fmt: skip


def path() -> Path:
    """The program: that of the environment variable EURYALE, or of this package, or the one that the shell finds."""
    name = "euryale.exe" if os.name == "nt" else "euryale"
    own = Path(__file__).parent / "bin" / name
    if given := os.environ.get("EURYALE"):
        if not shutil.which(given):
            raise FileNotFoundError(f"the environment variable EURYALE is {given}, which is no program: set it to the path of euryale, or unset it")
        return Path(given)
    if own.exists():
        return own
    found = shutil.which("euryale")
    if found and Path(found).parent != Path(sysconfig.get_path("scripts")):  # that one would call this package
        return Path(found)
    raise FileNotFoundError(f"the program is not at {own}: install a package that was built for this system, or set EURYALE to its path")


def main() -> int:
    """The command ``euryale`` of a shell."""
    program = str(path())
    if os.name != "nt":
        os.execv(program, [program, *sys.argv[1:]])
    try:
        return subprocess.call([program, *sys.argv[1:]])
    except KeyboardInterrupt:  # the program has had it, too
        return 130


def help(command: str = "") -> None:
    """Print the help of a command, such as ``help("fit g2")``."""
    done = subprocess.run([str(path()), *command.split(), "--help"], capture_output=True, text=True, encoding="utf-8")
    print(done.stdout or done.stderr)


def version() -> str:
    """The version of the program."""
    return subprocess.run([str(path()), "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]


R = TypeVar("R", bound=Result)


def call(kind: type[R], command: str, places: Sequence[str], given: Mapping[str, Any]) -> R:
    """Run a command with the values of its places and keywords, and return its result.

    Values that are mappings, arrays or tables are written to files in a temporary folder, which lives as long as the result.
    """
    flags = {name: value for name, value in given.items() if name not in places}
    common = dict(flags.pop("common"))
    if unknown := set(common) - set(Common.__annotations__):
        raise TypeError(f"{command} has no keyword {', '.join(sorted(unknown))}: euryale.help({command!r}) lists them")
    temporary = Path(tempfile.mkdtemp(prefix="euryale-"))
    try:
        result = run(kind, command, [given[name] for name in places if given[name] is not None], flags, common, temporary)
    except Interrupted:  # whose draws are kept
        raise
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    weakref.finalize(result, shutil.rmtree, temporary, ignore_errors=True)
    return result


def run(kind: type[R], command: str, values: Sequence[Any], flags: Mapping[str, Any], common: dict[str, Any], temporary: Path) -> R:
    """Run a command with the values of its places, its flags and the keywords of all commands, and files in a temporary folder."""
    files = Files(temporary, command)
    names = [files.name(v) for value in values for v in several(value)]
    if any(n.startswith("-") and n != "-" for n in names):  # a formula, say, which is no flag
        names.insert(0, "--")
    cwd = common.pop("cwd", None)
    if common.get("out") is None and not common.get("resume") and kind.keeps:
        common["out"] = temporary / "run"
    arguments = command.split()
    for name, value in [*flags.items(), *common.items()]:
        arguments += files.flag(name.rstrip("_").replace("_", "-"), value)
    text, notes = execute(arguments + names, cwd=cwd, quiet=bool(common.get("quiet")))
    document = json.loads(text) if text.lstrip().startswith(("{", "[")) else None
    folder = common.get("out") or common.get("resume")
    return kind(document, text, notes, Path(os.path.abspath(Path(cwd or "", folder))) if folder else None, arguments + names)


def execute(arguments: Sequence[str], cwd: Text | None = None, quiet: bool = False) -> tuple[str, list[str]]:
    """Run the program with ``--json`` and return its output and its notes, which are shown as they come unless quiet."""
    line = [str(path()), "--json", *arguments]
    out: list[str] = []
    notes: list[str] = []

    def listen(lines: Iterable[str]) -> None:
        for note in lines:
            notes.append(note.rstrip("\n"))
            if not quiet and not any(n.startswith("Error:") for n in notes[-4:]):  # errors become exceptions
                sys.stderr.write(note)

    with _Interrupts() as interrupts:
        child = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, text=True, encoding="utf-8", errors="replace", **_apart)
        assert child.stdout and child.stderr
        readers = [threading.Thread(target=listen, args=(child.stderr,)), threading.Thread(target=lambda s: out.append(s.read()), args=(child.stdout,))]
        for r in readers:
            r.start()
        code = interrupts.wait(child)
        for r in readers:
            r.join()
        child.stdout.close()
        child.stderr.close()
    if code != 0 or interrupts.count:
        at = next((i for i, n in enumerate(notes) if n.startswith("Error:")), None)
        text = "\n".join(notes[-3:] if at is None else [notes[at].removeprefix("Error: "), *notes[at + 1 :]])
        raise _errors.get(code, Interrupted if interrupts.count else EuryaleError)(text or f"the program ended with {code}", code, line)
    return "".join(out), notes


_apart: dict[str, Any] = {"start_new_session": True} if os.name != "nt" else {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
"""The program gets Ctrl-C from this package alone, once, although a shell sends it to all processes."""


class _Interrupts:
    """While it is open, Ctrl-C asks the program to save what it has and end, and a second one ends it at once."""

    def __init__(self) -> None:
        self.count, self.sent = 0, 0

    def __enter__(self) -> _Interrupts:
        self.main = threading.current_thread() is threading.main_thread()  # others get no signals
        if self.main:
            self.before = signal.signal(signal.SIGINT, self._count)
        return self

    def _count(self, *_: Any) -> None:
        self.count += 1

    def wait(self, child: subprocess.Popen[str]) -> int:
        """Wait for the program, pass interrupts on, and return its exit code."""
        while True:
            if self.count > self.sent:
                self.sent = self.count
                if self.sent > 1:
                    child.kill()
                else:
                    child.send_signal(signal.SIGINT if os.name != "nt" else signal.CTRL_BREAK_EVENT)  # type: ignore[attr-defined]
            try:
                return child.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                pass

    def __exit__(self, *_: Any) -> None:
        if self.main:
            signal.signal(signal.SIGINT, self.before)


def several(value: Any) -> list[Any]:
    """A list of what may be one value or a sequence of them."""
    if isinstance(value, (str, os.PathLike, Mapping, np.ndarray)) or hasattr(value, "columns") or hasattr(value, "data_vars"):
        return [value]
    if isinstance(value, (Sequence, set, tuple)):
        return list(value)
    return [value]


class Files:
    """Files that the arguments of one call are written to."""

    def __init__(self, folder: Path, command: str):
        self.folder, self.command, self.count = folder, command, 0

    def new(self, ending: str) -> Path:
        self.count += 1
        return self.folder / f"argument{self.count}{ending}"

    def flag(self, name: str, value: Any) -> list[str]:
        """The arguments of a flag."""
        if value is None or value is False:
            return []
        if value is True:
            return [f"--{name}"]
        if getattr(value, "ndim", 2) < 2 and not getattr(value.dtype, "names", None):  # an array or a Series of values
            value = np.asarray(value).tolist()
        if isinstance(value, Mapping) and name not in documents:
            return [f"--{name}={key}={pair(v)}" for key, v in value.items()]
        from .commands import REPEATED  # which imports this module

        values = [self.name(v, name in documents) for v in several(value)]
        if name not in REPEATED:
            values = [",".join(values)]
        return [f"--{name}={v}" for v in values]

    def name(self, value: Any, document: bool | None = None) -> str:
        """The text of an argument, or the name of the file that it becomes."""
        if isinstance(value, (str, os.PathLike)):
            text = os.fspath(value)
            if "\n" in text and self.command.endswith("stan"):
                return self.write(".stan", text)
            return text
        if isinstance(value, (bool, np.bool_)):
            return str(bool(value)).lower()
        if isinstance(value, (int, float, np.number)):
            return number(value)
        if document or (document is None and self.command in problems):
            ending = ".yaml" if self.command in ("sim assembly", "batch") else ".json"
            try:
                return self.write(ending, json.dumps(self.plain(value), allow_nan=self.command.endswith("stan")))
            except ValueError as e:
                raise ValueError(f"{self.command} takes finite numbers, and these have NaN or an infinite one: leave them out ({e})") from e
        return self.table(value)

    def write(self, ending: str, text: str) -> str:
        file = self.new(ending)
        file.write_text(text, encoding="utf-8")
        return str(file)

    def plain(self, value: Any, key: str = "") -> Any:
        """What JSON can hold: arrays become lists, and images a file beside the problem."""
        if hasattr(value, "columns"):
            return {str(c): self.plain(value[c].to_numpy()) for c in value.columns}
        if isinstance(value, Mapping):
            return {str(k): self.plain(v, str(k)) for k, v in value.items()}
        if hasattr(value, "to_numpy"):  # a Series, or an array of xarray
            value = value.to_numpy()
        if isinstance(value, np.ndarray):
            value = unmasked(value)
            if value.dtype.kind in "mM":
                raise TypeError(f"{key or self.command} holds {value.dtype}: subtract a start from dates, and divide by np.timedelta64(1, 's') for seconds")
            if self.command == "invert rsoxs" and value.ndim >= 2 and key in ("data", "masks", "mask", "support"):
                file = self.new(".npy")
                np.save(file, value)
                return file.name
            return value.tolist()
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, (list, tuple)):
            return [self.plain(v) for v in value]
        return value

    def table(self, value: Any) -> str:
        """A table of named columns as CSV, with all digits."""
        if hasattr(value, "to_dataframe"):  # xarray
            value = value.to_dataframe().reset_index()
        if hasattr(value, "reset_index") and all(n is not None and n not in value.columns for n in value.index.names):
            value = value.reset_index()
        if isinstance(value, np.ndarray) and value.dtype.names:
            value = {n: value[n] for n in value.dtype.names}
        if not isinstance(value, Mapping) and not hasattr(value, "columns"):
            raise TypeError(f"{self.command} takes the name of a file, or a table: a mapping of names to arrays or a DataFrame, not {type(value).__name__}")
        names = [str(n) for n in (value if isinstance(value, Mapping) else value.columns)]
        columns = [np.atleast_1d(unmasked(value[n])) for n in (value if isinstance(value, Mapping) else value.columns)]
        lengths = {n: len(c) for n, c in zip(names, columns)}
        if any(c.ndim != 1 for c in columns) or len(set(lengths.values())) != 1:
            raise ValueError(f"the columns of a table have one dimension and one length: { ({n: c.shape for n, c in zip(names, columns)}) }")
        file = self.new(".csv")
        with open(file, "w", newline="", encoding="utf-8") as f:
            writer = csv.writer(f)
            writer.writerow(names)
            writer.writerows(zip(*([number(v) for v in c] for c in columns)))
        return str(file)


documents = {"problem", "data", "init"}
"""Flags that take JSON."""

problems = {"invert rsoxs", "sample expr", "fit nlsq", "sample assembly", "sbc", "sim assembly", "train connectome", "batch"}
"""Commands that take a problem."""


def unmasked(value: Any) -> np.ndarray:
    """An array in which NaN, or an empty text, stands for what is masked."""
    if np.ma.is_masked(value):
        return value.astype(object).filled("") if value.dtype.kind in "SU" else value.astype(np.result_type(value.dtype, float) if value.dtype.kind in "biuf" else object).filled(np.nan)
    return np.asarray(value)


def number(value: Any) -> str:
    """A number or a text with all its digits; dates and durations are texts with their unit, so that nobody takes them for numbers."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    return repr(value) if isinstance(value, float) else str(value)


def pair(value: Any) -> str:
    """A value of a named setting: a number, a text, or the two ends of a range, of which None is open."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Sequence):
        return ":".join("" if v is None else number(v) for v in value)
    return number(value)
