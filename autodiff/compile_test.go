// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// randomGraph makes a graph of views, broadcasts, reductions and products over
// inputs of awkward shapes, and returns every Node of it.
func randomGraph(rng *rand.Rand, x, y, z *ad.Node, n int) []*ad.Node {
	all := []*ad.Node{x, y, z}
	pick := func() *ad.Node { return all[rng.IntN(len(all))] }
	for len(all) < n {
		a := pick()
		var v *ad.Node
		switch rng.IntN(16) {
		case 0:
			v = ad.Tanh(a)
		case 1, 2:
			v = ad.Add(a, pick())
		case 3, 4:
			v = ad.Mul(a, ad.Sigmoid(pick()))
		case 5:
			v = ad.Sub(a, ad.Scalar(0.5))
		case 6:
			v = ad.Permute(a)
		case 7:
			if k := len(a.Shape()); k > 0 {
				v = ad.Scale(0.3, ad.SumAxes(a, rng.IntN(k)))
			}
		case 8:
			if k := len(a.Shape()); k > 0 && a.Size() > 0 {
				v = ad.MaxAxes(a, rng.IntN(k))
			}
		case 9:
			if k := len(a.Shape()); k > 0 {
				v = ad.Flip(a, rng.IntN(k))
			}
		case 10:
			v = ad.Reshape(a, a.Size())
		case 11:
			v = ad.Where(ad.Less(a, ad.Scalar(0.1)), a, ad.Neg(a))
		case 12:
			v = ad.Add(ad.Scale(0.1, ad.Sum(ad.Square(a))), a)
		case 13:
			if k := len(a.Shape()); k > 0 && a.Shape()[k-1] > 2 {
				v = ad.SliceStep(a, -1, 0, a.Shape()[k-1], 2)
			}
		case 14:
			if k := len(a.Shape()); k > 0 {
				v = ad.Cumsum(ad.Scale(0.2, a), rng.IntN(k))
			}
		case 15:
			if len(a.Shape()) == 2 {
				v = ad.Scale(0.1, ad.MatMul(ad.T(a), a))
			}
		}
		if v != nil && v.Err() == nil && v.Size() <= 20000 {
			all = append(all, v)
		}
	}
	return all
}

// A fused program gives what one gives that stores every value; any number of
// threads gives the same bits.
func TestFusionChangesNothing(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 1))
		shapes := [][]int{{3, 40}, {40}, {3, 1}}
		if seed%3 == 1 {
			shapes = [][]int{{5, 4, 3}, {4, 3}, {5, 1, 1}}
		} else if seed%3 == 2 {
			shapes = [][]int{{7, 600}, {600}, {}}
		}
		var in []*ad.Node
		var values [][]float64
		for i, s := range shapes {
			x := ad.Input(fmt.Sprint("x", i), s...)
			v := make([]float64, x.Size())
			for k := range v {
				v[k] = rng.NormFloat64()
			}
			in, values = append(in, x), append(values, v)
		}
		all := randomGraph(rng, in[0], in[1], in[2], 25)
		last := ad.Sum(all[len(all)-1])
		outs := append([]*ad.Node{last, all[len(all)-2]}, ad.Grad(last, in...)...)
		fused := results(t, way{64, ""}, outs, in, values)
		stored := results(t, way{64, ""}, append(slices.Clone(outs), all[3:]...), in, values)
		for i := range outs {
			for k := range fused[i] {
				if !near(fused[i][k], stored[i][k], 1e-9) {
					t.Fatalf("seed %d output %d element %d: fused %g, stored %g", seed, i, k, fused[i][k], stored[i][k])
				}
			}
		}
	}
}

func near(a, b, tol float64) bool {
	return a == b || a != a && b != b || math.Abs(a-b) <= tol*max(1, math.Abs(a), math.Abs(b))
}

func TestThreadsGiveTheSameBits(t *testing.T) {
	n := 300_001
	x, w := ad.Input("x", n), ad.Input("w", 700, 431) // large enough for shared loops and products
	col, row := ad.SumAxes(ad.Tanh(w), 0), ad.SumAxes(ad.Exp(ad.Neg(ad.Square(w))), 1)
	outs := []*ad.Node{ad.Sum(ad.Sin(x)), ad.Dot(x, ad.Tanh(x)), ad.Max(x), col, row, ad.MatMul(ad.T(w), w), ad.Tanh(ad.Add(w, col))}
	rng := rand.New(rand.NewPCG(1, 2))
	var want [][]float64
	for threads := 1; threads <= 5; threads++ {
		p, err := ad.Compile(outs, ad.Settings{Inputs: []*ad.Node{x, w}, Backend: ad.CPU{Threads: threads}})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		if want == nil {
			for i := range s.Input(0) {
				s.Input(0)[i] = rng.NormFloat64()
			}
			for i := range s.Input(1) {
				s.Input(1)[i] = rng.NormFloat64()
			}
			want = [][]float64{slices.Clone(s.Input(0)), slices.Clone(s.Input(1))}
		}
		copy(s.Input(0), want[0])
		copy(s.Input(1), want[1])
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		for i := range outs {
			got := s.OutputFloat64(i)
			if threads == 1 {
				want = append(want, got)
			} else if !slices.Equal(got, want[2+i]) {
				t.Errorf("output %d differs between 1 and %d threads", i, threads)
			}
		}
	}
}

// Each lane of a batch gives what the program gives alone.
func TestBatchEqualsLanes(t *testing.T) {
	const lanes = 5
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		x, y, z := ad.Input("x", 3, 4), ad.Input("y", 4), ad.Input("z", 3, 1)
		in := []*ad.Node{x, y, z}
		all := randomGraph(rng, x, y, z, 20)
		last := ad.Sum(all[len(all)-1])
		outs := append([]*ad.Node{last, all[len(all)-2]}, ad.Grad(last, x, y)...)
		p, err := ad.Compile(outs, ad.Settings{Inputs: in, Batch: lanes, Batched: []*ad.Node{x, z}})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		for i := range in {
			for k := range s.Input(i) {
				s.Input(i)[k] = rng.NormFloat64()
			}
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		for l := range lanes {
			lane := func(v []float64) []float64 {
				var out []float64
				for k := l; k < len(v); k += lanes {
					out = append(out, v[k])
				}
				return out
			}
			alone := results(t, way{64, ""}, outs, in, [][]float64{lane(s.Input(0)), s.Input(1), lane(s.Input(2))})
			for i := range outs {
				for k, v := range lane(s.Output(i)) {
					if !near(v, alone[i][k], 1e-9) {
						t.Fatalf("seed %d lane %d output %d element %d: batched %g, alone %g", seed, l, i, k, v, alone[i][k])
					}
				}
			}
		}
	}
}

func TestHigherDerivatives(t *testing.T) {
	x := ad.Input("x", 2)
	y := ad.Sum(ad.Mul(ad.Pow(x, ad.Scalar(3)), ad.Flip(x, 0)))
	v := ad.Const([]float64{0.5, -2})
	third := ad.Grad(ad.Sum(ad.HVP(y, []*ad.Node{x}, []*ad.Node{v})[0]), x)[0]
	jvp := ad.JVP(ad.Square(x), []*ad.Node{x}, []*ad.Node{v})
	out := results(t, way{64, ""}, []*ad.Node{ad.HVP(y, []*ad.Node{x}, []*ad.Node{v})[0], third, jvp}, []*ad.Node{x}, [][]float64{{2, 3}})
	// y = a^3 b + b^3 a: H = [6ab, 3a^2+3b^2; ..., 6ab] at (2, 3).
	want := [][]float64{{36*0.5 + 39*-2, 39*0.5 + 36*-2}, {
		// d/da of (6ab v0 + 3(a^2+b^2) v1 + 3(a^2+b^2) v0 + 6ab v1)
		6*3*0.5 + 6*2*-2 + 6*2*0.5 + 6*3*-2, 6*2*0.5 + 6*3*-2 + 6*3*0.5 + 6*2*-2}, {2 * 2 * 0.5, 2 * 3 * -2}}
	for i := range want {
		for k := range want[i] {
			if !near(out[i][k], want[i][k], 1e-12) {
				t.Errorf("output %d: %v, want %v", i, out[i], want[i])
				break
			}
		}
	}
}

func TestCheckpointKeepsValuesAndSavesMemory(t *testing.T) {
	x := ad.Input("x", 10_000)
	y := x
	for i := range 40 {
		y = ad.Sin(ad.Add(ad.Mul(y, y), ad.Scale(0.1, ad.Cumsum(y, 0)))) // steps: everything is in memory
		if i%8 == 7 {
			y = y.Named("save")
		}
	}
	loss := ad.Sum(y)
	bytes := [2]int{}
	var grads [2][]float64
	for i, g := range []*ad.Node{ad.Grad(loss, x)[0], ad.GradCheckpoint(loss, []string{"save"}, x)[0]} {
		p, err := ad.Compile([]*ad.Node{loss, g}, ad.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		for k := range s.Input(0) {
			s.Input(0)[k] = 1e-4 * float64(k%7)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		bytes[i], grads[i] = p.Bytes(), s.OutputFloat64(1)
	}
	for k := range grads[0] {
		if !near(grads[0][k], grads[1][k], 1e-12) {
			t.Fatalf("element %d: %g stored, %g recomputed", k, grads[0][k], grads[1][k])
		}
	}
	if bytes[1]*3 > bytes[0]*2 {
		t.Errorf("recomputing needs %d bytes, storing %d: want at most two thirds", bytes[1], bytes[0])
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	x, w := ad.Input("x", 50), ad.Input("w", 50, 70)
	y := ad.Sum(ad.Square(ad.Tanh(ad.MatMul(x, w))))
	big, square := ad.Input("big", 200_000), ad.Input("square", 150, 150)
	outs := append([]*ad.Node{y, ad.Sum(ad.Exp(big)), ad.MatMul(square, square)}, ad.Grad(y, x, w)...)
	for _, w := range ways() {
		p, err := ad.Compile(outs, ad.Settings{Precision: w.bits, Backend: ad.CPU{Threads: 2, SIMD: w.simd}})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		if n := testing.AllocsPerRun(20, func() {
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v: %g allocations per run", w, n)
		}
	}
}

// A chain of ten times the nodes takes ten times the memory to make, not a hundred
// times.
func TestLongChainCompilesLinearly(t *testing.T) {
	build := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			x := ad.Input("x", 10)
			y := x
			for i := range n / 2 {
				y = ad.Sin(ad.Add(y, ad.Scalar(float64(i%3))))
			}
			p, err := ad.Compile([]*ad.Node{ad.Sum(y), ad.Grad(ad.Sum(y), x)[0]}, ad.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.NewState().Run(); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := build(2_000), build(20_000)
	if t.Logf("%g and %g allocations", few, many); many > 11*few {
		t.Errorf("%g allocations for 2,000 nodes, %g for 20,000: want about ten times as many", few, many)
	}
}

func TestBadSettingsAreErrors(t *testing.T) {
	x := ad.Input("x", 3)
	for _, s := range []ad.Settings{{Precision: 16}, {Backend: ad.CPU{SIMD: "mmx"}}, {Inputs: []*ad.Node{ad.Exp(x)}}, {Inputs: []*ad.Node{x, x}}, {Batch: 2, Batched: []*ad.Node{ad.Exp(x)}}, {Batch: -1}} {
		if _, err := ad.Compile([]*ad.Node{ad.Exp(x)}, s); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	idx := ad.IntInput("i", 2)
	p, err := ad.Compile([]*ad.Node{ad.Gather(x, idx, 0)}, ad.Settings{Inputs: []*ad.Node{x, idx}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	s.InputInts(1)[1] = 3
	if err := s.Run(); err == nil {
		t.Error("gather of element 3 of 3: no error")
	}
}

func TestCustomOperations(t *testing.T) {
	cube := &ad.Custom{Name: "cube",
		Shape: sameShape,
		Forward: func(out []float64, in ...[]float64) error {
			for i, v := range in[0] {
				out[i] = v * v * v
			}
			return nil
		},
		Adjoint: func(d [][]float64, g, _ []float64, in ...[]float64) error {
			for i, v := range in[0] {
				d[0][i] = 3 * v * v * g[i]
			}
			return nil
		}}
	x := ad.Input("x", 3)
	y := ad.Sum(ad.Mul(ad.Call(cube, ad.Scale(2, x)), x))
	for _, bits := range []int{64, 32} {
		out := results(t, way{bits, ""}, []*ad.Node{y, ad.Grad(y, x)[0]}, []*ad.Node{x}, [][]float64{{1, 2, -1}})
		if out[0][0] != 8+128+8 || out[1][1] != 32*8 {
			t.Errorf("float%d: %v", bits, out)
		}
	}
	p, err := ad.Compile([]*ad.Node{y, ad.Grad(y, x)[0]}, ad.Settings{Batch: 2, Batched: []*ad.Node{x}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	copy(s.Input(0), []float64{1, 10, 2, 20, -1, -10})
	if err := s.Run(); err != nil || s.Output(0)[0] != 144 || s.Output(0)[1] != 1440000 || s.Output(1)[3] != 32*8000 {
		t.Errorf("batched: %v %v %v", err, s.Output(0), s.Output(1))
	}
}

func TestJacobianAndHessian(t *testing.T) {
	x := ad.Input("x", 3)
	y := ad.Stack(0, ad.Mul(ad.Index(x, 0, 0), ad.Index(x, 0, 1)), ad.Sin(ad.Index(x, 0, 2)))
	wide := ad.Mul(x, ad.Const([]float64{1, 2, 3, 4, 5, 6}, 2, 3)) // more outputs than inputs
	at := []float64{2, 5, 0.3}
	out := results(t, way{64, ""}, []*ad.Node{ad.Jacobian(y, x), ad.Hessian(ad.Mul(ad.Index(y, 0, 0), ad.Index(x, 0, 0)), x), ad.Jacobian(wide, x)}, []*ad.Node{x}, [][]float64{at})
	want := [][]float64{{5, 2, 0, 0, 0, math.Cos(0.3)}, {10, 4, 0, 4, 0, 0, 0, 0, 0},
		{1, 0, 0, 0, 2, 0, 0, 0, 3, 4, 0, 0, 0, 5, 0, 0, 0, 6}}
	for i := range want {
		for k, w := range want[i] {
			if !near(out[i][k], w, 1e-14) {
				t.Errorf("output %d element %d: %g, want %g", i, k, out[i][k], w)
			}
		}
	}
	if s := ad.Jacobian(wide, x).Shape(); !s.Equal([]int{2, 3, 3}) {
		t.Errorf("shape %v", s)
	}
}

// Algebra must not leave the range that the separate operations stay in.
func TestConstantsJoinOnlyWhereModerate(t *testing.T) {
	x := ad.Input("x", 2)
	big := []float64{1.5e308, 1.5e308}
	for name, c := range map[string]struct {
		y    *ad.Node
		at   []float64
		want float64
	}{
		"products":   {ad.Scale(1e200, ad.Scale(1e200, x)), []float64{1e-300, 0}, 1e100},
		"sums":       {ad.Shift(ad.Shift(x, 1e308), 1e308), []float64{-1.7e308, 0}, 1e308 + (1e308 - 1.7e308)},
		"rounding":   {ad.Shift(ad.Shift(x, 1e16), -1e16), []float64{0.3, 0}, 0},
		"small sum":  {ad.Sum(ad.Scale(1e-10, x)), big, 3e298},
		"sum of 0 x": {ad.Sum(ad.Scale(0, x)), big, 0},
	} {
		if got := results(t, way{64, ""}, []*ad.Node{c.y}, []*ad.Node{x}, [][]float64{c.at})[0][0]; !near(got, c.want, 1e-14) {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// A factor known only at run time stays in its sum, whose terms it may keep in range.
func TestFactorsStayInSums(t *testing.T) {
	s, x := ad.Input("s"), ad.Input("x", 2)
	for _, c := range []struct {
		s    float64
		x    []float64
		want float64
	}{{1e-10, []float64{1e308, 1e308}, 2e298}, {0, []float64{1e308, 1e308}, 0}, {1e200, []float64{1e200, -1e200}, math.NaN()}} {
		if got := results(t, way{64, ""}, []*ad.Node{ad.Sum(ad.Mul(s, x))}, []*ad.Node{s, x}, [][]float64{{c.s}, c.x})[0][0]; !near(got, c.want, 1e-14) {
			t.Errorf("sum of %g * %v is %g, want %g", c.s, c.x, got, c.want)
		}
	}
}

func TestDivisionByConstantsIsRoundedCorrectly(t *testing.T) {
	x := ad.Input("x", 40)
	for _, c := range []float64{3, 10, 0.1, 7, 1e300, 8, -0.25} {
		at := make([]float64, 40)
		for i := range at {
			at[i] = float64(i + 1)
		}
		got := results(t, way{64, ""}, []*ad.Node{ad.Div(x, ad.Scalar(c))}, []*ad.Node{x}, [][]float64{at})[0]
		for i, v := range got {
			if v != at[i]/c {
				t.Errorf("%g / %g is %.17g, want %.17g", at[i], c, v, at[i]/c)
			}
		}
	}
}

func TestEmptyArraysRun(t *testing.T) {
	x := ad.Input("x", 0, 3)
	empty := ad.Slice(x, 1, 1, 3)
	outs := []*ad.Node{ad.Cumsum(empty, 0), ad.MatMul(ad.T(empty), empty), ad.Softmax(ad.Input("rows", 0, 3), 1), ad.Concat(0, empty, empty)}
	p, err := ad.Compile(outs, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.NewState().Run(); err != nil {
		t.Fatal(err)
	}
}
