// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package hdf5 reads and writes HDF5 files without cgo.
//
// A File holds groups and datasets under paths such as /xpcs/multitau/tau. A
// Dataset is an Array: a Shape, a Type and methods that return its elements as
// Go slices, whatever the number type or byte order in the file. A Writer makes
// files that h5py, and anything else built on the HDF5 library, opens.
//
//	f, err := hdf5.Open("result.hdf")
//	if err != nil { ... }
//	defer f.Close()
//	g2, err := f.Dataset("/xpcs/multitau/normalized_g2")
//	if err != nil { ... }                      // names the file and the nearest keys
//	all, err := g2.Float64s()                  // C order, last axis fastest
//	row, err := g2.Slab([]int{3, 0}, []int{1, 12}).Float64s()
//	unit, err := f.Attr("/xpcs/qmap/dynamic_v_list_dim0", "unit")
//
// Chunks may have gone through gzip, shuffle, fletcher32, lzf, szip, bitshuffle, LZ4, Blosc, Blosc2, Zstandard,
// bzip2, n-bit and scale-offset. A virtual dataset is read like any other, but reading one opens the
// files that its Sources name, and so does opening one whose length depends on them. They are opened
// for reading only, and only if they are in the folder of the virtual dataset's file or below it,
// unless File.AnyFolder is set. If an absolute name points elsewhere, a file with the same base name in
// that folder is used instead. Elements whose source file or dataset does not exist have the fill
// value; a source that is refused or damaged is an error.
//
// The package does not read other filters (such as zfp), data in external raw files,
// strings, lists and references of variable length that a virtual dataset takes from another file,
// virtual datasets that convert anything but numbers, selections of points, shared message heaps, and
// numbers of more than eight bytes. They give errors that match ErrUnsupported.
//
// Reading a damaged or hostile file ends in a *FormatError. One call allocates
// at most File.MaxBytes (64 MiB plus 1032 times the size of the file, the
// greatest ratio deflate can reach, unless set) for the elements, plus their
// conversion to the type asked for; for a virtual dataset the sources count as
// the file does. Everything else it allocates is bounded by a small multiple of
// the bytes present in the file.
package hdf5
