// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"math/rand/v2"
)

// PseudoBMA returns weights proportional to exp(sum of elpd) for the estimates
// elpd[model][observation]. They ignore the errors of the estimates: see PseudoBMAPlus.
func PseudoBMA(elpd [][]float64) []float64 {
	sums := make([]float64, len(elpd))
	for k := range elpd {
		sums[k] = total(elpd[k])
	}
	return softmax(sums)
}

// PseudoBMAPlus returns PseudoBMA weights averaged over a Bayesian bootstrap of
// the observations with the given number of samples (1000 if 0) and seed.
//
// Reference: Yao, Vehtari, Simpson and Gelman, doi 10.1214/17-BA1091, section 3.4.
func PseudoBMAPlus(elpd [][]float64, samples int, seed uint64) []float64 {
	if samples <= 0 {
		samples = 1000
	}
	out := make([]float64, len(elpd))
	if len(elpd) == 0 {
		return out
	}
	n := len(elpd[0])
	r := rand.New(rand.NewPCG(seed, 0x62626d61))
	share, z := make([]float64, n), make([]float64, len(elpd))
	for range samples {
		sum := 0.0
		for i := range share {
			share[i] = -math.Log1p(-uniform01(r))
			sum += share[i]
		}
		for k := range elpd {
			z[k] = 0
			for i, s := range share {
				z[k] += float64(n) * s / sum * elpd[k][i]
			}
		}
		for k, w := range softmax(z) {
			out[k] += w / float64(samples)
		}
	}
	return out
}

// uniform01 returns a number in [0, 1), the same in every Go release.
func uniform01(r *rand.Rand) float64 { return float64(r.Uint64()>>11) * 0x1p-53 }

// softmax returns exp(v) over its sum.
func softmax(v []float64) []float64 {
	all := logSumExp(v)
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Exp(x - all)
		if math.IsInf(all, -1) {
			out[i] = 1 / float64(len(v))
		}
	}
	return out
}
