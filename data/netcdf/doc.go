// Package netcdf reads and writes draws as netCDF 4 files, which ArviZ keeps
// InferenceData in: an HDF5 file with a group per part of a run, a dataset per
// variable and a dimension scale per named axis.
//
//	err := netcdf.Write("run.nc", tree, netcdf.Settings{Gzip: 4})
//	tree, err := netcdf.Open("run.nc")
//
// In Python:
//
//	idata = arviz.from_netcdf("run.nc")
//	posterior = xarray.open_dataset("run.nc", group="posterior")
//
// Truth values are stored as bytes with the attribute dtype = "bool", as xarray
// does, text with variable length. Reading widens numbers to float64 and int64,
// takes values that equal _FillValue for missing (NaN), keeps attributes that
// are not text as text, and puts groups into ArviZ's order; variables come in
// the order of their names. Variables of the root group become a group called
// root. Files of the classic format are refused. Memory is bounded by 64 MiB and
// 1032 times the size of the file, the most that deflate can make of it.
package netcdf
