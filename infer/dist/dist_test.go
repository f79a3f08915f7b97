package dist_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// numbersOf lists the distributions whose parameters and values are numbers, and distributions made
// of them.
func numbersOf() (out []dist.Family) {
	out = combined()
	for _, l := range dist.All() {
		if l.Shapes == nil && l.Value == nil {
			out = append(out, l)
		}
	}
	return out
}

// evaluator returns f of a distribution with inputs for parameters, and its derivatives
// with respect to x and them.
func evaluator(t testing.TB, l dist.Family, f func(d dist.Dist, x *ad.Node) *ad.Node) func(x float64, p []float64) []float64 {
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

func logProb(d dist.Dist, x *ad.Node) *ad.Node { return d.LogProb(x) }
func logCDF(d dist.Dist, x *ad.Node) *ad.Node  { return d.LogCDF(x) }
func logCCDF(d dist.Dist, x *ad.Node) *ad.Node { return d.LogCCDF(x) }

// has reports whether the distribution has f as a graph.
func has(l dist.Family, f func(d dist.Dist, x *ad.Node) *ad.Node) bool {
	return f(l.New(l.At[0]...), ad.Input("x")).Err() == nil
}

// near compares to tol relative to the larger of |want| and 1e-3.
func near(got, want, tol float64) bool {
	return got == want || math.Abs(got-want) <= tol*max(1e-3, math.Abs(want))
}
