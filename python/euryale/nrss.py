# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0

"""Morphologies, materials and optical constants with the names that users of NRSS know, computed by Euryale on any machine.

What differs from NRSS: values are checked when they are set, an engine needs no GPU, `OpticalConstants.calc_constants` refuses energies
outside its table, and patterns keep the order of the energies. Needs h5py and xarray (``pip install euryale[rsoxs]``).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

__all__ = ["Material", "Morphology", "OpticalConstants"]

_keys = ("DeltaPara", "BetaPara", "DeltaPerp", "BetaPerp")


class OpticalConstants:
    """Optical constants of a material: n = 1 - delta + i beta, along and across its director.

    Parameters
    ----------
    energies : sequence of float
        Photon energies in eV.
    opt_constants : mapping, optional
        DeltaPara, BetaPara, DeltaPerp and BetaPerp by energy; zeros, the vacuum, if it is not given.
    name : str, optional
        Name of the material; "vacuum" means zeros.
    """

    def __init__(self, energies: Sequence[float], opt_constants: Mapping[float, Sequence[float]] | None = None, name: str | None = None):
        self.energies = [float(e) for e in np.atleast_1d(np.asarray(energies, float))]
        self.name = name
        if opt_constants is None or name == "vacuum":
            opt_constants = {e: (0.0, 0.0, 0.0, 0.0) for e in self.energies}
        missing = [e for e in self.energies if e not in opt_constants]
        if missing:
            raise ValueError(f"optical constants of {name or 'a material'}: none at {missing} eV")
        self.opt_constants = {e: [float(v) for v in opt_constants[e]] for e in self.energies}
        for e, four in self.opt_constants.items():
            if len(four) != 4 or not np.all(np.isfinite(four)):
                raise ValueError(f"optical constants of {name or 'a material'} at {e} eV: want the four finite numbers {', '.join(_keys)}, not {four}")

    @classmethod
    def calc_constants(cls, energies: Sequence[float], reference_data: Mapping[str, Sequence[float]], name: str | None = None) -> OpticalConstants:
        """Interpolate a table with the columns Energy, DeltaPara, BetaPara, DeltaPerp and BetaPerp linearly.

        Energies outside the table are an error.
        """
        table = np.asarray(reference_data["Energy"], float)
        order = np.argsort(table)
        wanted = np.atleast_1d(np.asarray(energies, float))
        outside = [float(e) for e in wanted if e < table.min() or e > table.max()]
        if outside:
            raise ValueError(f"{outside} eV lie outside the table of {name or 'the material'}, which goes from {table.min():g} to {table.max():g} eV")
        columns = [np.interp(wanted, table[order], np.asarray(reference_data[k], float)[order]) for k in _keys]
        return cls(wanted.tolist(), {float(e): [float(c[i]) for c in columns] for i, e in enumerate(wanted)}, name)

    @classmethod
    def load_matfile(cls, matfile: str | os.PathLike[str], name: str | None = None) -> OpticalConstants:
        """Read a file MaterialN.txt of CyRSoXS."""
        found: dict[float, dict[str, float]] = {}
        energy = None
        for line in Path(matfile).read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            key, value = key.strip(), value.strip().rstrip(";,").strip()
            if key == "Energy":
                energy = float(value)
                found[energy] = {}
            elif key in _keys and energy is not None:
                found[energy][key] = float(value)
        if not found:
            raise ValueError(f"{matfile} has no optical constants: want groups EnergyData0 and so on, each with Energy and {', '.join(_keys)}")
        for e, four in found.items():
            if missing := [k for k in _keys if k not in four]:
                raise ValueError(f"{matfile}: {', '.join(missing)} is missing at {e} eV")
        return cls(list(found), {e: [four[k] for k in _keys] for e, four in found.items()}, name)

    def text(self, energies: Sequence[float]) -> str:
        """The file MaterialN.txt of CyRSoXS, a group for each of these energies."""
        parts = []
        for i, e in enumerate(energies):
            near = [k for k in self.opt_constants if abs(k - e) <= 1e-3]
            if not near:
                raise ValueError(f"{self.name or 'a material'} has no optical constants at {e} eV, only at {list(self.opt_constants)}")
            values = "".join(f"{k} = {v!r};\n" for k, v in zip(_keys, self.opt_constants[near[0]]))
            parts.append(f"EnergyData{i}:\n{{\nEnergy = {float(e)!r};\n{values}}}\n")
        return "".join(parts)


class Material:
    """One material of a morphology, on a grid of voxels with the axes Z, Y and X.

    Parameters
    ----------
    materialID : int
        Number of the material, from 1.
    Vfrac, S, theta, psi : array_like of shape (Z, Y, X) or (Y, X)
        Volume fraction; order parameter from 0 to 1; angles of the director in radians, theta from +z and psi about it from +x.
        Without S the material is isotropic. A number stands for an array of it.
    opt_constants : OpticalConstants or mapping
        Optical constants; the mapping has them by energy.
    energies : sequence of float, optional
        Energies of such a mapping.
    name : str, optional
        Name; a material called vacuum has no optical constants.
    """

    def __init__(self, materialID: int, Vfrac: Any, S: Any = None, theta: Any = None, psi: Any = None, NumZYX: Sequence[int] | None = None,
                 energies: Sequence[float] | None = None, opt_constants: Any = None, name: str | None = None):  # fmt: skip
        self.materialID, self.name = int(materialID), name
        shape = tuple(NumZYX) if NumZYX is not None else np.shape(Vfrac)
        self.Vfrac = self._field("Vfrac", Vfrac, shape)
        self.NumZYX = self.Vfrac.shape
        self.S = self._field("S", 0.0 if S is None else S, shape)
        self.theta = self._field("theta", 0.0 if theta is None else theta, shape)
        self.psi = self._field("psi", 0.0 if psi is None else psi, shape)
        if not isinstance(opt_constants, OpticalConstants):
            if opt_constants is None and energies is None and name != "vacuum":
                raise ValueError(f"{self} needs opt_constants, unless it is called vacuum")
            opt_constants = None if opt_constants is None and name == "vacuum" and energies is None else OpticalConstants(
                list(opt_constants) if energies is None else energies, opt_constants, name)  # fmt: skip
        self.opt_constants: OpticalConstants | None = opt_constants

    def _field(self, what: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
        field = np.array(np.broadcast_to(np.asarray(values, float), shape))
        if field.ndim == 2:
            field = field[np.newaxis]
        if field.ndim != 3:
            raise ValueError(f"{what} of {self} has the shape {field.shape}: want (Z, Y, X) or (Y, X)")
        if not np.all(np.isfinite(field)):
            raise ValueError(f"{what} of {self} has {np.count_nonzero(~np.isfinite(field))} values that are not finite")
        if what in ("Vfrac", "S") and (field.min() < 0 or field.max() > 1):
            raise ValueError(f"{what} of {self} goes from {field.min():g} to {field.max():g}: want 0 to 1")
        return field

    def __repr__(self) -> str:
        return f"material {self.materialID}" + (f" ({self.name})" if self.name else "")


class Morphology:
    """A morphology of materials, and the settings of its simulation.

    Parameters
    ----------
    numMaterial : int
        Number of materials.
    materials : mapping of int to Material
        The materials by their numbers.
    PhysSize : float
        Side of a voxel in nm.
    config : mapping, optional
        Settings of CyRSoXS, such as Energies in eV and EAngleRotation, the first angle of the field, its step and the last in degrees.
        The guide on scattering describes them.
    """

    def __init__(self, numMaterial: int, materials: Mapping[int, Material] | None = None, PhysSize: float | None = None,
                 config: Mapping[str, Any] | None = None, **unused: Any):  # fmt: skip
        self.numMaterial, self.materials, self.PhysSize = int(numMaterial), dict(materials or {}), PhysSize
        self.config: dict[str, Any] = {"CaseType": 0, "Energies": [270.0], "EAngleRotation": [0.0, 1.0, 0.0], "MorphologyType": 0, **(config or {})}
        engine = {"create_cy_object", "backend", "backend_options", "resident_mode", "input_policy", "output_policy", "ownership_policy"}
        if unknown := set(unused) - engine:
            raise TypeError(f"Morphology has no keyword {', '.join(sorted(unknown))}")
        self.scattering_data: xarray.DataArray | None = None

    @classmethod
    def load_morph_hdf5(cls, hdf5_file: str | os.PathLike[str], PhysSize: float | None = None, **unused: Any) -> Morphology:
        """Read a morphology of Euler angles from a file of NRSS or CyRSoXS. Its materials have no optical constants yet."""
        import h5py

        with h5py.File(hdf5_file) as f:
            group = f["Euler_Angles"]
            count = sum(1 for n in group if n.endswith("_Vfrac"))
            first = group["Mat_1_Vfrac"]
            labels = first.attrs.get("DIMENSION_LABELS")
            reverse = labels is not None and (labels[0].decode() if isinstance(labels[0], bytes) else labels[0]) == "X"
            size = PhysSize if PhysSize is not None else float(f["Morphology_Parameters/PhysSize"][()])

            def field(i: int, what: str) -> np.ndarray | None:
                name = f"Mat_{i}_{what}"
                if name not in group:
                    return None
                values = np.asarray(group[name][()], float)
                return np.ascontiguousarray(values.transpose()) if reverse else values

            materials = {
                i: Material(i, field(i, "Vfrac"), field(i, "S"), field(i, "Theta"), field(i, "Psi"), opt_constants=OpticalConstants([270.0]))
                for i in range(1, count + 1)
            }
        for m in materials.values():
            m.opt_constants = None
        return cls(count, materials, size, **unused)

    @property
    def Energies(self) -> list[float]:
        """Photon energies in eV."""
        return [float(e) for e in self.config["Energies"]]

    @property
    def NumZYX(self) -> tuple[int, ...]:
        """Number of voxels along Z, Y and X."""
        return self.materials[1].NumZYX

    def check_materials(self, tolerance: float = 1e-5) -> None:
        """Raise ValueError unless all materials are there, have one shape, and their volume fractions sum to 1 in each voxel."""
        if sorted(self.materials) != list(range(1, self.numMaterial + 1)):
            raise ValueError(f"the morphology has the materials {sorted(self.materials)}: want 1 to {self.numMaterial}")
        shapes = {m.NumZYX for m in self.materials.values()}
        if len(shapes) != 1:
            raise ValueError(f"the materials have the shapes {sorted(shapes)}: want one for all")
        total = np.sum([m.Vfrac for m in self.materials.values()], axis=0)
        worst = np.unravel_index(np.argmax(np.abs(total - 1)), total.shape)
        if abs(total[worst] - 1) > tolerance:
            raise ValueError(f"the volume fractions sum to {total[worst]:.6g} in voxel {tuple(int(i) for i in worst)} (z, y, x): want 1")

    def validate_all(self) -> None:
        """Raise ValueError unless the morphology can be simulated: `check_materials`, PhysSize, and constants at all energies."""
        self.check_materials()
        if not self.PhysSize or not np.isfinite(self.PhysSize) or self.PhysSize <= 0:
            raise ValueError(f"PhysSize is {self.PhysSize}: want the side of a voxel in nm")
        for m in self.materials.values():
            if m.opt_constants is None and m.name != "vacuum":
                raise ValueError(f"{m} has no optical constants: set its opt_constants")

    def write_to_file(self, file: str | os.PathLike[str]) -> None:
        """Write the morphology as HDF5, in the form of NRSS and CyRSoXS."""
        import h5py

        with h5py.File(file, "w") as f:
            angles = f.create_group("Euler_Angles")
            for i, m in sorted(self.materials.items()):
                for name, field in (("Vfrac", m.Vfrac), ("S", m.S), ("Theta", m.theta), ("Psi", m.psi)):
                    data = angles.create_dataset(f"Mat_{i}_{name}", data=field, compression="gzip", compression_opts=4)
                    for axis, label in enumerate("ZYX"):
                        data.dims[axis].label = label
            f["Morphology_Parameters/PhysSize"] = float(self.PhysSize or 0)
            f["Morphology_Parameters/NumMaterial"] = self.numMaterial

    def write_config(self, folder: str | os.PathLike[str]) -> None:
        """Write config.txt into a folder."""
        lines = [f"{key} = {_libconfig(value)};" for key, value in self.config.items()]
        Path(folder, "config.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def write_constants(self, folder: str | os.PathLike[str]) -> None:
        """Write MaterialN.txt for each material into a folder."""
        for i, m in sorted(self.materials.items()):
            constants = m.opt_constants or OpticalConstants(self.Energies, name="vacuum")
            Path(folder, f"Material{i}.txt").write_text(constants.text(self.Energies), encoding="utf-8")

    def run(self, stdout: bool = True, stderr: bool = True, return_xarray: bool = True, *, folder: str | os.PathLike[str] | None = None,
            grid: str = "exact", **keywords: Any) -> xarray.DataArray | None:  # fmt: skip
        """Simulate the patterns.

        Parameters
        ----------
        stdout, stderr : bool
            Show the progress.
        return_xarray : bool
            Return the patterns; else they are in `scattering_data`.
        folder : path, optional
            Folder that keeps all files of the simulation.
        grid : str
            q of pixels and planes: exact, those of the Fourier transform, or cyrsoxs.
        **keywords
            Those of `euryale.sim_rsoxs` and of all commands, such as precision=64 or device="cuda".

        Returns
        -------
        xarray.DataArray
            Scattered intensity by energy (eV), qy and qx (1/nm). Times PhysSize**6 it is a differential cross section in nm².
        """
        from .commands import sim_rsoxs

        self.validate_all()
        with tempfile.TemporaryDirectory(prefix="euryale-") as temporary:
            place = Path(folder or temporary)
            place.mkdir(parents=True, exist_ok=True)
            self.write_to_file(place / "morphology.h5")
            self.write_config(place)
            self.write_constants(place)
            keywords.setdefault("quiet", not (stdout or stderr))
            sim_rsoxs("morphology.h5", "HDF5", grid=grid, cwd=place, overwrite=folder is not None, **keywords)  # type: ignore[arg-type]
            self.scattering_data = self._read(place / "HDF5")
        return self.scattering_data if return_xarray else None

    def scattering_to_xarray(self, return_xarray: bool = True, print_vec_info: bool = False) -> xarray.DataArray | None:
        """The patterns of the last run."""
        if self.scattering_data is None:
            raise ValueError("there are no patterns yet: call run first")
        return self.scattering_data if return_xarray else None

    def _read(self, folder: Path) -> xarray.DataArray:
        import h5py
        import xarray

        images = []
        for e in self.Energies:
            with h5py.File(folder / f"Energy_{e:.2f}.h5") as f:
                beams = [f[k]["projection"][()] for k in sorted((k for k in f if k.startswith("K") and k[1:].isdigit()), key=lambda k: int(k[1:]))]
            images.append(beams[0] if len(beams) == 1 else np.stack(beams))
        data = np.stack(images)
        ny, nx = data.shape[-2:]
        size = float(self.PhysSize or 0)
        q = {"qy": 2 * np.pi * np.fft.fftshift(np.fft.fftfreq(ny, size)), "qx": 2 * np.pi * np.fft.fftshift(np.fft.fftfreq(nx, size))}
        dims = ["energy", *(["beam"] if data.ndim == 4 else []), "qy", "qx"]
        out = xarray.DataArray(data, dims=dims, coords={"energy": self.Energies, **q}, name="intensity",
                               attrs={"phys_size_nm": size, "z_dim": self.NumZYX[0]})  # fmt: skip
        out["energy"].attrs["units"] = "eV"
        out["qy"].attrs["units"] = out["qx"].attrs["units"] = "1/nm"
        return out


def _libconfig(value: Any) -> str:
    """A value as libconfig writes it."""
    if isinstance(value, (bool, np.bool_)):
        return "True" if value else "False"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, Mapping):
        return "{" + " ".join(f"{k} = {_libconfig(v)};" for k, v in value.items()) + "}"
    if isinstance(value, str):
        return f'"{value}"'
    values = list(value)
    if values and isinstance(values[0], Mapping):
        return "(" + ", ".join(_libconfig(v) for v in values) + ")"
    return "[" + ", ".join(repr(float(v)) for v in values) + "]"
