// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"context"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
)

// Posterior compiles the posterior of the parameters.
func (t *Task) Posterior() (*infer.Posterior, error) {
	m, err := t.Inversion.Model()
	if err != nil {
		return nil, err
	}
	return t.Inversion.compile(m)
}

// Starts returns starting points of the chains around the best of several least-squares
// fits. If such a fit cannot provide them, it returns nil, which starts chains anywhere.
func (t *Task) Starts(ctx context.Context, post *infer.Posterior, chains int, seed uint64, restarts int) ([][]float64, error) {
	for _, p := range t.Inversion.Params {
		if len(p.Start) > 1 || p.Name == "noise" {
			return nil, nil
		}
	}
	r, err := t.Inversion.BestFit(ctx, seed, restarts)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return post.WarmStart(r.Names, r.X, r.Cov, chains, seed)
}

// CheckDraws returns the verdict about the model at the central draw of a posterior, and
// about its priors.
func (t *Task) CheckDraws(fit *infer.Fit) (check.Verdict, error) {
	priors, err := fit.PriorChecks()
	if err != nil {
		return check.Verdict{}, err
	}
	s := CheckSettings{Altered: t.Measurement.Altered, Drawn: true, Priors: priors}
	chain := fit.Chains() / 2
	draw := fit.Len(chain) / 2
	var x []float64
	for _, n := range t.Names() {
		x = append(x, fit.Draws(n)[chain][draw])
	}
	if noise := fit.Draws("noise"); noise != nil {
		s.Sigma = noise[chain][draw]
	}
	verdict, err := t.Inversion.Check(x, s)
	if err == nil {
		verdict = fit.Quote(verdict)
	}
	return verdict, err
}

// Means returns the posterior means of the parameters in the order of Names.
func (t *Task) Means(fit *infer.Fit) []float64 {
	var x []float64
	for _, n := range t.Names() {
		sum, count := 0.0, 0
		for _, chain := range fit.Draws(n) {
			for _, d := range chain {
				sum += d
				count++
			}
		}
		x = append(x, sum/float64(count))
	}
	return x
}
