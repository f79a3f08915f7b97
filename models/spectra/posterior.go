// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Model returns the Bayesian model of a star: the likelihood of the fits, with the continuum integrated out,
// under the priors of the settings, flat where there is none. All parameters stay within the bounds of the fits:
// velocities and rotation of the settings, and what the library covers.
//
// The data of other stars with spectra of the same wavelengths can take their place; see DataSet.
func (f *Fitter) Model(star *Star) (*infer.Model, error) {
	l, err := f.layoutOf(star)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", star.Name, err)
	}
	m := infer.NewModel("star")
	lower, upper := l.covered()
	params := make([]*ad.Node, len(l.names))
	for k, name := range l.names {
		prior, given := f.s.Priors[f.names[l.general(k)]]
		switch {
		case l.fixed[k]:
			params[k] = ad.Scalar(l.values[k])
		case given:
			params[k] = m.Param(name, prior, infer.By(within(lower[k], upper[k])))
		default:
			params[k] = m.Flat(name, within(lower[k], upper[k]))
		}
		params[k] = ad.Reshape(params[k], 1)
	}
	v := l.velocities
	g := &graph{vel: params[:v], vsini: params[v], u: ad.Reshape(ad.Concat(0, params[v+1:]...), 1, len(params)-v-1)}
	data := star.data()
	l.complete(g, func(i int, name string, shape ...int) *ad.Node {
		if name == "good" {
			return nil // of what is reported, which is nothing here
		}
		key := fmt.Sprintf("%s %d", name, i)
		x := m.Data(key, data[key], infer.Shape(shape...))
		return ad.Reshape(x, append([]int{1}, shape...)...)
	})
	m.AddLogProb("likelihood", ad.Scale(-0.5, ad.Reshape(g.like.ChiSquare)))
	return m, nil
}

// data returns the arrays of a star by the names that Model has for them.
func (s *Star) data() map[string][]float64 {
	data := map[string][]float64{}
	for i, x := range s.Spectra {
		data[fmt.Sprintf("flux %d", i)], data[fmt.Sprintf("err %d", i)] = x.Flux, x.Err
		if x.Resolution != nil {
			data[fmt.Sprintf("band %d", i)] = x.Resolution.Band
		}
	}
	return data
}

// within returns the transform to an interval, either end of which may be infinite.
func within(lower, upper float64) dist.Transform {
	switch lo, hi := math.IsInf(lower, -1), math.IsInf(upper, 1); {
	case lo && hi:
		return dist.IdentityTransform()
	case lo:
		return dist.UpperTransform(upper)
	case hi:
		return dist.LowerTransform(lower)
	}
	return dist.IntervalTransform(lower, upper)
}

// Starts returns starting points of chains around the fit of a star, spread wider than its
// posterior, for cfg.Init. p is the star's Model, compiled.
func (f *Fitter) Starts(p *infer.Posterior, star *Star, fit *Fit, cfg infer.Settings) ([][]float64, error) {
	l, err := f.layoutOfSpectra(star)
	if err != nil {
		return nil, err
	}
	return l.starts(p, fit, cfg)
}

// covered returns the bounds of all parameters in a posterior: those of fits, and what the library covers. Beyond it
// the penalty of networks is a wall that trajectories do not follow.
func (l *layout) covered() (lower, upper []float64) {
	lower, upper = l.bounds()
	for _, t := range l.f.library.Arms {
		t.cover(lower[l.velocities+1:], upper[l.velocities+1:])
	}
	return lower, upper
}

// bounds returns the bounds of all parameters: those of velocities and rotation, of the library, and of priors.
func (f *Fitter) bounds() (lower, upper []float64) {
	n := len(f.names)
	lower, upper = slices.Repeat([]float64{math.Inf(-1)}, n), slices.Repeat([]float64{math.Inf(1)}, n)
	lower[0], upper[0] = f.s.MinVel, f.s.MaxVel
	lower[1], upper[1] = 0, f.s.Rotation.MaxVsini
	for _, t := range f.library.Arms {
		t.bounds(lower[2:], upper[2:])
	}
	for k, name := range f.names {
		lo, hi := ends(f.s.Priors[name])
		lower[k], upper[k] = max(lower[k], lo), min(upper[k], hi)
	}
	return lower, upper
}

// ends returns the least and the greatest number of a finite density. A Dist without a name has infinite ends.
func ends(d dist.Dist) (lower, upper float64) {
	lower, upper = d.Support.Ends()
	if d.Support.Open {
		const inside = 1e-9 // of the interval, or of its end; in a half-line that begins at 0 also of the unit
		width := upper - lower
		if math.IsInf(width, 0) {
			width = max(1, math.Abs(lower))
			if math.IsInf(lower, 0) {
				width = max(1, math.Abs(upper))
			}
		}
		lower, upper = lower+inside*width, upper-inside*width
	}
	return lower, upper
}

// Sample draws from the posterior of a star by NUTS, starting around its fit, which must have
// succeeded. Chains, warm-up and draws are those of cfg. When ctx ends, it returns the draws so far
// with ctx.Err().
func (f *Fitter) Sample(ctx context.Context, star *Star, fit *Fit, cfg infer.Settings) (*infer.Fit, error) {
	f, star = f.as(star, fit)
	l, err := f.layoutOf(star)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", star.Name, err)
	}
	if err := l.sampleable(fit); err != nil {
		return nil, err
	}
	m, err := f.Model(star)
	if err != nil {
		return nil, err
	}
	p, err := m.CompileOn(wide(f.s.Backend))
	if err != nil {
		return nil, err
	}
	if cfg.Init, err = l.starts(p, fit, cfg); err != nil {
		return nil, err
	}
	return infer.Sample(ctx, p, cfg)
}

// as returns the star as a fit saw it, without its spikes, and the Fitter with its continuum.
func (f *Fitter) as(star *Star, fit *Fit) (*Fitter, *Star) {
	if fit == nil || len(fit.Spikes) == 0 && fit.Polynomials == 0 {
		return f, star
	}
	left := star.without(fit.Spikes)
	return f.of(fit), &left
}

// sampleable says what keeps draws from beginning at a fit.
func (l *layout) sampleable(fit *Fit) error {
	switch {
	case fit != nil && fit.Err != nil:
		return fit.Err
	case fit == nil || len(fit.X) != len(l.names):
		return errors.New("spectra: the star has no fit from which sampling could start: fit it first")
	}
	return nil
}

// starts returns overdispersed starts of chains about a fit.
func (l *layout) starts(p *infer.Posterior, fit *Fit, cfg infer.Settings) ([][]float64, error) {
	var names []string
	var values, cov []float64
	var free []int
	lower, upper := l.covered()
	for k, name := range l.names {
		if !l.fixed[k] {
			x := fit.X[k]
			if within := 1e-6 * (upper[k] - lower[k]); k > l.velocities && !math.IsInf(within, 0) {
				x = min(max(x, lower[k]+within), upper[k]-within) // a fit may end a little outside
			}
			names, values, free = append(names, name), append(values, x), append(free, k)
		}
	}
	for _, k := range free {
		for _, other := range free {
			cov = append(cov, fit.Cov[k*len(l.names)+other])
		}
	}
	chains := cfg.Chains
	if chains == 0 {
		chains = 4
	}
	return p.WarmStart(names, values, cov, chains, cfg.Seed)
}

// SampleAll draws from the posteriors of many stars, with the chains of stars whose spectra have
// the same wavelengths in lock step: one run of a program serves a gradient to each. fits are those
// of the stars; star i has the seed cfg.Seed + i, and its draws do not depend on the others. done
// is called once for each star, from one goroutine at a time and in no particular order, with the
// draws or with an error. SampleAll returns ctx.Err() if ctx ends it; done is not called for stars
// that are not complete.
func (f *Fitter) SampleAll(ctx context.Context, stars []Star, fits []Fit, cfg infer.Settings, done func(i int, post *infer.Fit, err error)) error {
	if len(fits) != len(stars) {
		return fmt.Errorf("spectra: there are %d fits, but %s: give one for each", len(fits), errtext.Count(len(stars), "star"))
	}
	groups, seen := map[*layout][]int{}, slices.Clone(stars)
	var order []*layout
	for i := range stars {
		own, star := f.as(&stars[i], &fits[i])
		seen[i] = *star
		l, err := own.layoutOf(star)
		if err == nil {
			err = l.sampleable(&fits[i])
		}
		if err != nil {
			done(i, nil, fmt.Errorf("%s: %w", stars[i].Name, err))
			continue
		}
		if groups[l] == nil {
			order = append(order, l)
		}
		groups[l] = append(groups[l], i)
	}
	for _, l := range order {
		list := groups[l]
		m, err := l.f.Model(&seen[list[0]])
		if err != nil {
			return err
		}
		p, err := m.CompileOn(wide(f.s.Backend))
		if err != nil {
			return err
		}
		for part := range runs(list) { // whose seeds follow each other
			sets := make([]infer.DataSet, len(part))
			c := cfg
			c.Seed += uint64(part[0])
			for k, i := range part {
				sets[k].Data = seen[i].data()
				for name, values := range sets[k].Data {
					if err := p.SetData(name, values); err != nil {
						return err
					}
				}
				own := cfg
				own.Seed += uint64(i)
				if sets[k].Init, err = l.starts(p, &fits[i], own); err != nil {
					return fmt.Errorf("%s: %w", stars[i].Name, err)
				}
			}
			if err := p.SampleEach(ctx, sets, c, func(k int, post *infer.Fit, err error) { done(part[k], post, err) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// runs gives the longest parts of an ascending list in which each number is one more than that before.
func runs(list []int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		for from := 0; from < len(list); {
			to := from + 1
			for to < len(list) && list[to] == list[to-1]+1 {
				to++
			}
			if !yield(list[from:to]) {
				return
			}
			from = to
		}
	}
}
