// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package disttest checks distributions: those of Euryale, and those that your own package defines.
package disttest

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// Family makes all checks of a distribution of numbers, at each of its parameters At: Law, Integrates if it is
// continuous, and Draws.
func Family(t *testing.T, l dist.Family) {
	t.Helper()
	if len(l.At) == 0 || l.Shapes != nil {
		t.Fatalf("disttest: %s: want a distribution of numbers with parameters At, at which it is checked", l.Name)
	}
	for _, p := range l.At {
		if len(p) != len(l.Params) {
			t.Fatalf("disttest: %s: At has %v: want %d numbers, one for each of %v", l.Name, p, len(l.Params), l.Params)
		}
		if made := l.New(p...).Params; len(made) != len(l.Params) {
			t.Fatalf("disttest: %s: Make returns a distribution with %d Params: want the %d parameters %v", l.Name, len(made), len(l.Params), l.Params)
		}
	}
	Law(t, l)
	if !l.New(l.At[0]...).Discrete {
		Integrates(t, l)
	}
	Draws(t, l)
}

// Law checks that the functions of a distribution agree with each other: its density is the slope of CDF, or its
// probabilities sum to CDF; LogCDF and LogCCDF are its logarithms, with derivatives that are those by
// differences; Quantile inverts it; Mean and Var are those of its quantiles.
func Law(t *testing.T, l dist.Family) {
	t.Helper()
	if l.New(l.At[0]...).Discrete {
		discrete(t, l)
	} else {
		continuous(t, l)
	}
}

func continuous(t *testing.T, l dist.Family) {
	t.Helper()
	f := Evaluator(t, l, logProb)
	lower, upper := tails(t, l)
	for _, p := range l.At {
		d := l.New(p...)
		for u := 0.017; u < 1; u += 0.06 {
			x := d.Quantile(u, p)
			h := 1e-4 * min(d.Quantile(0.75, p)-d.Quantile(0.25, p), x-d.Quantile(0, p), d.Quantile(1, p)-x)
			if got := d.CDF(x, p); math.Abs(got-u) > 1e-9 {
				t.Errorf("%s%v: CDF(Quantile(%g)) = %g", l.Name, p, u, got)
			}
			slope := (8*(d.CDF(x+h, p)-d.CDF(x-h, p)) - (d.CDF(x+2*h, p) - d.CDF(x-2*h, p))) / (12 * h)
			if pdf := math.Exp(f(x, p)[0]); math.Abs(pdf-slope) > 1e-5*math.Max(1, pdf) {
				t.Errorf("%s%v at %g: density %g, slope of CDF %g", l.Name, p, x, pdf, slope)
			}
			lower(x, p, math.Log(d.CDF(x, p)), h)
			upper(x, p, math.Log1p(-d.CDF(x, p)), h)
		}
		moments(t, l, d, p)
	}
}

func discrete(t *testing.T, l dist.Family) {
	t.Helper()
	f := Evaluator(t, l, logProb)
	lower, upper := tails(t, l)
	for _, p := range l.At {
		d := l.New(p...)
		sum, mean, square := 0.0, 0.0, 0.0
		from, to := d.Quantile(1e-12, p), d.Quantile(1-1e-13, p)+3
		for k := from - 3; k <= to; k++ {
			prob := math.Exp(f(k, p)[0])
			sum, mean, square = sum+prob, mean+k*prob, square+k*k*prob
			if got := d.CDF(k, p); math.Abs(got-sum) > 1e-9 {
				t.Errorf("%s%v: CDF(%g) = %g, probabilities sum to %g", l.Name, p, k, got, sum)
			}
			if got := d.CDF(k+0.5, p); math.Abs(got-sum) > 1e-9 {
				t.Errorf("%s%v: CDF(%g) = %g, want that of %g", l.Name, p, k+0.5, got, k)
			}
			if sum > 1e-6 && sum < 1-1e-6 {
				if got := d.Quantile(sum-1e-9, p); got != k && prob > 1e-6 {
					t.Errorf("%s%v: Quantile(%g) = %g, want %g", l.Name, p, sum, got, k)
				}
				lower(k, p, math.Log(sum), 1)
				upper(k, p, math.Log1p(-sum), 1)
			}
			if got := f(k+0.5, p); !math.IsInf(got[0], -1) {
				t.Errorf("%s%v at %g: log probability %g", l.Name, p, k+0.5, got[0])
			}
		}
		if math.Abs(sum-1) > 1e-9 || !Near(d.Mean(p), mean, 1e-8) || !Near(d.Var(p), square-mean*mean, 1e-7) {
			t.Errorf("%s%v: sum %g, mean %g and variance %g, want 1, %g, %g", l.Name, p, sum, d.Mean(p), d.Var(p), mean, square-mean*mean)
		}
	}
}

// Integrates checks that a continuous density integrates to 1, and that Mean and Var are integrals of it, to
// ten digits. Kinks are at parameters, where it is cut.
func Integrates(t *testing.T, l dist.Family) {
	t.Helper()
	f := Evaluator(t, l, logProb)
	for _, p := range l.At {
		d := l.New(p...)
		density := func(x float64) float64 { return math.Exp(f(x, p)[0]) }
		whole := integral(d, p, density)
		if math.Abs(whole-1) > 1e-10 {
			t.Errorf("%s%v: the density integrates to 1 %+.1e", l.Name, p, whole-1)
		}
		mean, variance := d.Mean(p), d.Var(p)
		if !math.IsNaN(mean) && !math.IsInf(mean, 0) {
			spread := math.Max(math.Abs(mean), d.Quantile(0.75, p)-d.Quantile(0.25, p))
			if got := integral(d, p, func(x float64) float64 { return x * density(x) }); math.Abs(got-mean) > 1e-10*spread {
				t.Errorf("%s%v: mean %.15g, by quadrature %.15g", l.Name, p, mean, got)
			}
		}
		tol := 1e-10
		if l.Name == "student ..-4" { // itself a quadrature over probabilities, of a tail that falls as x^-4
			tol = 5e-5
		}
		if !math.IsNaN(variance) && !math.IsInf(variance, 0) {
			if got := integral(d, p, func(x float64) float64 { return (x - mean) * (x - mean) * density(x) }); math.Abs(got-variance) > tol*variance {
				t.Errorf("%s%v: variance %.15g, by quadrature %.15g", l.Name, p, variance, got)
			}
		}
	}
}

// Draws checks that draws fall evenly under the distribution function (Kolmogorov-Smirnov at 4000 draws; the
// threshold 2.2/sqrt(n) is passed by chance once in 1e4 distributions), alone and as Fill makes them, which
// gives the same. The draws depend on the name of the family alone.
func Draws(t *testing.T, l dist.Family) {
	t.Helper()
	const draws = 4000
	name := fnv.New32a()
	name.Write([]byte(l.Name))
	i := name.Sum32()
	for _, p := range l.At {
		d := l.New(p...)
		params, at := [][]float64{}, 0
		for _, q := range d.Params {
			params = append(params, p[at:at+q.Size()])
			at += q.Size()
		}
		stream, again := tensor.NewStream(7, 99, i), tensor.NewStream(7, 99, i)
		x := make([]float64, draws)
		if err := d.Fill(&stream, x, []int{draws}, params); err != nil {
			t.Error(err)
			continue
		}
		if first := d.Rand(&again, p); first != x[0] {
			t.Errorf("%s%v: Rand gives %g, Fill %g", l.Name, p, first, x[0])
		}
		if worst := Unevenness(d, p, x); worst > 2.2/math.Sqrt(draws) {
			t.Errorf("%s%v: draws leave their distribution function by %g", l.Name, p, worst)
		}
	}
}

func logProb(d dist.Dist, x *ad.Node) *ad.Node { return d.LogProb(x) }
func logCDF(d dist.Dist, x *ad.Node) *ad.Node  { return d.LogCDF(x) }
func logCCDF(d dist.Dist, x *ad.Node) *ad.Node { return d.LogCCDF(x) }

const nodeDistance = 1. / 40

// tails returns checks of LogCDF and LogCCDF and of their derivatives, by
// differences; they do nothing where a distribution has none.
func tails(t *testing.T, l dist.Family) (lower, upper func(x float64, p []float64, want, h float64)) {
	one := func(name string, f func(d dist.Dist, x *ad.Node) *ad.Node) func(x float64, p []float64, want, h float64) {
		if !Has(l, f) {
			return func(float64, []float64, float64, float64) {}
		}
		eval := Evaluator(t, l, f)
		return func(x float64, p []float64, want, h float64) {
			got := append([]float64{}, eval(x, p)...)
			if !Near(got[0], want, 1e-8) {
				t.Errorf("%s%v: %s(%g) = %.12g, want %.12g", l.Name, p, name, x, got[0], want)
			}
			at := append([]float64{x}, p...)
			whole := l.New(p...).Discrete
			for i := range at {
				if whole && (i == 0 || at[i] == math.Floor(at[i])) {
					continue
				}
				h := h
				if i > 0 {
					h = min(2e-5*math.Max(1e-2, math.Abs(at[i])), 30*h)
				}
				value := func(step float64) float64 {
					q := append([]float64{}, at...)
					q[i] += step
					return eval(q[0], q[1:])[0]
				}
				slope := (8*(value(h)-value(-h)) - (value(2*h) - value(-2*h))) / (12 * h)
				if !Near(got[1+i], slope, 1e-6) && math.Abs(got[1+i]-slope) > 1e-7+1e-12/h { // rounding

					t.Errorf("%s%v: derivative %d of %s at %g is %.10g, by differences %.10g", l.Name, p, i, name, x, got[1+i], slope)
				}
			}
		}
	}
	return one("LogCDF", logCDF), one("LogCCDF", logCCDF)
}

// moments compares Mean and Var with integrals of quantiles.
func moments(t *testing.T, l dist.Family, d dist.Dist, p []float64) {
	mean, variance := d.Mean(p), d.Var(p)
	if math.IsInf(variance, 1) || math.IsNaN(variance) {
		return
	}
	// Tanh-sinh nodes gather where a distribution has its tails.
	var m, v float64
	const h = 1. / 16
	var xs, ws []float64
	for k := -55; k <= 55; k++ {
		s := math.Pi / 2 * math.Sinh(float64(k)*h)
		u := 1 / (1 + math.Exp(-2*s))
		if u < 1e-15 || u > 1-1e-15 {
			continue
		}
		x, w := d.Quantile(u, p), h*math.Pi/2*math.Cosh(float64(k)*h)/math.Pow(math.Cosh(s), 2)/2
		xs, ws = append(xs, x), append(ws, w)
		m += w * x
	}
	for i, x := range xs {
		v += ws[i] * (x - m) * (x - m)
	}
	tol := 1e-4
	if strings.Contains(l.Name, " and ") { // the quantiles have a kink
		tol = 2e-3
	}
	if !Near(m, mean, tol) && math.Abs(m-mean) > tol*math.Sqrt(variance) || !Near(v, variance, 5e-3) {
		t.Errorf("%s%v: mean %g and variance %g, by quantiles %g and %g", l.Name, p, mean, variance, m, v)
	}
}

// Unevenness returns how far the share of x below each of some quantiles is from
// what the distribution says.
func Unevenness(d dist.Dist, p, x []float64) (worst float64) {
	for _, u := range []float64{.02, .05, .1, .25, .5, .75, .9, .95, .98} {
		q := d.Quantile(u, p)
		n := 0.0
		for _, v := range x {
			if v <= q {
				n++
			}
		}
		worst = math.Max(worst, math.Abs(n/float64(len(x))-d.CDF(q, p)))
	}
	return worst
}

// integral is that of f over the support of a distribution, in pieces between its parameters, 0,
// its median and its ends, each by the double exponential rule.
func integral(d dist.Dist, p []float64, f func(x float64) float64) (sum float64) {
	lo, hi, width := d.Quantile(0, p), d.Quantile(1, p), d.Quantile(0.75, p)-d.Quantile(0.25, p)
	cuts := []float64{lo, hi}
	for _, c := range append(slices.Clone(p), 0, d.Quantile(0.5, p)) {
		if c > lo && c < hi {
			cuts = append(cuts, c)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i := 1; i < len(cuts); i++ {
		a, b := cuts[i-1], cuts[i]
		switch {
		case math.IsInf(a, -1):
			sum += outwards(func(u float64) float64 { return f(b - u) }, width)
		case math.IsInf(b, 1):
			sum += outwards(func(u float64) float64 { return f(a + u) }, width)
		default:
			sum += between(f, a, b)
		}
	}
	return sum
}

// outwards integrates f from 0 to infinity: u = scale exp(pi/2 sinh s).
func outwards(f func(u float64) float64, scale float64) (sum float64) {
	for s := -4.5; s <= 4.5; s += nodeDistance {
		u := scale * math.Exp(math.Pi/2*math.Sinh(s))
		if v := f(u); v != 0 && !math.IsNaN(v) {
			sum += nodeDistance * math.Pi / 2 * math.Cosh(s) * u * v
		}
	}
	return sum
}

// between integrates f from a to b: nodes gather at both ends, where f may be infinite.
func between(f func(x float64) float64, a, b float64) (sum float64) {
	for s := -4.5; s <= 4.5; s += nodeDistance {
		w := math.Pi / 2 * math.Sinh(s)
		x := a + (b-a)/(1+math.Exp(-2*w))
		if w > 0 {
			x = b - (b-a)/(1+math.Exp(2*w))
		}
		if v := f(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum += nodeDistance * math.Pi / 4 * math.Cosh(s) / math.Pow(math.Cosh(w), 2) * (b - a) * v
		}
	}
	return sum
}

// Evaluator returns f of a distribution with inputs for parameters, and its derivatives
// with respect to x and them.
func Evaluator(t testing.TB, l dist.Family, f func(d dist.Dist, x *ad.Node) *ad.Node) func(x float64, p []float64) []float64 {
	t.Helper()
	x := ad.Input("x")
	inputs, params := []*ad.Node{x}, []any{}
	for _, name := range l.Params {
		in := ad.Input(name)
		inputs, params = append(inputs, in), append(params, in)
	}
	y := f(l.Make(params...), x)
	prog, err := ad.Compile(append([]*ad.Node{y}, ad.Grad(y, inputs...)...), ad.Settings{Inputs: inputs})
	if err != nil {
		t.Fatalf("%s: %v", l.Name, err)
	}
	s := prog.NewState()
	return func(x float64, p []float64) []float64 {
		s.Input(0)[0] = x
		for i, v := range p {
			s.Input(1 + i)[0] = v
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		return s.OutputSpan(0, len(p)+2)
	}
}

// Has reports whether the distribution has f as a graph.
func Has(l dist.Family, f func(d dist.Dist, x *ad.Node) *ad.Node) bool {
	return f(l.New(l.At[0]...), ad.Input("x")).Err() == nil
}

// Near compares to tol relative to the larger of |want| and 1e-3.
func Near(got, want, tol float64) bool {
	return got == want || math.Abs(got-want) <= tol*max(1e-3, math.Abs(want))
}
