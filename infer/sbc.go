// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/given"
)

// SBCConfig says how to calibrate; its zero value is the default.
type SBCConfig struct {
	// Fits is the number of simulated data sets. Default 1000.
	Fits int
	// Draws is the number of draws of each posterior among which the prior draw is ranked,
	// no more than are independent. Default 99.
	Draws int
	// Sample are the settings of each fit. Default one chain, 1000 + 1000 draws.
	Sample Config
	// Seed is the seed of the prior draws.
	Seed uint64
	// First is the number of the first fit, so that fits can be made in several programs: each gives
	// the same ranks wherever it is made. Default 0.
	First int
	// Each is told the outcome of every fit, in their order: its ranks by quantity, or why it has
	// none. It may be nil.
	Each func(fit int, ranks []int, divergences int, err error)
	// Done is called with the number of fits so far, from one goroutine at a time. It may be
	// nil.
	Done func(int)
}

// Calibration is what simulation-based calibration found.
type Calibration struct {
	// Ranks holds the ranks, which Ranks.Test judges.
	Ranks *diag.SBC
	// Fits is the number of fits that gave ranks.
	Fits int
	// Divergent is the number of fits with divergences, whose ranks count too.
	Divergent int
	// Failed is the number of fits without ranks.
	Failed []error
}

// Report judges the ranks with the default settings.
func (c *Calibration) Report() (diag.SBCReport, error) {
	r, err := c.Ranks.Test(diag.SBCSettings{})
	r.Failed = len(c.Failed)
	return r, err
}

// String tells the verdict, and what fits were in trouble.
func (c *Calibration) String() string {
	r, err := c.Report()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%v\n%d fits, of which %d had divergences; %d more fits failed.  %s", r, c.Fits, c.Divergent, len(c.Failed), r.Diagnose().Verdict())
}

// SBC checks model and sampler against each other: parameters are drawn from the
// prior, data from the parameters, and the posterior of these data is sampled; the
// ranks of the prior draws among the posterior's are then uniform. All fits run in
// lock step, see SampleEach. Every parameter needs a prior.
//
// When ctx ends it returns the ranks of the fits that were complete, with ctx.Err(). Fits
// whose gradients are few are complete first, so these ranks need not be uniform.
//
// Reference: Talts, Betancourt, Simpson, Vehtari and Gelman, arXiv:1804.06788.
func SBC(ctx context.Context, p *Posterior, c SBCConfig) (*Calibration, error) {
	if err := given.Args("infer.SBC", "ctx", ctx, "p", p); err != nil {
		return nil, err
	}
	if len(p.model.observed) == 0 {
		return nil, errors.New("infer: calibration: the model has no observations: declare one with Observe")
	}
	if c.Fits <= 0 {
		c.Fits = 1000
	}
	if c.Draws <= 0 {
		c.Draws = 99
	}
	if c.Sample.Chains == 0 {
		c.Sample.Chains = 1
	}
	if c.First < 0 {
		return nil, fmt.Errorf("infer: calibration: First is %d: want 0 or more", c.First)
	}
	prior, err := p.prior(c.First, c.Fits, c.Seed)
	if err != nil {
		return nil, err
	}
	sets := make([]DataSet, c.Fits)
	for i := range sets {
		sets[i].Data = map[string][]float64{}
		for _, name := range p.observations() {
			sets[i].Data[name] = prior.Values(name)[i]
		}
	}
	out := &Calibration{}
	thin, failed, diverged, done := make([][][]float64, c.Fits), make([]error, c.Fits), make([]int, c.Fits), 0
	c.Sample.Seed += uint64(c.First)
	err = p.SampleEach(ctx, sets, c.Sample, func(i int, fit *Fit, err error) {
		if failed[i] = err; err == nil {
			thin[i], failed[i] = thinned(fit, c.Draws)
			if diverged[i] = fit.Divergent(); diverged[i] > 0 {
				out.Divergent++
			}
		}
		if done++; c.Done != nil {
			c.Done(done)
		}
	})
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	return out, errors.Join(out.rank(p, prior, thin, failed, diverged, c), err)
}

// thinned returns n draws of every column.
func thinned(f *Fit, n int) ([][]float64, error) {
	out := make([][]float64, len(f.names))
	for i := range out {
		var err error
		if out[i], err = diag.Thin(f.Column(i), n); err != nil {
			return nil, fmt.Errorf("infer: calibration: %s: %w", f.names[i], err)
		}
	}
	return out, nil
}

// rank places the prior draws among those of their fits, in order.
func (out *Calibration) rank(p *Posterior, prior *Simulation, thin [][][]float64, failed []error, diverged []int, c SBCConfig) (err error) {
	if out.Ranks, err = diag.NewSBC(p.Names(), c.Draws); err != nil {
		return err
	}
	if c.Each == nil {
		c.Each = func(int, []int, int, error) {}
	}
	for i, x := range thin {
		fit := c.First + i
		if failed[i] != nil {
			out.Failed = append(out.Failed, fmt.Errorf("fit %d: %w", fit, failed[i]))
			c.Each(fit, nil, diverged[i], failed[i])
			continue
		}
		if x == nil { // not complete when the calibration was interrupted
			continue
		}
		var truth []float64
		for _, v := range p.stored() {
			truth = append(truth, prior.Values(v.name)[i]...)
		}
		posterior := make([][][]float64, len(x))
		for k := range x {
			posterior[k] = [][]float64{x[k]}
		}
		if err := out.Ranks.AddFit(fit, truth, posterior); err != nil {
			return fmt.Errorf("infer: calibration: fit %d: %w", fit, err)
		}
		out.Fits++
		var ranks []int
		for _, r := range out.Ranks.Ranks {
			ranks = append(ranks, r[len(r)-1])
		}
		c.Each(fit, ranks, diverged[i], nil)
	}
	return nil
}
