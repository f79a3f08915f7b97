// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// halve counts down by a factor: x -> a x while x > b. It returns x after the steps, and their number.
func halve(x, a, b *ad.Node, most int) (last, count *ad.Node) {
	l, n := ad.While(func(c []*ad.Node) *ad.Node { return ad.Greater(c[0], b) },
		func(c []*ad.Node) []*ad.Node { return []*ad.Node{ad.Mul(a, c[0])} }, []*ad.Node{x}, most)
	return l[0], n
}

// The number of steps depends on the data; derivatives are those of the steps that were run, alone and in a batch.
func TestWhile(t *testing.T) {
	x, a, b := ad.Input("x"), ad.Input("a"), ad.Input("b")
	in := []*ad.Node{x, a, b}
	y, n := halve(x, a, b, 50)
	outs := append([]*ad.Node{y, n}, ad.Grad(y, in...)...)
	outs = append(outs, ad.HVP(y, []*ad.Node{a}, []*ad.Node{ad.Scalar(1)})...)
	want := func(x, a, b float64) []float64 {
		k := 0.0
		for v := x; v > b && k < 50; v *= a {
			k++
		}
		return []float64{x * math.Pow(a, k), k, math.Pow(a, k), k * x * math.Pow(a, k-1), 0, k * (k - 1) * x * math.Pow(a, k-2)}
	}
	points := [][3]float64{{10, 0.5, 1}, {10, 0.9, 1}, {1, 0.5, 2}, {10, 0.999, 1}, {7, 0.3, 1e-3}}
	var lanes [][]float64
	for k := range in {
		var v []float64
		for _, p := range points {
			v = append(v, p[k])
		}
		lanes = append(lanes, v)
	}
	p, err := ad.Compile(outs, ad.Settings{Inputs: in, Batch: len(points), Batched: in})
	if err != nil {
		t.Fatal(err)
	}
	if k := strings.Count(p.String(), "scan ["); k > 6 {
		t.Errorf("%d scans:\n%s", k, p)
	}
	s := p.NewState()
	for i, v := range lanes {
		if err := s.SetInput(i, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	for i, q := range points {
		w := want(q[0], q[1], q[2])
		got := results(t, way{64, ""}, outs, in, [][]float64{{q[0]}, {q[1]}, {q[2]}})
		for k := range w {
			for _, v := range []float64{got[k][0], s.Output(k)[i]} {
				if !(math.Abs(v-w[k]) <= 1e-12*max(1, math.Abs(w[k]))) {
					t.Errorf("%v: result %d is %.17g, want %.17g", q, k, v, w[k])
				}
			}
		}
	}
	for text, n := range map[string]*ad.Node{"want a scalar": carryOf(ad.While(func(c []*ad.Node) *ad.Node { return c[0] }, func(c []*ad.Node) []*ad.Node { return c }, []*ad.Node{ad.Full(1, 2)}, 3)),
		"returned": carryOf(ad.While(func(c []*ad.Node) *ad.Node { return c[0] }, func(c []*ad.Node) []*ad.Node { return nil }, []*ad.Node{x}, 3))} {
		if n.Err() == nil || !strings.Contains(n.Err().Error(), text) {
			t.Errorf("%v, want %q", n.Err(), text)
		}
	}
}

func carryOf(list []*ad.Node, _ *ad.Node) *ad.Node { return list[0] }

// A branch that was made already runs only if it is chosen, so that its gradient, which is NaN here, does not count.
func TestCondMade(t *testing.T) {
	k, u := ad.Input("k"), ad.Input("u")
	outside := ad.Shift(u, -2)
	then := ad.Now()
	a := ad.Sqrt(outside)
	otherwise := ad.Now()
	b := ad.Mul(u, outside)
	y := ad.CondMade(k, then, []*ad.Node{a}, otherwise, []*ad.Node{b})
	outs := []*ad.Node{y[0], ad.Grad(y[0], u)[0]}
	for _, c := range []struct{ on, u, y, dy float64 }{{0, 1, -1, 0}, {1, 6, 2, 0.25}, {0, 6, 24, 10}} {
		got := results(t, way{64, ""}, outs, []*ad.Node{k, u}, [][]float64{{c.on}, {c.u}})
		nearArrays(t, "value", got[0], []float64{c.y}, 1e-15)
		nearArrays(t, "gradient", got[1], []float64{c.dy}, 1e-15)
	}
}

// Only the branch that is chosen runs; its gradient is the gradient.
func TestCond(t *testing.T) {
	k, m, u := ad.Input("k"), ad.Input("m", 2, 2), ad.Input("u", 2)
	in := []*ad.Node{k, m, u}
	y := ad.Cond(k, func() []*ad.Node { return []*ad.Node{ad.Cholesky(m), ad.Sum(u)} },
		func() []*ad.Node { return []*ad.Node{ad.Mul(m, m), ad.Sum(ad.Exp(u))} })
	loss := ad.Add(ad.Sum(y[0]), ad.Mul(y[1], y[1]))
	outs := append(slices.Clone(y), ad.Grad(loss, m, u)...)
	outs = append(outs, ad.HVP(loss, []*ad.Node{u}, []*ad.Node{u})...)
	for _, on := range []float64{0, 1} {
		a, z := ad.Cholesky(m), ad.Sum(u)
		if on == 0 {
			a, z = ad.Mul(m, m), ad.Sum(ad.Exp(u))
		}
		plain := ad.Add(ad.Sum(a), ad.Mul(z, z))
		want := append([]*ad.Node{a, z}, ad.Grad(plain, m, u)...)
		want = append(want, ad.HVP(plain, []*ad.Node{u}, []*ad.Node{u})...)
		values := [][]float64{{on}, {2, 0.5, 0.5, 3}, {0.3, -0.2}}
		got, w := results(t, way{64, ""}, outs, in, values), results(t, way{64, ""}, want, in, values)
		for i := range got {
			nearArrays(t, "cond", got[i], w[i], 1e-13)
		}
	}
	got := results(t, way{64, ""}, y, in, [][]float64{{0}, {-2, 0.5, 0.5, 3}, {0.3, -0.2}}) // no Cholesky factor
	nearArrays(t, "the other branch", got[0], []float64{4, 0.25, 0.25, 9}, 0)
	p, err := ad.Compile(outs, ad.Settings{Inputs: in, Batch: 2, Batched: []*ad.Node{k}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for i, v := range [][]float64{{0, 1}, {2, 0.5, 0.5, 3}, {0.3, -0.2}} {
		if err := s.SetInput(i, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	for lane, on := range []float64{0, 1} {
		want := results(t, way{64, ""}, outs, in, [][]float64{{on}, {2, 0.5, 0.5, 3}, {0.3, -0.2}})
		for i := range want {
			for e, v := range want[i] {
				if got := s.Output(i)[2*e+lane]; math.Abs(got-v) > 1e-12 {
					t.Errorf("lane %d, result %d, element %d: %g, want %g", lane, i, e, got, v)
				}
			}
		}
	}
	other := ad.Cond(k, func() []*ad.Node { return []*ad.Node{u} }, func() []*ad.Node { return []*ad.Node{m} })
	if err := other[0].Err(); err == nil || !strings.Contains(err.Error(), "the same shape in both branches") {
		t.Error(err)
	}
}

// The gradient of a loop of very many steps says that there is no memory for it, before any of that is taken, also in a batch.
func TestWhileOfManySteps(t *testing.T) {
	x := ad.Input("x")
	last, count := ad.While(func(c []*ad.Node) *ad.Node { return ad.Less(c[0], ad.Scalar(10)) },
		func(c []*ad.Node) []*ad.Node { return []*ad.Node{ad.Add(ad.Sin(ad.Mul(c[0], x)), ad.Shift(c[0], 1))} }, []*ad.Node{x}, 1<<27)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, s := range []ad.Settings{{}, {Batch: 2, Batched: []*ad.Node{x}}} {
		s.MaxMemory = 1 << 20
		if _, err := ad.Compile([]*ad.Node{last[0], count}, s); err != nil {
			t.Error(err)
		}
		var e *ad.MemoryError
		if _, err := ad.Compile(ad.Grad(last[0], x), s); !errors.As(err, &e) || e.By != "scan" {
			t.Error(err)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 32<<20 {
		t.Errorf("compiling took %d MB", (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

// Wrong numbers of carries, and of elements, are mistakes that every result has.
func TestMistakesOfLoops(t *testing.T) {
	x := ad.Input("x")
	same := func(c, _ []*ad.Node) (next, y []*ad.Node) { return c, c }
	for _, next := range [][]*ad.Node{nil, {x, x}, {x, x, x}} { // three are as many as the loop has with its condition and its count
		last, count := ad.While(func(c []*ad.Node) *ad.Node { return c[0] }, func([]*ad.Node) []*ad.Node { return next }, []*ad.Node{x}, 3)
		if err := last[0].Err(); err == nil || count.Err() == nil || !strings.Contains(err.Error(), "carries: want 1") {
			t.Errorf("%d carries: %v, %v", len(next), err, count.Err())
		}
	}
	for _, every := range []int{0, 1 << 30} {
		last, ys := ad.Scan(same, []*ad.Node{x}, nil, math.MaxInt, ad.ScanSettings{Every: every})
		if err := ys[0].Err(); err == nil || last[0].Err() == nil || !strings.Contains(err.Error(), "can be counted") {
			t.Errorf("every %d: %v, %v", every, err, last[0].Err())
		}
	}
}
