// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/optim"
)

// g2flags are the flags that fit and sample share.
type g2flags struct {
	Model  string   `json:"model"`
	Fixed  []string `json:"fixed,omitempty"`
	Bounds []string `json:"bounds,omitempty"`
	Start  []string `json:"start,omitempty"`
	Prior  []string `json:"prior,omitempty"`
	Loss   string   `json:"loss,omitempty"`
	Drop   bool     `json:"drop_invalid,omitempty"`
}

func (f *g2flags) add(c *cobra.Command) {
	var names []string
	for _, l := range g2.Models() {
		names = append(names, l.Name)
	}
	s := c.Flags()
	s.StringVar(&f.Model, "model", "single", strings.Join(names, ", "))
	s.StringArrayVar(&f.Fixed, "fixed", nil, "hold a parameter fixed, as `name=value`; repeatable")
	s.StringArrayVar(&f.Bounds, "bounds", nil, "bounds of a parameter, as `name=lo:hi`; repeatable")
	s.StringArrayVar(&f.Start, "start", nil, "starting value of a parameter, as `name=value`; repeatable")
	s.StringVar(&f.Loss, "loss", "linear", "loss function: linear, soft_l1, huber, cauchy or arctan")
	s.BoolVar(&f.Drop, "drop-invalid", false, "drop points whose delay, value or error is not a usable number")
	if err := c.RegisterFlagCompletionFunc("model", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// settings resolves the flags to a model and its settings.
func (f *g2flags) settings() (g2.Model, g2.Settings, error) {
	model, err := g2.ByName(f.Model)
	if err != nil {
		return model, g2.Settings{}, exit.Usage("%w", err)
	}
	s := g2.Settings{Fixed: map[string]float64{}, Bounds: map[string][2]float64{}, Start: map[string]float64{}, Priors: map[string]dist.Dist{}, Loss: optim.Loss(f.Loss), DropInvalid: f.Drop}
	if f.Loss == "linear" {
		s.Loss = optim.Linear
	}
	if !slices.Contains([]optim.Loss{optim.Linear, optim.SoftL1, optim.Huber, optim.Cauchy, optim.Arctan}, s.Loss) {
		return model, s, exit.Usage("loss %q: want linear, soft_l1, huber, cauchy or arctan", f.Loss)
	}
	for _, group := range []struct {
		flag string
		list []string
		into map[string]float64
	}{{"fixed", f.Fixed, s.Fixed}, {"start", f.Start, s.Start}} {
		for _, v := range group.list {
			name, text, _ := strings.Cut(v, "=")
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return model, s, exit.Usage("--%s %q: want name=value with a finite number", group.flag, v)
			}
			if old, twice := group.into[name]; twice {
				return model, s, exit.Usage("--%s %q: %s was already given as %g: leave one of them out", group.flag, v, name, old)
			}
			group.into[name] = x
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Start)) {
		if v, fixed := s.Fixed[name]; fixed {
			return model, s, exit.Usage("--start %s=%g: %s is held fixed at %g by --fixed: leave one of them out", name, s.Start[name], name, v)
		}
	}
	for _, v := range f.Bounds {
		name, text, _ := strings.Cut(v, "=")
		lo, hi, _ := strings.Cut(text, ":")
		a, err1 := strconv.ParseFloat(lo, 64)
		b, err2 := strconv.ParseFloat(hi, 64)
		if err1 != nil || err2 != nil || !(a < b) {
			return model, s, exit.Usage("--bounds %q: want name=lo:hi, two numbers without units, with lo < hi", v)
		}
		if old, twice := s.Bounds[name]; twice {
			return model, s, exit.Usage("--bounds %q: %s already has the bounds %g:%g: leave one of them out", v, name, old[0], old[1])
		}
		s.Bounds[name] = [2]float64{a, b}
	}
	for _, v := range f.Prior {
		name, text, _ := strings.Cut(v, "=")
		d, err := dist.Parse(text)
		if err != nil {
			return model, s, exit.Usage("--prior %q: want name=distribution(numbers), such as tau=lognormal(-3,1): %w", v, err)
		}
		if _, twice := s.Priors[name]; twice {
			return model, s, exit.Usage("--prior %q: %s already has a prior: give only one", v, name)
		}
		s.Priors[name] = d
	}
	return model, s, nil
}
