// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package rvspecfit reads and writes libraries of stellar template spectra: the files of the Python
// program rvspecfit, and an open format that holds all arms of a library in one HDF5 file.
//
// A Library predicts the spectrum of one arm from the parameters of a star: template spectra on a
// regular grid or in a triangulation, or a neural network.
//
//	b, err := rvspecfit.Load("templ_data", "desi_b")    // interp_desi_b.h5 and the files beside it
//	if err != nil { ... }
//	err = rvspecfit.WriteOpen("library.h5", []*rvspecfit.Library{b, r, z}, nil)
//	arms, ccfs, err := rvspecfit.ReadOpen("library.h5")
//
// Wavelengths are in Angstrom, temperatures in K, logg, feh and alpha in dex. Spectra are natural
// logarithms if LogSpec is set. "Mapped" parameters have gone through the Mapper.
//
// OpenLibrary opens libraries of both kinds, and of the formats that other packages add with Register.
//
// Python pickles are refused: a triangulation has to be exported first, see Triangulation. The open
// format is described in docs/guide/spectra-files.md.
package rvspecfit
