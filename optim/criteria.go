// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "math"

// NegTwoLogLikelihood returns -2 log L up to a constant of the data: chi-square if the errors are
// known, and M log(chi-square/M) if they are known only up to a factor.
func (r *Result) NegTwoLogLikelihood() float64 {
	if r.Absolute {
		return r.ChiSquared()
	}
	return float64(r.M) * math.Log(r.ChiSquared()/float64(r.M))
}

// AIC returns Akaike's information criterion, -2 log L + 2 k for k fitted parameters. Among models
// of the same data, lower is better.
func (r *Result) AIC() float64 { return r.NegTwoLogLikelihood() + 2*float64(r.NFree) }

// AICc returns AIC with the correction for small samples. It is +Inf if there are too few data for
// the correction.
func (r *Result) AICc() float64 {
	k, m := float64(r.NFree), float64(r.M)
	if m-k-1 <= 0 {
		return math.Inf(1)
	}
	return r.AIC() + 2*k*(k+1)/(m-k-1)
}

// BIC returns the Bayesian information criterion of Schwarz, -2 log L + k log M.
func (r *Result) BIC() float64 {
	return r.NegTwoLogLikelihood() + float64(r.NFree)*math.Log(float64(r.M))
}
