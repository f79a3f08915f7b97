// Package g2 fits intensity correlation functions g2(tau) of X-ray photon
// correlation spectroscopy: by nonlinear least squares, every q bin in parallel,
// and by Bayesian sampling.
//
// A [Law] is one relaxation model with its parameters, bounds, starts and
// priors; a [Curve] is the data of one bin. Fit and FitAll return point fits,
// Posterior a model for infer.Sample that starts from the fit.
//
//	law, _ := g2.ByName("single")
//	fits, err := g2.FitAll(ctx, law, curves, g2.Settings{})
//	post, err := g2.NewPosterior(law, curves[3], g2.Settings{})
//	fit, err := infer.Sample(ctx, post, infer.Config{Seed: 1, Init: starts})
//
// Three conventions for stretched decays are in use; with c = beta,
//
//	exp(-2 (x/b)^c)    aps_single, aps_double (without the 2, squared)
//	exp(-(2x/tau)^c)   stretched
//	exp(-2x/tau)       single, double
//
// and tau = 2^(1-1/c) b. Delays x and relaxation times are in seconds, q in
// 1/Angstrom.
package g2
