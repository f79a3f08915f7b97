// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package netcdf reads and writes draws as netCDF 4 files in the layout that ArviZ uses
// for InferenceData: an HDF5 file with a group per part of a run, a dataset per variable
// and a dimension scale per named axis.
//
//	err := netcdf.Write("run.nc", tree, netcdf.Settings{Gzip: 4})
//	tree, err := netcdf.Open("run.nc")
//
// In Python:
//
//	idata = arviz.from_netcdf("run.nc")
//	posterior = xarray.open_dataset("run.nc", group="posterior")
//
// Numbers and booleans are stored in chunks with Fletcher-32 checksums, which reading verifies. Booleans are stored as bytes with the attribute dtype = "bool", as xarray does, and
// text as strings of variable length. Reading widens numbers to float64 and int64, treats
// values equal to _FillValue as missing (NaN), converts attributes that are not text to
// text, and sorts groups in ArviZ's order. Variables are in the order in which this package
// wrote them, which it keeps in the attribute variable_order of the group, and otherwise
// sorted by name. Variables of the root
// group become a group called root. Variables whose elements are compounds or lists are left out and listed in the attribute left_out of the group. Labels of single
// characters are joined, packed numbers are computed from scale_factor and add_offset, and variables along a dimension without a limit that
// are shorter than others are padded with missing values. Files in the classic formats (netCDF 3, 64-bit offset, 64-bit data) are read,
// too; their only group is the root. Memory is
// limited to 64 MiB plus 1032 times the size of the file, the largest expansion of
// deflate.
package netcdf
