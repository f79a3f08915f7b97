// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
)

// The gradient of a running product is right where one or two factors are 0.
func TestCumprodGradientAtZeros(t *testing.T) {
	x := ad.Input("x", 6)
	y := ad.Sum(ad.Mul(ad.Cumprod(x, 0), ad.Const([]float64{1, 2, 3, 4, 5, 6})))
	for _, at := range [][]float64{{2, 0, 3, -1, 2, 1}, {2, 0, 3, 0, 2, 1}, {0, 0, 0, 1, 1, 1}} {
		gradtest.Check(t, "cumprod", y, []*ad.Node{x}, [][]float64{at}, true)
	}
}

func TestLogCumsumExpFar(t *testing.T) {
	inf := math.Inf(1)
	x := ad.Const([]float64{-inf, -inf, -2000, 3, 900, 900, -inf, 901})
	y := ad.LogCumsumExp(x, 0)
	v, err := ad.Eval(y, ad.Grad(y, x)[0])
	if err != nil {
		t.Fatal(err)
	}
	e := math.Log(2 + math.E)
	near := func(name string, tol float64, got, want []float64) {
		for i := range want {
			if !(got[i] == want[i] || math.Abs(got[i]-want[i]) <= tol*math.Abs(want[i])) {
				t.Errorf("%s, element %d: %.17g, want %.17g", name, i, got[i], want[i])
			}
		}
	}
	near("value", 1e-15, v[0].Data().([]float64), []float64{-inf, -inf, -2000, 3, 900, 900 + math.Ln2, 900 + math.Ln2, 900 + e})
	s := 2 + math.E
	near("gradient", 1e-13, v[1].Data().([]float64), []float64{0, 0, 1, 1, 1 + .5 + .5 + 1/s, .5 + .5 + 1/s, 0, math.E / s})
}

func TestCummaxKeepsNaN(t *testing.T) {
	nan := math.NaN()
	x := ad.Const([]float64{1, 3, 3, 2, nan, 9})
	y := ad.Cummax(x, 0)
	v, err := ad.Eval(y, ad.Grad(ad.Slice(y, 0, 0, 4), x)[0], ad.Cummin(x, 0))
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range [][]float64{{1, 3, 3, 3, nan, nan}, {1, 3, 0, 0, 0, 0}, {1, 1, 1, 1, nan, nan}} {
		for i, got := range v[k].Data().([]float64) {
			if got != want[i] && !(got != got && want[i] != want[i]) {
				t.Errorf("result %d, element %d: %g, want %g", k, i, got, want[i])
			}
		}
	}
}

// ar1 is a linear recurrence by Scan.
func ar1(a, b, init *ad.Node, s ad.ScanSettings) (last, h *ad.Node) {
	l, ys := ad.Scan(func(c, x []*ad.Node) (next, y []*ad.Node) {
		n := ad.Add(ad.Mul(x[0], c[0]), x[1])
		return []*ad.Node{n}, []*ad.Node{n}
	}, []*ad.Node{init}, []*ad.Node{a, b}, a.Shape()[0], s)
	return l[0], ys[0]
}

// Scan and LinearScan are the same recurrence, with the same gradients.
func TestScanIsLinearScan(t *testing.T) {
	const n, m = 7, 2
	a, b, h0 := ad.Input("a", n, m), ad.Input("b", n, m), ad.Input("h0", m)
	in := []*ad.Node{a, b, h0}
	rng := rand.New(rand.NewPCG(1, 2))
	var values [][]float64
	for _, x := range in {
		v := make([]float64, x.Size())
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		values = append(values, v)
	}
	for _, every := range []int{0, 2, 7, 3} {
		reverse := every%2 == 1
		last, p := ar1(a, b, h0, ad.ScanSettings{Reverse: reverse, Every: every})
		q := ad.LinearScan(a, b, h0, 0, reverse)
		end := n - 1
		if reverse {
			end = 0
		}
		outs := []*ad.Node{ad.Sub(p, q), ad.Sub(last, ad.Index(q, 0, end))}
		lp, lq := ad.Sum(ad.Sin(p)), ad.Sum(ad.Sin(q))
		kept := ad.GradCheckpoint(lp, nil, in...)
		for i, g := range ad.Grad(lp, in...) {
			outs = append(outs, ad.Sub(g, ad.Grad(lq, in...)[i]), ad.Sub(g, kept[i]))
		}
		for i, got := range results(t, way{64, ""}, outs, in, values) {
			for _, v := range got {
				if !(math.Abs(v) < 1e-12) {
					t.Errorf("reverse %v: difference %d is %g", reverse, i, v)
				}
			}
		}
	}
	if l, y := ad.Scan(nil, nil, []*ad.Node{a}, n+1, ad.ScanSettings{}); l[0].Err() == nil || y[0].Err() == nil {
		t.Error("a first axis of the wrong length has no error")
	}
}

// pendulum makes ten operations a step.
func pendulum(steps int) (y *ad.Node, in []*ad.Node) {
	f, k := ad.Input("f", steps), ad.Input("k")
	_, ys := ad.Scan(func(c, x []*ad.Node) (next, y []*ad.Node) {
		v := ad.Add(c[1], ad.Scale(0.01, ad.Sub(ad.Add(x[0], ad.Tanh(ad.Mul(k, c[1]))), ad.Mul(k, ad.Sin(c[0])))))
		p := ad.Add(c[0], ad.Scale(0.01, v))
		return []*ad.Node{p, v}, []*ad.Node{p}
	}, []*ad.Node{ad.Scalar(1), ad.Scalar(0)}, []*ad.Node{f}, steps, ad.ScanSettings{})
	return ad.Sum(ad.Square(ys[0])), []*ad.Node{f, k}
}

// Graph, gradient and program of twice the steps take twice the memory to make, not
// four times.
func TestLongScanCompilesLinearly(t *testing.T) {
	compile := func(steps int) *ad.Program {
		y, in := pendulum(steps)
		p, err := ad.Compile(append([]*ad.Node{y}, ad.Grad(y, in...)...), ad.Settings{Inputs: in})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	half := testing.AllocsPerRun(1, func() { compile(500) })
	whole := testing.AllocsPerRun(1, func() { compile(1000) })
	if whole > 2.3*half {
		t.Errorf("%g allocations for 500 steps, %g for 1000: want about twice as many", half, whole)
	}
	s := compile(1000).NewState()
	s.Input(1)[0] = 1
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
}

func TestScansAndSortsDoNotAllocate(t *testing.T) {
	x := ad.Input("x", 5, 40, 3)
	var outs []*ad.Node
	v, _ := ad.TopK(x, 7, 1, true)
	for _, y := range []*ad.Node{ad.LinearScan(x, x, ad.Scalar(1), 1, true), ad.Cumprod(x, 1), ad.LogCumsumExp(x, 1), ad.Cummax(x, 1), ad.Sort(x, 1, false), v} {
		outs = append(outs, y, ad.Grad(y, x)[0])
	}
	for _, bits := range []int{64, 32} {
		p, err := ad.Compile(outs, ad.Settings{Precision: bits, Backend: ad.CPU{Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		run := func() {
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if k := testing.AllocsPerRun(5, run); k > 0 {
			t.Errorf("float%d: %g allocations in a run", bits, k)
		}
	}
}

// Sort and TopK give what a stable sort of the standard library gives.
func TestSortIsStable(t *testing.T) {
	nan := math.NaN()
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 60
	data := make([]float64, n)
	for i := range data {
		data[i] = float64(rng.IntN(8))
	}
	data[3], data[40], data[17], data[18] = nan, nan, math.Inf(1), math.Inf(-1)
	x := ad.Input("x", n)
	for _, descending := range []bool{false, true} {
		want := make([]int, n)
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(i, j int) int {
			if descending {
				i, j = j, i
			}
			return cmp.Compare(-data[j], -data[i]) // of cmp a NaN is the smallest
		})
		for _, k := range []int{0, 1, 2, 5, 33, n - 1, n} {
			v, idx := ad.TopK(x, k, 0, descending)
			got := results(t, way{64, ""}, []*ad.Node{v, idx}, []*ad.Node{x}, [][]float64{data})
			for i := range k {
				if int(got[1][i]) != want[i] || got[0][i] != data[want[i]] && got[0][i] == got[0][i] {
					t.Fatalf("descending %v, k %d, place %d: index %g, want %d", descending, k, i, got[1][i], want[i])
				}
			}
		}
	}
	if v, i := ad.TopK(x, n+1, 0, true); v.Err() == nil || i.Err() == nil {
		t.Error("more elements than there are have no error")
	}
	if ad.TakeAlong(x, ad.Ints([]int{0}, 1, 1), 0).Err() == nil || ad.ScatterAlong(x, ad.Ints([]int{0}), 0, 3).Err() == nil {
		t.Error("indices of the wrong shape have no error")
	}
	if _, err := ad.Eval(ad.TakeAlong(ad.Const([]float64{1, 2}), ad.Ints([]int{2}), 0)); err == nil {
		t.Error("an index out of range has no error")
	}
}

func BenchmarkLinearScan(b *testing.B) {
	x := ad.Input("x", 1000, 64)
	y := ad.LinearScan(ad.Tanh(x), x, nil, 0, false)
	p, err := ad.Compile([]*ad.Node{y, ad.Grad(y, x)[0]}, ad.Settings{Backend: ad.CPU{Threads: 1}})
	if err != nil {
		b.Fatal(err)
	}
	s := p.NewState()
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Run(); err != nil {
			b.Fatal(err)
		}
	}
}
