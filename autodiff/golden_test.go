// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// way is one way to run a program: precision and instruction set.
type way struct {
	bits int
	simd string
}

func (w way) String() string { return fmt.Sprintf("float%d/%s", w.bits, w.simd) }

func ways() []way {
	var all []way
	for _, l := range kernels.Levels() {
		all = append(all, way{64, l.String()}, way{32, l.String()})
	}
	return all
}

// results runs outputs with every input as a run-time input.
func results(t *testing.T, w way, outputs, inputs []*ad.Node, values [][]float64) [][]float64 {
	t.Helper()
	p, err := ad.Compile(outputs, ad.Settings{Inputs: inputs, Precision: w.bits, Backend: ad.CPU{SIMD: w.simd}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for i, x := range inputs {
		if x.IsInt() {
			for k, v := range values[i] {
				s.InputInts(i)[k] = int64(v)
			}
		} else if err := s.SetInput(i, values[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(outputs))
	for i := range out {
		out[i] = s.OutputFloat64(i)
	}
	return out
}

// goldenCase is a case of a family as a graph: its outputs by name, and the tolerances of each in
// float64 and float32.
type goldenCase struct {
	golden.Case
	outputs map[string]*ad.Node
	inputs  []*ad.Node
	values  [][]float64
	tol     func(name string) (f64, f32 float64)
}

// listed returns the names of the reference's outputs, sorted, and their nodes.
func (c *goldenCase) listed(t *testing.T) (names []string, nodes []*ad.Node) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(c.Outputs)) {
		n := c.outputs[name]
		if n == nil {
			t.Errorf("%s: no output %s", c.ID, name)
			continue
		}
		names, nodes = append(names, name), append(nodes, n)
	}
	return names, nodes
}

// compare checks one output, computed in a precision by a named executor.
func (c *goldenCase) compare(t *testing.T, name string, bits int, by any, got []float64) {
	t.Helper()
	limit, limit32 := c.tol(name)
	if bits == 32 {
		limit = limit32
	}
	if d := c.Outputs[name].Norm(got); !(d <= limit) {
		t.Errorf("%s %v %s: norm of the difference %.3g, want at most %.1g", c.ID, by, name, d, limit)
	}
}

// check compares the outputs of cases in every way that the processor has.
func check(t *testing.T, cases []goldenCase) {
	t.Helper()
	for _, c := range cases {
		names, nodes := c.listed(t)
		for _, w := range ways() {
			for i, got := range results(t, w, nodes, c.inputs, c.values) {
				c.compare(t, names[i], w.bits, w, got)
			}
		}
	}
}

var special = map[string]bool{"erf": true, "erfc": true, "erfinv": true, "lgamma": true, "digamma": true, "trigamma": true,
	"i0e": true, "i1e": true, "j0": true, "j1": true, "sinc_unnormalised": true}

var unary = map[string]func(*ad.Node) *ad.Node{
	"exp": ad.Exp, "expm1": ad.Expm1, "exp2": ad.Exp2, "log": ad.Log, "log1p": ad.Log1p, "log2": ad.Log2, "log10": ad.Log10,
	"sqrt": ad.Sqrt, "rsqrt": ad.Rsqrt, "cbrt": ad.Cbrt, "sin": ad.Sin, "cos": ad.Cos, "tan": ad.Tan, "asin": ad.Asin,
	"acos": ad.Acos, "atan": ad.Atan, "sinh": ad.Sinh, "cosh": ad.Cosh, "tanh": ad.Tanh, "asinh": ad.Asinh, "acosh": ad.Acosh,
	"atanh": ad.Atanh, "erf": ad.Erf, "erfc": ad.Erfc, "erfinv": ad.Erfinv, "lgamma": ad.Lgamma, "digamma": ad.Digamma,
	"trigamma": func(x *ad.Node) *ad.Node { return ad.Polygamma(1, x) }, "sigmoid": ad.Sigmoid, "softplus": ad.Softplus,
	"reciprocal": ad.Reciprocal, "square": ad.Square, "i0e": ad.BesselI0e, "i1e": ad.BesselI1e, "j0": ad.BesselJ0, "j1": ad.BesselJ1,
	"sinc_unnormalised": ad.Sinc, "round_half_even": ad.Round, "floor": ad.Floor, "ceil": ad.Ceil, "trunc": ad.Trunc,
	"sign": ad.Sign, "abs": ad.Abs, "neg": ad.Neg,
}

func TestUnaryGoldens(t *testing.T) {
	check(t, unaryGoldens(t))
	for _, p := range specialPoints(t) {
		for _, w := range ways() {
			p.compare(t, w.bits, w, results(t, w, []*ad.Node{p.y}, []*ad.Node{p.x}, [][]float64{p.at})[0])
		}
	}
}

func unaryGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "ops_unary.json") {
		f := unary[c.Op]
		if f == nil {
			t.Errorf("no operation %s", c.Op)
			continue
		}
		in := c.Inputs["x"]
		x := ad.Input("x", in.Shape...)
		y := f(x)
		list = append(list, goldenCase{c, map[string]*ad.Node{"y": y, "dydx": ad.Grad(y, x)[0]}, []*ad.Node{x}, [][]float64{in.Values()},
			func(name string) (float64, float64) {
				switch {
				case name == "dydx":
					return 1e-12, 1e-5
				case special[c.Op]:
					return 1e-12, 2e-6
				}
				return 1e-14, 4e-7
			}})
	}
	return list
}

// points are arguments at which a function must be exact, signed zeros included.
type points struct {
	op       string
	x, y     *ad.Node
	at, want []float64
}

func specialPoints(t *testing.T) (list []points) {
	for _, c := range golden.Family(t, "cuda", "ops_unary.json") {
		f := unary[c.Op]
		if f == nil || len(c.Special.X) == 0 {
			continue
		}
		p := points{op: c.Op, x: ad.Input("x", len(c.Special.X))}
		p.y = f(p.x)
		for i, v := range c.Special.X {
			p.at, p.want = append(p.at, float64(v)), append(p.want, float64(c.Special.Y[i]))
		}
		list = append(list, p)
	}
	return list
}

func (p *points) compare(t *testing.T, bits int, by any, values []float64) {
	t.Helper()
	for i, got := range values {
		want := p.want[i]
		if bits == 32 {
			want = float64(float32(want))
		}
		same := got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want
		if !same && !(math.Abs(got-want) <= 4e-16*math.Abs(want) && bits == 64) && !(bits == 32 && math.Abs(got-want) <= 3e-7*math.Abs(want)) {
			t.Errorf("%s(%g) %v = %g, want %g", p.op, p.at[i], by, got, want)
		}
	}
}

var binary = map[string]func(x, y *ad.Node) *ad.Node{
	"add": ad.Add, "sub": ad.Sub, "mul": ad.Mul, "div": ad.Div, "maximum": ad.Maximum, "minimum": ad.Minimum, "fmax": ad.Fmax,
	"atan2": ad.Atan2, "hypot": ad.Hypot, "fmod": ad.Mod, "floor_mod": ad.FloorMod, "less": ad.Less, "equal": ad.Equal,
	"pow_abs": func(x, y *ad.Node) *ad.Node { return ad.Pow(ad.Abs(x), y) }, "logaddexp": ad.LogAddExp,
	"a*b/(1+b*b)": func(a, b *ad.Node) *ad.Node { return ad.Div(ad.Mul(a, b), ad.Shift(ad.Mul(b, b), 1)) },
}

func TestBinaryGoldens(t *testing.T) { check(t, binaryGoldens(t)) }

func binaryGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "ops_binary.json") {
		f := binary[c.Op]
		if f == nil {
			t.Errorf("no operation %s", c.Op)
			continue
		}
		a, b := ad.Input("a", c.Inputs["a"].Shape...), ad.Input("b", c.Inputs["b"].Shape...)
		inputs, values := []*ad.Node{a, b}, [][]float64{c.Inputs["a"].Values(), c.Inputs["b"].Values()}
		out := map[string]*ad.Node{"y": f(a, b)}
		if g, ok := c.Inputs["grad_y"]; ok {
			gy := ad.Input("g", g.Shape...)
			inputs, values = append(inputs, gy), append(values, g.Values())
			d := ad.VJP(out["y"], gy, a, b)
			out["grad_a"], out["grad_b"] = d[0], d[1]
		}
		list = append(list, goldenCase{c, out, inputs, values, func(name string) (float64, float64) {
			if name != "y" {
				return 1e-12, 1e-5
			}
			return 1e-14, 1e-6
		}})
	}
	return list
}

func axesOf(v any, rank int) []int {
	switch v := v.(type) {
	case float64:
		return []int{int(v)}
	case []any:
		var out []int
		for _, a := range v {
			out = append(out, int(a.(float64)))
		}
		return out
	}
	out := make([]int, rank)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestReduceGoldens(t *testing.T) { check(t, reduceGoldens(t)) }

func reduceGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "ops_reduce.json") {
		in := c.Inputs["x"]
		x := ad.Input("x", in.Shape...)
		axes := axesOf(c.Attrs["axis"], len(in.Shape))
		flat, axis := x, axes[0]
		if len(axes) > 1 || c.Attrs["axis"] == nil {
			flat, axis = ad.Reshape(x, x.Size()), 0
		}
		out := map[string]*ad.Node{"sum": ad.SumAxes(x, axes...), "sumsq": ad.SumAxes(ad.Square(x), axes...), "prod": ad.Prod(x, axes...)}
		if x.Size() > 0 {
			for name, n := range map[string]*ad.Node{"mean": ad.MeanAxes(x, axes...), "max": ad.MaxAxes(x, axes...), "min": ad.MinAxes(x, axes...),
				"var0": ad.Variance(x, 0, axes...), "var1": ad.Variance(x, 1, axes...), "norm2": ad.Norm(x, axes...), "logsumexp": ad.LogSumExp(x, axes...),
				"argmax": ad.Argmax(flat, axis), "argmin": ad.Argmin(flat, axis)} {
				out[name] = n
			}
		}
		cancelled := cancellation(in.Values(), c.Outputs["sum"])
		list = append(list, goldenCase{c, out, []*ad.Node{x}, [][]float64{in.Values()}, func(name string) (float64, float64) {
			return max(1e-13, 0x1p-50*cancelled), max(2e-6, 0x1p-21*cancelled) // 4 eps of the sum of |x|, which Sum states
		}})
	}
	return list
}

// cancellation is the sum of |x| over the norm of the sums of x, 0 where there are
// none: how much larger than a result the rounding of its terms is.
func cancellation(x []float64, sums golden.Output) float64 {
	abs, norm := 0.0, 0.0
	for _, v := range x {
		abs += math.Abs(v)
	}
	for _, v := range append(sums.Data, sums.Sample...) {
		norm = math.Hypot(norm, float64(v))
	}
	if math.IsNaN(abs) || norm == 0 || abs < 1e3*norm {
		return 0 // the tolerances of the README hold
	}
	return abs / norm
}

func TestEmptyMaxIsAnError(t *testing.T) {
	if err := ad.MaxAxes(ad.Input("x", 2, 0), 1).Err(); err == nil {
		t.Error("max of nothing has no error")
	}
}

func TestMatmulGoldens(t *testing.T) { check(t, matmulGoldens(t)) }

func matmulGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "ops_matmul.json") {
		if c.Op == "transpose" {
			x := ad.Input("x", c.Inputs["x"].Shape...)
			list = append(list, goldenCase{c, map[string]*ad.Node{"y": ad.Permute(x, axesOf(c.Attrs["perm"], 0)...)}, []*ad.Node{x}, [][]float64{c.Inputs["x"].Values()},
				func(string) (float64, float64) { return 0, 1e-7 }})
			continue
		}
		a, b := ad.Input("a", c.Inputs["a"].Shape...), ad.Input("b", c.Inputs["b"].Shape...)
		g := ad.Input("g", c.Inputs["grad_y"].Shape...)
		inputs, values := []*ad.Node{a, b, g}, [][]float64{c.Inputs["a"].Values(), c.Inputs["b"].Values(), c.Inputs["grad_y"].Values()}
		opA, opB := a, b
		if c.Attrs["trans_a"] == true {
			opA = ad.T(a)
		}
		if c.Attrs["trans_b"] == true {
			opB = ad.T(b)
		}
		y := ad.Scale(c.Attrs["alpha"].(float64), ad.MatMul(opA, opB))
		if ic, ok := c.Inputs["c"]; ok {
			cc := ad.Input("c", ic.Shape...)
			inputs, values = append(inputs, cc), append(values, ic.Values())
			y = ad.Add(y, ad.Scale(c.Attrs["beta"].(float64), cc))
		}
		d := ad.VJP(y, g, a, b)
		list = append(list, goldenCase{c, map[string]*ad.Node{"y": y, "grad_a": d[0], "grad_b": d[1]}, inputs, values, func(name string) (float64, float64) {
			if name == "y" {
				return 1e-13, 2e-6
			}
			return 1e-12, 1e-5
		}})
	}
	return list
}

func TestScanGoldens(t *testing.T) { check(t, scanGoldens(t)) }

func scanGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "ops_scan_sort.json") {
		in := c.Inputs["x"]
		x := ad.Input("x", in.Shape...)
		out, tol, tol32 := map[string]*ad.Node{}, 0.0, 4e-7
		switch c.Op {
		case "scan":
			axis := int(c.Attrs["axis"].(float64))
			tol, tol32 = 1e-13, 2e-6
			out = map[string]*ad.Node{"cumsum": ad.Cumsum(x, axis), "cumsum_exclusive": ad.CumsumWith(x, axis, true, false),
				"cumsum_reverse": ad.CumsumWith(x, axis, false, true), "cumprod": ad.Cumprod(ad.Shift(ad.Scale(0.1, x), 1), axis),
				"cummax": ad.Cummax(x, axis), "logcumsumexp": ad.LogCumsumExp(x, axis)}
		case "topk":
			out["values"], out["indices"] = ad.TopK(x, int(c.Attrs["k"].(float64)), -1, c.Attrs["largest"].(bool))
		case "sort":
			descending := c.Attrs["descending"].(bool)
			out["values"], out["indices"] = ad.Sort(x, -1, descending), ad.Argsort(x, -1, descending)
		case "bincount":
			x = ad.IntInput("x", in.Shape...)
			out["y"] = ad.Bincount(x, int(c.Attrs["size"].(float64)))
		default:
			t.Errorf("no operation %s", c.Op)
		}
		list = append(list, goldenCase{c, out, []*ad.Node{x}, [][]float64{in.Values()}, func(name string) (float64, float64) {
			if name == "indices" || c.Op == "bincount" {
				return 0, 0
			}
			return tol, tol32
		}})
	}
	return list
}

func sameShape(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil }
