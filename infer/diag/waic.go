// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import "math"

// WAIC estimates the expected log predictive density by the widely applicable information criterion:
// the log predictive density of the data minus the variance of each log likelihood. LOO is
// preferred, because it tells when it fails; see there for ll and the errors.
//
//	elpd_i = log mean_s p(y_i | theta_s) - var_s log p(y_i | theta_s)
//
// Reference: Watanabe, JMLR 11 (2010) 3571.
func WAIC(ll [][][]float64, c Convention) (ELPD, error) {
	chains, draws, n, err := likelihoodSize(ll)
	if err != nil {
		return ELPD{}, err
	}
	nan := math.NaN()
	e := ELPD{Method: methodWAIC, Draws: chains * draws, GoodK: nan, Points: make([]PointELPD, n)}
	each(n, func(i int) {
		flat := Flatten(observation(ll, i))
		p := PointELPD{LPPD: logSumExp(flat) - math.Log(float64(len(flat))), P: Variance(flat), K: nan, NEff: nan, MCSE: nan}
		if math.IsInf(lowest(flat), -1) {
			p.P = math.Inf(1)
		}
		p.ELPD = p.LPPD - p.P
		e.Points[i] = p
	})
	e.finish(c)
	return e, nil
}
