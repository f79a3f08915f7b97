// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/penalty"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/twotime"
)

// Penalties takes the priors that are asked for as penalties of a fit, and their intervals as bounds of the problem. Parameters that get one
// are no longer held fixed.
func (r *Request) Penalties(problem *Problem) (all []twotime.Penalty, err error) {
	c := problem.Config
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(r.Priors)) {
		text := name + "=" + r.Priors[name]
		d, err := setting.Prior(name, r.Priors[name])
		if err != nil {
			return nil, err
		}
		short, inLogs := strings.CutPrefix(name, "log_")
		plain := c.Model.Name(short)
		par := c.Parameter(plain)
		switch {
		case plain == "contrast" || plain == "offset":
			return nil, wrong("prior", "%q: contrast and offset follow from the data in a fit: leave this prior to sample twotime", text)
		case par == nil:
			return nil, unknown("prior", name, c.Model.Names())
		case seen[plain]:
			return nil, wrong("prior", "%q: %s already has a prior: give only one", text, plain)
		case inLogs && d.Name != "normal":
			return nil, wrong("prior", "%q: want a normal distribution of the logarithm, such as %s=normal(7,1), in a fit", text, name)
		}
		if !inLogs {
			if err := twotime.CheckPrior(plain, d); err != nil {
				return nil, wrong("prior", "%q: %v", text, errtext.Without("twotime: ", err))
			}
		}
		seen[plain] = true
		p, within, err := penalty.Of(plain, d)
		if err != nil {
			return nil, wrong("prior", "%q: %v", text, err)
		}
		par.Fixed = false
		if p != nil {
			all = append(all, twotime.Penalty{Name: plain, Mean: p.Mean[0], SD: math.Sqrt(p.Cov[0]), Log: p.Log || inLogs})
		}
		if inLogs || math.IsInf(within[0], 0) && math.IsInf(within[1], 0) {
			continue
		}
		low, high := within[0], within[1]
		if usual := problem.bounds()[slices.Index(c.Model.Names(), plain)]; math.IsInf(high, 0) || par.Bounded {
			low, high = max(low, usual[0]), min(high, usual[1])
		}
		if math.IsInf(low, 0) || math.IsInf(high, 0) || !(low < high) {
			continue
		}
		par.Low, par.High, par.Bounded = low, high, true
		par.Start = min(max(par.Start, low), high)
	}
	return all, nil
}

// penalised fits again with penalties from the fit without, which says how much they weigh, and notes it.
func (f *Fit) penalised(ctx context.Context, s *twotime.Settings, penalties []twotime.Penalty) (err error) {
	if len(penalties) == 0 {
		return nil
	}
	if s.PenaltyWeight, err = f.PenaltyWeight(ctx, f.Problem.Data, *s); err != nil {
		return err
	}
	s.Penalties, s.Start, s.Starts, s.Near = penalties, slices.Clone(f.Theta), 0, nil
	passes := f.Passes
	if f.Fit, err = twotime.FitLeastSquares(ctx, f.Problem.Data, *s); err != nil {
		return err
	}
	f.Passes += passes
	if f.Shared != nil {
		if f.Shared, err = f.Shared.WithPenalties(f.Fit, penalties); err != nil {
			f.Shared = nil
			f.Notes = append(f.Notes, "errors that allow for entries that share a frame could not be computed: "+err.Error())
		}
	}
	told := map[string]dist.Dist{}
	for _, p := range penalties {
		told[p.Name] = dist.Normal(p.Mean, p.SD)
		if p.Log {
			told[p.Name] = dist.LogNormal(p.Mean, p.SD)
		}
	}
	f.Notes = append(f.Notes, penalty.Told(told))
	return nil
}
