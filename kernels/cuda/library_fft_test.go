// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"math"
	"testing"
)

// The definition of a transform along all axes of one array.
func fourier(shape []int, x []complex128, sign float64) []complex128 {
	n := len(x)
	out := make([]complex128, n)
	for k := range out {
		for j := range x {
			phase, kk, jj := 0.0, k, j
			for a := len(shape) - 1; a >= 0; a-- {
				phase += float64(kk%shape[a]*(jj%shape[a])) / float64(shape[a])
				kk, jj = kk/shape[a], jj/shape[a]
			}
			s, c := math.Sincos(sign * 2 * math.Pi * phase)
			out[k] += x[j] * complex(c, s)
		}
	}
	return out
}

func pairs(x []complex128) []float64 {
	var all []float64
	for _, z := range x {
		all = append(all, real(z), imag(z))
	}
	return all
}

var fftShapes = [][]int{{8}, {7}, {4, 6}, {3, 2, 5}, {1}}

func TestFFT(t *testing.T) {
	for seed, shape := range fftShapes {
		t.Run("", func(t *testing.T) {
			_, d := withLibraries(t, seed)
			checkFFT(t, d, seed, shape)
		})
	}
}

// checkFFT compares all kinds of transforms with the definition.
func checkFFT(t *testing.T, d *Device, seed int, shape []int) {
	t.Helper()
	typ, n, batch := Type(seed%2), 1, 2
	for _, l := range shape {
		n *= l
	}
	last := shape[len(shape)-1]
	half := n / last * (last/2 + 1)
	x := random(2*n*batch, 5)
	var forward, back, packed, reals []float64
	for b := range batch {
		z, w := make([]complex128, n), make([]complex128, n)
		for i := range z {
			z[i] = complex(x[2*(b*n+i)], x[2*(b*n+i)+1])
			w[i] = complex(x[b*n+i], 0)
		}
		forward = append(forward, pairs(fourier(shape, z, -1))...)
		back = append(back, pairs(fourier(shape, z, 1))...)
		for k, v := range fourier(shape, w, -1) {
			if k%last <= last/2 {
				packed = append(packed, real(v), imag(v))
			}
		}
	}
	for _, v := range x[:n*batch] {
		reals = append(reals, v*float64(n))
	}
	l, s := d.Libraries(), d.Default()
	src, dst, spectrum := upload(t, d, typ, x), alloc(t, d, nil, 16*n*batch), alloc(t, d, nil, 16*half*batch)
	run := func(k Transform, to, from *Buffer, inverse bool) {
		t.Helper()
		if err := l.FFT(s, FFT{Type: typ, Kind: k, Shape: shape, Batch: batch}, to.At(0), from.At(0), inverse); err != nil {
			t.Fatal(err)
		}
	}
	tol := 20 * tolerance(typ)
	run(ComplexTransform, dst, src, false)
	agrees(t, "forward", download(t, s, typ, dst, 2*n*batch), forward, tol)
	run(ComplexTransform, dst, src, true)
	agrees(t, "inverse", download(t, s, typ, dst, 2*n*batch), back, tol)
	run(RealToComplex, spectrum, src, false)
	agrees(t, "real", download(t, s, typ, spectrum, 2*half*batch), packed, tol)
	run(ComplexToReal, dst, spectrum, false)
	agrees(t, "and back", download(t, s, typ, dst, n*batch), reals, tol)
	run(ComplexTransform, src, src, false)
	agrees(t, "in place", download(t, s, typ, src, 2*n*batch), forward, tol)
	free(src, dst, spectrum)
}

// Plans are made once, and the oldest goes when there are too many.
func TestFFTPlansAreKept(t *testing.T) {
	p, d := withLibraries(t, 1)
	b := alloc(t, d, nil, 4096)
	defer b.Free()
	for range 3 {
		for n := 1; n <= 3; n++ {
			if err := d.Libraries().FFT(d.Default(), FFT{Shape: []int{n}}, b.At(0), b.At(0), false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := p.Get("cufftCreate"); n != 3 {
		t.Errorf("%d plans were made, want 3", n)
	}
	for n := 1; n <= maxPlans+10; n++ {
		if err := d.Libraries().FFT(d.Default(), FFT{Shape: []int{n}}, b.At(0), b.At(0), false); err != nil {
			t.Fatal(err)
		}
	}
	if made, gone := p.Get("cufftCreate"), p.Get("cufftDestroy"); made-gone != maxPlans {
		t.Errorf("%d plans were made and %d destroyed, want %d left", made, gone, maxPlans)
	}
}
