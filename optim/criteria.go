// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "math"

// NegTwoLogLikelihood is -2 log L up to a constant of the data: chi-square where
// the errors are known, M log(chi-square/M) where they are known up to a factor.
func (r *Result) NegTwoLogLikelihood() float64 {
	if r.Absolute {
		return r.ChiSquared()
	}
	return float64(r.M) * math.Log(r.ChiSquared()/float64(r.M))
}

// AIC is Akaike's criterion, -2 log L + 2 k for k fitted parameters; lower is
// better, among models of the same data.
func (r *Result) AIC() float64 { return r.NegTwoLogLikelihood() + 2*float64(r.NFree) }

// AICc is AIC with the correction for few data; +Inf without any to spare.
func (r *Result) AICc() float64 {
	k, m := float64(r.NFree), float64(r.M)
	if m-k-1 <= 0 {
		return math.Inf(1)
	}
	return r.AIC() + 2*k*(k+1)/(m-k-1)
}

// BIC is the Bayesian criterion of Schwarz, -2 log L + k log M.
func (r *Result) BIC() float64 {
	return r.NegTwoLogLikelihood() + float64(r.NFree)*math.Log(float64(r.M))
}
