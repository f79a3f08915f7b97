// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"
	"testing"
)

// The image of a flat isotropic body is its own mirror in the centre, n/2.
func TestFriedelPairs(t *testing.T) {
	for _, shape := range [][3]int{{1, 8, 10}, {1, 9, 8}, {1, 7, 9}} {
		m := &Morphology{PhysSize: 4, Materials: []Material{{Vfrac: noise(1, 0, 1, shape[:]...)}}}
		ny, nx := shape[1], shape[2]
		got := image(t, m, constants(1, 1), Config{Energies: []float64{285}, Grid: ExactGrid})
		mirror := make([]float64, len(got))
		for i := range got {
			y, x := 2*(ny/2)-i/nx, 2*(nx/2)-i%nx
			if mirror[i] = got[i]; y < ny && x < nx {
				mirror[i] = got[y*nx+x]
			}
		}
		near(t, "mirror", got, mirror, 1e-13)
	}
}

// A volume turned by 90 degrees about Z, seen with a field turned likewise, has the
// same image.
func TestQuarterTurn(t *testing.T) {
	const n = 8
	shape := [3]int{5, n, n}
	m, o := blend3(shape, 1)
	turned, _ := blend3(shape, 1)
	from := func(z, y, x int) int { return (z*n+(n-x)%n)*n + y } // where (x, y) came from: (y, -x)
	for i := range m.Materials {
		in, out := m.Materials[i].fields(), turned.Materials[i].fields()
		for k := range in {
			a, b := (*in[k].at).Data().([]float64), (*out[k].at).Data().([]float64)
			size := len(a) / (5 * n * n)
			for v := range 5 * n * n {
				copy(b[v*size:(v+1)*size], a[size*from(v/(n*n), v/n%n, v%n):])
			}
			switch in[k].name {
			case "Psi":
				for v := range b {
					b[v] += math.Pi / 2
				}
			case "Align":
				for v := 0; v < len(b); v += 3 {
					b[v], b[v+1] = -b[v+1], b[v]
				}
			}
		}
	}
	cfg := Config{Energies: []float64{285}, Grid: ExactGrid}
	want := image(t, m, o, cfg)
	cfg.Angles = Angles{90, 0, 90}
	got, both := image(t, turned, o, cfg), 0
	for i, v := range got {
		if v != v || want[i] != want[i] { // at the border of the turned image
			got[i], want[i] = 0, 0
			continue
		}
		both++
	}
	if both < n*n/2 {
		t.Fatalf("%d pixels of %d are valid", both, n*n)
	}
	near(t, "turned", got, want, 1e-12)
}

// Directors have no sign.
func TestDirectorsHaveNoSign(t *testing.T) {
	shape := [3]int{3, 6, 7}
	m, o := blend3(shape, 2)
	cfg := testConfig()
	want := image(t, m, o, cfg)
	flipped, _ := blend3(shape, 2)
	add := func(v []float64, sign, b float64) {
		for i := range v {
			v[i] = sign*v[i] + b
		}
	}
	add(flipped.Materials[0].Theta.Data().([]float64), -1, math.Pi)
	add(flipped.Materials[0].Psi.Data().([]float64), 1, math.Pi)
	add(flipped.Materials[1].Align.Data().([]float64), -1, 0)
	near(t, "-s", image(t, flipped, o, cfg), want, 1e-13)

	// Angles beyond their range mean what they say.
	turned, _ := blend3(shape, 2)
	add(turned.Materials[0].Theta.Data().([]float64), 1, 2*math.Pi)
	add(turned.Materials[0].Psi.Data().([]float64), 1, -4*math.Pi)
	near(t, "whole turns", image(t, turned, o, cfg), want, 1e-12)

	// Across Z, half a turn of Psi is the other sign.
	flat := func(psi float64) *Morphology {
		m, _ := blend3(shape, 2)
		m.Materials[0].Theta = filled(shape, func(_, _, _ int) float64 { return math.Pi / 2 })
		add(m.Materials[0].Psi.Data().([]float64), 1, psi)
		return m
	}
	near(t, "psi + pi", image(t, flat(math.Pi), o, cfg), image(t, flat(0), o, cfg), 1e-12)
}

// Intensity goes with the square of n^2 - 1, down to the smallest contrast and in
// both precisions.
func TestContrastScaling(t *testing.T) {
	m := &Morphology{PhysSize: 4, Materials: []Material{{Vfrac: noise(1, 0, 1, 4, 9, 8)}}}
	of := func(chi complex128) Optics { // n = sqrt(1 + chi) without loss, for a small chi
		n := chi / 2
		for range 50 {
			n = chi / (2 + n)
		}
		return Optics{{{-real(n), imag(n), -real(n), imag(n)}}}
	}
	for _, bits := range []int{64, 32} {
		cfg := Config{Energies: []float64{285}, Angles: Angles{0, 30, 150}, RotMask: true, Precision: bits}
		want := image(t, m, of(complex(-2e-3, 1e-3)), cfg)
		for _, s := range []complex128{1e-1, 1e-3, 1e-6, 1e-9, complex(0, 1), complex(-3, 2)} {
			got := image(t, m, of(s*complex(-2e-3, 1e-3)), cfg)
			for i := range got {
				got[i] /= abs2(s)
			}
			near(t, "scaled", got, want, 1e-13)
		}
	}
}

// A morphology by vectors is that by angles.
func TestVectorIsEuler(t *testing.T) {
	shape := [3]int{3, 6, 7}
	m, o := blend3(shape, 2)
	e := m.Materials[0]
	vf, s, theta, psi := e.Vfrac.Float64s(), e.S.Float64s(), e.Theta.Float64s(), e.Psi.Float64s()
	v := Material{Align: noise(1, 0, 0, 3, 6, 7, 3), Unaligned: noise(1, 0, 0, 3, 6, 7)}
	align, rest := v.Align.Data().([]float64), v.Unaligned.Data().([]float64)
	for i := range vf {
		st, ct := math.Sincos(theta[i])
		sp, cp := math.Sincos(psi[i])
		r := math.Sqrt(vf[i] * s[i])
		align[3*i], align[3*i+1], align[3*i+2] = r*cp*st, r*sp*st, r*ct
		rest[i] = vf[i] * (1 - s[i])
	}
	cfg := testConfig()
	want := image(t, m, o, cfg)
	m.Materials[0] = v
	near(t, "vector", image(t, m, o, cfg), want, 1e-13)
}
