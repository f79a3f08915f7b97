// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package fitfile fits all stellar spectra of a file, with first guesses, fits, and tables of
// results.
//
// A [Pipeline] has a library of templates and the settings of a survey. Its library is read when the first
// file needs it, and only the arms that are needed:
//
//	config, err := rvspecfit.ReadConfig("config.yaml")
//	p, err := fitfile.New(fitfile.Settings{Config: config})
//	outcome, err := p.DESI(ctx, "coadd-main-dark-1234.fits", fitfile.DESIJob{
//		Table: "rvtab_coadd-main-dark-1234.fits", Models: "rvmod_coadd-main-dark-1234.fits"})
//
// [Open] reads spectra of other surveys and single spectra, which [Pipeline.Fit] fits.
package fitfile
