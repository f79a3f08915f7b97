#!/usr/bin/env python3
"""Fetches small real files from the test data of public projects, for the slow test of package data.

    scripts/real_files.py fetch DIR     fetches the files of data/testdata/real_files.json by pinned commits, and compares their SHA-256
    scripts/real_files.py values DIR    writes checksums and values into that list, read from DIR by the projects' own libraries

The files stay those of their projects, under the licences that the list names, and are not part of this repository. git fetches one commit
of each, from GitHub or from the clones in the folder REAL_FILES_FROM (OWNER/NAME). Then:

    EURYALE_REAL_FILES=DIR go test -tags slow ./data -run RealFiles

values needs h5py, astropy, xarray, scipy, tifffile and numpy.
"""
import hashlib
import json
import os
import subprocess
import sys

MOST = 6  # arrays of a file that the list has
LIST = os.path.join(os.path.dirname(__file__), "..", "data", "testdata", "real_files.json")


def git(folder, *args):
    return subprocess.run(["git", "-C", folder, *args], check=True, stdout=subprocess.PIPE).stdout


def clone_of(to, repository, commit):
    """The folder of a clone that has a commit; of a new one, git brings single files when they are asked for."""
    if "REAL_FILES_FROM" in os.environ:
        return os.path.join(os.environ["REAL_FILES_FROM"], repository)
    clone = os.path.join(to, ".clones", repository)
    os.makedirs(clone, exist_ok=True)
    if not os.path.exists(os.path.join(clone, ".git")):
        git(clone, "init", "--quiet")
        git(clone, "remote", "add", "origin", "https://github.com/" + repository)
    git(clone, "fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", commit)
    return clone


def fetch(to, files):
    for repository, commit in sorted({(f["repository"], f["commit"]) for f in files}):
        clone = clone_of(to, repository, commit)
        for f in files:
            if f["repository"] != repository:
                continue
            b = git(clone, "show", commit + ":" + f["path"])
            if f["sha256"] and hashlib.sha256(b).hexdigest() != f["sha256"]:
                sys.exit(f"{repository}: {f['path']} has another SHA-256 than the list says: nothing of it was kept")
            name = os.path.join(to, repository, f["path"])
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "wb") as out:
                out.write(b)
        print(f"{repository} {commit[:12]}")


def number(v):
    """A number as JSON: NaN and infinities are text."""
    v = float(v)
    return v if v == v and abs(v) != float("inf") else str(v)


def described(x):
    """Shape, sum of what is finite, first and last element of an array of numbers."""
    import numpy as np

    x = np.ma.filled(np.ma.asarray(x).astype("f8"), np.nan)
    flat = x.ravel()
    return {"shape": list(x.shape), "sum": number(flat[np.isfinite(flat)].sum()), "first": number(flat[0]), "last": number(flat[-1])}


def of_hdf5(name):
    import h5py

    out = {}

    def visit(key, d):
        if isinstance(d, h5py.Dataset) and d.dtype.kind in "iuf":
            out["/" + key] = described(d[()])
        elif isinstance(d, h5py.Dataset) and h5py.check_string_dtype(d.dtype):
            words = [w.decode("utf-8", "replace") for w in d[()].ravel()[:2]]
            out["/" + key] = {"shape": list(d.shape), "text": words}

    with h5py.File(name) as f:
        f.visititems(visit)
    return out


def of_fits(name):
    from astropy.io import fits

    out = {}
    with fits.open(name) as hdus:
        for i, h in enumerate(hdus):
            if isinstance(h, fits.GroupsHDU) or h.data is None:
                continue
            if h.is_image:
                out[str(i)] = described(h.data)
                continue
            for c in h.columns:
                x = h.data[c.name]
                if x.dtype.kind in "iuf":
                    out[f"{i}:{c.name}"] = described(x)
    return out


def of_netcdf(name):
    import xarray as xr

    with xr.open_dataset(name, decode_times=False) as d:
        return {k: described(v.values) for k, v in d.variables.items() if v.dtype.kind in "iuf"}


def of_tiff(name):
    import tifffile

    return {"image": described(tifffile.imread(name))}


def of_stancsv(name):
    import numpy as np

    lines = [line for line in open(name) if line[0] != "#" and line.strip()]
    names = lines[0].strip().split(",")
    rows = np.array([[float(v) for v in line.split(",")] for line in lines[1:]])
    return {n: described(rows[:, i]) for i, n in enumerate(names)}


def values(top, files):
    read = {"hdf5": of_hdf5, "fits": of_fits, "netcdf": of_netcdf, "stancsv": of_stancsv, "tiff": of_tiff}
    for f in files:
        name = os.path.join(top, f["repository"], f["path"])
        f["sha256"] = hashlib.sha256(open(name, "rb").read()).hexdigest()
        if "refused" not in f:
            f["values"] = dict(list(read[f["format"]](name).items())[:MOST])
    with open(LIST, "w") as out:
        json.dump(files, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("fetch", "values"):
        sys.exit(__doc__)
    files = json.load(open(LIST))
    {"fetch": fetch, "values": values}[sys.argv[1]](sys.argv[2], files)
