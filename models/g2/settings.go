// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
)

// usable applies DropInvalid.
func (s Settings) usable(curves []Curve) ([]Curve, [][]check.Alteration) {
	dropped := make([][]check.Alteration, len(curves))
	if !s.DropInvalid {
		return curves, dropped
	}
	curves = slices.Clone(curves)
	for i := range curves {
		curves[i], dropped[i] = curves[i].valid()
	}
	return curves, dropped
}

// check returns an error for names that the model does not have, and for starts, fixed values and
// bounds that exclude each other, for every curve before anything runs.
func (s Settings) check(model Model, curves []Curve) error {
	if err := model.wrong(); err != nil {
		return err
	}
	if at, err := s.wrong(model); err != nil {
		return fmt.Errorf("g2: %s: %w", at, errtext.Without("g2: ", err))
	}
	for _, c := range curves {
		if len(c.X) == 0 {
			continue
		}
		if err := s.checkStarts(model, c); err != nil {
			return err
		}
	}
	return nil
}

// wrong returns the first setting that no curve can have with the model, and why. Priors may be of what only a posterior has: the
// parameters that are sampled in place of others, and the size of errors.
func (s Settings) wrong(model Model) (at string, err error) {
	sampled, _ := model.sampledForm()
	both := append(model.names(), noise)
	for _, p := range sampled {
		if !slices.Contains(both, p.Name) {
			both = append(both, p.Name)
		}
	}
	for _, group := range []struct {
		at         string
		names, has []string
	}{{"fixed", slices.Sorted(maps.Keys(s.Fixed)), model.names()}, {"bounds", slices.Sorted(maps.Keys(s.Bounds)), model.names()}, {"start", slices.Sorted(maps.Keys(s.Start)), model.names()},
		{"prior", slices.Sorted(maps.Keys(s.Priors)), both}} {
		for _, name := range group.names {
			if !slices.Contains(group.has, name) {
				return group.at, errors.New(setting.UnknownParameter(name, group.has))
			}
		}
	}
	if err := s.checkBounds(model.Params); err != nil {
		return "bounds", err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Bounds)) {
		if v, fixed := s.Fixed[name]; fixed {
			if b := s.Bounds[name]; !(v >= b[0] && v <= b[1]) {
				return "fixed", fmt.Errorf("g2: %s is fixed at %g, outside its bounds %g:%g: change one of them", name, v, b[0], b[1])
			}
		}
	}
	return "prior", s.checkPriors(slices.Concat(model.Params, sampled))
}

// checkBounds compares bounds with each other, and with what parameters can be.
func (s Settings) checkBounds(params []Param) error {
	for _, name := range slices.Sorted(maps.Keys(s.Bounds)) {
		b := s.Bounds[name]
		if !(b[0] < b[1]) {
			return fmt.Errorf("g2: the bounds of %s are %g:%g: want the lower below the upper", name, b[0], b[1])
		}
		if i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name }); i >= 0 && params[i].positive && b[0] < 0 {
			return fmt.Errorf("g2: the bounds of %s are %g:%g, but %s is a relaxation time, which must be positive: give bounds of at least 0", name, b[0], b[1], name)
		}
	}
	return nil
}

// checkStarts compares starts and fixed values with the bounds that hold for a curve.
func (s Settings) checkStarts(model Model, c Curve) error {
	_, lower, upper := model.limits(c, s)
	for i, p := range model.Params {
		for what, group := range map[string]map[string]float64{"start": s.Start, "fixed value": s.Fixed} {
			v, ok := group[p.Name]
			if !ok || v >= lower[i] && v <= upper[i] || math.IsNaN(lower[i]+upper[i]) {
				continue
			}
			whose := "its bounds"
			if _, own := s.Bounds[p.Name]; !own {
				whose = "the model's bounds"
			}
			return fmt.Errorf("g2: bin %d: the %s of %s is %g, outside %s %.6g:%.6g: change it, or give bounds that contain it (--bounds %s=lo:hi)", c.Bin, what, p.Name, v, whose, lower[i], upper[i], p.Name)
		}
	}
	return nil
}

// rarest is the smallest probability that a prior may leave for the values that a parameter can have.
const rarest = 1e-6

// checkPriors compares priors with what parameters can be, fixed values, bounds and starts.
func (s Settings) checkPriors(params []Param) error {
	for _, name := range slices.Sorted(maps.Keys(s.Priors)) {
		if v, ok := s.Fixed[name]; ok {
			return fmt.Errorf("g2: %s is fixed at %g but also has a prior: leave one of them out", name, v)
		}
		if d := s.Priors[name]; d.Discrete || d.Event > 0 {
			return fmt.Errorf("g2: the prior of %s is %s, which is not a continuous distribution of numbers: give it a prior such as lognormal, normal or uniform", name, d)
		}
		low, high, err := dist.Range(s.Priors[name])
		if err != nil {
			return fmt.Errorf("g2: prior of %s: %w", name, err)
		}
		if i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name }); i >= 0 && params[i].positive {
			if share, err := dist.Above(s.Priors[name], 0); err == nil && share < rarest {
				return fmt.Errorf("g2: the prior of %s is %s, which leaves a probability of %.2g for values above 0, but %s is a relaxation time, which must be positive: give a prior such as lognormal(-1, 2)", name, s.Priors[name], share, name)
			}
		}
		if b, ok := s.Bounds[name]; ok && (high <= b[0] || low >= b[1]) {
			return fmt.Errorf("g2: the prior of %s lies between %g and %g, outside its bounds %g to %g: change one of them", name, low, high, b[0], b[1])
		}
		if b, ok := s.Bounds[name]; ok {
			if share, nothing := dist.Left(s.Priors[name], b[0], b[1]); nothing {
				return fmt.Errorf("g2: the prior of %s, %s, has a probability of %.2g between its bounds, %g and %g: change one of them", name, s.Priors[name], share, b[0], b[1])
			}
		}
		if v, ok := s.Start[name]; ok && !(v >= low && v <= high) {
			return fmt.Errorf("g2: the start of %s is %g, where its prior, between %g and %g, is 0: change one of them", name, v, low, high)
		}
	}
	return nil
}
