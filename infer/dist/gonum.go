// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"reflect"

	"gonum.org/v1/gonum/stat/distuv"
)

// gonumFamily is a distribution that both libraries have.
type gonumFamily struct {
	ours string
	from func(v any) (p []float64, ok bool) // converts a gonum distribution to our parameters
	to   func(p []float64) any
}

var gonumFamilies = []gonumFamily{
	{"normal", func(v any) ([]float64, bool) { d, ok := v.(distuv.Normal); return []float64{d.Mu, d.Sigma}, ok },
		func(p []float64) any { return distuv.Normal{Mu: p[0], Sigma: p[1]} }},
	{"lognormal", func(v any) ([]float64, bool) { d, ok := v.(distuv.LogNormal); return []float64{d.Mu, d.Sigma}, ok },
		func(p []float64) any { return distuv.LogNormal{Mu: p[0], Sigma: p[1]} }},
	{"studentt", func(v any) ([]float64, bool) {
		d, ok := v.(distuv.StudentsT)
		return []float64{d.Nu, d.Mu, d.Sigma}, ok
	},
		func(p []float64) any { return distuv.StudentsT{Nu: p[0], Mu: p[1], Sigma: p[2]} }},
	{"laplace", func(v any) ([]float64, bool) { d, ok := v.(distuv.Laplace); return []float64{d.Mu, d.Scale}, ok },
		func(p []float64) any { return distuv.Laplace{Mu: p[0], Scale: p[1]} }},
	{"logistic", func(v any) ([]float64, bool) { d, ok := v.(distuv.Logistic); return []float64{d.Mu, d.S}, ok },
		func(p []float64) any { return distuv.Logistic{Mu: p[0], S: p[1]} }},
	{"exponential", func(v any) ([]float64, bool) { d, ok := v.(distuv.Exponential); return []float64{d.Rate}, ok },
		func(p []float64) any { return distuv.Exponential{Rate: p[0]} }},
	{"gamma", func(v any) ([]float64, bool) { d, ok := v.(distuv.Gamma); return []float64{d.Alpha, d.Beta}, ok },
		func(p []float64) any { return distuv.Gamma{Alpha: p[0], Beta: p[1]} }},
	{"inversegamma", func(v any) ([]float64, bool) {
		d, ok := v.(distuv.InverseGamma)
		return []float64{d.Alpha, d.Beta}, ok
	},
		func(p []float64) any { return distuv.InverseGamma{Alpha: p[0], Beta: p[1]} }},
	{"chisquared", func(v any) ([]float64, bool) { d, ok := v.(distuv.ChiSquared); return []float64{d.K}, ok },
		func(p []float64) any { return distuv.ChiSquared{K: p[0]} }},
	{"chi", func(v any) ([]float64, bool) { d, ok := v.(distuv.Chi); return []float64{d.K}, ok },
		func(p []float64) any { return distuv.Chi{K: p[0]} }},
	{"beta", func(v any) ([]float64, bool) { d, ok := v.(distuv.Beta); return []float64{d.Alpha, d.Beta}, ok },
		func(p []float64) any { return distuv.Beta{Alpha: p[0], Beta: p[1]} }},
	{"f", func(v any) ([]float64, bool) { d, ok := v.(distuv.F); return []float64{d.D1, d.D2}, ok },
		func(p []float64) any { return distuv.F{D1: p[0], D2: p[1]} }},
	{"uniform", func(v any) ([]float64, bool) { d, ok := v.(distuv.Uniform); return []float64{d.Min, d.Max}, ok },
		func(p []float64) any { return distuv.Uniform{Min: p[0], Max: p[1]} }},
	{"weibull", func(v any) ([]float64, bool) { d, ok := v.(distuv.Weibull); return []float64{d.K, d.Lambda}, ok },
		func(p []float64) any { return distuv.Weibull{K: p[0], Lambda: p[1]} }},
	{"pareto", func(v any) ([]float64, bool) { d, ok := v.(distuv.Pareto); return []float64{d.Xm, d.Alpha}, ok },
		func(p []float64) any { return distuv.Pareto{Xm: p[0], Alpha: p[1]} }},
	{"gumbel", func(v any) ([]float64, bool) { d, ok := v.(distuv.GumbelRight); return []float64{d.Mu, d.Beta}, ok },
		func(p []float64) any { return distuv.GumbelRight{Mu: p[0], Beta: p[1]} }},
	{"triangle", func(v any) ([]float64, bool) {
		d, ok := v.(distuv.Triangle)
		if !ok {
			return nil, false
		}
		return []float64{d.Quantile(0), d.Quantile(1), d.Mode()}, true
	},
		func(p []float64) any { return distuv.NewTriangle(p[0], p[1], p[2], nil) }},
	{"bernoulli", func(v any) ([]float64, bool) { d, ok := v.(distuv.Bernoulli); return []float64{d.P}, ok },
		func(p []float64) any { return distuv.Bernoulli{P: p[0]} }},
	{"binomial", func(v any) ([]float64, bool) { d, ok := v.(distuv.Binomial); return []float64{d.N, d.P}, ok },
		func(p []float64) any { return distuv.Binomial{N: p[0], P: p[1]} }},
	{"poisson", func(v any) ([]float64, bool) { d, ok := v.(distuv.Poisson); return []float64{d.Lambda}, ok },
		func(p []float64) any { return distuv.Poisson{Lambda: p[0]} }},
	{"noncentralt", func(v any) ([]float64, bool) { d, ok := v.(distuv.NoncentralT); return []float64{d.Nu, d.Mu}, ok },
		func(p []float64) any { return distuv.NoncentralT{Nu: p[0], Mu: p[1]} }},
}

// FromGonum converts a distribution of gonum's stat/distuv, given as a value or a
// pointer. AlphaStable has no density and gives an error.
func FromGonum(v any) (Dist, error) {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		v = p.Elem().Interface()
	}
	switch d := v.(type) {
	case distuv.Categorical:
		w := make([]float64, d.Len())
		for i := range w {
			w[i] = d.Prob(float64(i))
		}
		return Categorical(w), nil
	case distuv.AlphaStable:
		return Dist{}, fmt.Errorf("dist: gonum's AlphaStable has no density: draw from it with its Rand")
	}
	for _, g := range gonumFamilies {
		if p, ok := g.from(v); ok {
			return ByName(g.ours, p...)
		}
	}
	return Dist{}, fmt.Errorf("dist: there is no counterpart of %T: pass a distribution of gonum's stat/distuv that this package has too", v)
}

// Gonum returns the equivalent distribution of gonum's stat/distuv at parameter values p,
// in the order of Params. Without p it uses d's own parameters, which must be constants.
// The Src of the result is nil, so it draws from math/rand/v2 until another Src is set.
func (d Dist) Gonum(p ...float64) (any, error) {
	if len(p) == 0 {
		for i, n := range d.Params {
			v, ok := constant(n)
			if !ok || len(v) != d.valueSize(i) {
				return nil, fmt.Errorf("dist: %s: parameter %d is not a constant: pass its numbers to Gonum", d.Name, i)
			}
			p = append(p, v...)
		}
	}
	if n := d.sizeOfParams(); len(p) != n {
		return nil, fmt.Errorf("dist: %s: Gonum was given %d numbers: want %d", d.Name, len(p), n)
	}
	if d.Name == "categorical" {
		return distuv.NewCategorical(p, nil), nil
	}
	for _, g := range gonumFamilies {
		if g.ours == d.Name {
			if _, err := ByName(d.Name, p...); err != nil { // gonum would panic
				return nil, err
			}
			return g.to(p), nil
		}
	}
	return nil, fmt.Errorf("dist: gonum's stat/distuv has no %s: use this package for it", d.Name)
}
