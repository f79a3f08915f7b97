package morph

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim"
)

// FitSettings of Task.Fit. The zero value is the default.
type FitSettings struct {
	// Restarts is how often a fit that leaves misfit starts again elsewhere. Default 6;
	// negative for none.
	Restarts   int
	Seed       uint64               // of the other starts
	Progress   func(optim.Progress) // called while a minimum is sought; evaluations count anew for each start
	Restarting func(k, of int)      // called before start k elsewhere, from 1
}

// Solution is the end of a fit. Parameters are in the order of Task.Names.
type Solution struct {
	X        []float64
	SD       []float64 // standard deviations; NaN where there are none
	Cost     float64   // half the chi-square by lm, the mean loss by lbfgs
	Reduced  float64   // mean square of the residuals over degrees of freedom, in units of sigma; NaN where it is not known
	Points   int       // residuals
	NFev     int       // evaluations
	Status   optim.Status
	Warnings []string
	Check    check.Verdict // about the model; none of a fit that was interrupted
}

// Fit minimises by the method of the task and judges what it found. Where model and data
// disagree it starts again elsewhere and keeps the lowest minimum. On cancellation it
// returns the best so far, not judged.
func (t *Task) Fit(ctx context.Context, s FitSettings) (*Solution, error) {
	if err := given.Args("morph.Task.Fit", "t", t, "ctx", ctx); err != nil {
		return nil, err
	}
	s.Restarts = cmp.Or(s.Restarts, 6)
	first, err := t.minimum(ctx, s)
	if err != nil || ctx.Err() != nil {
		return first, err
	}
	if first.Check, err = t.judge(first); err != nil {
		return nil, err
	}
	if !first.Check.Disagrees() {
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
		return &Solution{X: r.X, SD: r.SD(), Cost: r.Cost, Reduced: r.ReducedChiSquared(), Points: r.M, NFev: r.NFev, Status: r.Status, Warnings: r.Warnings}, nil
	}
	r, err := t.minimize(ctx, optim.MinimizeSettings{MaxEvaluations: t.Problem.MaxNFev, Progress: s.Progress})
	if r == nil {
		return nil, err
	}
	f := &Solution{X: r.X, SD: make([]float64, len(r.X)), Cost: r.Value, Reduced: math.NaN(), NFev: r.State.NFev, Status: r.Status}
	for i := range f.SD {
		f.SD[i] = math.NaN()
	}
	if ctx.Err() == nil {
		t.spread(f)
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
		if err != nil || !(next.Cost < best.Cost*(1-1e-6)) {
			continue // this start leads nowhere better
		}
		if next.Check, err = t.judge(next); err != nil {
			return nil, err
		}
		next.Warnings = append(next.Warnings, fmt.Sprintf("the minimum that the problem's start leads to, of cost %.6g, left misfit; another start found this one, of cost %.6g", first.Cost, next.Cost))
		if best = next; !best.Check.Disagrees() {
			break
		}
	}
	return best, nil
}

// judge gives the verdict about the model at a fit.
func (t *Task) judge(f *Solution) (check.Verdict, error) {
	return t.Inversion.Check(f.X, CheckSettings{Altered: t.Measurement.Altered, Findings: check.Unconverged(f.Status), Relative: t.relative()})
}
