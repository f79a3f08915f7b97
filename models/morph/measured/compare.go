// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
)

// Evidence is the log of the probability of the data under a model and its priors.
type Evidence struct {
	Log, SE float64 // natural logarithm and its standard error
	ParetoK float64 // Pareto shape of the importance sampling; above 0.7 the estimate is not to be trusted
}

// evidenceDraws is the number of draws of the normal approximation that the evidence is estimated from.
const evidenceDraws = 200

// Evidence estimates the evidence by importance sampling from the normal distribution at the mode. Models can be compared by it if they
// have the same data, and if all parameters have priors that are chosen and proper: the error lists those that have none.
func (t *Task) Evidence(s *Solution) (Evidence, error) {
	var flat []string
	for _, p := range t.Params {
		if low, high := p.ends(); p.Prior == nil && !(p.SD > 0) && math.IsInf(high-low, 0) {
			flat = append(flat, p.Name)
		}
	}
	if len(flat) > 0 {
		return Evidence{}, fmt.Errorf("measured: the evidence needs a prior of each parameter: give one, or two bounds, to %s", strings.Join(flat, ", "))
	}
	post, err := t.Posterior()
	if err != nil {
		return Evidence{}, err
	}
	values := map[string][]float64{}
	for i, name := range s.Names {
		values[name] = []float64{s.X[i]}
	}
	start, err := post.Unconstrain(values, 1e-8)
	if err != nil {
		return Evidence{}, err
	}
	a, err := infer.Laplace(post, infer.LaplaceSettings{Init: start, Draws: evidenceDraws})
	if err != nil {
		return Evidence{}, err
	}
	e := Evidence{ParetoK: a.ParetoK}
	e.Log, e.SE = a.LogEvidence()
	return e, nil
}

// LOO estimates how well the model predicts blocks of numbers that were left out, each a ring of q, a sector of directions and an energy, by
// Pareto-smoothed importance sampling. Blocks for which the weights of the draws cannot be trusted, of which there are many where a model is
// wrong, are predicted by draws about a fit without them, the worst of them up to the number refits; refitted lists those for which that was
// possible. The error says if the likelihood has no distribution.
func (t *Task) LOO(fit *infer.Fit, refits int) (e diag.ELPD, refitted []int, err error) {
	var all [][][]float64
	for i := range t.joined.parts {
		if t.joined.parts[i].noise.law == nil {
			continue
		}
		ll, err := fit.LogLikTogether(partName(i))
		if err != nil {
			return diag.ELPD{}, nil, err
		}
		if all == nil {
			all = ll
			continue
		}
		for c := range all {
			for d := range all[c] {
				all[c][d] = append(all[c][d], ll[c][d]...)
			}
		}
	}
	if all == nil {
		return diag.ELPD{}, nil, fmt.Errorf("measured: the likelihood %q has a mean and a variance and no distribution: models are compared by counts, or by numbers with errors", t.joined.parts[0].noise.name)
	}
	if e, err = diag.LOO(all, diag.LOOSettings{}); err != nil || refits == 0 {
		return e, nil, err
	}
	return t.refit(fit, e, refits)
}
