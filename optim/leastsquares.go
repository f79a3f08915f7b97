// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"slices"

	"github.com/euryale-dev/euryale/internal/given"
)

// LeastSquares minimises scale^2/2 sum rho((r_i/scale)^2) over the parameters.
//
// An error means that the problem or the settings cannot be used, or that the residual failed at
// the start; every other outcome is a Status. On cancellation the best point so far is returned
// with the context's error.
func LeastSquares(ctx context.Context, p *Problem, s Settings) (_ *Result, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.LeastSquares", "ctx", ctx, "p", p); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	with, err := p.withPriors(s.Priors)
	if err != nil {
		return nil, err
	}
	free, full, err := with.reduce(&s)
	if err != nil {
		return nil, err
	}
	if s, err = s.withDefaults(free); err != nil {
		return nil, err
	}
	w, status, err := descendTriangular(ctx, free, s)
	if err != nil || w == nil {
		w, status, err = descend(ctx, free, s)
	}
	if err != nil {
		return nil, err
	}
	if !s.Loss.plain() && status != Interrupted && free.N > 0 {
		w, status = viaSquares(ctx, free, s, w, status)
	}
	res := w.result(status)
	if err := free.whole(w, res); err != nil {
		return nil, err
	}
	free.keep(w)
	if err := full(res); err != nil {
		return nil, err
	}
	if status == Interrupted {
		return res, ctx.Err()
	}
	return res, nil
}

// descend runs one fit from the problem's start.
func descend(ctx context.Context, p *Problem, s Settings) (*iterate, Status, error) {
	w := newIterate(p, s)
	if err := w.start(); err != nil {
		return nil, Stuck, err
	}
	if p.N == 0 {
		return w, GradientSmall, nil
	}
	return w, w.runToMinimum(ctx), nil
}

// viaSquares fits again from the least-squares solution and returns the fit of
// the lower cost: a loss that forgives has more than one minimum.
func viaSquares(ctx context.Context, p *Problem, s Settings, w *iterate, status Status) (*iterate, Status) {
	plain := s
	plain.Loss, plain.NoPolish = Linear, true
	first, _, err := descend(ctx, p, plain)
	if err != nil {
		return w, status
	}
	q := *p
	q.Start = slices.Clone(first.x)
	second, end, err := descend(ctx, &q, s)
	evaluations := w.nfev + first.nfev
	if err == nil {
		evaluations += second.nfev
		if end.Converged() && (second.cost < w.cost*(1-1e-12) || !status.Converged()) {
			w, status = second, end
		}
	}
	w.nfev = evaluations
	if ctx.Err() != nil {
		status = Interrupted
	}
	return w, status
}
