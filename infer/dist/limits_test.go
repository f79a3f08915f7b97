// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// graphs of a distribution whose parameters and value are inputs.
var graphs = map[string]func(d dist.Dist, x *ad.Node) *ad.Node{
	"LogProb": logProb, "LogCDF": logCDF, "LogCCDF": logCCDF,
	"LogProbInside": func(d dist.Dist, x *ad.Node) *ad.Node { return d.LogProbInside(x) },
}

// outsideOf returns numbers out of the range of a parameter.
func outsideOf(s dist.Support, array dist.Array) []float64 {
	lo, hi := s.Ends()
	out := []float64{math.NaN()}
	if s.Lower == nil || !math.IsInf(lo, 0) {
		out = append(out, math.Inf(-1))
	}
	if s.Upper == nil || !math.IsInf(hi, 0) {
		out = append(out, math.Inf(1))
	}
	if !math.IsInf(lo, 0) {
		out = append(out, lo-1, lo-1e-3)
		if s.Open || s.OpenLower {
			out = append(out, lo)
		}
	}
	if !math.IsInf(hi, 0) {
		out = append(out, hi+1, hi+1e-3)
		if s.Open {
			out = append(out, hi)
		}
	}
	if array == dist.Probabilities {
		out = append(out, 0.9)
	}
	return out
}

// A parameter out of its range gives a log density, LogCDF and LogCCDF of -Inf with a gradient of 0, for every parameter
// of every family, in both precisions, and does not touch the other elements of a batch.
func TestParametersOutOfRange(t *testing.T) {
	for _, l := range dist.All() {
		for _, precision := range []int{64, 32} {
			for name, graph := range graphs {
				c := newRangeCase(t, l, graph, precision)
				if c == nil {
					continue
				}
				for _, p := range outOfRange(l) {
					got := c.run(p)
					for i, v := range got {
						if i == 0 && !math.IsInf(v, -1) || i > 0 && v != 0 {
							t.Errorf("%s of %s%v in %d bits: output %d is %g: want -Inf and a gradient of 0", name, l.Name, p, precision, i, v)
							break
						}
					}
				}
			}
		}
	}
}

// outOfRange lists parameters of which one is out of its range or violates an order or a condition on arrays.
func outOfRange(l dist.Family) (out [][]float64) {
	at := 0
	for i := range l.Params {
		n, array := 1, dist.AnyArray
		if l.Shapes != nil {
			n = tensor.Shape(l.Shapes[i]).Size()
		}
		if l.Arrays != nil {
			array = l.Arrays[i]
		}
		for j := range n {
			for _, v := range outsideOf(l.Want[i], array) {
				p := slices.Clone(l.At[0])
				p[at+j] = v
				out = append(out, p)
			}
		}
		p := slices.Clone(l.At[0])
		switch array {
		case dist.Ascending:
			slices.Reverse(p[at : at+n])
			out = append(out, p)
		case dist.Factor, dist.Covariance:
			p[at] = -p[at]
			out = append(out, p)
		}
		at += n
	}
	for _, o := range l.Order {
		p := slices.Clone(l.At[0])
		low, high := slices.Index(l.Params, o.Low), slices.Index(l.Params, o.High)
		p[low] = p[high] + 1
		out = append(out, slices.Clone(p))
		if !o.Equal {
			p[low] = p[high]
			out = append(out, p)
		}
	}
	if strings.Contains(l.Name, "wishart") {
		p := slices.Clone(l.At[0])
		p[0] = 0.5
		out = append(out, p)
	}
	return out
}

type rangeCase struct {
	t      *testing.T
	state  *ad.State
	x      []float64
	shapes [][]int
	// discrete distributions have no derivative with respect to the value
	discrete bool
}

func newRangeCase(t *testing.T, l dist.Family, graph func(d dist.Dist, x *ad.Node) *ad.Node, bits int) *rangeCase {
	t.Helper()
	c := &rangeCase{t: t, shapes: l.Shapes, discrete: l.New(l.At[0]...).Discrete}
	if c.shapes == nil {
		c.shapes = make([][]int, len(l.Params))
	}
	params, _ := split(dist.Family{Shapes: c.shapes}, l.At[0])
	stream := tensor.NewStream(3, 0, 0)
	c.x = make([]float64, tensor.Shape(l.Value).Size())
	if err := l.New(l.At[0]...).Fill(&stream, c.x, l.Value, params); err != nil {
		t.Fatalf("%s: %v", l.Name, err)
	}
	inputs, args := []*ad.Node{ad.Input("x", l.Value...)}, []any{}
	for k, s := range c.shapes {
		inputs = append(inputs, ad.Input(l.Params[k], s...))
		args = append(args, inputs[k+1])
	}
	y := graph(l.Make(args...), inputs[0])
	if y.Err() != nil {
		if strings.Contains(y.Err().Error(), "has no Log") {
			return nil
		}
		t.Fatalf("%s: %v", l.Name, y.Err())
	}
	prog, err := ad.Compile(append([]*ad.Node{y}, ad.Grad(y, inputs...)...), ad.Settings{Inputs: inputs, Precision: bits, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	c.state = prog.NewState()
	return c
}

func (c *rangeCase) run(p []float64) (out []float64) {
	c.t.Helper()
	params, _ := split(dist.Family{Shapes: c.shapes}, p)
	for i, v := range append([][]float64{c.x}, params...) {
		if err := c.state.SetInput(i, v); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := c.state.Run(); err != nil {
		c.t.Fatal(err)
	}
	for i := range len(params) + 2 {
		if i != 1 || !c.discrete { // counts have no derivative
			out = append(out, c.state.OutputFloat64(i)...)
		}
	}
	return out
}

// In a batch of parameters, those in range have the density that they have alone.
func TestOutOfRangeInABatch(t *testing.T) {
	for _, l := range dist.All() {
		if l.Shapes != nil || len(l.Params) == 0 {
			continue
		}
		for i := range l.Params {
			d := l.New(l.At[0]...)
			theta, _ := dist.Numbers(d)
			stream, x := tensor.NewStream(3, 0, 0), make([]float64, 1)
			if err := d.Fill(&stream, x, []int{1}, theta); err != nil {
				t.Fatal(err)
			}
			args := make([]any, len(l.Params))
			for k, v := range l.At[0] {
				args[k] = ad.Input("p")
				if k == i {
					args[k] = ad.Const([]float64{v, math.NaN(), v})
				}
			}
			var from, to []*ad.Node
			for k, a := range args {
				if k != i {
					from, to = append(from, a.(*ad.Node)), append(to, ad.Scalar(l.At[0][k]))
				}
			}
			lp := ad.Substitute([]*ad.Node{l.Make(args...).LogProb(ad.Scalar(x[0]))}, from, to)[0]
			v, err := ad.Eval(lp, d.LogProb(ad.Scalar(x[0])))
			if err != nil {
				t.Fatalf("%s: %v", l.Name, err)
			}
			got, want := v[0].Float64s(), v[1].Float64s()[0]
			if len(got) != 3 || !near(got[0], want) || !near(got[2], want) || !math.IsInf(got[1], -1) {
				t.Errorf("%s with %s out of range in the middle: %v, want %g, -Inf, %g", l.Name, l.Params[i], got, want, want)
			}
		}
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12*(1+math.Abs(want)) }

// At the closed ends of the ranges of parameters, values and derivatives are numbers where the value is possible.
func TestClosedEndsOfParameters(t *testing.T) {
	for _, c := range []struct {
		dist string
		p    []float64
		x    float64
		want []float64 // value, and the derivative with respect to each parameter
	}{
		{"poisson", []float64{0}, 0, []float64{0, -1}},
		{"poissonlog", []float64{math.Inf(-1)}, 0, []float64{0, 0}},
		{"bernoulli", []float64{0}, 0, []float64{0, -1}},
		{"bernoulli", []float64{1}, 1, []float64{0, 1}},
		{"binomial", []float64{3, 0}, 0, []float64{0, 0, -3}},
		{"binomial", []float64{3, 1}, 3, []float64{0, 0, 3}},
		{"geometric", []float64{1}, 0, []float64{0, 1}},
		{"negbinomial2", []float64{0, 3}, 0, []float64{0, -1, 0}},
		{"negbinomial2log", []float64{math.Inf(-1), 3}, 0, []float64{0, 0, 0}},
		{"zeroinflatedpoisson", []float64{0, 2}, 0, []float64{-2, math.Expm1(2), -1}},
		{"zeroinflatedpoisson", []float64{0, 2}, 3, []float64{math.Log(8./6) - 2, -1, 0.5}},
		{"zeroinflatedpoisson", []float64{1, 2}, 0, []float64{0, -math.Expm1(-2), 0}},
		{"zeroinflatedpoisson", []float64{0.25, 0}, 0, []float64{0, 0, -0.75}},
		{"vonmises", []float64{0.5, 0}, 1, []float64{-math.Log(2 * math.Pi), 0, math.Cos(0.5)}},
		{"pert", []float64{0, 1, 4, 0}, 1, []float64{-math.Log(4), 0.25, 0, -0.25, math.NaN()}},
	} {
		l, err := dist.FamilyByName(c.dist)
		if err != nil {
			t.Fatal(err)
		}
		inputs, args := []*ad.Node{}, []any{}
		for _, name := range l.Params {
			inputs = append(inputs, ad.Input(name))
			args = append(args, inputs[len(inputs)-1])
		}
		for _, bits := range []int{64, 32} {
			lp := l.Make(args...).LogProb(ad.Scalar(c.x))
			prog, err := ad.Compile(append([]*ad.Node{lp}, ad.Grad(lp, inputs...)...), ad.Settings{Inputs: inputs, Precision: bits})
			if err != nil {
				t.Fatal(err)
			}
			s := prog.NewState()
			for i, v := range c.p {
				if err := s.SetInput(i, []float64{v}); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				got := s.OutputFloat64(i)[0]
				if i > 0 && l.Params[i-1] == "n" {
					continue
				}
				if want != want {
					if math.IsNaN(got) {
						t.Errorf("%s%v at %g in %d bits: output %d is NaN", c.dist, c.p, c.x, bits, i)
					}
					continue
				}
				if !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
					t.Errorf("%s%v at %g in %d bits: output %d is %g: want %g", c.dist, c.p, c.x, bits, i, got, want)
				}
			}
		}
	}
}

// Rule cannot be checked when a graph runs, so the families of this package use Order, Arrays and Holds.
func TestNoFamilyHasARuleForConstantsOnly(t *testing.T) {
	for _, l := range dist.All() {
		if l.Rule != nil {
			t.Errorf("%s has a Rule, which LogProb cannot check: use Order or Holds", l.Name)
		}
	}
}

// A parameter that cannot leave its range costs nothing, and the others are listed with their ranges.
func TestRanges(t *testing.T) {
	u := ad.Input("u", 3)
	for _, c := range []struct {
		name string
		d    dist.Dist
		want []string
	}{
		{"exponential of any number", dist.HalfNormal(ad.Exp(u)), nil},
		{"sum and product", dist.HalfNormal(ad.Add(ad.Mul(ad.Scalar(2), ad.Softplus(u)), ad.Square(u))), nil},
		{"root of squares", dist.HalfNormal(ad.Sqrt(ad.Add(ad.Square(u), one))), nil},
		{"probability", dist.Bernoulli(ad.Sub(one, ad.Sigmoid(u))), nil},
		{"any number", dist.HalfNormal(u), []string{"sigma: a finite number above 0: pass exp(...) or softplus(...) of any number"}},
		{"rate", dist.Poisson(ad.Mul(u, ad.Scalar(2))), []string{"rate: a finite number of at least 0: use poissonlog, or pass exp(...) or softplus(...) of any number"}},
		{"mixture", dist.Mixture(ad.Softmax(u, -1), dist.HalfNormal(1), dist.HalfNormal(ad.Index(u, 0, 0)), dist.HalfNormal(2)),
			[]string{"weights: probabilities, which are at least 0 and sum to 1: pass the softmax of any numbers, or use MixtureLogits",
				"sigma of component 1, halfnormal: a finite number above 0: pass exp(...) or softplus(...) of any number"}},
	} {
		var got []string
		for _, r := range c.d.Ranges() {
			got = append(got, fmt.Sprintf("%s: %s: %s", r.Param, r.Want, r.Link))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

var one = ad.Scalar(1)

// Distributions that are made of others check the parameters of all.
func TestCombinedOutOfRange(t *testing.T) {
	s, w, v := ad.Input("s"), ad.Input("w"), ad.Input("v", 2)
	weights := ad.Stack(-1, w, ad.Sub(one, w))
	for name, d := range map[string]dist.Dist{
		"truncated": dist.Truncate(dist.Normal(0, s), -1, 2), "censored": dist.Censored(dist.Gamma(2, s), 0.1, 2),
		"limits": dist.Truncate(dist.Normal(0, 1), 0, s), "independent": dist.Independent(dist.Normal(0, ad.Mul(s, ad.Const([]float64{1, 2}))), 1),
		"mixture": dist.Mixture(weights, dist.Normal(0, 1), dist.Normal(0, s)), "same family": dist.MixtureSameFamily(weights, dist.Gamma(v, s)),
		"weights": dist.Mixture(ad.Stack(-1, s, ad.Sub(one, s)), dist.Normal(0, 1), dist.Normal(1, 1)), "uniforms": dist.MixtureSameFamily(weights, dist.Uniform(0, ad.Stack(-1, s, s))),
	} {
		x := ad.Full(0.5, d.EventShape()...)
		lp := d.LogProb(x)
		inputs := []*ad.Node{s, w, v}
		prog, err := ad.Compile(append([]*ad.Node{ad.Sum(lp)}, ad.Grad(ad.Sum(lp), inputs...)...), ad.Settings{Inputs: inputs})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		state := prog.NewState()
		copy(state.Input(1), []float64{0.3})
		copy(state.Input(2), []float64{1, 2})
		for _, bad := range []float64{-1, math.NaN(), 0.9} {
			state.Input(0)[0] = bad
			if err := state.Run(); err != nil {
				t.Fatal(err)
			}
			got := state.OutputSpan(0, 4)
			if bad > 0 != (got[0] > math.Inf(-1)) || slices.ContainsFunc(got, math.IsNaN) {
				t.Errorf("%s with s = %g: %v", name, bad, got)
			}
			for _, g := range got[1:] {
				if bad != 0.9 && g != 0 {
					t.Errorf("%s with s = %g has the gradient %v: want 0", name, bad, got[1:])
					break
				}
			}
		}
	}
}
