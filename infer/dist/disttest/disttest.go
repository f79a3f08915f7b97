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
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// Family makes all checks of a distribution of numbers, at each of its parameters At: Arrays, Integrates if it is
// continuous, Gradients, Law, Draws, and, if it has a TransformOf, Transform, with a check that the transform reaches the
// support and nothing else. Checks of functions that the distribution does not have are left out, and logged.
func Family(t *testing.T, l dist.Family) {
	t.Helper()
	if len(l.At) == 0 || l.Shapes != nil || l.Make == nil {
		t.Fatalf("disttest: %s: want a distribution of numbers with Make, and with parameters At, at which it is checked", l.Name)
	}
	for _, p := range l.At {
		if len(p) != len(l.Params) {
			t.Fatalf("disttest: %s: At has %v: want %s, one for each of %v", l.Name, p, errtext.Count(len(l.Params), "number"), l.Params)
		}
		made := made(t, l, p)
		if len(made.Params) != len(l.Params) {
			t.Fatalf("disttest: %s: Make returns a distribution with %d Params: want the %d parameters %v", l.Name, len(made.Params), len(l.Params), l.Params)
		}
		if made.Event != 0 {
			t.Fatalf("disttest: %s: Make returns a distribution with Event %d: want 0, a distribution of numbers", l.Name, made.Event)
		}
		if err := made.Err(); err != nil {
			t.Fatalf("disttest: %s%v: %v", l.Name, p, err)
		}
		probabilities(t, l, made, p)
	}
	if arrays(t, l) { // or else each of the following repeats it
		broadcasts(t, l)
	}
	discrete := l.New(l.At[0]...).Discrete
	if !discrete {
		Integrates(t, l) // first, because most others fail where it does
	}
	Gradients(t, l)
	Law(t, l)
	Draws(t, l)
	if !discrete {
		transforms(t, l)
	}
}

// made makes the distribution, and ends the test with a sentence if Make panics.
func made(t *testing.T, l dist.Family, p []float64) dist.Dist {
	t.Helper()
	d, r := func() (d dist.Dist, r any) {
		defer func() { r = recover() }()
		return l.New(p...), nil
	}()
	if r != nil {
		t.Fatalf("disttest: %s: Make panics at the parameters %v: %v", l.Name, p, r)
	}
	return d
}

// probabilities ends the test if CDFOf returns no probability, since the other checks take quantiles from it.
func probabilities(t *testing.T, l dist.Family, d dist.Dist, p []float64) {
	t.Helper()
	if d.CDFOf == nil {
		return
	}
	for _, s := range []float64{1e-3, 0.3, 1, 4, 1e3} {
		for _, x := range []float64{-s, s} {
			if u := d.CDF(x, p); !(u >= 0 && u <= 1) {
				t.Fatalf("%s%v: CDFOf returned %g at %g: want a probability from 0 to 1", l.Name, p, u, x)
			}
		}
	}
}

// reports passes the first few failures of one check on, and counts the others, which mostly have the same cause.
type reports struct {
	t    *testing.T
	name string
	n    int
}

const mostReports = 4

func (r *reports) errorf(format string, a ...any) {
	r.t.Helper()
	if r.n++; r.n <= mostReports {
		r.t.Errorf(format, a...)
	}
}

// done says how many failures were not shown.
func (r *reports) done() {
	r.t.Helper()
	if r.n > mostReports {
		r.t.Errorf("%s: and %d more of this kind", r.name, r.n-mostReports)
	}
}

// Law checks that the functions of a distribution agree with each other: its density is the slope of CDF, or its
// probabilities sum to CDF; LogCDF and LogCCDF are its logarithms, with derivatives that are those by
// differences; Quantile inverts it; Mean and Var are those of its quantiles.
func Law(t *testing.T, l dist.Family) {
	t.Helper()
	d := l.New(l.At[0]...)
	if d.CDFOf == nil {
		t.Logf("disttest: %s has no CDFOf, so its distribution function is not checked", l.Name)
	}
	if d.Discrete {
		discrete(t, l)
	} else {
		continuous(t, l)
	}
}

func continuous(t *testing.T, l dist.Family) {
	t.Helper()
	f := Evaluator(t, l, logProb)
	inverse, slopes, logs := &reports{t: t, name: l.Name}, &reports{t: t, name: l.Name}, &reports{t: t, name: l.Name}
	defer func() {
		t.Helper()
		inverse.done()
		slopes.done()
		logs.done()
	}()
	lower, upper := tails(t, l, logs)
	for _, p := range l.At {
		d := l.New(p...)
		if d.CDFOf == nil {
			if d.QuantileOf != nil {
				quantileSlopes(l, d, p, f, slopes)
				moments(t, l, d, p)
			}
			continue
		}
		middle, low, high := d.Quantile(0.75, p)-d.Quantile(0.25, p), d.Quantile(0, p), d.Quantile(1, p)
		for u := 0.017; u < 1; u += 0.06 {
			x := d.Quantile(u, p)
			h := 1e-4 * min(middle, x-low, high-x)
			below := d.CDF(x, p)
			if !(math.Abs(below-u) <= 1e-9) {
				inverse.errorf("%s%v: CDF(Quantile(%g)) = %g", l.Name, p, u, below)
			}
			slope := (8*(d.CDF(x+h, p)-d.CDF(x-h, p)) - (d.CDF(x+2*h, p) - d.CDF(x-2*h, p))) / (12 * h)
			if pdf := math.Exp(f(x, p)[0]); !(math.Abs(pdf-slope) <= 1e-5*math.Max(1, pdf)) {
				slopes.errorf("%s%v at %g: density %g, slope of CDF %g", l.Name, p, x, pdf, slope)
			}
			lower(x, p, math.Log(below), h)
			upper(x, p, math.Log1p(-below), h)
		}
		moments(t, l, d, p)
	}
}

func discrete(t *testing.T, l dist.Family) {
	t.Helper()
	f := Evaluator(t, l, logProb)
	sums, logs := &reports{t: t, name: l.Name}, &reports{t: t, name: l.Name}
	defer func() {
		t.Helper()
		sums.done()
		logs.done()
	}()
	lower, upper := tails(t, l, logs)
	for _, p := range l.At {
		d := l.New(p...)
		from, to, rest, err := window(d, p, func(k float64) float64 { return f(k, p)[0] })
		if err != nil {
			t.Errorf("%s%v: %v", l.Name, p, err)
			continue
		}
		sum, mean, square := 0.0, 0.0, 0.0
		for k := from; k <= to; k++ {
			prob := math.Exp(f(k, p)[0])
			sum, mean, square = sum+prob, mean+k*prob, square+k*k*prob
			if d.CDFOf != nil {
				if got := d.CDF(k, p); !(math.Abs(got-sum) <= 1e-9) {
					sums.errorf("%s%v: CDF(%g) = %g, probabilities sum to %g", l.Name, p, k, got, sum)
				}
				if got := d.CDF(k+0.5, p); !(math.Abs(got-sum) <= 1e-9) {
					sums.errorf("%s%v: CDF(%g) = %g, want that of %g", l.Name, p, k+0.5, got, k)
				}
			}
			if sum > 1e-6 && sum < 1-1e-6 {
				if got := d.Quantile(sum-1e-9, p); got != k && prob > 1e-6 && (d.CDFOf != nil || d.QuantileOf != nil) {
					sums.errorf("%s%v: Quantile(%g) = %g, want %g", l.Name, p, sum, got, k)
				}
				lower(k, p, math.Log(sum), 1)
				upper(k, p, math.Log1p(-sum), 1)
			}
			if got := f(k+0.5, p); !math.IsInf(got[0], -1) {
				t.Errorf("%s%v at %g: log probability %g, want -Inf between whole numbers: set Support to one with Whole", l.Name, p, k+0.5, got[0])
				break
			}
		}
		if !(math.Abs(sum-1) <= 1e-9+rest) {
			t.Errorf("%s%v: the probabilities sum to %.12g, want 1", l.Name, p, sum)
		}
		if rest > 0 {
			continue // a window of a heavy tail
		}
		if m := d.Mean(p); d.MeanOf != nil && !Near(m, mean, 1e-8) {
			t.Errorf("%s%v: mean %g, by probabilities %g", l.Name, p, m, mean)
		}
		if v := d.Var(p); d.VarianceOf != nil && !Near(v, square-mean*mean, 1e-7) {
			t.Errorf("%s%v: variance %g, by probabilities %g", l.Name, p, v, square-mean*mean)
		}
	}
}

// Integrates checks that a continuous density integrates to 1, and that Mean and Var are integrals of it, to
// ten digits. Kinks are at parameters, where it is cut. Without quantiles, the integration finds the numbers that have
// probability by itself, to seven digits.
func Integrates(t *testing.T, l dist.Family) {
	t.Helper()
	f := Evaluator(t, l, logProb)
	for _, p := range l.At {
		d := l.New(p...)
		undefined := math.NaN()
		known := map[float64]float64{} // the integrals need the density at the same numbers
		density := func(x float64) float64 {
			v, has := known[x]
			if has {
				return v
			}
			if v = math.Exp(f(x, p)[0]); math.IsNaN(v) && math.Abs(x) < 1e100 {
				undefined = x
			}
			known[x] = v
			return v
		}
		tol := 1e-10
		over := func(f func(x float64) float64) float64 { return integral(d, p, f) }
		spread := d.Quantile(0.75, p) - d.Quantile(0.25, p)
		if math.IsNaN(spread) {
			r := newReach(d, p, func(x float64) float64 { return f(x, p)[0] })
			over = func(f func(x float64) float64) float64 { return r.integral(f, r.lo, r.hi) }
			tol, spread = 1e-7, math.Sqrt(max(0, d.Var(p)))
		}
		whole := over(density)
		if !(math.Abs(whole-1) <= tol) {
			t.Errorf("%s%v: the density integrates to %.10g, want 1 (difference %+.1e): subtract the logarithm of its integral in LogProbOf", l.Name, p, whole, whole-1)
		}
		if !math.IsNaN(undefined) {
			t.Errorf("%s%v: the density at %g is NaN: set Support to where the distribution has values, or correct LogProbOf if it has them there", l.Name, p, undefined)
		}
		if !(math.Abs(whole-1) <= tol) { // moments of such a density say nothing about MeanOf and VarianceOf
			continue
		}
		mean, variance := d.Mean(p), d.Var(p)
		centre := mean // of the variance, which a wrong MeanOf must not make wrong
		if !math.IsInf(mean, 0) && !(math.IsNaN(mean) && (math.IsNaN(variance) || math.IsInf(variance, 0))) {
			room := math.Abs(mean)
			if spread > room {
				room = spread
			}
			if got := over(func(x float64) float64 { return x * density(x) }); !(math.Abs(got-mean) <= tol*room) {
				if centre = got; !math.IsNaN(mean) {
					t.Errorf("%s%v: mean %.15g, by quadrature %.15g: correct MeanOf or the density", l.Name, p, mean, got)
				}
			}
		}
		if l.Name == "student ..-4" { // itself a quadrature over probabilities, of a tail that falls as x^-4
			tol = 5e-5
		}
		if !math.IsNaN(centre) && !math.IsNaN(variance) && !math.IsInf(variance, 0) {
			if got := over(func(x float64) float64 { return (x - centre) * (x - centre) * density(x) }); !(math.Abs(got-variance) <= tol*math.Abs(variance)) {
				t.Errorf("%s%v: variance %.15g, by quadrature %.15g: correct VarianceOf or the density", l.Name, p, variance, got)
			}
		}
	}
}

// Draws checks that draws fall evenly under the distribution function (Kolmogorov-Smirnov at 4000 draws; the
// threshold 2.2/sqrt(n) is passed by chance once in 1e4 distributions), alone and as Fill makes them, which
// gives the same, and that all of them are in the support. Without CDFOf and QuantileOf they are compared with integrals of
// the density. A distribution without RandOf passes. The draws depend on the name of the family alone.
func Draws(t *testing.T, l dist.Family) {
	t.Helper()
	const draws = 4000
	if l.New(l.At[0]...).RandOf == nil {
		t.Logf("disttest: %s has no RandOf, so its draws are not checked: set RandOf if models with this distribution should be simulated", l.Name)
		return
	}
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
		if k, err := d.Outside(x, []int{draws}, params); err != nil {
			t.Error(err)
			continue
		} else if k >= 0 {
			lo, hi, _ := dist.Range(d)
			t.Errorf("%s%v: RandOf returned %g in draw %d, which is outside the support from %g to %g", l.Name, p, x[k], k, lo, hi)
			continue
		}
		if first := d.Rand(&again, p); first != x[0] {
			t.Errorf("%s%v: Rand gives %g, Fill %g: draws must depend on the source alone", l.Name, p, first, x[0])
		}
		worst := 0.0
		if math.IsNaN(d.Quantile(0.5, p)) {
			worst = unevenByDensity(t, l, d, p, x)
		} else {
			worst = Unevenness(d, p, x)
		}
		switch {
		case worst > 1.001:
			t.Errorf("%s%v: the density below some draws integrates to more than 1, so draws cannot be compared with it: normalise it", l.Name, p)
		case !(worst <= 2.2/math.Sqrt(draws)):
			t.Errorf("%s%v: the share of draws below a number differs from its probability by %g", l.Name, p, worst)
		}
	}
}

func logProb(d dist.Dist, x *ad.Node) *ad.Node { return d.LogProb(x) }
func logCDF(d dist.Dist, x *ad.Node) *ad.Node  { return d.LogCDF(x) }
func logCCDF(d dist.Dist, x *ad.Node) *ad.Node { return d.LogCCDF(x) }

const nodeDistance = 1. / 40

// tails returns checks of LogCDF and LogCCDF and of their derivatives, by
// differences; they do nothing where a distribution has none.
func tails(t *testing.T, l dist.Family, bad *reports) (lower, upper func(x float64, p []float64, want, h float64)) {
	t.Helper()
	one := func(name string, f func(d dist.Dist, x *ad.Node) *ad.Node) func(x float64, p []float64, want, h float64) {
		if !Has(l, f) {
			return func(float64, []float64, float64, float64) {}
		}
		eval := Evaluator(t, l, f)
		return func(x float64, p []float64, want, h float64) {
			t.Helper()
			got := append([]float64{}, eval(x, p)...)
			if !Near(got[0], want, 1e-8) {
				bad.errorf("%s%v: %s(%g) = %.12g, want %.12g", l.Name, p, name, x, got[0], want)
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
				if !Near(got[1+i], slope, 1e-6) && !(math.Abs(got[1+i]-slope) <= 1e-7+1e-12/h) { // rounding
					bad.errorf("%s%v: derivative %d of %s at %g is %.10g, by differences %.10g", l.Name, p, i, name, x, got[1+i], slope)
				}
			}
		}
	}
	return one("LogCDF", logCDF), one("LogCCDF", logCCDF)
}

// moments compares Mean and Var with integrals of quantiles.
func moments(t *testing.T, l dist.Family, d dist.Dist, p []float64) {
	t.Helper()
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
	if !Near(m, mean, tol) && math.Abs(m-mean) > tol*math.Sqrt(v) {
		t.Errorf("%s%v: mean %g, by quantiles %g: correct MeanOf, or CDFOf or QuantileOf", l.Name, p, mean, m)
	}
	if !Near(v, variance, 5e-3) {
		t.Errorf("%s%v: variance %g, by quantiles %g: correct VarianceOf, or CDFOf or QuantileOf", l.Name, p, variance, v)
	}
}

// shares are the probabilities at whose quantiles draws are counted.
var shares = []float64{.02, .05, .1, .25, .5, .75, .9, .95, .98}

// Unevenness returns how far the share of x below each of some quantiles is from
// what the distribution says. It is NaN if the distribution has no quantiles.
func Unevenness(d dist.Dist, p, x []float64) (worst float64) {
	for _, u := range shares {
		q := d.Quantile(u, p)
		cdf := u
		if d.CDFOf != nil {
			cdf = d.CDF(q, p)
		}
		if math.IsNaN(q) || math.IsNaN(cdf) {
			return math.NaN()
		}
		n := 0.0
		for _, v := range x {
			if v <= q {
				n++
			}
		}
		worst = math.Max(worst, math.Abs(n/float64(len(x))-cdf))
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
			sum += between(f, a, b, nodeDistance)
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
func between(f func(x float64) float64, a, b, step float64) (sum float64) {
	for s := -4.5; s <= 4.5; s += step {
		w := math.Pi / 2 * math.Sinh(s)
		x := a + (b-a)/(1+math.Exp(-2*w))
		if w > 0 {
			x = b - (b-a)/(1+math.Exp(2*w))
		}
		if v := f(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum += step * math.Pi / 4 * math.Cosh(s) / math.Pow(math.Cosh(w), 2) * (b - a) * v
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
