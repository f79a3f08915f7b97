// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// ProfileSettings are the settings of Profile. The zero value is the default.
type ProfileSettings struct {
	// The Settings are those of the fit, with its Fixed, Tied and Priors.
	Settings
	// Level is the probability that the intervals cover, also where the true value is at a bound: see Interval. Default 0.95.
	Level float64
	// OneSided makes each end a limit by itself: the value is above Lower with probability Level, and below Upper with probability Level.
	OneSided bool
	// Names are the parameters and quantities to profile. Default: all fitted parameters, then all Quantities.
	Names []string
	// Quantities are functions of the parameters by name, as Result.Derive takes them.
	Quantities map[string]*ad.Node
}

// Interval is the range of values of a parameter for which the cost, minimised over the other
// parameters, stays within the level.
//
// Near a bound the data cannot pull a parameter beyond it, so that the cost at the true value rises less than elsewhere, and an interval of the usual rise would hold the truth too often. There the
// rise that is allowed is the one that holds with the probability of the level for a true value at that distance from the bound, which makes the intervals those of Feldman and Cousins in the
// limit of normal errors. Limits that are OneSided keep the usual rise, so that none is below what the data can tell.
//
// References: Feldman & Cousins, Phys. Rev. D 57, 3873 (1998), doi:10.1103/PhysRevD.57.3873; Cowan et al., Eur. Phys. J. C 71, 1554 (2011), doi:10.1140/epjc/s10052-011-1554-0, section 3.
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
	level := s.Level
	if s.OneSided {
		level = 2*level - 1
	}
	width, err := r.halfWidth(level)
	if err != nil {
		return nil, err
	}
	f, err := newProfiler(p, r, s.Settings)
	if err != nil {
		return nil, err
	}
	f.width, f.quantities = width, s.Quantities
	if !s.OneSided {
		f.level = s.Level
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
		names = append(names, slices.Sorted(maps.Keys(s.Quantities))...)
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

// newProfiler returns what follows the cost about the fit r of p.
func newProfiler(p *Problem, r *Result, s Settings) (*profiler, error) {
	if len(r.X) != p.N {
		return nil, fmt.Errorf("optim: the result has %d parameters, but the problem has %d: pass the result of a fit of this problem", len(r.X), p.N)
	}
	f := &profiler{p: p.Clone(), r: r, s: s, unit: 1}
	f.s.Progress, f.s.NoPolish = nil, false
	f.s.XScale = nil // the number of parameters changes
	if !r.Absolute {
		f.unit = r.ReducedChiSquared()
	}
	return f, nil
}

type profiler struct {
	p     *Problem
	r     *Result
	s     Settings
	width float64 // tau at the ends of intervals far from bounds
	level float64 // probability of intervals that narrow near bounds; 0 keeps the width
	// unit is the increase of chi-square that counts as one standard deviation.
	unit       float64
	quantities map[string]*ad.Node
	// held is what is held at values.
	held held
}

// held is a parameter or a quantity that is held at values.
type held struct {
	name         string
	value, sd    float64 // at the fit
	lower, upper float64 // its bounds
	quantity     *holding
}

// choose makes a parameter or a quantity the one that is held.
func (f *profiler) choose(name string) error {
	if e := f.quantities[name]; e != nil {
		of, err := newFunctions(f.r.Names, map[string]*ad.Node{name: e})
		if err != nil {
			return err
		}
		q, err := f.r.Derive(map[string]*ad.Node{name: e})
		if err != nil {
			return err
		}
		sd := q.SD()[0]
		if !linalg.Finite(sd) || sd == 0 {
			return fmt.Errorf("optim: the quantity %s is %g +- %g: a profile needs an error to begin with", name, q.X[0], sd)
		}
		f.held = held{name, q.X[0], sd, -inf, inf, f.p.hold(of, stiffness*sd/math.Sqrt(f.unit))}
		return nil
	}
	i, err := f.p.index(name)
	if err != nil {
		return err
	}
	if _, tied := f.s.Tied[name]; tied {
		return fmt.Errorf("optim: %s is tied to other parameters: profile those instead", name)
	}
	f.held = held{name, f.r.X[i], f.r.SD()[i], -inf, inf, nil}
	if f.p.Lower != nil {
		f.held.lower = f.p.Lower[i]
	}
	if f.p.Upper != nil {
		f.held.upper = f.p.Upper[i]
	}
	return nil
}

func (f *profiler) interval(ctx context.Context, name string) (iv Interval, err error) {
	if err := f.choose(name); err != nil {
		return Interval{}, err
	}
	iv = Interval{Name: name, Value: f.held.value}
	iv.Points = []ProfilePoint{{Value: iv.Value, Cost: f.r.Cost, X: slices.Clone(f.r.X)}}
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
	bound := f.held.upper
	if sign < 0 {
		bound = f.held.lower
	}
	step := f.width * f.held.sd
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
		if math.Abs(next.Tau) >= f.widthAt(at) || math.IsNaN(next.Tau) {
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

// widthAt is the tau at which an interval ends if it ends at a value of what is held.
func (f *profiler) widthAt(value float64) float64 {
	below, above := (value-f.held.lower)/f.held.sd, (f.held.upper-value)/f.held.sd
	if f.level == 0 || !(f.held.sd > 0) || math.IsInf(f.held.sd, 1) || !(min(below, above) < f.width) {
		return f.width
	}
	return boundedWidth(f.r.errorCDF(), f.level, f.width, max(below, 0), max(above, 0))
}

// close finds where tau is the width, between two points.
func (f *profiler) close(ctx context.Context, iv *Interval, a, b ProfilePoint, sign float64) (float64, error) {
	fa, fb := math.Abs(a.Tau)-f.widthAt(a.Value), math.Abs(b.Tau)-f.widthAt(b.Value)
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
		fc := math.Abs(c.Tau) - f.widthAt(c.Value)
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

// at fits with the parameter or the quantity held, from the point nearby.
func (f *profiler) at(ctx context.Context, value float64, from ProfilePoint, sign float64) (ProfilePoint, error) {
	out := ProfilePoint{Value: value, Cost: math.NaN(), Tau: math.NaN(), X: from.X}
	r, err := f.fitHeld(ctx, value, from.X)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		return out, nil // the model does not exist there: outside
	}
	cost := r.Cost
	if q := f.held.quantity; q != nil {
		if out.Value = q.reached(r.X, f.held.value); math.IsNaN(out.Value) {
			out.Value = value
			return out, nil
		}
		off := (out.Value - value) / q.width
		cost -= off * off / 2
	}
	out.Cost, out.X = cost, r.X
	if out.Tau, err = f.tau(cost, r, func() string { return fmt.Sprintf("%s at %g", f.held.name, value) }); err != nil {
		return out, err
	}
	out.Tau *= sign
	return out, nil
}

// fitHeld fits with the parameter or the quantity held.
func (f *profiler) fitHeld(ctx context.Context, value float64, from []float64) (*Result, error) {
	if q := f.held.quantity; q != nil {
		q.value, q.Start = value, slices.Clone(from)
		return LeastSquares(ctx, q.Problem, f.s)
	}
	return f.fitAt(ctx, from, map[string]float64{f.held.name: value})
}

// fitAt fits with parameters held at values.
func (f *profiler) fitAt(ctx context.Context, from []float64, values map[string]float64) (*Result, error) {
	s := f.s
	s.Fixed = map[string]float64{}
	maps.Copy(s.Fixed, f.s.Fixed)
	maps.Copy(s.Fixed, values)
	f.p.Start = slices.Clone(from)
	return LeastSquares(ctx, f.p, s)
}

// tau is the root of twice the rise of the cost in units of the error scale. It returns an error if the cost of a converged fit falls instead.
func (f *profiler) tau(cost float64, r *Result, where func() string) (float64, error) {
	rise := 2 * (cost - f.r.Cost) / f.unit
	if rise < -1e-6*max(1, f.r.Cost) && r.Status.Converged() {
		return math.NaN(), fmt.Errorf("optim: with %s the cost is %.9g, below the %.9g of the fit: fit again from %v", where(), cost, f.r.Cost, r.X)
	}
	return math.Sqrt(max(0, rise)), nil
}
