// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/dist/disttest"
	"github.com/euryale-dev/euryale/tensor"
)

// Every distribution of numbers agrees with itself: see package disttest.
func TestEveryLaw(t *testing.T) {
	for _, l := range inTurn() {
		disttest.Law(t, l)
	}
}

// The log density of every distribution of numbers takes arrays, and its gradients are those by differences.
func TestDensityOfEveryLaw(t *testing.T) {
	for _, l := range inTurn() {
		disttest.Arrays(t, l)
		disttest.Gradients(t, l)
	}
}

func TestDrawsOfEveryLaw(t *testing.T) {
	for _, l := range inTurn() {
		disttest.Draws(t, l)
	}
}

// On the ends of the support, and where draws round onto them, there is a
// density or none, but never NaN; at huge arguments it is finite or -Inf, and
// finite where tails are no lighter than exponential.
func TestEndsOfSupport(t *testing.T) {
	heavy := []string{"cauchy", "halfcauchy", "studentt", "laplace", "asymmetriclaplace", "logistic", "exponential", "gamma",
		"inversegamma", "chisquared", "f", "frechet", "pareto", "gumbel", "inversegaussian", "moyal", "lognormal"}
	for _, l := range numbersOf() {
		f := disttest.Evaluator(t, l, logProb)
		for _, p := range l.At {
			if l.Name == "vonmises" { // an infinite angle is none
				continue
			}
			for _, x := range []float64{0, 1, 5e-324, math.Nextafter(1, 0), 1e200, -1e200, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1)} {
				got := f(x, p)
				if l.New(p...).Discrete && math.Abs(x) > 1e200 {
					continue
				}
				if math.IsNaN(got[0]) || got[0] == math.Inf(1) && x != 0 && x != 1 {
					t.Errorf("%s%v at %g: %v", l.Name, p, x, got)
				}
				if x == 1e200 && contains(heavy, l.Name) {
					for i, v := range got {
						if math.IsNaN(v) || math.IsInf(v, 0) {
							t.Errorf("%s%v at %g: value %d is %g", l.Name, p, x, i, v)
						}
					}
				}
			}
		}
	}
}

func contains(list []string, s string) bool {
	return strings.Contains(" "+strings.Join(list, " ")+" ", " "+s+" ")
}

func TestOutsideIsMinusInfinity(t *testing.T) {
	for _, l := range numbersOf() {
		p := l.At[0]
		d := l.New(p...)
		f := disttest.Evaluator(t, l, logProb)
		outside := []float64{}
		if lo := d.Quantile(0, p); !math.IsInf(lo, 0) {
			outside = append(outside, lo-1, lo-1e200)
		}
		if hi := d.Quantile(1, p); !math.IsInf(hi, 0) {
			outside = append(outside, hi+1, hi+1e200)
		}
		if l.Name == "vonmises" {
			continue // periodic
		}
		for _, x := range outside {
			got := f(x, p)
			if !math.IsInf(got[0], -1) {
				t.Errorf("%s%v at %g: %v, want -Inf", l.Name, p, x, got)
			}
			for _, g := range got[1:] {
				if g != 0 {
					t.Errorf("%s%v at %g: %v, want gradients of 0", l.Name, p, x, got)
				}
			}
			for _, tail := range []func(d dist.Dist, x *ad.Node) *ad.Node{logCDF, logCCDF} {
				if !disttest.Has(l, tail) {
					continue
				}
				v := disttest.Evaluator(t, l, tail)(x, p)
				if !(v[0] == 0 || math.IsInf(v[0], -1)) || v[1] != 0 {
					t.Errorf("%s%v: tail at %g is %v", l.Name, p, x, v)
				}
			}
		}
	}
	if _, err := dist.ByName("norml", 1); err == nil || !strings.Contains(err.Error(), "normal?") {
		t.Errorf("unknown distribution: %v", err)
	}
	if _, err := dist.ByName("normal", 1); err == nil {
		t.Error("missing parameter: no error")
	}
}

func TestImpossibleConstantsAreErrors(t *testing.T) {
	for _, d := range []dist.Dist{dist.HalfNormal(-1), dist.Uniform(2, 1), dist.Normal(0, 0), dist.Beta(-1, 2), dist.Normal(math.NaN(), 1), dist.StudentT(0, 0, 1),
		dist.BetaProportion(1, 2), dist.Triangle(0, 1, 2), dist.TruncatedNormal(0, 1, 3, 2), dist.PERT(0, 5, 4, 4), dist.LogUniform(0, 1), dist.Exponential([]float64{1, -1}),
		dist.Normal(0, []float64{1, math.Inf(1)})} {
		if err := d.Err(); err == nil || !strings.Contains(err.Error(), d.Name) {
			t.Errorf("%v: %v", d, err)
		}
	}
	for _, l := range dist.All() {
		for _, p := range l.At {
			if err := l.New(p...).Err(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := dist.ByName("uniform", 2, 1); err == nil {
		t.Error("uniform(2, 1): no error")
	}
}

// Parameters and values broadcast: a column of one parameter against a row of
// values gives a matrix of densities, each that of its numbers.
func TestNumbersBroadcast(t *testing.T) {
	for _, l := range numbersOf() {
		p := l.At[0]
		d := l.New(p...)
		x := []float64{d.Quantile(0.2, p), d.Quantile(0.5, p), d.Quantile(0.9, p)}
		if l.Name == "pointmass" || strings.Contains(l.Name, "commonFamily") || strings.Contains(l.Name, "zero-inflated") {
			continue // made of numbers in another way
		}
		functions, alone := map[string]func(d dist.Dist, x *ad.Node) *ad.Node{"LogProb": logProb, "LogProbInside": inside, "LogCDF": logCDF, "LogCCDF": logCCDF}, map[string][]float64{}
		for name, f := range functions {
			if !disttest.Has(l, f) {
				delete(functions, name)
				continue
			}
			for _, at := range x {
				alone[name] = append(alone[name], value(t, f(d, ad.Scalar(at)))[0])
			}
		}
		for k := range p {
			args := make([]any, len(p))
			for i, v := range p {
				args[i] = v
			}
			args[k] = ad.Const([]float64{p[k], p[k]}, 2, 1)
			made := l.Make(args...)
			for name, f := range functions {
				got := f(made, ad.Const(x))
				if got.Err() != nil || !got.Shape().Equal(tensor.Shape{2, 3}) {
					t.Errorf("%s: %s with parameter %d as a column has shape %v, %v", l.Name, name, k, got.Shape(), got.Err())
					continue
				}
				for i, v := range value(t, got) {
					if want := alone[name][i%3]; !close(v, want, 1e-12) {
						t.Errorf("%s: %s element %d is %.15g, alone %.15g", l.Name, name, i, v, want)
					}
				}
			}
		}
	}
}

func inside(d dist.Dist, x *ad.Node) *ad.Node { return d.LogProbInside(x) }

// The regressions are their distributions at the linear predictor, and draw as such.
func TestRegressions(t *testing.T) {
	x, alpha, beta := ad.Const([]float64{1, 2, -1, 0.5, 3, -2}, 3, 2), 0.3, []float64{0.2, -0.4}
	eta := ad.Const([]float64{0.3 + 0.2 - 0.8, 0.3 - 0.2 - 0.2, 0.3 + 0.6 + 0.8})
	y := ad.Const([]float64{0, 1, 1})
	for _, pair := range [][2]dist.Dist{
		{dist.NormalID(x, alpha, beta, 2), dist.Normal(eta, 2)},
		{dist.BernoulliLogitGLM(x, alpha, beta), dist.BernoulliLogit(eta)},
		{dist.PoissonLogGLM(x, alpha, beta), dist.Poisson(ad.Exp(eta))},
		{dist.NegBinomial2LogGLM(x, alpha, beta, 3), dist.NegBinomial2(ad.Exp(eta), 3)},
	} {
		got, want := value(t, pair[0].LogProb(y)), value(t, pair[1].LogProb(y))
		for i, w := range want {
			if len(got) != 3 || !close(got[i], w, 1e-13) {
				t.Errorf("%s: %v, want %v", pair[0].Name, got, want)
			}
		}
		stream := tensor.NewStream(1, 2, 3)
		theta := [][]float64{value(t, eta), {3}}[:len(pair[0].Params)]
		if err := pair[0].Fill(&stream, make([]float64, 12), []int{4, 3}, theta); err != nil {
			t.Error(err)
		}
	}
}
