// Package zarr reads and writes draws as Zarr version 2 folders, the layout in
// which ArviZ and xarray keep InferenceData: one group per part of a run, one
// array per variable, named dimensions, consolidated metadata.
//
// A tensor.DataTree is written and read whole; a Stream takes draws as a sampler
// makes them and holds no more than one chunk of each chain in memory.
//
//	err := zarr.Write("run.zarr", tree, zarr.Settings{Zlib: 3})
//	tree, err := zarr.Open("run.zarr")
//
// In Python:
//
//	idata = arviz.from_zarr("run.zarr")
//	posterior = xarray.open_zarr("run.zarr", group="posterior")
//
// Reading takes arrays of floats, integers, truth values and text in either byte
// order, C or Fortran order, without compression or compressed by Blosc (with
// lz4, zlib or zstd inside), zlib, gzip, bz2 or zstd; others are refused by name. It allocates at most 64 MiB and 1040
// times the size of the chunks there are. Numbers become float64 or int64, truth
// values may also be integers with the attribute dtype = "bool", as xarray
// writes them. Elements of missing chunks have the fill value. Attributes that
// are not text are kept as JSON text. Arrays of the root group become a group
// called root.
package zarr
