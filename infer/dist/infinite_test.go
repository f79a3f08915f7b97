// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// thorough is set in the slow tests.
var thorough = false

// withTails lists the families that have LogCDF and LogCCDF, with their parameters as inputs.
func withTails(t *testing.T, f func(l dist.Family, inputs []*ad.Node, d dist.Dist, low, mid, high float64)) {
	t.Helper()
	for _, l := range dist.All() {
		if l.Shapes != nil {
			continue
		}
		p := l.At[0]
		d := l.New(p...)
		if d.LogCDFOf == nil || d.LogCCDFOf == nil || d.CDFOf == nil {
			continue
		}
		inputs, args := []*ad.Node{}, []any{}
		for _, name := range l.Params {
			inputs = append(inputs, ad.Input(name))
			args = append(args, inputs[len(inputs)-1])
		}
		f(l, inputs, l.Make(args...), d.Quantile(0.2, p), d.Quantile(0.5, p), d.Quantile(0.8, p))
	}
}

// gradients evaluates nodes and their derivatives with respect to the inputs at p.
func gradients(t *testing.T, p []float64, inputs []*ad.Node, nodes ...*ad.Node) [][]float64 {
	t.Helper()
	return gradientsOf(t, inputs, nodes...)(p)
}

// gradientsOf compiles nodes and their derivatives, for several p.
func gradientsOf(t *testing.T, inputs []*ad.Node, nodes ...*ad.Node) func(p []float64) [][]float64 {
	t.Helper()
	var all []*ad.Node
	for _, n := range nodes {
		all = append(append(all, n), ad.Grad(n, inputs...)...)
	}
	prog, err := ad.Compile(all, ad.Settings{Inputs: inputs, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s := prog.NewState()
	return func(p []float64) (out [][]float64) {
		for i, v := range p {
			s.Input(i)[0] = v
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		k := len(inputs) + 1
		for i := range nodes {
			out = append(out, s.OutputSpan(i*k, (i+1)*k))
		}
		return out
	}
}

// Limits in arrays of which some are infinite, which means none, give the density, the tails and the gradients of the
// distribution without them, in Truncate and Censored of every family.
func TestInfiniteLimits(t *testing.T) {
	inf := math.Inf(1)
	withTails(t, func(l dist.Family, inputs []*ad.Node, d dist.Dist, low, mid, high float64) {
		lower, upper := ad.Const([]float64{-inf, -inf, low, low}), ad.Const([]float64{inf, high, inf, high})
		for kind, limit := range map[string]func(d dist.Dist, lower, upper any) dist.Dist{"truncated": dist.Truncate, "censored": dist.Censored} {
			if kind == "truncated" && low == high {
				continue
			}
			some := limit(d, lower, upper)
			x := ad.Input("value")
			for name, graph := range graphs {
				if name == "LogProbInside" || name != "LogProb" && !thorough {
					continue
				}
				var nodes []*ad.Node
				for i, each := range []dist.Dist{d, limit(d, nil, high), limit(d, low, nil), limit(d, low, high)} {
					nodes = append(nodes, ad.Index(graph(some, x), 0, i), graph(each, x))
				}
				eval := gradientsOf(t, append(slices.Clone(inputs), x), nodes...)
				for _, at := range []float64{low, mid, high} {
					r := eval(append(slices.Clone(l.At[0]), at))
					for i := 0; i < len(r); i += 2 {
						for j, got := range r[i][:len(inputs)+1] {
							if want := r[i+1][j]; got != want && !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) || math.IsNaN(got) {
								t.Errorf("%s of %s %s with limits %d at %g: output %d is %g, without infinite limits %g", name, kind, l.Name, i/2, at, j, got, want)
							}
						}
					}
				}
			}
		}
	})
}

// At infinite values, every density is 0 and the tails are 0 and 1, with gradients of 0.
func TestInfiniteValues(t *testing.T) {
	for _, l := range numbersOf() {
		inputs, args := []*ad.Node{ad.Input("x")}, []any{}
		for _, name := range l.Params {
			inputs = append(inputs, ad.Input(name))
			args = append(args, inputs[len(inputs)-1])
		}
		d := l.Make(args...)
		for _, x := range []float64{math.Inf(-1), math.Inf(1)} {
			if d.Support.Lower != nil && d.BoundsOf != nil && l.Name[:min(8, len(l.Name))] == "censored" {
				continue
			}
			for name, graph := range graphs {
				if name == "LogProbInside" || name != "LogProb" && (d.LogCDFOf == nil || d.LogCCDFOf == nil) {
					continue
				}
				want := math.Inf(-1)
				if name == "LogCDF" && x > 0 || name == "LogCCDF" && x < 0 {
					want = 0
				}
				got := gradients(t, append([]float64{x}, l.At[0]...), inputs, graph(d, inputs[0]))[0]
				if got[0] != want && !(want == 0 && math.Abs(got[0]) < 1e-15) {
					t.Errorf("%s of %s at %g is %g: want %g", name, l.Name, x, got[0], want)
				}
				for j, g := range got[1:] {
					if math.IsNaN(g) || math.IsInf(g, 0) {
						t.Errorf("%s of %s at %g: derivative %d is %g", name, l.Name, x, j, g)
					}
				}
			}
		}
	}
}

// Closed ends of supports have the limit of the density where it is finite, and -Inf where it is 0 or infinite.
func TestDensityAtClosedEnds(t *testing.T) {
	inf := math.Inf(-1)
	for _, c := range []struct {
		d       dist.Dist
		x, want float64
	}{
		{dist.Gamma(1, 2), 0, math.Log(2)}, {dist.Gamma(2, 2), 0, inf}, {dist.Gamma(0.5, 2), 0, inf},
		{dist.Beta(1, 8), 0, math.Log(8)}, {dist.Beta(8, 1), 1, math.Log(8)}, {dist.Beta(1, 1), 0, 0}, {dist.Beta(1, 1), 1, 0}, {dist.Beta(2, 1), 0, inf},
		{dist.BetaProportion(0.25, 4), 0, math.Log(3)}, {dist.Weibull(1, 2), 0, -math.Log(2)}, {dist.Weibull(1.5, 2), 0, inf},
		{dist.ChiSquared(2), 0, -math.Log(2)}, {dist.Chi(1), 0, math.Log(2/math.Pi) / 2}, {dist.Chi(2), 0, inf},
		{dist.Kumaraswamy(1, 1), 0, 0}, {dist.Kumaraswamy(1, 3), 0, math.Log(3)}, {dist.Kumaraswamy(3, 1), 1, math.Log(3)}, {dist.F(2, 5), 0, 0}, {dist.F(3, 5), 0, inf},
		{dist.PERT(1, 1, 5, 4), 1, math.Log(5. / 4)}, {dist.PERT(1, 5, 5, 4), 5, math.Log(5. / 4)}, {dist.Triangle(0, 2, 0), 0, 0}, {dist.Triangle(0, 2, 1), 0, inf},
		{dist.Exponential(3), 0, math.Log(3)}, {dist.HalfNormal(1), 0, math.Log(2/math.Pi) / 2}, {dist.HalfCauchy(1), 0, math.Log(2 / math.Pi)},
		{dist.Rayleigh(1), 0, inf}, {dist.Frechet(1, 1), 0, inf}, {dist.InverseGamma(1, 1), 0, inf}, {dist.InverseGaussian(1, 1), 0, inf}, {dist.LogNormal(0, 1), 0, inf},
		{dist.LogitNormal(0, 1), 0, inf}, {dist.LogitNormal(0, 1), 1, inf}, {dist.Pareto(1, 3), 1, math.Log(3)}, {dist.LogUniform(1, math.E), 1, 0}, {dist.Uniform(0, 2), 2, -math.Ln2},
		{dist.Truncate(dist.Gamma(1, 2), 0, 1), 0, math.Log(2) - math.Log(-math.Expm1(-2))}, {dist.Mixture([]float64{0.5, 0.5}, dist.Gamma(1, 2), dist.Gamma(2, 1)), 0, 0},
		{dist.MixtureSameFamily([]float64{0.5, 0.5}, dist.Gamma([]float64{1, 2}, 2)), 0, 0},
	} {
		x := ad.Input("x")
		got := gradients(t, []float64{c.x}, []*ad.Node{x}, c.d.LogProb(x))[0]
		if got[0] != c.want && !(math.Abs(got[0]-c.want) <= 1e-12) || math.IsNaN(got[1]) {
			t.Errorf("%v at %g: %g with the derivative %g, want %g", c.d, c.x, got[0], got[1], c.want)
		}
	}
	v, err := ad.Eval(dist.Independent(dist.Gamma(1, 2), 1).LogProb(ad.Const([]float64{0, 0})), dist.Dirichlet([]float64{1, 1, 2}).LogProb(ad.Const([]float64{0, 0.25, 0.75})))
	if err != nil {
		t.Fatal(err)
	}
	if got := v[0].Float64s()[0]; math.Abs(got-2*math.Log(2)) > 1e-12 {
		t.Errorf("independent gammas at 0: %g", got)
	}
	if got := v[1].Float64s()[0]; math.Abs(got-math.Log(6*0.75)) > 1e-12 {
		t.Errorf("dirichlet on an edge: %g, want %g", got, math.Log(6*0.75))
	}
}

// Mixtures whose components are all impossible are -Inf with a gradient of 0, and weights of 0 have derivatives.
func TestMixturesOfNothing(t *testing.T) {
	inf := math.Inf(-1)
	w, a, b := ad.Input("w"), ad.Input("a"), ad.Input("b")
	in := []*ad.Node{w, a, b}
	pair := ad.Stack(-1, w, ad.Sub(one, w))
	for name, n := range map[string]*ad.Node{"LogMix": dist.LogMix(w, a, b), "LogMixture": dist.LogMixture(pair, a, b)} {
		for _, c := range []struct{ p, want []float64 }{
			{[]float64{0.3, inf, inf}, []float64{inf, 0, 0, 0}},
			{[]float64{0, inf, inf}, []float64{inf, 0, 0, 0}},
			{[]float64{0, 1, 2}, []float64{2, math.Exp(-1) - 1, 0, 1}},
			{[]float64{1, 1, 2}, []float64{1, 1 - math.E, 1, 0}},
			{[]float64{0.3, inf, 2}, []float64{2 + math.Log(0.7), -1 / 0.7, 0, 1}},
		} {
			got := gradients(t, c.p, in, n)[0]
			for j, want := range c.want {
				if got[j] != want && !(math.Abs(got[j]-want) <= 1e-12) {
					t.Errorf("%s at %v: output %d is %g, want %g", name, c.p, j, got[j], want)
				}
			}
		}
	}
	for name, d := range map[string]dist.Dist{"Mixture": dist.Mixture(pair, dist.Normal(a, 1), dist.Normal(b, 2)), "SameFamily": dist.MixtureSameFamily(pair, dist.Normal(ad.Stack(-1, a, b), []float64{1, 2}))} {
		got := gradients(t, []float64{0, 0, 1}, in, d.LogProb(ad.Scalar(1)))[0]
		for j, want := range []float64{-math.Log(2*math.Pi)/2 - math.Log(2), 2*math.Exp(-0.5) - 1, 0, 0} {
			if !(math.Abs(got[j]-want) <= 1e-12) {
				t.Errorf("%s with weights 0 and 1: output %d is %g, want %g", name, j, got[j], want)
			}
		}
	}
}
