// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// extremes are numbers at which algebra that holds on paper fails.
var extremes = []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, 3, -7, 1e5, -1e-5, 1e150, -1e-150, 1e300, -1e-300, 1e308,
	-1e308, math.MaxFloat64, -math.MaxFloat64, 0x1p-1022, 5e-324, -1e-310, math.Inf(1), math.Inf(-1), math.NaN()}

// factors are constants of which rules take notice.
var factors = []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, -0.5, 3, 1.0 / 3, -1e-10, 1e10, 1e5, 0.1, 1e-8, 7}

// magnitudes draws the numbers of one array: moderate ones with extremes among
// them, finite ones only, or all of one size.
func magnitudes(rng *rand.Rand, bits, n int) []float64 {
	v, kind := make([]float64, n), rng.IntN(4)
	size := extremes[6+rng.IntN(len(extremes)-9)]
	for k := range v {
		x := rng.NormFloat64()
		switch {
		case kind == 0 && rng.IntN(3) == 0:
			x = extremes[rng.IntN(len(extremes))]
		case kind == 1 && rng.IntN(3) == 0:
			x = extremes[rng.IntN(len(extremes)-3)]
		case kind == 2:
			x = size
		}
		v[k] = inPrecision(x, rng, bits)
	}
	return v
}

// inPrecision multiplies v by 1 to 2, often, and makes it a number of the precision.
func inPrecision(v float64, rng *rand.Rand, bits int) float64 {
	if m, e := math.Frexp(v); bits == 32 && (e > 126 || e < -140) && e != 0 && m != 0 {
		v = math.Ldexp(m, max(-148, min(e/8, 127)))
	}
	if rng != nil && rng.IntN(2) == 0 && math.Abs(v) < 0x1p1023 {
		v *= 1 + rng.Float64()
	}
	if bits == 32 {
		v = float64(float32(v))
	}
	return v
}

// extremeGraph makes n Nodes of the operations that rules look for.
func extremeGraph(rng *rand.Rand, in []*Node, bits, n int) []*Node {
	all := slices.Clone(in)
	pick := func() *Node {
		if rng.IntN(2) == 0 {
			return all[len(all)-1]
		}
		return all[rng.IntN(len(all))]
	}
	number := func() *Node {
		if rng.IntN(4) == 0 {
			return Scalar(magnitudes(rng, bits, 1)[0])
		}
		return Scalar(factors[rng.IntN(len(factors))])
	}
	for len(all) < n {
		x, y := pick(), pick()
		if rng.IntN(3) == 0 {
			y = number()
		}
		if rng.IntN(8) == 0 {
			x, y = y, x
		}
		v := extremeStep(rng, x, y)
		if v.err == nil && v.Size() <= 5000 {
			all = append(all, v)
		}
	}
	return all[len(in):]
}

func extremeStep(rng *rand.Rand, x, y *Node) *Node {
	switch rng.IntN(25) {
	case 0, 1, 2:
		return Mul(x, y)
	case 3, 4:
		return Add(x, y)
	case 5, 6:
		return Sub(x, y)
	case 7, 8:
		return Div(x, y)
	case 9, 10:
		return Neg(x)
	case 11:
		return Square(x)
	case 12:
		return Mul(x, x)
	case 13:
		return Sum(Mul(x, y))
	case 14:
		if k := len(x.shape); k > 0 {
			return SumAxes(Mul(y, x), rng.IntN(k))
		}
		return Sum(Neg(x))
	case 15:
		if k := len(x.shape); k > 0 {
			return MaxAxes(x, rng.IntN(k))
		}
		return Sum(Broadcast(x, 3, 2))
	case 16:
		return Sum(Square(x))
	case 17:
		return Log(Add(Scalar(1), x))
	case 18:
		return Sub(Exp(x), Scalar(1))
	case 19:
		return Pow(x, Scalar([]float64{1, 2, 3, -1}[rng.IntN(4)]))
	case 20:
		return Scale(factors[rng.IntN(len(factors))], Scale(factors[rng.IntN(len(factors))], x))
	case 21:
		return Sum(Scale(factors[rng.IntN(len(factors))], x))
	case 22:
		return Log1p(Exp(x))
	case 23:
		return Where(Less(x, y), x, Abs(y))
	}
	return Reshape(x, append(tensor.Shape{1}, x.shape...)...)
}

// shapes of expressions that rules look for, of numbers x and y and constants c
// and d; pairs has two numbers in each row.
var shapes = map[string]func(x, y, pairs *Node, c, d float64) *Node{
	"c*(d*x)":        func(x, _, _ *Node, c, d float64) *Node { return Scale(c, Scale(d, x)) },
	"c+(d+x)":        func(x, _, _ *Node, c, d float64) *Node { return Shift(Shift(x, d), c) },
	"c*-x":           func(x, _, _ *Node, c, _ float64) *Node { return Scale(c, Neg(x)) },
	"-(c*x)":         func(x, _, _ *Node, c, _ float64) *Node { return Neg(Scale(c, x)) },
	"c-x":            func(x, _, _ *Node, c, _ float64) *Node { return Sub(Scalar(c), x) },
	"x-c":            func(x, _, _ *Node, c, _ float64) *Node { return Sub(x, Scalar(c)) },
	"x/c":            func(x, _, _ *Node, c, _ float64) *Node { return Div(x, Scalar(c)) },
	"c/x":            func(x, _, _ *Node, c, _ float64) *Node { return Div(Scalar(c), x) },
	"x/{c,d}":        func(_, _, pairs *Node, c, d float64) *Node { return Div(pairs, Const([]float64{c, d})) },
	"-(x-y)":         func(x, y, _ *Node, _, _ float64) *Node { return Neg(Sub(x, y)) },
	"x-(-y)":         func(x, y, _ *Node, _, _ float64) *Node { return Sub(x, Neg(y)) },
	"-x+y":           func(x, y, _ *Node, _, _ float64) *Node { return Add(Neg(x), y) },
	"-x*-y":          func(x, y, _ *Node, _, _ float64) *Node { return Mul(Neg(x), Neg(y)) },
	"-x/y":           func(x, y, _ *Node, _, _ float64) *Node { return Div(Neg(x), y) },
	"x*x":            func(x, _, _ *Node, _, _ float64) *Node { return Mul(x, x) },
	"x^c":            func(x, _, _ *Node, c, _ float64) *Node { return Pow(x, Scalar(math.Mod(c, 4))) },
	"log(1+x)":       func(x, _, _ *Node, _, _ float64) *Node { return Log(Shift(x, 1)) },
	"exp x - 1":      func(x, _, _ *Node, _, _ float64) *Node { return Shift(Exp(x), -1) },
	"log1p(exp x)":   func(x, _, _ *Node, _, _ float64) *Node { return Log1p(Exp(x)) },
	"(-x)^2":         func(x, _, _ *Node, _, _ float64) *Node { return Square(Neg(x)) },
	"sum c*x":        func(_, _, pairs *Node, c, _ float64) *Node { return SumAxes(Scale(c, pairs), 1) },
	"sum y*x":        func(_, y, pairs *Node, _, _ float64) *Node { return SumAxes(Mul(Reshape(y, y.Size(), 1), pairs), 1) },
	"sum -x":         func(_, _, pairs *Node, _, _ float64) *Node { return SumAxes(Neg(pairs), 1) },
	"sum of repeats": func(x, _, _ *Node, _, _ float64) *Node { return SumAxes(Broadcast(x, 3, x.Size()), 0) },
	"sum x^2":        func(_, _, pairs *Node, c, _ float64) *Node { return SumAxes(Scale(c, Square(pairs)), 1) },
}

// Every rule keeps the value of what it replaces at all extremes and constants.
func TestEachRule(t *testing.T) {
	n := len(extremes)
	x, y, pairs := Input("x", n), Input("y", n), Input("pairs", n, 2)
	for _, bits := range []int{64, 32} {
		s := Settings{Inputs: []*Node{x, y, pairs}, Precision: bits, Backend: CPU{Threads: 1}}
		values := [][]float64{nil, nil, nil}
		for i := range extremes {
			a := inPrecision(extremes[i], nil, bits)
			b := inPrecision(extremes[(7*i+3)%n], nil, bits)
			values = [][]float64{append(values[0], a), append(values[1], b), append(values[2], a, a)}
		}
		p := &plain{t: t, s: s, known: map[*Node][]element{x: nil, y: nil, pairs: nil}}
		for i, in := range s.Inputs {
			p.known[in] = p.exact(values[i])
		}
		for name, shape := range shapes {
			for i := range len(factors) * len(factors) {
				c, d := factors[i/len(factors)], factors[i%len(factors)]
				out := shape(x, y, pairs, c, d)
				got := runExtreme(t, []*Node{out}, s, values)[0]
				for k, want := range p.of(out) {
					if !want.open && !want.accepts(got[k]) {
						t.Errorf("%s, c = %g, d = %g, float%d, element %d: %g, as written %g within %.2g", name, c, d, bits, k, got[k], want.v, want.err)
					}
				}
			}
		}
	}
}

// What a program computes is what the graph says, one operation after the other,
// but for rounding: at all sizes of numbers, with their zeros, infinities and
// NaNs, in both precisions, for each instruction set and in a lane of a batch.
func TestRewritingKeepsValues(t *testing.T) {
	rewriting(t, tier.Of[uint64](60, 200), nil)
}

// So does what Hoist takes out, put back, but for a rounding more in quotients.
func TestHoistingKeepsValues(t *testing.T) {
	rewriting(t, 100, func(outs, in []*Node) []*Node {
		rest, made, places := Hoist(outs, in[1:]...)
		return Substitute(rest, places, made)
	})
}

// rewriting compares random graphs, changed if that is given, with plain evaluation.
func rewriting(t *testing.T, rounds uint64, change func(outs, in []*Node) []*Node) {
	compared, open := 0, 0
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(seed, 11))
		bits := 64 >> (seed % 4 / 3)
		shapes := [][]tensor.Shape{{{5}, {}, {4, 5}}, {{3, 40}, {40}, {}}, {{}, {}, {2}}, {{2, 700}, {}, {700}}}[rng.IntN(4)]
		var in []*Node
		var values [][]float64
		for i, s := range shapes {
			x := Input(fmt.Sprint("x", i), s...)
			in, values = append(in, x), append(values, magnitudes(rng, bits, x.Size()))
		}
		outs := extremeGraph(rng, in, bits, 8+rng.IntN(12))
		last := Sum(outs[len(outs)-1])
		outs = append(outs[max(0, len(outs)-4):], last)
		outs = append(outs, Grad(last, in...)...)
		levels := kernels.Levels()
		s := Settings{Inputs: in, Precision: bits, Backend: CPU{Threads: 1, SIMD: levels[rng.IntN(len(levels))].String()}}
		p := &plain{t: t, s: s, known: map[*Node][]element{}, hoisted: change != nil}
		for i, x := range in {
			p.known[x] = p.exact(values[i])
		}
		changed := outs
		if change != nil {
			changed = change(outs, in)
		}
		for lanes := range 2 {
			s.Batch = 3 * lanes
			got := runExtreme(t, changed, s, values)
			for i, n := range outs {
				for k, want := range p.of(n) {
					if want.open {
						open++
						continue
					}
					compared++
					if g := got[i][k]; !want.accepts(g) {
						t.Errorf("seed %d, float%d %s, batch %d, output %d %v, element %d: %g, as written %g within %.2g", seed, bits, s.Backend, s.Batch, i, n, k, g, want.v, want.err)
						return
					}
				}
			}
		}
	}
	t.Logf("%d elements compared, %d left open", compared, open)
	if compared < open {
		t.Error("most elements are left open")
	}
}

// runExtreme returns the outputs, of the first lane where there are several.
func runExtreme(t *testing.T, outs []*Node, s Settings, values [][]float64) [][]float64 {
	s.Batched = s.Inputs[:min(len(s.Inputs), s.Batch)]
	lanes := max(s.Batch, 1)
	prog, err := Compile(outs, s)
	if err != nil {
		t.Fatal(err)
	}
	st := prog.NewState()
	for i, v := range values {
		wide := make([]float64, len(v)*lanes)
		for k := range wide {
			wide[k] = float64(k)
		}
		for k, x := range v {
			wide[k*lanes] = x
		}
		if err := st.SetInput(i, wide); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Run(); err != nil {
		t.Fatal(err)
	}
	got := make([][]float64, len(outs))
	for i := range outs {
		all := st.OutputFloat64(i)
		for k := 0; k < len(all); k += lanes {
			got[i] = append(got[i], all[k])
		}
	}
	return got
}

// accepts reports whether g is the number that e bounds.
func (e element) accepts(g float64) bool {
	switch {
	case e.v != e.v:
		return g != g
	case math.IsInf(e.v, 0):
		return g == e.v
	case e.v == 0 && e.err == 0 && e.signed:
		return g == 0 && math.Signbit(g) == math.Signbit(e.v)
	}
	return math.Abs(g-e.v) <= 4*e.err
}
