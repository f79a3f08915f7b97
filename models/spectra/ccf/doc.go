// Package ccf finds where fits of stellar spectra begin: it cross-correlates spectra with a few hundred
// templates at all velocities, and returns the parameters and velocities of the best.
//
//	templates, err := ccf.Load("templ_data", []string{"desi_b", "desi_r", "desi_z"}, true)
//	finder, err := ccf.New(templates, ccf.Settings{})
//	guesses, err := finder.Find(ctx, stars)
//	stars[0].Starts = guesses[0].Starts
//
// [Build] makes such templates of a library.
package ccf
