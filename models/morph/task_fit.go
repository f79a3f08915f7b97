// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim"
)

// FitSettings are the settings of Task.Fit. The zero value is the default.
type FitSettings struct {
	// Restarts is the largest number of other starts tried if the fit disagrees with the
	// data. Default 6; negative for none.
	Restarts int
	Seed     uint64 // seed of the random starts
	// Progress is called during a minimisation; the count of evaluations restarts with each start.
	Progress func(optim.Progress)
	// Restarting is called before fit k, counted from 1, from another start.
	Restarting func(k, of int)
}

// Solution is the result of a fit. Parameters are in the order of Task.Names.
type Solution struct {
	X    []float64
	SD   []float64 // standard deviations; NaN if not available
	Cost float64   // half the chi-square for lm, the mean loss for lbfgs
	// Reduced is the sum of squared residuals in units of sigma over the degrees of
	// freedom; NaN if it is not known.
	Reduced  float64
	Points   int // number of residuals
	NFev     int // number of function evaluations
	Status   optim.Status
	Warnings []string
	Check    check.Verdict // verdict about the model; empty for an interrupted fit

	undetermined []string // combinations of parameters that the data do not determine
}

// Fit minimises with the method of the task and judges the result. If the model disagrees with the
// data, it starts again from other points and keeps the lowest minimum. On cancellation it returns
// the best point so far with the Status optim.Interrupted, without a verdict and without an error.
// If a GPU fails, it returns the best point so far with the error: a fit on the CPU, or in another
// process, can continue from there with StartAt.
func (t *Task) Fit(ctx context.Context, s FitSettings) (*Solution, error) {
	if err := given.Args("morph.Task.Fit", "t", t, "ctx", ctx); err != nil {
		return nil, err
	}
	s.Restarts = cmp.Or(s.Restarts, 6)
	var notes []string
	if t.Problem.Method == methodPhase && !t.moved {
		var err error
		if notes, err = t.phase(ctx, s); err != nil {
			return nil, err
		}
	}
	first, err := t.minimum(ctx, s)
	if first != nil {
		first.Warnings = append(notes, first.Warnings...)
	}
	if err != nil || ctx.Err() != nil {
		return first, err
	}
	if first.Check, err = t.judge(first); err != nil {
		return kept(first, err)
	}
	if !misfit(first.Check) {
		return first, nil
	}
	return t.elsewhere(ctx, s, first)
}

// minimum runs a minimisation from the start of the problem.
func (t *Task) minimum(ctx context.Context, s FitSettings) (*Solution, error) {
	if t.Method == "lm" {
		r, err := t.Inversion.Fit(ctx, optim.Settings{RelativeSigma: t.relative(), MaxEvaluations: t.Problem.MaxNFev, Progress: s.Progress})
		if r == nil {
			return nil, err
		}
		return kept(&Solution{X: r.X, SD: r.SD(), Cost: r.Cost, Reduced: r.ReducedChiSquared(), Points: r.M, NFev: r.NFev, Status: r.Status, Warnings: r.Warnings, undetermined: r.Undetermined}, err)
	}
	r, err := t.minimize(ctx, optim.MinimizeSettings{MaxEvaluations: t.Problem.MaxNFev, Progress: s.Progress})
	if r == nil {
		return nil, err
	}
	f := &Solution{X: r.X, SD: make([]float64, len(r.X)), Cost: r.Value, Reduced: math.NaN(), NFev: r.State.NFev, Status: r.Status}
	for i := range f.SD {
		f.SD[i] = math.NaN()
	}
	if ctx.Err() == nil && !ad.IsDeviceFault(err) {
		t.spread(f)
	}
	return kept(f, err)
}

// kept returns what was found before a GPU failed, with that error; other errors leave nothing, and an
// interrupted fit has none.
func kept(f *Solution, err error) (*Solution, error) {
	switch {
	case ad.IsDeviceFault(err):
		return f, err
	case err != nil && f.Status != optim.Interrupted:
		return nil, err
	}
	return f, nil
}

// elsewhere minimises from other starts and returns the lowest minimum.
func (t *Task) elsewhere(ctx context.Context, s FitSettings, best *Solution) (*Solution, error) {
	own, first := t.Inversion.Start(), best
	defer t.StartAt(own)
	for k := range s.Restarts {
		if ctx.Err() != nil || len(t.Names()) > mostJacobian {
			break
		}
		t.StartAt(own)
		t.StartAt(t.Inversion.OtherStart(s.Seed, k))
		if s.Restarting != nil {
			s.Restarting(k+1, s.Restarts)
		}
		next, err := t.minimum(ctx, s)
		if ad.IsDeviceFault(err) {
			return best, err
		}
		if err != nil || !(next.Cost < best.Cost*(1-1e-6)) {
			continue // this start does not lead to a better minimum
		}
		if next.Check, err = t.judge(next); err != nil {
			return kept(best, err)
		}
		next.Warnings = append(next.Warnings, fmt.Sprintf("the minimum found from the problem's start, with cost %.6g, did not describe the data; another start found this one, with cost %.6g", first.Cost, next.Cost))
		if best = next; !misfit(best.Check) {
			break
		}
	}
	return best, nil
}

// misfit reports whether a flag is of a kind that another minimum could remove. Parameters that the data do not determine, and data
// that cannot judge a model, are not of this kind.
func misfit(v check.Verdict) bool {
	return slices.ContainsFunc(v.Flags, func(f check.Flag) bool {
		return f.Kind != check.KindUnconverged && f.Kind != check.KindUnknown && f.Kind != check.KindUnjudged
	})
}

// judge returns the verdict about the model at a fit.
func (t *Task) judge(f *Solution) (check.Verdict, error) {
	return t.Inversion.Check(f.X, CheckSettings{Altered: t.Measurement.Altered, Findings: check.Unconverged(f.Status), Relative: t.relative(), unknown: f.undetermined})
}
