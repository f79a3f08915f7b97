// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Volumes of one or two voxels along an axis, odd, even and not square, agree with
// the direct algorithm.
func TestShapes(t *testing.T) {
	for _, shape := range [][3]int{
		{1, 6, 6}, {2, 6, 6}, {1, 5, 8}, {2, 8, 5}, {3, 7, 7}, {4, 5, 6}, {7, 6, 5}, {8, 4, 9}, {3, 2, 2}, {2, 2, 9},
		{3, 1, 6}, {3, 6, 1}, {1, 1, 5}, {1, 5, 1}, {1, 1, 1}, {6, 1, 1}, {1, 3, 31}, {16, 3, 3},
	} {
		for _, g := range []Grid{CyRSoXSGrid, ExactGrid} {
			t.Run(fmt.Sprintf("%v/%d", shape, g), func(t *testing.T) {
				m, o := blend3(shape, 2)
				cfg := testConfig()
				cfg.Grid = g
				s, p := simulated(t, m, o, cfg)
				got, want := p.Intensity.Float64s(), (&direct{m: m, o: o, cfg: s.cfg}).pattern()
				top, norm := 0.0, math.Pow(Wavenumber(285), 4)*1e-6*math.Pow(float64(shape[0]*shape[1]*shape[2]), 2)
				for _, w := range want {
					if w == w {
						top = max(top, w)
					}
				}
				for i, w := range want { // one voxel scatters round-off alone
					if math.IsNaN(w) != math.IsNaN(got[i]) || math.Abs(got[i]-w) > 1e-11*top+1e-20*norm {
						t.Fatalf("element %d is %g, want %g (largest %g)", i, got[i], w, top)
					}
				}
			})
		}
	}
}

// Vacuum and uniform volumes do not scatter.
func TestNothingScatters(t *testing.T) {
	shape := [3]int{4, 6, 7}
	m, _ := blend3(shape, 2)
	vacuum := Optics{make([]Constants, 3), make([]Constants, 3)}
	cfg := testConfig()
	for i, v := range image(t, m, vacuum, cfg) {
		if v != 0 && v == v {
			t.Fatalf("vacuum: pixel %d is %g", i, v)
		}
	}
	even := func(v float64) *tensor.Tensor { return filled(shape, func(_, _, _ int) float64 { return v }) }
	flat := &Morphology{PhysSize: 4, Materials: []Material{{Vfrac: even(0.3), S: even(0.7), Theta: even(1), Psi: even(2)}, {Vfrac: even(0.7)}}}
	size := math.Pow(Wavenumber(285)*Wavenumber(285)*1e-3*float64(even(0).Size()), 2)
	for i, v := range image(t, flat, constants(2, 2), cfg) {
		if v > 1e-28*size {
			t.Fatalf("uniform: pixel %d is %g", i, v)
		}
	}
}

// Where S is 0 the angles do not matter, even if they are not numbers; where
// Vfrac is 0, S does not either.
func TestAnglesWithoutOrder(t *testing.T) {
	shape := [3]int{3, 6, 5}
	build := func(theta, psi, s float64) *Morphology {
		m, _ := blend3(shape, 2)
		a := m.Materials[0]
		for i := 0; i < 90; i += 3 {
			a.S.Data().([]float64)[i] = 0
			a.Theta.Data().([]float64)[i], a.Psi.Data().([]float64)[i] = theta, psi
			a.Vfrac.Data().([]float64)[i+1], a.S.Data().([]float64)[i+1] = 0, s
		}
		return m
	}
	for _, bits := range []int{64, 32} {
		cfg := testConfig()
		cfg.Precision = bits
		o := constants(2, 3)
		s, p := simulated(t, build(0, 0, 0.5), o, cfg)
		want := p.Intensity.Float64s()
		for _, angle := range []float64{17, math.NaN(), math.Inf(1)} {
			m := build(angle, -angle, 0.9)
			if !bitwise(image(t, m, o, cfg), want) {
				t.Errorf("%d bits: angles of %v change the image", bits, angle)
			}
			if err := s.Transform(context.Background(), m); err != nil {
				t.Fatal(err)
			}
			g, err := s.Gradient(context.Background(), o, p.Intensity)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range g.Materials[0].fields() {
				for i, v := range (*f.at).Float64s() {
					angles := f.name == "Theta" || f.name == "Psi"
					if v != v || angles && i%3 < 2 && v != 0 {
						t.Fatalf("%d bits: gradient of %s is %g at voxel %d with angles of %v", bits, f.name, v, i, angle)
					}
				}
			}
			along, err := s.Tangent(context.Background(), o, []Material{{Psi: noise(1, -1, 1, 3, 6, 5)}, {}, {}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range along.Float64s() {
				if v != v && want[i] == want[i] {
					t.Fatalf("%d bits: tangent is NaN at %d with angles of %v", bits, i, angle)
				}
			}
		}
	}
}

// A volume that is the same in every slice scatters after CollapseZ as one slice
// does, to the last bit, and an isotropic one as the mean of its slices.
func TestUniformAlongZ(t *testing.T) {
	const ny, nx = 6, 7
	thin, o := blend3([3]int{1, ny, nx}, 2)
	cfg := testConfig()
	want := image(t, thin, o, cfg)
	for _, nz := range []int{2, 3, 4, 8} {
		m := repeated(thin, nz)
		cfg.CollapseZ = true
		got := image(t, m, o, cfg)
		if !bitwise(got, want) {
			t.Errorf("%d slices collapsed differ from one", nz)
		}
	}
	v := noise(1, 0, 1, 3, ny, nx)
	mean := filled([3]int{1, ny, nx}, func(_, y, x int) (sum float64) {
		for z := range 3 {
			sum += v.At(z, y, x).(float64) / 3
		}
		return sum
	})
	got := image(t, &Morphology{PhysSize: 4, Materials: []Material{{Vfrac: v}}}, constants(2, 1), cfg)
	cfg.CollapseZ = false
	near(t, "mean", got, image(t, &Morphology{PhysSize: 4, Materials: []Material{{Vfrac: mean}}}, constants(2, 1), cfg), 1e-13)
}

// repeated returns a volume of nz times the slice m.
func repeated(m *Morphology, nz int) *Morphology {
	thick := &Morphology{PhysSize: m.PhysSize, Materials: slices.Clone(m.Materials)}
	for i := range thick.Materials {
		for _, f := range thick.Materials[i].fields() {
			t := tensor.New(tensor.Float64, append([]int{nz}, (*f.at).Shape()[1:]...)...)
			for z, one := 0, (*f.at).Float64s(); z < nz; z++ {
				copy(t.Data().([]float64)[z*len(one):], one)
			}
			*f.at = t
		}
	}
	return thick
}

// The plane q_z = 0 of such a volume holds nz times the slice's transform, weighed
// by where the Ewald sphere cuts, with kappa of that plane.
func TestFilmOnTheSphere(t *testing.T) {
	const nz, ny, nx, energy = 6, 7, 8, 285.0
	thin, o := blend3([3]int{1, ny, nx}, 1)
	m := repeated(thin, nz)
	s, p := simulated(t, m, o, Config{Energies: []float64{energy}, Grid: ExactGrid})
	got := p.Intensity.Float64s()
	one := &direct{m: thin, o: o, cfg: s.cfg, n: thin.Shape()}
	f := one.transformed(one.polarization(o[0], vec{1, 0, 0}))
	l := newLattice([3]int{1, ny, nx}, m.PhysSize, ExactGrid)
	want, wave := make([]float64, ny*nx), Wavenumber(energy)
	for i := range want {
		y, x := i/nx, i%nx
		rest := wave*wave - l.q(2, x)*l.q(2, x) - l.q(1, y)*l.q(1, y)
		dz := 2 * math.Pi / (nz * m.PhysSize)
		away := (wave - math.Sqrt(rest)) / dz // planes from q_z = 0
		switch want[i] = nz * nz * max(0, 1-away) * one.intensity(l, f, wave, vec{0, 0, 1}, 0, y, x); {
		case rest < 0 || away > nz/2:
			want[i] = math.NaN()
		case y == ny/2 && x == nx/2: // the mean of six neighbours, of which two are empty
			want[i] *= 16. / 36
		}
	}
	near(t, "film", got, want, 1e-12)
}

// Pixels farther out than the wavenumber see nothing.
func TestDetectorCorners(t *testing.T) {
	const n, size, energy = 16, 1.5, 285.0 // pi/size is above the wavenumber
	for _, nz := range []int{1, 32} {
		m := &Morphology{PhysSize: size, Materials: []Material{{Vfrac: noise(1, 0, 1, nz, n, n)}}}
		s, p := simulated(t, m, constants(1, 1), Config{Energies: []float64{energy}, Grid: ExactGrid})
		seen := 0
		for i, v := range p.Intensity.Float64s() {
			q2 := math.Pow(p.QY[i/n], 2) + math.Pow(p.QX[i%n], 2)
			if out := q2 > Wavenumber(energy)*Wavenumber(energy); out != (v != v) {
				t.Errorf("%d slices: pixel %d at %g/nm is %g", nz, i, math.Sqrt(q2), v)
			} else if !out {
				seen++
			}
		}
		if seen == 0 || seen == n*n {
			t.Errorf("%d of %d pixels see the sample", seen, n*n)
		}
		d := tensor.New(tensor.Float64, p.Intensity.Shape()...)
		for i := range d.Data().([]float64) {
			d.Data().([]float64)[i] = 1
		}
		g, err := s.Gradient(context.Background(), constants(1, 1), d)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range g.Materials[0].Vfrac.Float64s() {
			if v != v {
				t.Fatalf("gradient is NaN at %d", i)
			}
		}
	}
}

// Without RotMask a whole turn keeps the disc that all angles reach; with it the
// other pixels are means over fewer angles, and 0 where none reaches.
func TestRotMask(t *testing.T) {
	const n = 16
	m := &Morphology{PhysSize: 4, Materials: []Material{{Vfrac: noise(1, 0, 1, 1, n, n)}}}
	cfg := Config{Energies: []float64{285}, Grid: ExactGrid, Angles: Angles{0, 5, 360}}
	strict := image(t, m, constants(1, 1), cfg)
	cfg.RotMask = true
	masked := image(t, m, constants(1, 1), cfg)
	for i, v := range strict {
		r := math.Hypot(float64(i/n-n/2), float64(i%n-n/2))
		if inside := r <= n/2-1; inside && v != v || r > n/2 && v == v {
			t.Errorf("pixel %d, %g from the centre, is %g", i, r, v)
		}
		if v == v && v != masked[i] || masked[i] != masked[i] {
			t.Errorf("pixel %d is %g with RotMask, %g without", i, masked[i], v)
		}
	}
	cfg.Energies, cfg.Grid = []float64{285}, CyRSoXSGrid // its last row and column are never seen
	cfg.Angles = Angles{}
	s, p := simulated(t, m, constants(1, 1), cfg)
	for i, v := range p.Intensity.Float64s() {
		if border := i/n == n-1 || i%n == n-1; border != (v == 0) {
			t.Errorf("pixel %d is %g", i, v)
		}
	}
	// Pixels that nothing reaches do not count in gradients.
	d := tensor.New(tensor.Float64, 1, 1, n, n)
	for i := range n {
		d.Data().([]float64)[(n-1)*n+i], d.Data().([]float64)[i*n+n-1] = 1e3, math.NaN()
	}
	g, err := s.Gradient(context.Background(), constants(1, 1), d)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range g.Materials[0].Vfrac.Float64s() {
		if v != 0 {
			t.Fatalf("gradient is %g at voxel %d", v, i)
		}
	}
}
