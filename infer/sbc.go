// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
)

// SBCSettings says how to calibrate; its zero value is the default.
type SBCSettings struct {
	// Fits is the number of simulated data sets. Default 1000.
	Fits int
	// Draws is the number of draws of each posterior among which the prior draw is ranked,
	// no more than are independent. Default 99.
	Draws int
	// Sample are the settings of each fit. Default one chain, 1000 + 1000 draws.
	Sample Settings
	// Seed is the seed of the prior draws.
	Seed uint64
	// First is the number of the first fit, so that fits can be made in several programs: each gives
	// the same ranks wherever it is made. Default 0.
	First int
	// Each is called with the outcome of every fit, in their order: its ranks by quantity, or the
	// reason why it has none. A fit at which a derived quantity is NaN has no complete ranks, and so is
	// given to Each with an error, although the ranks of its other quantities count. It may be nil.
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
	// Divergent is the number of those of the Fits that had divergences. Their ranks count, too.
	Divergent int
	// Failed holds an error for each fit without ranks.
	Failed []error
	// LeftOut lists the derived quantities that have no ranks, because they were not finite in some of
	// the fits.
	LeftOut []LeftOut
}

// LeftOut is a derived quantity that a calibration left out. Its ranks in the other fits need not be
// uniform even if everything is right.
type LeftOut struct {
	Name string // name of the quantity
	Fits int    // number of fits in which it was NaN or infinite, at the prior draw or at some posterior draw
}

// Report judges the ranks with the default settings.
func (c *Calibration) Report() (diag.SBCReport, error) {
	if len(c.Ranks.Names) == 0 {
		return diag.SBCReport{}, errors.New("infer: calibration: no quantity has ranks: declare parameters, or derived quantities that are finite for all values that the priors allow")
	}
	r, err := c.Ranks.Test(diag.SBCSettings{})
	r.Failed, r.Note = len(c.Failed), strings.Join(c.unranked(), " ")
	return r, err
}

// String returns the table of tests with their verdict, and what happened to the fits.
func (c *Calibration) String() string {
	r, err := c.Report()
	if err != nil {
		return err.Error() + "\n" + strings.Join(append(c.account(), c.unranked()...), " ")
	}
	return fmt.Sprintf("%v\n%s", r, strings.Join(c.account(), " "))
}

// account says in sentences which fits have ranks.
func (c *Calibration) account() []string {
	out := []string{fmt.Sprintf("%d of %s gave ranks.", c.Fits, errtext.Count(c.Fits+len(c.Failed), "fit"))}
	switch c.Divergent {
	case 0:
	case 1:
		out = append(out, "One of them had divergent trajectories; its ranks count, too.")
	default:
		out = append(out, fmt.Sprintf("%d of them had divergent trajectories; their ranks count, too.", c.Divergent))
	}
	if len(c.Failed) > 0 {
		out = append(out, fmt.Sprintf("%s failed; the first error is: %v.", errtext.Count(len(c.Failed), "fit"), firstLine(c.Failed[0])))
	}
	return out
}

// unranked says in sentences which quantities have no ranks.
func (c *Calibration) unranked() (out []string) {
	for _, q := range c.LeftOut {
		out = append(out, fmt.Sprintf("The derived quantity %s has no ranks, because it was not finite in %s.", q.Name, errtext.Count(q.Fits, "fit")))
	}
	return out
}

// SBC checks model and sampler against each other: parameters are drawn from the
// prior, data from the parameters, and the posterior of these data is sampled; the
// ranks of the prior draws among the posterior's are then uniform. All fits run in
// lock step, see SampleEach. Every parameter needs a prior. A fit in which a parameter is NaN fails; a
// derived quantity that is NaN or infinite in some fit is left out, see Calibration.LeftOut.
//
// When ctx ends it returns the ranks of the fits that were complete, with ctx.Err(). Fits
// whose gradients are few are complete first, so these ranks need not be uniform.
//
// Reference: Talts, Betancourt, Simpson, Vehtari and Gelman, arXiv:1804.06788.
func SBC(ctx context.Context, p *Posterior, c SBCSettings) (*Calibration, error) {
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
	fits, done := make([]calibrated, c.Fits), 0
	c.Sample.Seed += uint64(c.First)
	err = p.SampleEach(ctx, sets, c.Sample, func(i int, fit *Fit, err error) {
		if fits[i].err = err; err == nil {
			fits[i] = p.calibrated(fit, c.Draws)
		}
		if done++; c.Done != nil {
			c.Done(done)
		}
	})
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	return out, errors.Join(out.rank(p, prior, fits, c), err)
}

// calibrated is what a fit contributes to a calibration; the zero value is that of a fit that was not
// complete when the calibration was interrupted.
type calibrated struct {
	draws       [][]float64 // posterior draws of each column
	nan         []bool      // whether a derived column is NaN at some draw
	infinite    []bool      // whether a derived column is infinite at some draw
	divergences int
	err         error
}

// calibrated takes n draws of every column of a fit.
func (p *Posterior) calibrated(f *Fit, n int) calibrated {
	columns := len(f.names)
	out := calibrated{draws: make([][]float64, columns), nan: make([]bool, columns), infinite: make([]bool, columns), divergences: f.Divergent()}
	derived := p.firstDerived()
	for i := range out.draws {
		x := f.Column(i)
		if i >= derived {
			for _, v := range diag.Flatten(x) {
				out.nan[i] = out.nan[i] || math.IsNaN(v)
				out.infinite[i] = out.infinite[i] || math.IsInf(v, 0)
			}
		}
		if out.nan[i] {
			out.draws[i] = make([]float64, n) // its ranks are dropped
			continue
		}
		if out.draws[i], out.err = diag.Thin(x, n); out.err != nil {
			out.err = fmt.Errorf("infer: calibration: %s: %w", f.names[i], out.err)
			return out
		}
	}
	return out
}

// firstDerived returns the number of columns of parameters, which those of derived quantities follow.
func (p *Posterior) firstDerived() (n int) {
	for _, q := range p.model.params {
		n += q.node.Size()
	}
	return n
}

// rank places the prior draws among those of their fits, in order.
func (out *Calibration) rank(p *Posterior, prior *Simulation, fits []calibrated, c SBCSettings) (err error) {
	names := p.Names()
	if out.Ranks, err = diag.NewSBC(names, c.Draws); err != nil {
		return err
	}
	if c.Each == nil {
		c.Each = func(int, []int, int, error) {}
	}
	lost := make([]int, len(names)) // number of fits in which a column is not finite
	for i, x := range fits {
		fit := c.First + i
		if x.err != nil {
			out.Failed = append(out.Failed, fmt.Errorf("fit %d: %w", fit, x.err))
			c.Each(fit, nil, x.divergences, x.err)
			continue
		}
		if x.draws == nil { // not complete when the calibration was interrupted
			continue
		}
		truth, posterior := x.compared(p, prior, i)
		if err := out.Ranks.AddFit(fit, truth, posterior); err != nil {
			return fmt.Errorf("infer: calibration: fit %d: %w", fit, err)
		}
		out.Fits++
		if x.divergences > 0 {
			out.Divergent++
		}
		var ranks []int
		var each error
		for k, r := range out.Ranks.Ranks {
			ranks = append(ranks, r[len(r)-1])
			if x.nan[k] || x.infinite[k] {
				lost[k]++
			}
			if x.nan[k] && each == nil {
				each = fmt.Errorf("infer: calibration: the derived quantity %s is NaN at some draws: leave it out of the model, or define it for all values that the priors allow", names[k])
			}
		}
		if each != nil {
			ranks = nil
		}
		c.Each(fit, ranks, x.divergences, each)
	}
	out.leaveOut(lost)
	return nil
}

// compared returns the prior draw of fit i and the posterior draws, by column, and marks the derived
// columns whose prior draw is not finite.
func (x *calibrated) compared(p *Posterior, prior *Simulation, i int) (truth []float64, posterior [][][]float64) {
	for _, v := range p.stored() {
		truth = append(truth, prior.Values(v.name)[i]...)
	}
	for k := p.firstDerived(); k < len(truth); k++ {
		x.nan[k] = x.nan[k] || math.IsNaN(truth[k])
		x.infinite[k] = x.infinite[k] || math.IsInf(truth[k], 0)
		if math.IsNaN(truth[k]) {
			truth[k] = 0 // its rank is dropped
		}
	}
	for _, v := range x.draws {
		posterior = append(posterior, [][]float64{v})
	}
	return truth, posterior
}

// leaveOut removes the columns that were not finite in some fits. All columns are ranked before, so
// that ties of the others are broken in the same way whatever is left out.
func (out *Calibration) leaveOut(lost []int) {
	all := out.Ranks
	out.Ranks = &diag.SBC{Draws: all.Draws}
	for k, n := range lost {
		if n > 0 {
			out.LeftOut = append(out.LeftOut, LeftOut{all.Names[k], n})
			continue
		}
		out.Ranks.Names, out.Ranks.Ranks = append(out.Ranks.Names, all.Names[k]), append(out.Ranks.Ranks, all.Ranks[k])
	}
}
