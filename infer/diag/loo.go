// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/euryale-dev/euryale/internal/parallel"
)

const (
	methodLOO   = "PSIS-LOO"
	methodWAIC  = "WAIC"
	methodKFold = "K-fold"
)

// LOOSettings are the settings of LOO; the zero value is the default.
type LOOSettings struct {
	// convention of tail lengths and standard errors. Default Posterior: that of R's loo
	Convention Convention
	// effective sample size over number of draws. Default: that of the likelihood of each
	// observation, as R's loo recommends
	Efficiency float64
}

// LOO estimates the expected log predictive density of every observation given
// all others, by Pareto-smoothed importance sampling from the posterior of all.
// The log likelihoods are ll[chain][draw][observation]. It returns an error if
// they are not of equal lengths, or hold NaN or +Inf.
//
//	elpd_i = log sum_s w_s p(y_i | theta_s),  w_s smoothed from 1/p(y_i | theta_s)
//
// An observation that is impossible (-Inf) under some draw has elpd -Inf.
//
// Reference: Vehtari, Gelman and Gabry, doi 10.1007/s11222-016-9696-4.
func LOO(ll [][][]float64, s LOOSettings) (ELPD, error) {
	chains, draws, n, err := likelihoodSize(ll)
	if err != nil {
		return ELPD{}, err
	}
	e := ELPD{Method: methodLOO, Draws: chains * draws, GoodK: GoodK(chains * draws), Points: make([]PointELPD, n)}
	each(n, func(i int) { e.Points[i], _ = looPoint(observation(ll, i), s) })
	e.finish(s.Convention)
	return e, nil
}

// looPoint returns the estimate of one observation and its log weights.
func looPoint(ll [][]float64, s LOOSettings) (PointELPD, []float64) {
	flat := Flatten(ll)
	p := PointELPD{LPPD: logSumExp(flat) - math.Log(float64(len(flat)))}
	if math.IsInf(lowest(flat), -1) {
		p.ELPD, p.P, p.K, p.MCSE = math.Inf(-1), math.Inf(1), math.Inf(1), math.NaN()
		return p, uniform(len(flat))
	}
	eff := s.Efficiency
	if eff == 0 {
		eff = likelihoodEfficiency(ll)
	}
	ratios := make([]float64, len(flat))
	for i, v := range flat {
		ratios[i] = -v
	}
	lw, k := PSIS(ratios, s.Convention.TailLength(len(flat), eff))
	p.K = k
	p.weighted(lw, flat, eff)
	return p, lw
}

// weighted estimates the predictive density from log likelihoods and log weights that sum to one.
func (p *PointELPD) weighted(lw, ll []float64, eff float64) {
	sum := make([]float64, len(ll))
	for i := range sum {
		sum[i] = lw[i] + ll[i]
	}
	p.ELPD = logSumExp(sum)
	p.P = p.LPPD - p.ELPD
	var w2, spread float64
	for i, l := range lw {
		w := math.Exp(l)
		d := math.Expm1(ll[i] - p.ELPD)
		w2 += w * w
		spread += w * w * d * d
	}
	p.NEff, p.MCSE = eff/w2, math.Sqrt(spread/eff)
}

// WeightedPoint is the contribution of one observation from draws with log weights that sum to one, whose shape is k, and its log likelihoods there. lppd
// is the log predictive density of the fit with the observation.
func WeightedPoint(lw, ll []float64, lppd, k float64) PointELPD {
	p := PointELPD{LPPD: lppd, K: k}
	p.weighted(lw, ll, 1)
	return p
}

// With returns the estimate with other contributions of some observations.
func (e ELPD) With(points map[int]PointELPD, c Convention) ELPD {
	e.Points = slices.Clone(e.Points)
	for i, p := range points {
		e.Points[i] = p
	}
	e.finish(c)
	return e
}

func uniform(n int) []float64 {
	lw := make([]float64, n)
	for i := range lw {
		lw[i] = -math.Log(float64(n))
	}
	return lw
}

func lowest(v []float64) float64 {
	lo := math.Inf(1)
	for _, x := range v {
		lo = math.Min(lo, x)
	}
	return lo
}

// likelihoodEfficiency returns the relative efficiency of the likelihood, or 1 if it is undefined.
func likelihoodEfficiency(ll [][]float64) float64 {
	top := math.Inf(-1)
	for _, c := range ll {
		for _, v := range c {
			top = math.Max(top, v)
		}
	}
	return Efficiency([][][]float64{apply(ll, func(v float64) float64 { return math.Exp(v - top) })})
}

// Efficiency returns the mean over quantities x[quantity][chain][draw] of the effective sample size
// for the mean, divided by the number of draws: what LOO calls the relative efficiency. Quantities
// for which it is undefined, such as constants, are ignored; if none remain, it is 1.
func Efficiency(x [][][]float64) float64 {
	var all []float64
	for _, q := range x {
		chains, draws := size(q)
		if r := ESSMean(q) / float64(chains*draws); r > 0 && !math.IsInf(r, 0) {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return 1
	}
	return Mean(all)
}

// likelihoodSize checks ll[chain][draw][observation].
func likelihoodSize(ll [][][]float64) (chains, draws, n int, err error) {
	if len(ll) == 0 || len(ll[0]) == 0 || len(ll[0][0]) == 0 {
		return 0, 0, 0, fmt.Errorf("diag: there are no log likelihoods: want [chain][draw][observation], at least one of each")
	}
	chains, draws, n = len(ll), len(ll[0]), len(ll[0][0])
	for c := range ll {
		if len(ll[c]) != draws {
			return 0, 0, 0, fmt.Errorf("diag: chain %d has %d draws, but chain 0 has %d: cut the chains to the shortest", c, len(ll[c]), draws)
		}
		for d := range ll[c] {
			if len(ll[c][d]) != n {
				return 0, 0, 0, fmt.Errorf("diag: draw %d of chain %d has %d observations, but the first draw has %d: want equal numbers", d, c, len(ll[c][d]), n)
			}
			for i, v := range ll[c][d] {
				if math.IsNaN(v) || math.IsInf(v, 1) {
					return 0, 0, 0, fmt.Errorf("diag: the log likelihood of observation %d in draw %d of chain %d is %v: mask missing observations and check the density", i, d, c, v)
				}
			}
		}
	}
	return chains, draws, n, nil
}

// observation returns the log likelihoods [chain][draw] of one observation.
func observation(ll [][][]float64, i int) [][]float64 {
	out := make([][]float64, len(ll))
	for c := range ll {
		out[c] = make([]float64, len(ll[c]))
		for d := range ll[c] {
			out[c][d] = ll[c][d][i]
		}
	}
	return out
}

// each calls f for 0 to n-1 in parallel.
func each(n int, f func(i int)) {
	parallel.Do(runtime.GOMAXPROCS(0), n, func(_, i int) { f(i) })
}
