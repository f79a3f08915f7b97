// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// filled returns an array of f at every voxel.
func filled(shape [3]int, f func(z, y, x int) float64) *tensor.Tensor {
	t := tensor.New(tensor.Float64, shape[:]...)
	d := t.Data().([]float64)
	for i := range d {
		d[i] = f(i/(shape[1]*shape[2]), i/shape[2]%shape[1], i%shape[2])
	}
	return t
}

// noise returns an array of random numbers from lo to hi.
func noise(seed uint64, lo, hi float64, shape ...int) *tensor.Tensor {
	t, src := tensor.New(tensor.Float64, shape...), tensor.NewStream(seed, 1, 0)
	for i, d := 0, t.Data().([]float64); i < len(d); i++ {
		d[i] = lo + (hi-lo)*src.Float64()
	}
	return t
}

// blend3 is a random volume of an aligned material, given by Euler angles, one given
// by vectors and an isotropic one, and their constants at n energies.
func blend3(shape [3]int, n int) (*Morphology, Optics) {
	s := shape[:]
	m := &Morphology{PhysSize: 4, Materials: []Material{
		{Vfrac: noise(1, 0, 1, s...), S: noise(2, 0, 1, s...), Theta: noise(3, 0, 3, s...), Psi: noise(4, -3, 3, s...)},
		{Align: noise(5, -0.5, 0.5, append(s, 3)...), Unaligned: noise(6, 0, 1, s...)},
		{Vfrac: noise(7, 0, 1, s...)},
	}}
	return m, constants(n, 3)
}

// constants returns random constants of materials at n energies.
func constants(n, materials int) Optics {
	src, o := tensor.NewStream(8, 1, 0), make(Optics, n)
	for e := range o {
		for range materials {
			o[e] = append(o[e], Constants{1e-3 * src.Normal(), 1e-3 * src.Float64(), 1e-3 * src.Normal(), 1e-3 * src.Float64()})
		}
	}
	return o
}

// simulated returns a simulator with a transformed morphology, and its pattern.
func simulated(t testing.TB, m *Morphology, o Optics, cfg Config) (*Simulator, *Pattern) {
	t.Helper()
	s, err := New(m.Shape(), m.PhysSize, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Transform(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	p, err := s.Pattern(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

func image(t testing.TB, m *Morphology, o Optics, cfg Config) []float64 {
	t.Helper()
	_, p := simulated(t, m, o, cfg)
	return p.Intensity.Data().([]float64)
}

// near reports numbers that differ by more than tol of the largest wanted, or are
// NaN in one list only. It needs a number above 0.
func near(t testing.TB, what string, got, want []float64, tol float64) {
	t.Helper()
	top, worst, at := 0.0, 0.0, -1
	for _, w := range want {
		if w == w {
			top = max(top, math.Abs(w))
		}
	}
	for i, w := range want {
		if math.IsNaN(w) != math.IsNaN(got[i]) {
			t.Errorf("%s: element %d is %g, want %g", what, i, got[i], w)
			return
		}
		if d := math.Abs(got[i] - w); d > worst {
			worst, at = d, i
		}
	}
	if !(worst <= tol*top) || top == 0 {
		t.Errorf("%s: element %d is off by %g of the largest, %g; want %g", what, at, worst/top, top, tol)
	}
}

// bitwise reports whether all numbers have the same bits.
func bitwise(a, b []float64) bool {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}
