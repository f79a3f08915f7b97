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

	// blurred is whether the residuals have rounding errors of the size of the errors of the data.
	blurred bool
}

// IntervalLevel is the probability of an interval, as ProfileSettings has it.
type IntervalLevel struct {
	Level    float64 // default 0.95
	OneSided bool
}

// Profile returns profile-likelihood intervals around the fit r of p, which was made with the same
// settings. They remain valid for skewed and bounded parameters, for which the quadratic errors of
// Result.SD are not.
//
// An interval is open on a side where the cost stays within its level up to the bound, or as far as it was followed: a million times the value or the standard error. Where the data do not determine a
// parameter, fits with it held start from several places before a side is taken to be closed. An interval may enclose values that fit worse than its level allows, if further ones fit again.
//
// It returns a *LowerCostError if it meets a lower cost than that of r.
func Profile(ctx context.Context, p *Problem, r *Result, s ProfileSettings) ([]Interval, error) {
	s.Level = orDefault(s.Level, 0.95)
	all, err := Profiles(ctx, p, r, s, IntervalLevel{s.Level, s.OneSided})
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// Profiles returns the intervals of Profile for several levels, which take the place of Level and OneSided, from the same profiles, so that each interval holds those of lower levels.
func Profiles(ctx context.Context, p *Problem, r *Result, s ProfileSettings, levels ...IntervalLevel) (_ [][]Interval, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.Profile", "ctx", ctx, "p", p, "r", r); err != nil {
		return nil, err
	}
	f, err := newProfiler(p, r, s.Settings)
	if err != nil {
		return nil, err
	}
	f.quantities = s.Quantities
	if f.rises, err = risesOf(r, levels); err != nil {
		return nil, err
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
	out := make([][]Interval, len(levels))
	for _, name := range names {
		all, err := f.intervals(ctx, name)
		if err != nil {
			return out, err
		}
		for l, iv := range all {
			out[l] = append(out[l], iv)
		}
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
		f.unit = max(r.ReducedChiSquared(), r.leastScale)
	}
	return f, nil
}

type profiler struct {
	p     *Problem
	r     *Result
	s     Settings
	rises []rise
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
	if out.blurred = f.blur(r) > max(mostBlur, 2*f.blur(f.r)); out.blurred {
		return out, nil
	}
	if out.Tau, err = f.tau(cost, r, func() string { return fmt.Sprintf("%s at %g", f.held.name, value) }); err != nil {
		return out, err
	}
	out.Tau *= sign
	return out, nil
}

// mostBlur is the rounding error of all residuals together, in standard deviations of one, above which a cost says nothing if that of the fit is much smaller.
const mostBlur = 0.01

// blur is the rounding error of the residuals by that of the parameters, in standard deviations of one.
func (f *profiler) blur(r *Result) (most float64) {
	if r.Jacobian == nil {
		return 0
	}
	for k, x := range r.X {
		most = max(most, linalg.Norm(r.Jacobian[k*r.M:(k+1)*r.M])*math.Abs(x)*0x1p-52/math.Sqrt(f.unit))
	}
	return most
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

// settled is the fall of chi-square, in units of the variance, below which a fit counts as that of the least cost.
const settled = 1e-3

// LowerCostError says that a fit is not that of the least cost.
type LowerCostError struct {
	Where       string // the parameters that were held, and their values
	Cost, Least float64
	// X are the parameters of the lower cost, from which to fit again.
	X []float64
}

func (e *LowerCostError) Error() string {
	return fmt.Sprintf("optim: with %s the cost is %.9g, below the %.9g of the fit: fit again from %v", e.Where, e.Least, e.Cost, e.X)
}

// tau is the root of twice the rise of the cost in units of the error scale. It returns an error if the cost of a converged fit falls instead.
func (f *profiler) tau(cost float64, r *Result, where func() string) (float64, error) {
	rise := 2 * (cost - f.r.Cost) / f.unit
	if rise < -settled && cost < f.r.Cost*(1-1e-6) && r.Status.Converged() {
		return math.NaN(), &LowerCostError{where(), f.r.Cost, cost, slices.Clone(r.X)}
	}
	return math.Sqrt(max(0, rise)), nil
}
