// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
)

// farApart is the distance of a prior from what the data alone say, in standard deviations of both together, from which they are in conflict: chance is 5e-4.
const farApart = 3.5

// chosen reports whether a prior of a fit is one of Priors, and not that of a shared error.
func (p *Problem) chosen(prior optim.Prior) bool {
	whole, _, _ := strings.Cut(prior.Names[0], "[")
	return p.Priors[whole] != ""
}

// withoutPriors returns the best fit without the priors of parameters, from the places that the problem starts at and that is given; nil if there is none.
func (p *Problem) withoutPriors(ctx context.Context, problem *optim.Problem, s optim.Settings, at []float64) (best *optim.Result) {
	s.Priors = slices.DeleteFunc(slices.Clone(s.Priors), p.chosen)
	alone := problem.Clone()
	for _, start := range [][]float64{at, problem.Start} {
		if start == nil {
			continue
		}
		alone.Start = slices.Clone(start)
		r, err := optim.LeastSquares(ctx, alone, s)
		if err == nil && r.Status.Converged() && linalg.Finite(r.Cost) && (best == nil || r.Cost < best.Cost) {
			best = r
		}
	}
	return best
}

// inUnitsOfErrors gives priors the weight that they have beside data whose errors are known up to a factor only. The residuals are in units of that factor, which the fit of the data alone
// estimates.
func (p *Problem) inUnitsOfErrors(problem *optim.Problem, s *optim.Settings) {
	if !s.RelativeSigma || !slices.ContainsFunc(s.Priors, p.chosen) {
		return
	}
	r := p.withoutPriors(context.Background(), problem, *s, nil)
	if r == nil || !(r.Scale > 0) || math.IsInf(r.Scale, 1) {
		return
	}
	for i, prior := range s.Priors {
		s.Priors[i].Cov = slices.Clone(prior.Cov)
		linalg.Scale(s.Priors[i].Cov, 1/r.Scale)
	}
}

// tellConflicts adds to the verdict of a fit, or of a posterior, which priors lie far from what the data alone say, with the errors that these have by themselves: where a prior keeps the model from
// the data, an error that is fitted grows until both seem close. Other flags that say this in other words are left out. It reports whether there is any.
func (p *Problem) tellConflicts(ctx context.Context, problem *optim.Problem, s optim.Settings, at []float64, v *check.Verdict) bool {
	if !slices.ContainsFunc(s.Priors, p.chosen) {
		return false
	}
	r := p.withoutPriors(ctx, problem, s, at)
	if r == nil || r.Cov == nil || r.DoF() < 1 {
		return false
	}
	sd, wide := r.SD(), 1.0
	if r.Absolute && !r.Robust() {
		wide = math.Sqrt(max(1, r.ReducedChiSquared()))
	}
	var found []check.Flag
	compared := map[string]bool{}
	for _, prior := range s.Priors {
		i := slices.Index(r.Names, prior.Names[0])
		if !p.chosen(prior) || i < 0 || math.IsInf(sd[i], 1) || !(sd[i] > 0) || r.Active[i] != 0 || slices.Contains(r.Undetermined, r.Names[i]) {
			continue
		}
		name := prior.Names[0]
		compared[name] = true
		whole, _, _ := strings.Cut(name, "[")
		value, own, width := r.X[i], wide*sd[i], p.priorWidth(s, prior, r)
		if prior.Log {
			value, own = math.Log(value), own/math.Abs(value)
		}
		if apart := math.Abs(value-prior.Mean[0]) / math.Hypot(width, own); apart > farApart {
			found = append(found, check.Flag{Kind: check.KindPrior, Where: name, P: math.Erfc(apart / math.Sqrt2),
				Text:   fmt.Sprintf("the prior of %s, %s, lies %.3g standard deviations (of both together) from %.4g +- %.2g, which the data alone give", name, p.Priors[whole], apart, r.X[i], wide*sd[i]),
				Remedy: "check the units of the prior and of the data, or widen the prior if it was a guess"})
		}
	}
	if len(found) == 0 {
		return false
	}
	slices.SortStableFunc(found, func(a, b check.Flag) int { return -int(math.Copysign(1, b.P-a.P)) })
	v.OK = false
	v.Flags = append(found, slices.DeleteFunc(slices.Clone(v.Flags), func(f check.Flag) bool {
		return f.Kind == check.KindSize || f.Kind == check.KindPrior && (p.Priors[f.Where] == "" || compared[f.Where])
	})...)
	return true
}

// priorWidth is the standard deviation of a prior, which stands in units of the errors where these are known up to a factor.
func (p *Problem) priorWidth(s optim.Settings, prior optim.Prior, r *optim.Result) float64 {
	width := math.Sqrt(prior.Cov[0])
	if s.RelativeSigma {
		width *= math.Sqrt(r.Scale)
	}
	return width
}

// conflictsOfDraws is tellConflicts for a posterior with a normal likelihood: least squares from the means of the draws say what the data alone would.
func (p *Problem) conflictsOfDraws(fit *infer.Fit, v *check.Verdict) bool {
	model, err := p.formula()
	if err != nil || p.Likelihood != "" && !strings.Contains(p.Likelihood, "mu, sigma)") {
		return false
	}
	own := *p
	own.Priors, own.Flat, own.Likelihood, own.NonCentred, own.Derived, own.Groups, own.Start = map[string]string{}, nil, "", nil, nil, nil, map[string]Values{}
	own.Bounds = map[string]Bounds{}
	if _, column := p.Data[p.Sigma]; !column {
		own.Sigma = "" // a parameter, or a formula of some
	}
	for _, name := range model.Names() {
		_, column := p.Data[name]
		_, fixed := p.Fixed[name]
		if column || fixed || p.Tied[name] != "" {
			continue
		}
		if p.Groups[name].Over != "" {
			return false
		}
		mean, n := 0.0, 0.0
		for _, chain := range fit.Draws(name) {
			for _, x := range chain {
				n++
				mean += (x - mean) / n
			}
		}
		own.Start[name] = Values{mean}
		if b, ok := p.Bounds[name]; ok && b[0] < mean && mean < b[1] {
			own.Bounds[name] = b
		}
		alone := own
		alone.Priors = map[string]string{name: p.Priors[name]}
		if _, err := alone.penalties([]string{name}, nil); err == nil && p.Priors[name] != "" {
			own.Priors[name] = p.Priors[name]
		}
	}
	if len(own.Priors) == 0 {
		return false
	}
	least, s, err := own.LeastSquares()
	return err == nil && own.tellConflicts(context.Background(), least, s, nil, v)
}
