// Package twotime fits models of moving samples (package sim/xpcs/transport) to two-time correlations of many angles.
//
//	data := twotime.Data{Setup: setup, C2: c2, Sigma: sigma}
//	fit, err := twotime.FitLeastSquares(ctx, data, twotime.Settings{Scaling: twotime.Individual})
//	if err != nil { ... }
//	fmt.Println(fit.Names, fit.X, fit.SD)
//
// Contrast and offset are found in closed form at every point (variable projection; Golub & Pereyra, doi:10.1137/0710036), so that a fit
// moves in the parameters of the motion alone. A pass over the pairs of frames keeps sums of products only: memory does not grow with the
// number of parameters.
//
// The entries of c2 that share a frame are correlated. Errors here are those of independent entries, which are too small.
package twotime
