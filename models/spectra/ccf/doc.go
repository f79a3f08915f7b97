// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package ccf guesses velocities and parameters of stars, as starts of fits, by cross-correlation
// of their spectra with templates.
//
// Templates are made once from a library, or read from the files of rvspecfit. A Finder compares
// each spectrum, divided by its continuum, with every template at every velocity.
//
//	t, err := ccf.Load("templ_data", []string{"desi_b", "desi_r", "desi_z"}, true)
//	finder, err := ccf.New(t, ccf.Settings{Params: []string{"teff", "logg", "feh", "alpha"}})
//	guesses, err := finder.Find(ctx, stars)
//	for i, g := range guesses {
//		stars[i].Starts = g.Starts
//	}
//
// Wavelengths are in Angstrom, velocities in km/s, positive away from the observer.
package ccf
