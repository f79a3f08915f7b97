// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package zarr reads and writes draws as Zarr folders, of version 2 or 3, in the layout of
// InferenceData that ArviZ and xarray use: one group per part of a run, one array per
// variable, named dimensions, consolidated metadata.
//
// A tensor.DataTree is written and read as a whole. A Stream takes draws as a sampler
// produces them and keeps at most one chunk per chain in memory.
//
//	err := zarr.Write("run.zarr", tree, zarr.Settings{Zlib: 3})
//	tree, err := zarr.Open("run.zarr")
//
// In Python:
//
//	idata = arviz.from_zarr("run.zarr")
//	posterior = xarray.open_zarr("run.zarr", group="posterior")
//	everything = xarray.open_datatree("run.zarr", engine="zarr")
//
// Chunks are written as zlib streams, uncompressed unless Settings.Zlib is set, so that each has a checksum. Reading verifies
// it, that the metadata of a store of this package agree with its consolidated metadata, and that no chunk of such a store is missing.
//
// Version 3 is read with the codecs bytes, vlen-utf8, transpose, sharding_indexed, zstd, gzip, blosc and crc32c, and written by Settings.Format;
// its chunks end with a CRC-32C. The default is version 2, which every version of zarr-python reads.
//
// Supported are arrays of floats, integers, booleans and text in either byte order and in
// C or Fortran order, uncompressed or compressed by Blosc (with lz4, zlib or zstd
// inside), zlib, gzip, bz2 or zstd. For others the error names the feature. Reading
// allocates at most 64 MiB plus 1040 times the size of the existing chunks. Numbers
// become float64 or int64. Booleans may also be integers with the attribute dtype =
// "bool", as xarray writes them. Elements of missing chunks have the fill value; if that is null, a missing chunk is an error.
// Attributes that are not text are kept as JSON text. Arrays of the root group become a
// group called root.
package zarr
