// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/dist/disttest"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// argument reads a number, vector or matrix.
func argument(t *testing.T, raw json.RawMessage) (v []float64, shape []int) {
	t.Helper()
	var x float64
	var xs []float64
	var rows [][]float64
	switch {
	case json.Unmarshal(raw, &x) == nil:
		return []float64{x}, []int{}
	case json.Unmarshal(raw, &xs) == nil:
		return xs, []int{len(xs)}
	case json.Unmarshal(raw, &rows) == nil:
		for _, r := range rows {
			v = append(v, r...)
		}
		return v, []int{len(rows), len(rows[0])}
	}
	t.Fatalf("argument %s", raw)
	return nil, nil
}

// goldenFamilies make the distribution of each golden from its arguments but the first, the
// value, whose shape and sum are known.
var goldenFamilies = map[string]func(value []float64, shape []int, p []any) dist.Dist{
	"LKJCholesky": func(_ []float64, shape []int, p []any) dist.Dist { return dist.LKJCholesky(shape[0], p[0]) },
	"Multinomial_logits": func(v []float64, _ []int, p []any) dist.Dist {
		return dist.MultinomialLogits(total(v), p[0])
	},
	"DirichletMultinomial": func(v []float64, _ []int, p []any) dist.Dist {
		return dist.DirichletMultinomial(total(v), p[0])
	},
	"AR1_stationary": func(_ []float64, _ []int, p []any) dist.Dist { return dist.AR1(p[0], p[1]) },
}

func total(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

func TestMultivariateGoldens(t *testing.T) {
	type commonFamily struct {
		Order []string `json:"arg_order"`
		Cases []struct {
			Args   map[string]json.RawMessage
			LogPDF float64 `json:"logpdf"`
			Grad   map[string]json.RawMessage
		}
	}
	var raw map[string]json.RawMessage
	golden.JSON(t, &raw, "inference", "distributions", "multivariate.json")
	for name, text := range raw {
		var f commonFamily
		if name[0] == '_' || strings.HasPrefix(name, "GaussianProcess") || json.Unmarshal(text, &f) != nil { // a note; infer/gp has the process
			continue
		}
		for i, c := range f.Cases {
			inputs, values, params := []*ad.Node{}, [][]float64{}, []any{}
			var shape []int
			for _, arg := range f.Order {
				v, s := argument(t, c.Args[arg])
				in := ad.Input(arg, s...)
				if inputs, values = append(inputs, in), append(values, v); len(inputs) > 1 {
					params = append(params, in)
				} else {
					shape = s
				}
			}
			lp := goldenLogProb(t, name, inputs, values[0], shape, params)
			prog, err := ad.Compile(append([]*ad.Node{lp}, ad.Grad(lp, inputs...)...), ad.Settings{Inputs: inputs})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			s := prog.NewState()
			for k, v := range values {
				copy(s.Input(k), v)
			}
			if err := s.Run(); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := s.Output(0)[0]; !disttest.Near(got, c.LogPDF, 1e-10) {
				t.Errorf("%s case %d: %.17g, want %.17g", name, i, got, c.LogPDF)
			}
			for k, arg := range f.Order {
				if string(c.Grad[arg]) == "null" {
					continue
				}
				want, _ := argument(t, c.Grad[arg])
				for e, w := range want {
					if got := s.Output(1 + k)[e]; !disttest.Near(got, w, 1e-9) {
						t.Errorf("%s case %d: gradient of %s[%d] is %.17g, want %.17g", name, i, arg, e, got, w)
					}
				}
			}
		}
	}
}

func goldenLogProb(t *testing.T, name string, inputs []*ad.Node, value []float64, shape []int, params []any) *ad.Node {
	t.Helper()
	if name == "Horseshoe_nonmarginal" { // beta and lambda are the value
		return dist.Horseshoe(inputs[2]).LogProb(ad.Stack(0, inputs[0], inputs[1]))
	}
	if f := goldenFamilies[name]; f != nil {
		return f(value, shape, params).LogProb(inputs[0])
	}
	key := strings.ToLower(strings.ReplaceAll(name, "_", ""))
	for _, l := range dist.All() {
		if l.Name == key {
			return l.Make(params...).LogProb(inputs[0])
		}
	}
	t.Errorf("%s has no distribution", name)
	return ad.Scalar(0)
}

// arraysOf lists the distributions with arrays as values or parameters.
func arraysOf() (out []dist.Family) {
	for _, l := range dist.All() {
		if l.Shapes != nil || l.Value != nil {
			out = append(out, l)
		}
	}
	return out
}

// split cuts p into the parameters of l.
func split(l dist.Family, p []float64) (values [][]float64, shapes [][]int) {
	at := 0
	for _, s := range l.Shapes {
		n := tensor.Shape(s).Size()
		values, shapes = append(values, p[at:at+n]), append(shapes, s)
		at += n
	}
	return values, shapes
}

// Every distribution of arrays: gradients of first and second order, with respect to the
// value and the parameters, at draws; and the mean over draws of the gradient with
// respect to each parameter, which is 0 for the distribution that they come from (4.5
// standard errors are passed by chance once in 1e5).
func TestEveryVectorLaw(t *testing.T) {
	for i, l := range arraysOf() {
		for _, p := range l.At {
			d := l.New(p...)
			params, shapes := split(l, p)
			stream := tensor.NewStream(5, 6, uint32(i))
			draws := 3000
			size := tensor.Shape(l.Value).Size()
			x := make([]float64, draws*size)
			if err := d.Fill(&stream, x, append([]int{draws}, l.Value...), params); err != nil {
				t.Errorf("%s: %v", l.Name, err)
				continue
			}
			value := ad.Input("x", l.Value...)
			inputs, args := []*ad.Node{value}, []any{}
			for k, s := range shapes {
				inputs = append(inputs, ad.Input(l.Params[k], s...))
				args = append(args, inputs[k+1])
			}
			made := l.Make(args...)
			lp := made.LogProb(value)
			inside := made.LogProbInside(value)
			point := append([][]float64{append([]float64{}, x[:size]...)}, params...)
			if d.Discrete {
				at := ad.Substitute([]*ad.Node{inside}, []*ad.Node{value}, []*ad.Node{ad.Reshape(ad.Const(x[:size]), l.Value...)})
				gradtest.Check(t, l.Name, at[0], inputs[1:], point[1:], true)
			} else {
				gradtest.Check(t, l.Name, inside, inputs, point, true)
			}
			prog, err := ad.Compile(append([]*ad.Node{lp, inside}, ad.Grad(lp, inputs[1:]...)...), ad.Settings{Inputs: inputs})
			if err != nil {
				t.Fatal(err)
			}
			s := prog.NewState()
			for k, v := range params {
				copy(s.Input(1+k), v)
			}
			var mean, square []float64
			for n := range draws {
				copy(s.Input(0), x[n*size:])
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				if a, b := s.Output(0)[0], s.Output(1)[0]; math.IsInf(a, 0) || math.Abs(a-b) > 1e-12*max(1, math.Abs(a)) {
					t.Fatalf("%s: draw %v has log density %g, %g inside", l.Name, x[n*size:(n+1)*size], a, b)
				}
				at := 0
				for k := range params {
					for _, g := range free(l.Params[k], s.Output(2+k)) {
						if n == 0 {
							mean, square = append(mean, 0), append(square, 0)
						}
						mean[at] += g / float64(draws)
						square[at] += g * g / float64(draws)
						at++
					}
				}
			}
			at := 0
			for k, name := range l.Params {
				for range free(name, params[k]) {
					if se := math.Sqrt(square[at] / float64(draws)); math.Abs(mean[at]) > 4.5*se {
						t.Errorf("%s: mean gradient of %s is %g, standard error %g", l.Name, name, mean[at], se)
					}
					at++
				}
			}
		}
	}
}

// free returns the derivatives along what may change: the elements of a symmetric
// 2 x 2 matrix, nothing of a count, probabilities against the last one.
func free(name string, g []float64) []float64 {
	switch name {
	case "n":
		return nil
	case "V", "Psi":
		return []float64{g[0], g[1] + g[2], g[3]}
	case "p":
		last := len(g) - 1
		out := make([]float64, last)
		for i := range out {
			out[i] = g[i] - g[last]
		}
		return out
	}
	return g
}

// A functional of draws follows the distribution that theory says (Kolmogorov-Smirnov at
// 4000 draws, threshold 2.2/sqrt(n)).
func TestMarginalsOfVectorLaws(t *testing.T) {
	corr := func(i, j int) func(x []float64) float64 {
		return func(x []float64) (r float64) {
			for k := range 3 {
				r += x[3*i+k] * x[3*j+k]
			}
			return (r + 1) / 2
		}
	}
	at := func(i int) func(x []float64) float64 { return func(x []float64) float64 { return x[i] } }
	for _, c := range []struct {
		family string
		f      func(x []float64) float64
		want   dist.Dist
		p      []float64
	}{
		{"multivariatenormalcholesky", at(2), dist.Normal(0, 1), []float64{1, math.Sqrt(0.3*0.3 + 0.5*0.5 + 0.6*0.6)}},
		{"multivariatenormalcholesky", func(x []float64) float64 { return x[0] + x[1] }, dist.Normal(0, 1), []float64{0.5, math.Hypot(1.6, 0.8)}},
		{"multivariatestudenttcholesky", at(1), dist.StudentT(1, 0, 1), []float64{4, 0.5, math.Hypot(0.4, 0.8)}},
		{"dirichlet", at(1), dist.Beta(1, 1), []float64{2, 1.5}},
		{"lkjcholesky", corr(0, 1), dist.Beta(1, 1), []float64{2.5, 2.5}},
		{"lkjcholesky", corr(1, 2), dist.Beta(1, 1), []float64{2.5, 2.5}},
		{"wishart", at(3), dist.Gamma(1, 1), []float64{2.5, 0.5 / 0.7}},
		{"wishart", func(x []float64) float64 { return x[0] + 2*x[1] + x[3] }, dist.Gamma(1, 1), []float64{2.5, 0.5 / 2.1}},
		{"inversewishart", at(0), dist.InverseGamma(1, 1), []float64{3, 0.5}},
		{"categorical", at(0), dist.Categorical([]float64{1, 0, 0}), []float64{0.2, 0.5, 0.3}},
		{"multinomial", at(2), dist.Binomial(1, 0.5), []float64{20, 0.3}},
		{"multinomiallogits", at(0), dist.Binomial(1, 0.5), []float64{8, math.Exp(0.1) / (math.Exp(0.1) + math.Exp(-0.4) + math.Exp(1.2))}},
		{"dirichletmultinomial", at(2), dist.BetaBinomial(1, 1, 1), []float64{8, 2, 2}},
		{"lowrankmultivariatenormal", func(x []float64) float64 { return x[0] + x[2] }, dist.Normal(0, 1), []float64{1, math.Sqrt(0.8*0.8 + 0.8)}},
		{"gaussianrandomwalk", at(3), dist.Normal(0, 1), []float64{0, math.Sqrt(1 + 3*0.09)}},
		{"ar1", at(3), dist.Normal(0, 1), []float64{0, 0.5 / math.Sqrt(1-0.49)}},
		{"ar1", func(x []float64) float64 { return x[3] - 0.7*x[2] }, dist.Normal(0, 1), []float64{0, 0.5}},
		{"horseshoe", at(3), dist.HalfCauchy(1), []float64{1}},
		{"horseshoe", func(x []float64) float64 { return x[0] / x[2] / 0.2 }, dist.Normal(0, 1), []float64{0, 1}},
		{"mixturenormal", at(0), dist.MixtureSameFamilyLogits([]float64{0, 0}, dist.Normal([]float64{0, 0}, []float64{1, 1})), []float64{-0.5, -1.2, 0, 2, 1, 0.5}},
		{"orderedlogistic", at(0), dist.OrderedLogistic(0, []float64{0, 1, 2}), []float64{0.3, -1, 0.5, 2}},
	} {
		for i, l := range arraysOf() {
			if l.Name != c.family {
				continue
			}
			params, _ := split(l, l.At[0])
			stream := tensor.NewStream(11, 12, uint32(i))
			const draws = 4000
			size := tensor.Shape(l.Value).Size()
			x, y := make([]float64, draws*size), make([]float64, draws)
			if err := l.New(l.At[0]...).Fill(&stream, x, append([]int{draws}, l.Value...), params); err != nil {
				t.Fatal(err)
			}
			for n := range y {
				y[n] = c.f(x[n*size : (n+1)*size])
			}
			if worst := disttest.Unevenness(c.want, c.p, y); worst > 2.2/math.Sqrt(draws) {
				t.Errorf("%s: draws leave %s%v by %g", c.family, c.want.Name, c.p, worst)
			}
		}
	}
}

// Batches of values and parameters broadcast: densities and draws of an array are
// those of its rows.
func TestBatchesOfVectorLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, l := range arraysOf() {
		d := l.New(l.At[0]...)
		params, shapes := split(l, l.At[0])
		stream := tensor.NewStream(5, 6, uint32(i))
		x := make([]float64, 6*tensor.Shape(l.Value).Size())
		if err := d.Fill(&stream, x, append([]int{2, 3}, l.Value...), params); err != nil {
			t.Fatal(err)
		}
		args := make([]any, len(params))
		for k, v := range params {
			if k == rng.IntN(len(params)) { // one parameter has batches
				args[k] = ad.Broadcast(ad.Const(v, append([]int{1, 1}, shapes[k]...)...), append([]int{2, 1}, shapes[k]...)...)
			} else {
				args[k] = ad.Const(v, append([]int{}, shapes[k]...)...)
				if len(shapes[k]) == 0 {
					args[k] = v[0]
				}
			}
		}
		got := l.Make(args...).LogProb(ad.Const(x, append([]int{2, 3}, l.Value...)...))
		if !got.Shape().Equal(tensor.Shape{2, 3}) {
			t.Errorf("%s: density of shape %v, %v", l.Name, got.Shape(), got.Err())
			continue
		}
		n := len(x) / 6
		for b, lp := range value(t, got) {
			one := ad.Const(x[b*n:(b+1)*n], append([]int{1}, l.Value...)...)
			if want := value(t, d.LogProb(one))[0]; !close(lp, want, 1e-12) {
				t.Errorf("%s: value %d of a batch has %.15g, alone %.15g", l.Name, b, lp, want)
			}
		}
	}
}

func TestOutsideVectorSupports(t *testing.T) {
	for _, c := range []struct {
		d dist.Dist
		x *ad.Node
	}{
		{dist.Dirichlet([]float64{1, 2}), ad.Const([]float64{0.5, 0.6})},
		{dist.Dirichlet([]float64{1, 2}), ad.Const([]float64{-0.5, 1.5})},
		{dist.LKJCholesky(2, 1), ad.Const([]float64{1, 0, 0.5, 0.5}, 2, 2)},
		{dist.Wishart(5, ad.Eye(2)), ad.Const([]float64{1, 2, 2, 1}, 2, 2)},
		{dist.InverseWishart(5, ad.Eye(2)), ad.Const([]float64{-1, 0, 0, 1}, 2, 2)},
		{dist.Multinomial(3, []float64{0.5, 0.5}), ad.Const([]float64{1, 1})},
		{dist.DirichletMultinomial(3, []float64{0.5, 0.5}), ad.Const([]float64{1.5, 1.5})},
		{dist.Categorical([]float64{0.5, 0.5}), ad.Const([]float64{2})},
		{dist.OrderedLogistic(0, []float64{0, 1}), ad.Const([]float64{3})},
		{dist.Horseshoe(1), ad.Const([]float64{1, 1, 1, -1}, 2, 2)},
	} {
		x := ad.Input("x", c.x.Shape()...)
		lp := c.d.LogProb(x)
		out := value(t, ad.Substitute([]*ad.Node{lp}, []*ad.Node{x}, []*ad.Node{c.x})[0])
		grad := value(t, ad.Substitute(ad.Grad(lp, x), []*ad.Node{x}, []*ad.Node{c.x})[0])
		if !math.IsInf(out[0], -1) {
			t.Errorf("%s: %v, want -Inf", c.d.Name, out)
		}
		for _, g := range grad {
			if g != 0 {
				t.Errorf("%s: gradient %v, want 0", c.d.Name, grad)
			}
		}
	}
	for _, d := range []dist.Dist{dist.MultivariateNormalCholesky([]float64{0, 0}, ad.Const([]float64{1, 0.5, 0.5, 1}, 2, 2)), dist.Wishart(0.5, ad.Eye(2)),
		dist.Wishart(3, ad.Const([]float64{1, 2, 2, 1}, 2, 2)), dist.Wishart(3, ad.Const([]float64{4, 3, 1, 5}, 2, 2)),
		dist.MultivariateNormal([]float64{0, 0}, ad.Const([]float64{4, 3, 1, 5}, 2, 2)), dist.MultivariateNormal([]float64{0, 0}, ad.Const([]float64{1, 2, 2, 1}, 2, 2)), dist.Dirichlet([]float64{1, 0}), dist.Categorical([]float64{0.5, 0.6}), dist.OrderedLogistic(0, []float64{1, 0}),
		dist.AR1(1, 1), dist.LKJCholesky(0, 1), dist.MultivariateNormalCholesky([]float64{0, 0, 0}, ad.Eye(2))} {
		if err := d.Err(); err == nil {
			t.Errorf("%v: no error", d)
		}
	}
}
