// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// PIT holds leave-one-out probability integral transforms: the position of each observation in its
// prediction from all others. If the model is calibrated, they are nearly uniform.
type PIT struct {
	Values []float64 // transforms in [0, 1]; random between the limits of a tie if predictions equal y
	K      []float64 // tail shapes of the importance ratios, as in PointELPD
	GoodK  float64
}

// LOOPIT returns the weighted share of replicated data yrep[chain][draw][obs]
// below y[obs], with the weights of LOO from log likelihoods ll of the same
// shape. Ties, as counts have, are broken at random by the seed.
//
//	PIT_i = sum_s w_is 1(yrep_is < y_i) + u_i sum_s w_is 1(yrep_is = y_i)
//
// Reference: Gabry, Simpson, Vehtari, Betancourt and Gelman, doi 10.1111/rssa.12378.
func LOOPIT(y []float64, yrep, ll [][][]float64, s LOOSettings, seed uint64) (PIT, error) {
	chains, draws, n, err := likelihoodSize(ll)
	if err != nil {
		return PIT{}, err
	}
	if err := replicatedSize(y, yrep); err != nil {
		return PIT{}, err
	}
	if len(yrep) != chains || len(yrep[0]) != draws || len(y) != n {
		return PIT{}, fmt.Errorf("diag: the replicated data have %d chains, %d draws and %d observations, but the log likelihoods have %d, %d and %d: use the same draws for both", len(yrep), len(yrep[0]), len(y), chains, draws, n)
	}
	out := PIT{Values: make([]float64, n), K: make([]float64, n), GoodK: GoodK(chains * draws)}
	r := rand.New(rand.NewPCG(seed, 0x706974))
	u := make([]float64, n)
	for i := range u {
		u[i] = uniform01(r)
	}
	each(n, func(i int) {
		p, lw := looPoint(observation(ll, i), s)
		var below, ties float64
		for k, v := range Flatten(observation(yrep, i)) {
			switch {
			case v < y[i]:
				below += math.Exp(lw[k])
			case v == y[i]:
				ties += math.Exp(lw[k])
			}
		}
		out.Values[i], out.K[i] = math.Min(below+u[i]*ties, 1), p.K
	})
	return out, nil
}

// Test tests whether the values are uniform, at a resolution of a hundredth. They are not quite
// independent, so a p-value near the limit is no more than a hint.
func (p PIT) Test() (Uniformity, error) {
	const classes = 100
	ranks := make([]int, len(p.Values))
	for i, v := range p.Values {
		ranks[i] = min(int(v*classes), classes-1)
	}
	return TestUniform(ranks, classes, 0)
}

// replicatedSize checks that yrep[chain][draw] are replications of y.
func replicatedSize(y []float64, yrep [][][]float64) error {
	if len(y) == 0 || len(yrep) == 0 || len(yrep[0]) == 0 {
		return fmt.Errorf("diag: there are %d observations and %d chains of replicated data: want at least one observation and one draw", len(y), len(yrep))
	}
	for i, v := range y {
		if math.IsNaN(v) {
			return fmt.Errorf("diag: observation %d is NaN: leave missing ones out of y and of the replicated data", i)
		}
	}
	for c := range yrep {
		if len(yrep[c]) != len(yrep[0]) {
			return fmt.Errorf("diag: chain %d has %d draws, but chain 0 has %d: cut the chains to the shortest", c, len(yrep[c]), len(yrep[0]))
		}
		for d, row := range yrep[c] {
			if len(row) != len(y) {
				return fmt.Errorf("diag: draw %d of chain %d replicates %d observations, but there are %d: want equal numbers", d, c, len(row), len(y))
			}
			if i := slices.IndexFunc(row, math.IsNaN); i >= 0 {
				return fmt.Errorf("diag: the replication of observation %d in draw %d of chain %d is NaN: check the predictive draws", i, d, c)
			}
		}
	}
	return nil
}
