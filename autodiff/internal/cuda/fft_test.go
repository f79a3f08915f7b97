// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// outputs runs a program with all inputs set to given numbers. On the device it runs again with threads and
// blocks in another order, which must not change a bit.
func outputs(t *testing.T, outs, in []*ad.Node, values [][]float64, s ad.Settings) [][]float64 {
	t.Helper()
	s.Inputs = in
	p, err := ad.Compile(outs, s)
	if err != nil {
		t.Fatal(err)
	}
	state := p.NewState()
	for i, v := range values {
		if err := state.SetInput(i, v); err != nil {
			t.Fatal(err)
		}
	}
	fetch := func() (got [][]float64) {
		if err := state.Run(); err != nil {
			t.Fatal(err)
		}
		for i := range outs {
			got = append(got, state.OutputFloat64(i))
		}
		return got
	}
	got := fetch()
	if _, ok := s.Backend.(ad.CUDA); ok {
		lib := pretend.Shared(t)
		lib.Set("order", pretend.Shuffled)
		defer lib.Set("order", pretend.Ascending)
		for i, again := range fetch() {
			if !slices.EqualFunc(got[i], again, func(a, b float64) bool { return a == b || a != a && b != b }) {
				t.Errorf("output %d %v depends on the order of threads", i, outs[i])
			}
		}
	}
	return got
}

// fourierParity compares transforms of some lengths on the device with those of the processor: complex
// and real ones, forwards and back, along the last axis and another.
func fourierParity(t *testing.T, precisions []int, lengths ...int) {
	var in, outs []*ad.Node
	var values [][]float64
	var of []int
	for _, n := range lengths {
		for _, x := range []*ad.Node{ad.Input("z", 2, n, 2), ad.Input("z", n, 3, 2), ad.Input("x", 3, n), ad.Input("x", n, 2), ad.Input("h", 2, n/2+1, 2)} {
			v := make([]float64, x.Size())
			for i := range v {
				v[i] = math.Sin(1.7*float64(i)) + math.Cos(float64(i*i%1013))
			}
			in, values = append(in, x), append(values, v)
		}
		first := len(outs)
		z, zc, x, xc, h := in[len(in)-5], in[len(in)-4], in[len(in)-3], in[len(in)-2], in[len(in)-1]
		outs = append(outs, ad.FFT(z, ad.NormBackward, 1), ad.IFFT(z, ad.NormOrtho, 1), ad.FFT(zc, ad.NormForward, 0), ad.IFFT(zc, ad.NormBackward, 0),
			ad.RFFT(x, ad.NormOrtho, 1), ad.RFFT(xc, ad.NormOrtho, 1, 0), ad.IRFFT(h, n, ad.NormOrtho, 1), ad.IRFFT(h, n, ad.NormOrtho))
		outs = append(outs, ad.Grad(ad.Sum(ad.Square(outs[first+5])), xc)[0], ad.Grad(ad.Sum(ad.Square(outs[first+7])), h)[0])
		for range outs[first:] {
			of = append(of, n)
		}
	}
	for _, bits := range precisions {
		tol := map[int]float64{64: 1e-13, 32: 2e-6}[bits]
		got := outputs(t, outs, in, values, ad.Settings{Precision: bits, Backend: ad.CUDA{Strict: true}})
		want := outputs(t, outs, in, values, ad.Settings{})
		for i := range got {
			var d, w float64
			for k := range got[i] {
				d, w = math.Hypot(d, got[i][k]-want[i][k]), math.Hypot(w, want[i][k])
			}
			if !(d <= tol*w) {
				t.Errorf("%d bits, length %d, output %d: the norm of the difference is %.3g of that of the result, want at most %.1g", bits, of[i], i%10, d/w, tol)
			}
		}
	}
}

// Lengths that fit into shared memory: all radices and a prime.
func TestFourierLengths(t *testing.T) {
	pretend.Shared(t)
	fourierParity(t, []int{64}, 1, 13, 420)
}

// Every largest radix makes the same transforms, of lengths that have it and that do not.
func TestFourierRadices(t *testing.T) {
	pretend.Shared(t)
	d, err := ad.DeviceFor(ad.CUDA{}, ad.Need{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Choose(nil)
	for _, c := range device.Choices() {
		if c.Name != "fft_radix" {
			continue
		}
		for _, radix := range c.Values {
			if err := d.Choose(map[string]int{c.Name: radix}); err != nil {
				t.Fatal(err)
			}
			fourierParity(t, []int{32, 64}, 16, 48, 128)
		}
	}
}

// Little shared memory makes short lines long: rows and columns, once and twice, and long convolutions.
func TestFourierLongLines(t *testing.T) {
	pretend.Shared(t)
	defer cuda.SetFourierRoom(256)() // 16 numbers of float64
	fourierParity(t, []int{64}, 17, 512)
}
