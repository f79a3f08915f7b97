// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

type scanStep func(carry, x []*ad.Node) (next, y []*ad.Node)

// unrolled is Scan with a graph that has every step.
func unrolled(step scanStep, init, xs []*ad.Node, steps int, s ad.ScanSettings) (last, ys []*ad.Node) {
	carry := init
	var rows [][]*ad.Node
	for t := range steps {
		at := t
		if s.Reverse {
			at = steps - 1 - t
		}
		var x, y []*ad.Node
		for _, v := range xs {
			x = append(x, ad.Index(v, 0, at))
		}
		carry, y = step(carry, x)
		rows = append(rows, y)
	}
	if s.Reverse {
		slices.Reverse(rows)
	}
	for i := range rows[0] {
		var y []*ad.Node
		for _, r := range rows {
			y = append(y, r[i])
		}
		ys = append(ys, ad.Stack(0, y...))
	}
	return carry, ys
}

// A scan is what its steps are one after another: values, gradients, products with the Hessian, in batches, in
// parts, and in float32.
func TestScanIsItsSteps(t *testing.T) {
	const steps, rows, width = 5, 2, 3
	type scanner func(step scanStep, init, xs []*ad.Node, steps int, s ad.ScanSettings) (last, ys []*ad.Node)
	h, c, x, w, u, k := ad.Input("h", rows, width), ad.Input("c", rows, width), ad.Input("x", steps, rows, width), ad.Input("w", width, width), ad.Input("u", width), ad.Input("k")
	in := []*ad.Node{h, c, x, w, u, k}
	cell := func(carry, x []*ad.Node) (next, y []*ad.Node) { // h and c as in a gated cell; k is shared, exp(k) the same in every step
		a := ad.Add(ad.Add(ad.MatMul(carry[0], w), x[0]), u)
		c := ad.Add(ad.Mul(ad.Sigmoid(a), carry[1]), ad.Mul(ad.Exp(k), ad.Tanh(a)))
		return []*ad.Node{ad.Mul(ad.Tanh(c), ad.Sigmoid(a)), c}, []*ad.Node{ad.SumAxes(ad.Square(c), 1), ad.Sum(carry[0])}
	}
	nested := func(scan scanner) scanStep { // a step that repeats another one
		return func(carry, x []*ad.Node) (next, y []*ad.Node) {
			last, ys := scan(func(c, _ []*ad.Node) (next, y []*ad.Node) {
				h := ad.Tanh(ad.Add(ad.MatMul(c[0], w), ad.Mul(x[0], c[1])))
				return []*ad.Node{h, c[1]}, []*ad.Node{h}
			}, []*ad.Node{carry[0], carry[1]}, nil, 3, ad.ScanSettings{})
			return []*ad.Node{last[0], ad.Add(carry[1], ad.SumAxes(ys[0], 0))}, []*ad.Node{ad.SumAxes(ys[0], 2), ad.Sum(u)}
		}
	}
	for name, s := range map[string]ad.ScanSettings{"forward": {}, "reverse": {Reverse: true}, "in parts": {Every: 2}, "in parts, reverse": {Every: 3, Reverse: true}} {
		for _, isNested := range []bool{false, true} {
			make := func(scan scanner) []*ad.Node {
				step := scanStep(cell)
				if isNested {
					step = nested(scan)
				}
				last, ys := scan(step, []*ad.Node{h, c}, []*ad.Node{x}, steps, s)
				loss := ad.AddN(ad.Sum(ad.Sin(last[0])), ad.Sum(ad.Square(last[1])), ad.Sum(ad.Mul(ys[0], ad.Scalar(0.3))), ad.Sum(ad.Cos(ys[1])))
				outs := append(slices.Concat(last, ys), ad.Grad(loss, in...)...)
				outs = append(outs, ad.Grad(ad.Sum(last[0]), w)...) // of one result, to one input
				return append(outs, ad.HVP(loss, []*ad.Node{w, x, h}, []*ad.Node{ad.Sin(w), ad.Cos(x), h})...)
			}
			got, want := make(func(step scanStep, init, xs []*ad.Node, n int, s ad.ScanSettings) (last, ys []*ad.Node) {
				return ad.Scan(step, init, xs, n, s)
			}), make(unrolled)
			rng := rand.New(rand.NewPCG(3, 5))
			var values [][]float64
			for _, x := range in {
				v := slices.Repeat([]float64{0}, x.Size())
				for i := range v {
					v[i] = 0.5 * rng.NormFloat64()
				}
				values = append(values, v)
			}
			label := fmt.Sprintf("%s, nested %v", name, isNested)
			for _, w := range []way{{64, ""}, {32, ""}} {
				tol := map[int]float64{64: 1e-12, 32: 2e-4}[w.bits]
				a, b := results(t, w, got, in, values), results(t, w, want, in, values)
				for i := range a {
					nearArrays(t, fmt.Sprintf("%s, float%d, result %d", label, w.bits, i), a[i], b[i], tol)
				}
			}
			for _, batched := range [][]*ad.Node{{x}, {w, h}, in} {
				const lanes = 3
				a, b := batchOf(t, got, in, batched, values, lanes), batchOf(t, want, in, batched, values, lanes)
				for i := range a {
					nearArrays(t, fmt.Sprintf("%s, batch of %v, result %d", label, batched, i), a[i], b[i], 1e-12)
				}
			}
		}
	}
}

// batchOf runs a program of lanes that differ.
func batchOf(t *testing.T, outs, in, batched []*ad.Node, values [][]float64, lanes int) [][]float64 {
	t.Helper()
	p, err := ad.Compile(outs, ad.Settings{Inputs: in, Batch: lanes, Batched: batched})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for i, x := range in {
		v := values[i]
		if slices.Contains(batched, x) {
			var wide []float64
			for _, e := range v {
				for k := range lanes {
					wide = append(wide, e+0.1*float64(k))
				}
			}
			v = wide
		}
		if err := s.SetInput(i, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(outs))
	for i := range out {
		out[i] = s.OutputFloat64(i)
	}
	return out
}

func nearArrays(t *testing.T, name string, got, want []float64, tol float64) {
	t.Helper()
	scale := 1.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol*scale) {
			t.Errorf("%s: element %d is %.17g, want %.17g", name, i, got[i], want[i])
			return
		}
	}
}

// Gradients by constants that the steps share are not lost, and indices that differ between the lanes of a batch stay indices.
func TestScanSharesConstantsAndIndices(t *testing.T) {
	w, x, b, c := ad.Const([]float64{0.5, -2}, 2), ad.Input("x", 2), ad.Input("b", 2), ad.Input("c", 2, 2)
	at := ad.Argmax(c, 0)
	for name, r := range map[string]repeater{"loops": asLoops, "steps": asSteps} {
		last, _ := r.scan(func(carry, _ []*ad.Node) (next, y []*ad.Node) { return []*ad.Node{ad.Sin(ad.Mul(w, carry[0]))}, nil }, []*ad.Node{x}, nil, 2, ad.ScanSettings{})
		if got, want := results(t, way{64, ""}, ad.Grad(ad.Sum(last[0]), w), []*ad.Node{x}, [][]float64{{0.3, 0.4}})[0], []float64{0.2969230102, -0.1729344651}; math.Abs(got[0]-want[0]) > 1e-9 || math.Abs(got[1]-want[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		last, _ = r.scan(func(carry, _ []*ad.Node) (next, y []*ad.Node) {
			return []*ad.Node{ad.Tanh(ad.TakeAlong(carry[0], at, 0))}, nil
		}, []*ad.Node{b}, nil, 1, ad.ScanSettings{})
		want := math.Tanh(0.4)
		if got := batchOf(t, last, []*ad.Node{b, c}, []*ad.Node{c}, [][]float64{{0.3, 0.4}, {1, 2, 3, 4}}, 2)[0]; got[0] != want || got[3] != want {
			t.Errorf("%s: %v, want %g", name, got, want)
		}
	}
}

// Value and gradient run the steps once forward and once back, and compute no gradient that nobody asked for.
func TestScanComputesWhatIsNeeded(t *testing.T) {
	x, w, b := ad.Input("x", 8, 2, 3), ad.Input("w", 3, 3), ad.Input("b", 8, 3)
	last, ys := ad.Scan(func(c, x []*ad.Node) (next, y []*ad.Node) {
		h := ad.Tanh(ad.Add(ad.MatMul(c[0], w), x[0]))
		return []*ad.Node{h, ad.Add(c[1], ad.Sum(ad.Mul(x[1], x[1])))}, []*ad.Node{ad.Sin(h)}
	}, []*ad.Node{ad.Full(0, 2, 3), ad.Scalar(0)}, []*ad.Node{x, b}, 8, ad.ScanSettings{})
	loss := ad.Sum(last[0])
	p, err := ad.Compile([]*ad.Node{loss, ad.Grad(loss, w)[0]}, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	text := p.String()
	if n := strings.Count(text, " scan ["); n != 2 {
		t.Errorf("%d scans, want one forward and one back:\n%s", n, text)
	}
	if strings.Contains(text, "sin") || strings.Count(text, "matmul") != 3 {
		t.Errorf("want no result that nobody needs, and three products, one of them of stacked matrices:\n%s", text)
	}
	if _, err := ad.Compile([]*ad.Node{ys[0], loss}, ad.Settings{}); err != nil {
		t.Error(err)
	}
}

// Neither graph nor program grows with the number of steps.
func TestScanDoesNotGrow(t *testing.T) {
	compiled := func(steps int) (jobs int) {
		y, in := pendulum(steps)
		p, err := ad.Compile(append([]*ad.Node{y}, ad.Grad(y, in...)...), ad.Settings{Inputs: in})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(p.String(), "\n")
	}
	if a, b := compiled(10), compiled(100_000); a != b {
		t.Errorf("%d lines of program for 10 steps, %d for 100000", a, b)
	}
}

// A step that fails says which one.
func TestScanNamesTheStep(t *testing.T) {
	x := ad.Input("x", 4, 2, 2)
	_, ys := ad.Scan(func(c, x []*ad.Node) (next, y []*ad.Node) { return nil, []*ad.Node{ad.Cholesky(x[0])} }, nil, []*ad.Node{x}, 4, ad.ScanSettings{})
	p, err := ad.Compile(ys, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	copy(s.Input(0), []float64{1, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 1, 1, 0, 0, 1})
	if err := s.Run(); err == nil || !strings.Contains(err.Error(), "step 2 of 4") {
		t.Error(err)
	}
	if _, err := ad.Compile(carries(ad.Scan(func(c, x []*ad.Node) (next, y []*ad.Node) { return []*ad.Node{ad.Sum(c[0])}, nil }, []*ad.Node{ad.Full(0, 3)}, nil, 4, ad.ScanSettings{})), ad.Settings{}); err == nil || !strings.Contains(err.Error(), "its initial shape") {
		t.Error(err)
	}
}

func carries(last, _ []*ad.Node) []*ad.Node { return last }

// lstm is the loss of a recurrent network and its gradients: T steps of B rows, I inputs, H units.
func lstm(T, B, I, H int) (outs, in []*ad.Node) {
	x, wx, wh, b := ad.Input("x", T, B, I), ad.Input("wx", I, 4*H), ad.Input("wh", H, 4*H), ad.Input("b", 4*H)
	zero := ad.Full(0, B, H)
	projected := ad.Reshape(ad.Add(ad.MatMul(ad.Reshape(x, T*B, I), wx), b), T, B, 4*H)
	_, ys := ad.Scan(func(c, x []*ad.Node) (next, y []*ad.Node) {
		a := ad.Add(ad.MatMul(c[0], wh), x[0])
		gate := func(k int) *ad.Node { return ad.Slice(a, 1, k*H, (k+1)*H) }
		cell := ad.Add(ad.Mul(ad.Sigmoid(gate(1)), c[1]), ad.Mul(ad.Sigmoid(gate(0)), ad.Tanh(gate(2))))
		h := ad.Mul(ad.Sigmoid(gate(3)), ad.Tanh(cell))
		return []*ad.Node{h, cell}, []*ad.Node{h}
	}, []*ad.Node{zero, zero}, []*ad.Node{projected}, T, ad.ScanSettings{})
	loss := ad.Mean(ad.Square(ys[0]))
	in = []*ad.Node{x, wx, wh, b}
	return append([]*ad.Node{loss}, ad.Grad(loss, wx, wh, b)...), in
}

func BenchmarkLSTM(b *testing.B) {
	for _, bits := range []int{32, 64} {
		b.Run(fmt.Sprintf("float%d", bits), func(b *testing.B) {
			outs, in := lstm(50, 32, 64, 64)
			p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits, Backend: ad.CPU{Threads: 1}})
			if err != nil {
				b.Fatal(err)
			}
			s := p.NewState()
			rng := rand.New(rand.NewPCG(1, 1))
			for i, x := range in {
				v := make([]float64, x.Size())
				for k := range v {
					v[k] = 0.1 * rng.NormFloat64()
				}
				if err := s.SetInput(i, v); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPendulum(b *testing.B) {
	const steps = 4000
	y, in := pendulum(steps)
	outs := append([]*ad.Node{y}, ad.Grad(y, in...)...)
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			y, in := pendulum(steps)
			if _, err := ad.Compile(append([]*ad.Node{y}, ad.Grad(y, in...)...), ad.Settings{Inputs: in}); err != nil {
				b.Fatal(err)
			}
		}
	})
	p, err := ad.Compile(outs, ad.Settings{Inputs: in, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		b.Fatal(err)
	}
	s := p.NewState()
	s.Input(1)[0] = 1
	b.Run("run", func(b *testing.B) {
		for b.Loop() {
			if err := s.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Parts of an array of indices that lie together can be taken, as those of reals, so that a scan in parts takes indices.
func TestScanOfIndicesInParts(t *testing.T) {
	x, at := ad.Input("x", 3), ad.IntInput("at", 5, 2)
	in, values := []*ad.Node{x, at}, [][]float64{{1, 2, 4}, {0, 1, 1, 2, 2, 0, 0, 0, 1, 1}}
	for _, s := range []ad.ScanSettings{{}, {Every: 2}, {Every: 5}, {Every: 3, Reverse: true}} {
		_, ys := ad.Scan(func(_, i []*ad.Node) (next, y []*ad.Node) { return nil, []*ad.Node{ad.Sum(ad.Gather(x, i[0], 0))} }, nil, []*ad.Node{at}, 5, s)
		if got := results(t, way{64, ""}, ys, in, values)[0]; !slices.Equal(got, []float64{3, 6, 5, 2, 4}) {
			t.Errorf("%+v: %v", s, got)
		}
	}
	if _, err := ad.Compile([]*ad.Node{ad.Gather(x, ad.SliceStep(at, 0, 0, 5, 2), 0)}, ad.Settings{}); err == nil || !strings.Contains(err.Error(), "reorder them before") {
		t.Error(err)
	}
}
