// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Arrays that a device holds in 16 bits are the processor's float32 up to the rounding of what is stored;
// small arrays, and those of operations that keep their precision, are not rounded at all.
func TestStorageOnDevice(t *testing.T) {
	emulated(t)
	const n = 48
	for _, c := range []struct {
		backend  ad.CUDA
		elements float64 // largest relative error of what is computed from rounded numbers
		sums     float64 // and of a norm of products
	}{
		{ad.CUDA{Storage: ad.Float16}, 2e-3, 2e-3},
		{ad.CUDA{Storage: ad.BFloat16}, 1.6e-2, 1e-2},
		{ad.CUDA{TF32: true}, 1e-6, 1e-3},
	} {
		x, w, b := ad.Input("x", n, n), ad.Input("w", n, n), ad.Input("b", n)
		rng := rand.New(rand.NewPCG(5, 5))
		values := make([][]float64, 3)
		constants := make([]float64, n*n)
		for i := range constants {
			constants[i] = 1 + rng.Float64()
		}
		for i, v := range []*ad.Node{x, w, b} {
			for range v.Size() {
				values[i] = append(values[i], 0.5+rng.Float64())
			}
		}
		inside := ad.Sigmoid(ad.Add(ad.Mul(x, ad.Const(constants, n, n)), b))
		spd := ad.Add(ad.MatMul(ad.Permute(x, 1, 0), x), ad.Scale(n, ad.Eye(n)))
		product := ad.MatMul(inside, w)
		picked := ad.Gather(product, ad.Ints([]int{3, 1, 47, 3}, 4), 0)
		loss := ad.Sum(ad.Mul(product, product))
		outs := append([]*ad.Node{inside, product, picked, ad.Cumsum(x, 1), loss, ad.Cholesky(spd)}, ad.Grad(loss, w, b)...)
		want := results(t, way{64, ""}, outs, []*ad.Node{x, w, b}, values)
		p, err := ad.Compile(outs, ad.Settings{Inputs: []*ad.Node{x, w, b}, Precision: 32, Backend: c.backend})
		if err != nil {
			t.Fatal(err)
		}
		narrow := c.backend.Storage
		if p.InputStorage(0) != narrow || p.InputStorage(2) != "" || p.OutputStorage(1) != narrow || p.OutputStorage(4) != "" || p.OutputStorage(5) != "" {
			t.Errorf("%+v: x in %q, b in %q, product in %q, loss in %q, factor in %q", c.backend,
				p.InputStorage(0), p.InputStorage(2), p.OutputStorage(1), p.OutputStorage(4), p.OutputStorage(5))
		}
		s := p.NewState()
		for run := range 3 {
			for i, v := range values {
				if err := s.SetInput(i, v); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Run(); err != nil {
				t.Fatalf("%+v, run %d: %v\n%v", c.backend, run, err, p)
			}
		}
		for i := range outs {
			got, diff, norm := s.OutputFloat64(i), 0.0, 0.0
			for k, v := range got {
				diff, norm = diff+(v-want[i][k])*(v-want[i][k]), norm+want[i][k]*want[i][k]
				if narrow == ad.BFloat16 && p.OutputStorage(i) == narrow && float64(tensor.BFloat16Of(float32(v)).Float32()) != v {
					t.Errorf("%+v: element %d of output %d is %g, which has more digits", c.backend, k, i, v)
					break
				}
			}
			tol := c.sums
			if i == 0 || i == 3 {
				tol = c.elements
			}
			if rel := math.Sqrt(diff / norm); !(rel <= tol) {
				t.Errorf("%+v: output %d is %.2g off, want at most %g", c.backend, i, rel, tol)
			}
		}
		// What one program leaves on the device another reads in the same type.
		next, err := ad.Compile([]*ad.Node{ad.Exp(ad.Neg(x)), ad.Sum(x)}, ad.Settings{Inputs: []*ad.Node{x}, Precision: 32, Backend: c.backend})
		if err != nil {
			t.Fatal(err)
		}
		then := next.NewState()
		at, err := s.OutputDevice(0)
		if err := errors.Join(err, then.BindDevice(0, at), then.Run()); err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, v := range s.OutputFloat64(0) {
			total += v
		}
		if got := then.OutputFloat64(1)[0]; !near(got, total, 1e-5) {
			t.Errorf("%+v: the next program sums to %g, want %g", c.backend, got, total)
		}
	}
	x := ad.Input("x", 4)
	for want, s := range map[string]ad.Settings{
		"need a program in float32": {Backend: ad.CUDA{Storage: ad.Float16}},
		`storage "int8"`:            {Precision: 32, Backend: ad.CUDA{Storage: "int8"}},
	} {
		if _, err := ad.Compile([]*ad.Node{ad.Exp(x)}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The gradient of a maximum goes to the elements that are equal to it, also where elements are held in 16 bits in
// one kernel, and in full in another.
func TestMaximaOfStoredNumbersOnDevice(t *testing.T) {
	emulated(t)
	x := ad.Input("x", 1100, 2)
	v := make([]float64, x.Size())
	for i := range v {
		v[i] = math.Sin(float64(i))
	}
	y := ad.Tanh(x)
	full := ad.Sin(x)
	factor := ad.Cholesky(ad.Add(ad.MatMul(ad.T(full), full), ad.Eye(2))) // reads products in full
	loss := ad.AddN(ad.Sum(ad.MaxAxes(y, 1)), ad.Sum(ad.MinAxes(y, 0)), ad.Max(y), ad.Sum(ad.MaxAxes(ad.MatMul(full, factor), 1)))
	in, outs := []*ad.Node{x}, append([]*ad.Node{loss}, ad.Grad(loss, x)...)
	want := results(t, way{32, ""}, outs, in, [][]float64{v})
	for _, storage := range []ad.Storage{ad.Float16, ad.BFloat16} {
		p, err := ad.Compile(outs, ad.Settings{Precision: 32, Backend: ad.CUDA{Storage: storage}})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		if err := errors.Join(s.SetInput(0, v), s.Run()); err != nil {
			t.Fatal(err)
		}
		diff, norm := 0.0, 0.0
		for i, g := range s.OutputFloat64(1) {
			diff, norm = diff+math.Abs(g-want[1][i]), norm+math.Abs(want[1][i])
		}
		if !(diff < 0.02*norm) {
			t.Errorf("%s: the gradient is %g off, of %g", storage, diff, norm)
		}
	}
}

// Weights holds constant factors of products in 16 bits, and nothing else.
func TestWeightsOnDevice(t *testing.T) {
	emulated(t)
	const n = 48
	x, w, v := ad.Input("x", 3, n), make([]float64, n*n), make([]float64, 3*n)
	for i := range w {
		w[i] = math.Sin(float64(i))
	}
	for i := range v {
		v[i] = math.Cos(float64(i))
	}
	y := ad.MatMul(x, ad.Const(w, n, n))
	out := []*ad.Node{y, ad.Sum(ad.Mul(ad.Const(w, n, n), ad.Full(1, n, n)))}
	var got [3][]float64
	for k, b := range []ad.Backend{ad.CPU{}, ad.CUDA{Strict: true, Weights: ad.Float16}, ad.CUDA{Strict: true}} {
		p, err := ad.Compile(out[:1], ad.Settings{Inputs: []*ad.Node{x}, Precision: 32, Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		if err := s.SetInput(0, v); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		got[k] = s.OutputFloat64(0)
	}
	rounded := 0.0
	for i, y := range got[0] {
		rounded = max(rounded, math.Abs(got[1][i]-y))
		if math.Abs(got[2][i]-y) > 1e-4 {
			t.Errorf("element %d is %g in full, want %g", i, got[2][i], y)
		}
	}
	if rounded < 1e-5 || rounded > 1e-2 {
		t.Errorf("weights of float16 change results by %g", rounded)
	}
	if _, err := ad.Compile(out, ad.Settings{Inputs: []*ad.Node{x}, Backend: ad.CUDA{Weights: ad.Float16}}); err == nil {
		t.Error("weights of float16 in a program of float64, no error")
	}
}
