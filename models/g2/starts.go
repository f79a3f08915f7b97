// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"context"
	"math"

	"github.com/euryale-dev/euryale/optim"
)

// elsewhere fits from points spread over the bounds, or returns nil if that is not possible.
func elsewhere(ctx context.Context, p *optim.Problem, s Settings) *optim.Result {
	found, err := optim.MultiStart(ctx, p, optim.MultiSettings{Settings: s.optimiser(), Starts: 16, Seed: 1, Threads: 1})
	if err != nil || len(found) == 0 || !found[0].Status.Converged() {
		return nil
	}
	return found[0].Result
}

func (s Settings) optimiser() optim.Settings {
	return optim.Settings{Method: optim.TRF, Fixed: s.Fixed, Loss: s.Loss, LossScale: s.LossScale, MaxEvaluations: s.MaxEvaluations, RelativeSigma: s.relative, Priors: s.penalties}
}

// best fits from every start and returns the result of lowest cost. A converged fit is preferred to
// one that did not converge, unless it costs more. Starts after the first that lead to a minimum that is
// known already are followed only until that shows.
func best(ctx context.Context, p *optim.Problem, starts [][]float64, s Settings) (*optim.Result, error) {
	var found *optim.Result
	var first error
	for _, x := range starts {
		p.Start = within(p.Lower, p.Upper, x)
		if found != nil && found.Status.Converged() {
			if res, err := optim.LeastSquares(ctx, p, s.rough()); err == nil && same(res, found) {
				continue
			}
		}
		res, err := optim.LeastSquares(ctx, p, s.optimiser())
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		if found == nil || better(res, found) {
			found = res
		}
	}
	if found == nil {
		return nil, first
	}
	return found, nil
}

// roughEvaluations is the most evaluations of a fit that shows which of several starts is the most promising.
const roughEvaluations = 40

// promising leaves a task that only serves a comparison one start: where the scout, or a rough fit, came to that has the lowest
// cost. It leaves all starts if none can be fitted.
func (t *task) promising(ctx context.Context, p *optim.Problem, s Settings) {
	rough := s.rough()
	rough.MaxEvaluations = roughEvaluations
	for _, x := range t.starts {
		if len(t.scouts) == len(t.starts) || len(t.starts) == 1 {
			break
		}
		p.Start = within(p.Lower, p.Upper, x)
		if res, err := optim.LeastSquares(ctx, p, rough); err == nil {
			t.scouts = append(t.scouts, res)
		}
	}
	least := math.Inf(1)
	for _, r := range t.scouts {
		if r.Cost < least {
			t.starts, least = [][]float64{r.X}, r.Cost
		}
	}
}

// within returns the point nearest to x between the bounds.
func within(lower, upper, x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = min(max(v, lower[i]), upper[i])
	}
	return out
}

// rough are the settings of a fit that shows which minimum a start leads to.
func (s Settings) rough() optim.Settings {
	o := s.optimiser()
	o.FTol, o.XTol, o.GTol, o.NoPolish = 1e-5, 1e-5, 1e-5, true
	return o
}

// same reports whether a rough fit has come to the minimum found: every parameter lies within a fiftieth
// of its standard deviation, and the cost is no lower. It says no where found has a parameter on a bound or one
// that the data do not determine.
func same(rough, found *optim.Result) bool {
	if !rough.Status.Converged() || rough.Cost < found.Cost*(1-1e-9) {
		return false
	}
	n := len(found.X)
	for i, x := range found.X {
		sd := math.Sqrt(found.Cov[i*n+i])
		if found.Active[i] != 0 || math.IsNaN(sd) || math.IsInf(sd, 1) || math.Abs(rough.X[i]-x) > sd/50 {
			return false
		}
	}
	return true
}

func better(a, b *optim.Result) bool {
	if a.Status.Converged() != b.Status.Converged() {
		return a.Status.Converged() && a.Cost <= b.Cost*(1+1e-6)
	}
	return a.Cost < b.Cost
}
