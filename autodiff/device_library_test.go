// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// Products of every shape that has kernels of its own: vectors on either side, long sums that are
// cut, small, middle and large parts, and edges of each.
func TestProductsOnDevice(t *testing.T) { productsOnDevice(t, 32) }

func productsOnDevice(t *testing.T, precisions ...int) {
	emulated(t)
	shapes := []struct{ batch, m, depth, n int }{
		{1, 1, 5, 7}, {2, 1, 300, 40}, {1, 1, 9000, 3}, {3, 7, 33, 1}, {1, 2, 9000, 1}, {1, 1, 1, 1},
		{5, 3, 4, 2}, {2, 32, 32, 32}, {1, 33, 17, 40}, {1, 70, 9, 65}, {1, 10, 2000, 12}, {1, 40, 1031, 50}, {64, 65, 9, 66}, {1, 4, 0, 3},
	}
	for _, bits := range precisions {
		rng := rand.New(rand.NewPCG(3, 3))
		var in, outs []*ad.Node
		var values [][]float64
		var names []string
		for _, c := range shapes {
			for turned := range 4 {
				if turned > 0 && c.batch == 64 && turned != 3 {
					continue
				}
				a, b := []int{c.batch, c.m, c.depth}, []int{c.batch, c.depth, c.n}
				if turned&1 != 0 {
					a[1], a[2] = a[2], a[1]
				}
				if turned&2 != 0 {
					b[1], b[2] = b[2], b[1]
				}
				x, y := ad.Input(fmt.Sprint("a", len(in)), a...), ad.Input(fmt.Sprint("b", len(in)), b...)
				for _, v := range []*ad.Node{x, y} {
					in, values = append(in, v), append(values, make([]float64, v.Size()))
					for i := range values[len(values)-1] {
						values[len(values)-1][i] = rng.NormFloat64()
					}
				}
				if turned&1 != 0 {
					x = ad.Permute(x, 0, 2, 1)
				}
				if turned&2 != 0 {
					y = ad.Permute(y, 0, 2, 1)
				}
				outs = append(outs, ad.MatMul(x, y))
				names = append(names, fmt.Sprintf("%v, turned %d", c, turned))
			}
		}
		agree(t, outs, in, values, bits, map[int]float64{64: 1e-11, 32: 2e-4}[bits], func(i int) string { return names[i] })
	}
}

// numbersFor returns standard normal numbers for inputs.
func numbersFor(in []*ad.Node) (values [][]float64) {
	for i, x := range in {
		values = append(values, normal(x.Size(), uint64(i)))
	}
	return values
}

// runWith runs a program with values of its inputs.
func runWith(t *testing.T, s *ad.State, values [][]float64) {
	t.Helper()
	for i, v := range values {
		if err := s.SetInput(i, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
}

// Large products are made by cuBLAS where it is found, in the captured graph too, and after an input was
// bound to other memory.
func TestProductsByLibrary(t *testing.T) {
	lib := pretend.Shared(t)
	lib.Libraries(t)
	on := func(c ad.CUDA) ad.CUDA { c.Device = 1; return c } // which looks for libraries now
	const n = 132
	a, b, many, shared := ad.Input("a", n, n), ad.Input("b", n, n), ad.Input("many", 3, 90, 100), ad.Input("shared", 100, 95)
	in := []*ad.Node{a, b, many, shared}
	outs := []*ad.Node{
		ad.MatMul(ad.Permute(a, 1, 0), b), ad.MatMul(ad.Add(a, b), ad.Permute(b, 1, 0)), ad.MatMul(many, shared),
		ad.MatMul(ad.Slice(a, 0, 2, n), b), ad.MatMul(ad.Permute(many, 0, 2, 1), many),
	}
	values := numbersFor(in)
	for _, bits := range []int{64, 32} {
		want := results(t, way{64, ""}, outs, in, values)
		p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits, Backend: on(ad.CUDA{Strict: true})})
		if err != nil {
			t.Fatal(err)
		}
		call := map[int]string{64: "cublasDgemm_v2", 32: "cublasSgemm_v2"}[bits]
		before := lib.Get(call) + lib.Get(call[:len("cublasDgemm")]+"StridedBatched")
		s := p.NewState()
		check := func(what string) {
			t.Helper()
			for i := range outs {
				got := s.OutputFloat64(i)
				for k := range got {
					if !near(got[k], want[i][k], map[int]float64{64: 1e-11, 32: 3e-4}[bits]) {
						t.Fatalf("%d bits, %s, output %d, element %d: %g, want %g", bits, what, i, k, got[k], want[i][k])
					}
				}
			}
		}
		for run := range 3 {
			runWith(t, s, values)
			check(fmt.Sprint("run ", run))
		}
		if after := lib.Get(call) + lib.Get(call[:len("cublasDgemm")]+"StridedBatched"); after == before {
			t.Errorf("%d bits: cuBLAS was not called", bits)
		}
		// The second matrix from the memory of another program, which holds its negative.
		q, err := ad.Compile([]*ad.Node{ad.Neg(b)}, ad.Settings{Precision: bits, Backend: on(ad.CUDA{})})
		if err != nil {
			t.Fatal(err)
		}
		other := q.NewState()
		from, err := other.OutputDevice(0)
		if err := errors.Join(err, s.BindDevice(1, from), other.SetInput(0, values[1])); err != nil {
			t.Fatal(err)
		}
		minus := append([][]float64(nil), values...)
		minus[1] = make([]float64, len(values[1]))
		for i, v := range values[1] {
			minus[1][i] = -v
		}
		want = results(t, way{64, ""}, outs, in, minus)
		for run := range 2 {
			if err := errors.Join(other.Run(), s.Run()); err != nil {
				t.Fatal(err)
			}
			check(fmt.Sprint("bound, run ", run))
		}
	}
}

// Large Fourier transforms are made by cuFFT where it is found, and are the processor's.
func TestTransformsByLibrary(t *testing.T) {
	lib := pretend.Shared(t)
	lib.Libraries(t)
	x, y, z := ad.Input("x", 4, 30, 150, 2), ad.Input("y", 3, 16, 700), ad.Input("z", 64, 300, 2)
	in := []*ad.Node{x, y, z}
	outs := []*ad.Node{
		ad.FFT(x, ad.NormBackward, 1, 2), ad.IFFT(x, ad.NormBackward, 0, 1, 2), ad.FFT(x, ad.NormOrtho, 2), ad.RFFT(y, ad.NormBackward, 1, 2), ad.RFFT(y, ad.NormBackward, 2),
		ad.FFT(ad.Slice(z, 0, 3, 60), ad.NormBackward, 1),
	}
	values := numbersFor(in)
	want := results(t, way{64, ""}, outs, in, values)
	for _, bits := range []int{64, 32} {
		p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits, Backend: ad.CUDA{Device: 1, Strict: true}})
		if err != nil {
			t.Fatal(err)
		}
		calls := func() int {
			n := 0
			for _, name := range []string{"cufftExecC2C", "cufftExecZ2Z", "cufftExecR2C", "cufftExecD2Z"} {
				n += lib.Get(name)
			}
			return n
		}
		before := calls()
		s := p.NewState()
		for run := range 3 {
			runWith(t, s, values)
			for i := range outs {
				got, diff, norm := s.OutputFloat64(i), 0.0, 0.0
				for k, v := range got {
					diff, norm = diff+(v-want[i][k])*(v-want[i][k]), norm+want[i][k]*want[i][k]
				}
				if rel := math.Sqrt(diff / norm); !(rel < map[int]float64{64: 1e-13, 32: 2e-6}[bits]) {
					t.Fatalf("%d bits, run %d, output %d is %.2g off", bits, run, i, rel)
				}
			}
		}
		if calls()-before < 6 {
			t.Errorf("%d bits: cuFFT was called %d times", bits, calls()-before)
		}
	}
}

// largeMatrices compares factors of more rows than a block takes, and what is solved with them, with the processor.
func largeMatrices(t *testing.T, on ad.CUDA, n int) {
	t.Helper()
	a, b := ad.Input("a", n, n), ad.Input("b", n, 2)
	rng := rand.New(rand.NewPCG(9, 9))
	values := [][]float64{make([]float64, n*n), make([]float64, 2*n)}
	for _, v := range values {
		for i := range v {
			v[i] = rng.NormFloat64()
		}
	}
	for i := range n {
		values[0][i*n+(i+1)%n] += 3 * math.Sqrt(float64(n))
	}
	l := ad.Cholesky(ad.Add(ad.MatMul(a, ad.T(a)), ad.Eye(n)))
	sign, log := ad.SignLogDet(a)
	in, outs := []*ad.Node{a, b}, []*ad.Node{ad.Solve(a, b), sign, log, ad.CholeskySolve(l, b), ad.Grad(ad.CholeskyLogDet(l), a)[0]}
	for _, bits := range []int{64, 32} {
		want := results(t, way{64, ""}, outs, in, values)
		p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits, Backend: on})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		for run := range 3 {
			if err := errors.Join(s.SetInput(0, values[0]), s.SetInput(1, values[1]), s.Run()); err != nil {
				t.Fatal(err)
			}
			for i := range outs {
				top := 0.0
				for _, v := range want[i] {
					top = max(top, math.Abs(v))
				}
				for k, v := range s.OutputFloat64(i) {
					if !(math.Abs(v-want[i][k]) <= map[int]float64{64: 1e-10, 32: 2e-3}[bits]*top) {
						t.Fatalf("%d bits, run %d, output %d, element %d: %g, want %g", bits, run, i, k, v, want[i][k])
					}
				}
			}
		}
	}
}

// Large convolutions and their gradients are made by cuDNN where it is found, and are the processor's.
func TestConvolutionsByLibrary(t *testing.T) {
	lib := pretend.Shared(t)
	lib.Libraries(t)
	x, w, grouped := ad.Input("x", 3, 16, 20, 21), ad.Input("w", 24, 16, 3, 3), ad.Input("grouped", 24, 4, 3, 2)
	in := []*ad.Node{x, w, grouped}
	made := []*ad.Node{
		ad.Conv2D(x, w, ad.Convolution{Pad: [2]int{1, 1}}), ad.Conv2D(x, w, ad.Convolution{Stride: [2]int{2, 1}, Dilation: [2]int{1, 2}}),
		ad.Conv2D(ad.Slice(x, 0, 1, 3), grouped, ad.Convolution{Groups: 4, Pad: [2]int{2, 0}, Stride: [2]int{1, 3}}),
	}
	outs := append([]*ad.Node(nil), made...)
	for _, y := range made {
		outs = append(outs, ad.Grad(ad.Sum(ad.Square(y)), in...)...)
	}
	values := numbersFor(in)
	want := results(t, way{64, ""}, outs, in, values)
	for _, bits := range []int{64, 32} {
		p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits, Backend: ad.CUDA{Device: 1, Strict: true}})
		if err != nil {
			t.Fatal(err)
		}
		calls := func() (n []int) {
			for _, name := range []string{"cudnnConvolutionForward", "cudnnConvolutionBackwardData", "cudnnConvolutionBackwardFilter"} {
				n = append(n, lib.Get(name))
			}
			return n
		}
		before := calls()
		s := p.NewState()
		for range 3 {
			runWith(t, s, values)
			for i := range outs {
				for k, v := range s.OutputFloat64(i) {
					if !near(v, want[i][k], map[int]float64{64: 1e-11, 32: 1e-3}[bits]) {
						t.Fatalf("%d bits, output %d, element %d: %g, want %g", bits, i, k, v, want[i][k])
					}
				}
			}
		}
		for k, n := range calls() {
			if n-before[k] < 2 {
				t.Errorf("%d bits: pass %d of cuDNN was called %d times", bits, k, n-before[k])
			}
		}
	}
}
