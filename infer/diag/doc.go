// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package diag tells whether draws can be trusted. It works on plain slices: one quantity is a
// [][]float64 of equally long chains, x[chain][draw], from any sampler.
//
// RHat, ESS, MCSE and EBFMI measure, Interval and Quantile describe, Summary is the table of all of
// them, and Advice says in words what is wrong and what to try.
//
//	s := diag.Summarize([]string{"tau"}, [][][]float64{tau}, diag.Settings{})
//	fmt.Println(s)
//	report := diag.Diagnose(s, diag.Evidence{Divergences: 3, Draws: 4000})
//	fmt.Println(report)
//
// LOO and WAIC estimate how well a model predicts, Compare ranks models,
// PredictiveChecks and LOOPIT compare data with replications, and SBC tests a
// sampler against its prior.
//
// Conventions: chains are split into halves (the middle draw of an odd length
// is dropped), quantiles are of type 7, the tail ESS is that of the 5 % and
// 95 % quantiles, and the definitions follow Vehtari, Gelman, Simpson,
// Carpenter and Bürkner, Rank-normalization, folding, and localization: an
// improved R-hat, doi 10.1214/20-BA1221. Where R's posterior package and
// Python's ArviZ disagree, functions follow posterior and the methods of
// ArviZ follow ArviZ; see Convention. A NaN among the draws gives NaN.
package diag
