// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package survey reads the spectra of stars from the files of surveys and writes the tables of
// velocities and parameters that were fitted to them.
//
// DESI's coadd- and spectra- files, WEAVE's L1 files, the spec- and spPlate files of SDSS and BOSS, and
// single spectra as CSV or FITS all give a Raw spectrum of an arm. Prepare marks its bad pixels,
// bridges them and gives them large errors; the result is an Arm, ready to be fitted.
//
//	f, err := survey.OpenDESI("coadd-main-dark-1234.fits")
//	if err != nil { ... }
//	defer f.Close()
//	chosen, err := f.Select(survey.Selection{MinSN: 2})
//	if err != nil { ... }
//	arms, err := f.Fiber(chosen.Rows[0], chosen.Arms, false)
//	if err != nil { ... }
//	results := &survey.Results{Source: f, Chosen: chosen, Rows: fit(arms)}
//	err = results.WriteTable("rvtab_coadd-main-dark-1234.fits")
//
// Wavelengths are in Angstrom and in vacuum.
package survey
