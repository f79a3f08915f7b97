// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// ProfileSettings are the settings of Profile. The zero value is the default.
type ProfileSettings struct {
	// The Settings are those of the fit, with its Fixed, Tied and Priors.
	Settings
	// Level is the probability that the intervals cover. Default 0.95.
	Level float64
	// Names are the parameters to profile. Default: all fitted parameters.
	Names []string
}

// Interval is the range of values of a parameter for which the cost, minimised over the other
// parameters, stays within the level.
type Interval struct {
	Name string
	// Value is the fitted value.
	Value        float64
	Lower, Upper float64
	// LowerOpen and UpperOpen report whether the cost stays within the level up to the bound, or up
	// to infinity, so that the data do not close the interval on that side.
	LowerOpen, UpperOpen bool
	// Points trace the profile in ascending order of the value.
	Points []ProfilePoint
}

// ProfilePoint is the best fit with one parameter held at a value.
type ProfilePoint struct {
	Value, Cost float64
	// Tau is the signed root of twice the rise of the cost, in units of the error
	// scale: a straight line in Value for a linear model (Bates & Watts 1988).
	Tau float64
	// X holds the values of all parameters.
	X []float64
}

// Profile returns profile-likelihood intervals around the fit r of p, which was made with the same
// settings. They remain valid for skewed and bounded parameters, for which the quadratic errors of
// Result.SD are not.
//
// It returns an error if it meets a lower cost than that of r; fit again from there.
func Profile(ctx context.Context, p *Problem, r *Result, s ProfileSettings) (_ []Interval, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.Profile", "ctx", ctx, "p", p, "r", r); err != nil {
		return nil, err
	}
	s.Level = orDefault(s.Level, 0.95)
	width, err := r.halfWidth(s.Level)
	if err != nil {
		return nil, err
	}
	if len(r.X) != p.N {
		return nil, fmt.Errorf("optim: the result has %d parameters, but the problem has %d: pass the result of a fit of this problem", len(r.X), p.N)
	}
	names := s.Names
	if names == nil {
		for _, name := range p.allNames() {
			_, fixed := s.Fixed[name]
			_, tied := s.Tied[name]
			if !fixed && !tied {
				names = append(names, name)
			}
		}
	}
	f := &profiler{p: p.Clone(), r: r, s: s.Settings, width: width, unit: 1}
	f.s.Progress, f.s.NoPolish = nil, false
	if s.XScale != nil {
		f.s.XScale = nil // the number of parameters changes
	}
	if !r.Absolute {
		f.unit = r.ReducedChiSquared()
	}
	var out []Interval
	for _, name := range names {
		iv, err := f.interval(ctx, name)
		if err != nil {
			return out, err
		}
		out = append(out, iv)
	}
	return out, nil
}

type profiler struct {
	p     *Problem
	r     *Result
	s     Settings
	width float64
	// unit is the increase of chi-square that counts as one standard deviation.
	unit float64
	// i is the number of the parameter that is held.
	i int
}

func (f *profiler) interval(ctx context.Context, name string) (Interval, error) {
	i, err := f.p.index(name)
	if err != nil {
		return Interval{}, err
	}
	if _, tied := f.s.Tied[name]; tied {
		return Interval{}, fmt.Errorf("optim: %s is tied to other parameters: profile those instead", name)
	}
	f.i = i
	iv := Interval{Name: name, Value: f.r.X[i]}
	iv.Points = []ProfilePoint{{Value: f.r.X[i], Cost: f.r.Cost, X: slices.Clone(f.r.X)}}
	if iv.Lower, iv.LowerOpen, err = f.side(ctx, &iv, -1); err != nil {
		return iv, err
	}
	if iv.Upper, iv.UpperOpen, err = f.side(ctx, &iv, 1); err != nil {
		return iv, err
	}
	slices.SortFunc(iv.Points, func(a, b ProfilePoint) int {
		if a.Value < b.Value {
			return -1
		}
		return 1
	})
	return iv, nil
}

// side walks from the fit until tau passes the width, then closes in.
func (f *profiler) side(ctx context.Context, iv *Interval, sign float64) (end float64, open bool, err error) {
	bound := f.p.Upper[f.i]
	if sign < 0 {
		bound = f.p.Lower[f.i]
	}
	step := f.width * f.r.SD()[f.i]
	if !linalg.Finite(step) || step == 0 {
		step = 0.1 * max(math.Abs(iv.Value), 1e-3)
	}
	inside, far := iv.Points[0], 1e6*max(step, math.Abs(iv.Value))
	if inside.Value == bound {
		return bound, true, nil
	}
	for range 40 {
		at := inside.Value + sign*step
		last := sign*(at-bound) >= 0
		if last {
			at = bound
		}
		next, err := f.at(ctx, at, inside, sign)
		if err != nil {
			return at, true, err
		}
		iv.Points = append(iv.Points, next)
		if math.Abs(next.Tau) >= f.width || math.IsNaN(next.Tau) {
			end, err := f.close(ctx, iv, inside, next, sign)
			return end, false, err
		}
		if last {
			return bound, true, nil
		}
		if math.Abs(at-iv.Value) > far {
			break
		}
		// The rate of the last step, with some haste; tau may flatten for ever.
		grown := (f.width - math.Abs(next.Tau)) * math.Abs(next.Value-inside.Value) / max(math.Abs(next.Tau)-math.Abs(inside.Tau), 1e-3)
		step = min(max(1.1*grown, 0.5*step), 4*step)
		inside = next
	}
	return sign * inf, true, nil
}

// close finds where tau is the width, between two points.
func (f *profiler) close(ctx context.Context, iv *Interval, a, b ProfilePoint, sign float64) (float64, error) {
	fa, fb := math.Abs(a.Tau)-f.width, math.Abs(b.Tau)-f.width
	for range 60 {
		if math.Abs(b.Value-a.Value) <= 1e-9*max(math.Abs(a.Value), math.Abs(b.Value)) || fb == 0 {
			break
		}
		at := a.Value - fa*(b.Value-a.Value)/(fb-fa)
		if part := (at - a.Value) / (b.Value - a.Value); !(part > 0.01 && part < 0.99) {
			at = a.Value + (b.Value-a.Value)/2
		}
		c, err := f.at(ctx, at, a, sign)
		if err != nil {
			return at, err
		}
		iv.Points = append(iv.Points, c)
		fc := math.Abs(c.Tau) - f.width
		if math.Abs(fc) < 1e-7*f.width {
			return c.Value, nil
		}
		if fc >= 0 || math.IsNaN(fc) {
			if b, fb = c, fc; math.IsNaN(fc) {
				fb = inf
			}
			fa /= 2 // Illinois: keep the other end moving
			continue
		}
		a, fa = c, fc
	}
	return b.Value, nil
}

// at fits with the parameter held, from the point nearby.
func (f *profiler) at(ctx context.Context, value float64, from ProfilePoint, sign float64) (ProfilePoint, error) {
	s := f.s
	s.Fixed = maps.Clone(s.Fixed)
	if s.Fixed == nil {
		s.Fixed = map[string]float64{}
	}
	s.Fixed[f.p.name(f.i)] = value
	f.p.Start = slices.Clone(from.X)
	r, err := LeastSquares(ctx, f.p, s)
	out := ProfilePoint{Value: value, Cost: math.NaN(), Tau: math.NaN(), X: from.X}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		return out, nil // the model does not exist there: outside
	}
	out.Cost, out.X = r.Cost, r.X
	rise := 2 * (r.Cost - f.r.Cost) / f.unit
	if rise < -1e-6*max(1, f.r.Cost) && r.Status.Converged() {
		return out, fmt.Errorf("optim: with %s at %g the cost is %.9g, below the %.9g of the fit: fit again from %v", f.p.name(f.i), value, r.Cost, f.r.Cost, r.X)
	}
	out.Tau = sign * math.Sqrt(max(0, rise))
	return out, nil
}
