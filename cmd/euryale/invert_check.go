package main

import (
	"context"
	"fmt"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/morph"
)

// judge gives the verdict about the model at a fit.
func (v *inversion) judge(f *found) (check.Verdict, error) {
	return v.inv.Check(f.x, morph.CheckSettings{Altered: v.measurement.Altered, Findings: check.Unconverged(f.ended), Relative: v.cfg.Problem.Sigma == 0 && v.inv.Loss != morph.PoissonLoss})
}

// judgeDraw gives the verdict about the model at the draw in the middle of a
// posterior, and about its priors.
func (v *inversion) judgeDraw(fit *infer.Fit) (check.Verdict, error) {
	priors, err := fit.PriorChecks()
	if err != nil {
		return check.Verdict{}, err
	}
	s := morph.CheckSettings{Altered: v.measurement.Altered, Drawn: true, Priors: priors}
	chain := fit.Chains() / 2
	draw := fit.Len(chain) / 2
	var x []float64
	for _, n := range v.names() {
		x = append(x, fit.Draws(n)[chain][draw])
	}
	if noise := fit.Draws("noise"); noise != nil {
		s.Sigma = noise[chain][draw]
	}
	verdict, err := v.inv.Check(x, s)
	if err == nil {
		fit.Quote(verdict)
	}
	return verdict, err
}

// elsewhere minimises from other starts and returns the lowest minimum.
func (a *app) elsewhere(ctx context.Context, v *inversion, best *found) (*found, error) {
	own, first := v.inv.Start(), best
	defer v.startAt(own)
	for k := range v.cfg.Restarts {
		if ctx.Err() != nil || len(v.names()) > mostJacobian {
			break
		}
		v.startAt(own)
		v.startAt(v.inv.OtherStart(v.cfg.Seed, k))
		a.note("the model disagrees with the data; starting elsewhere, %d of %d (--restarts 0 keeps the first minimum)", k+1, v.cfg.Restarts)
		next, err := a.minimum(ctx, v)
		if err != nil || !(next.cost < best.cost*(1-1e-6)) {
			continue // this start leads nowhere better
		}
		if next.check, err = v.judge(next); err != nil {
			return nil, as(exitFailed, err)
		}
		next.warnings = append(next.warnings, fmt.Sprintf("the minimum that the problem's start leads to, of cost %.6g, left misfit; another start found this one, of cost %.6g", first.cost, next.cost))
		if best = next; !best.check.Disagrees() {
			break
		}
	}
	return best, nil
}
