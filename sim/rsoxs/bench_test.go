// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// BenchmarkGradient compares a forward run with a forward run and its gradient, on
// the particle of the inversion examples: 16 x 48 x 48 voxels, one aligned and one
// isotropic material, 3 energies and 6 angles.
func BenchmarkGradient(b *testing.B) {
	shape := [3]int{16, 48, 48}
	array := func(v float64) *tensor.Tensor {
		t := tensor.New(tensor.Float64, shape[:]...)
		src := tensor.NewStream(1, 1, 0)
		for i, d := 0, t.Data().([]float64); i < len(d); i++ {
			d[i] = v * src.Float64()
		}
		return t
	}
	m := &Morphology{PhysSize: 2.5, Materials: []Material{
		{Vfrac: array(1), S: array(1), Theta: array(3), Psi: array(6)}, {Vfrac: array(1)}}}
	cfg := Config{Energies: []float64{280, 284.7, 285.2}, Angles: Angles{0, 30, 150}, RotMask: true}
	o := Optics{}
	for range cfg.Energies {
		o = append(o, []Constants{{1e-3, 2e-3, 1.5e-3, 1e-3}, {2e-3, 1e-3, 2e-3, 1e-3}})
	}
	s, err := New(shape, 2.5, cfg)
	if err != nil {
		b.Fatal(err)
	}
	benchGradient(b, s, m, o)
}

// benchGradient times forward runs, and forward runs with gradients into the same memory, as fits take them.
func benchGradient(b *testing.B, s *Simulator, m *Morphology, o Optics) {
	took := map[bool]time.Duration{}
	for _, grad := range []bool{false, true} {
		b.Run(fmt.Sprintf("gradient=%v", grad), func(b *testing.B) {
			var g *Gradient
			for b.Loop() {
				p := run(b, s, m, o, false)
				if !grad {
					continue
				}
				var err error
				if g, err = s.GradientTo(context.Background(), g, o, p.Intensity); err != nil {
					b.Fatal(err)
				}
			}
			took[grad] = b.Elapsed() / time.Duration(b.N)
			if grad && took[false] > 0 { // with the forward run, and without
				x := float64(took[true]) / float64(took[false])
				b.ReportMetric(x, "x-forward")
				b.ReportMetric(x-1, "x-forward-alone")
			}
		})
	}
}

func run(b testing.TB, s *Simulator, m *Morphology, o Optics, grad bool) *Pattern {
	if err := s.Transform(context.Background(), m); err != nil {
		b.Fatal(err)
	}
	p, err := s.Pattern(context.Background(), o)
	if err != nil {
		b.Fatal(err)
	}
	if grad {
		if _, err := s.Gradient(context.Background(), o, p.Intensity); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

// panel returns the core-shell film at n energies from 270 to 300 eV, with
// constants between those of the reference.
func panel(b testing.TB, n int) (*Morphology, []float64, Optics) {
	c := readCoreShell(b)
	_, o := c.optics()
	var energies []float64
	var all Optics
	for i := range n {
		energies = append(energies, 284.7+0.3*float64(i-n/2))
		all = append(all, o[i%len(o)])
	}
	return c.build(b), energies, all
}

// BenchmarkPattern scatters one energy at one angle from 32 x 512 x 512 and 128 x 128 x 128 voxels of three materials, one of them
// aligned in every voxel, in float32.
func BenchmarkPattern(b *testing.B) {
	for _, shape := range [][3]int{{32, 512, 512}, {128, 128, 128}} {
		b.Run(fmt.Sprint(shape[0]), func(b *testing.B) {
			m, o := oriented(shape)
			s, err := New(shape, 2.5, Config{Energies: []float64{284.7}, Precision: 32, Workers: runtime.GOMAXPROCS(0)})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				run(b, s, m, o, false)
			}
		})
	}
}

// BenchmarkCoreShell measures what users of the core-shell film wait for, 32 x 512
// x 512 voxels in float32, beside the bare transforms of its fields and the direct
// algorithm.
func BenchmarkCoreShell(b *testing.B) {
	for _, c := range []struct {
		energies int
		angles   Angles
	}{{1, Angles{}}, {1, Angles{0, 1, 360}}, {101, Angles{0, 1, 360}}} {
		list, _ := c.angles.List()
		b.Run(fmt.Sprintf("%dx%d", c.energies, len(list)), func(b *testing.B) {
			m, energies, o := panel(b, c.energies)
			s, err := New(m.Shape(), m.PhysSize, Config{Energies: energies, Angles: c.angles, Precision: 32})
			if err != nil {
				b.Fatal(err)
			}
			if c.energies == 1 { // what is made once is made before
				run(b, s, m, o, false)
			}
			runs, start := 0, time.Now()
			for b.Loop() {
				run(b, s, m, o, false)
				runs++
			}
			took := time.Since(start).Seconds() / float64(runs)
			direct := directTime(m, o[0], energies[0]) // one pair, scaled
			b.ReportMetric(took, "s")
			b.ReportMetric(took/bareTransforms(s), "x-bare-FFTs")
			b.ReportMetric(direct, "s/direct-pair")
			b.ReportMetric(direct*float64(c.energies*len(list))/took, "x-direct")
		})
	}
	b.Run("gradient", func(b *testing.B) {
		m, energies, o := panel(b, 1)
		s, err := New(m.Shape(), m.PhysSize, Config{Energies: energies, Precision: 32})
		if err != nil {
			b.Fatal(err)
		}
		benchGradient(b, s, m, o)
	})
	b.Run("memory", func(b *testing.B) { // of a process of its own
		for b.Loop() {
			both, forward := peakOfChild(b, 32)
			b.ReportMetric(forward, "B/voxel")
			b.ReportMetric(both, "B/voxel-with-gradient")
		}
	})
}

// bareTransforms returns the seconds of the real transforms of all slices of all
// fields, on as many goroutines.
func bareTransforms(s *Simulator) float64 {
	sp := s.spectra.(*spectra[float32])
	ny, nx := s.shape[1], s.shape[2]
	plan := kernels.NewFFT(ny, nx)
	type room struct {
		src  []float32
		dst  []complex64
		work kernels.FFTWorkspace
	}
	rooms := make([]room, s.cfg.Workers)
	for i := range rooms {
		rooms[i] = room{src: make([]float32, ny*nx), dst: make([]complex64, ny*s.layout.columns())}
	}
	best := math.Inf(1)
	for range 3 {
		start := time.Now()
		parallel.Do(s.cfg.Workers, s.shape[0]*sp.fields, func(w, _ int) {
			plan.Real32(rooms[w].dst, rooms[w].src, &rooms[w].work)
		})
		best = min(best, time.Since(start).Seconds())
	}
	return best
}

// directTime returns the seconds that one energy and angle take when the
// polarization is transformed as CyRSoXS does: made voxel by voxel, three complex
// transforms in three dimensions, projection and rotation, on all processors.
func directTime(m *Morphology, o []Constants, energy float64) float64 {
	shape := m.Shape()
	plan := kernels.NewFFT(shape[:]...)
	work := kernels.FFTWorkspace{Threads: runtime.GOMAXPROCS(0)}
	n := shape[0] * shape[1] * shape[2]
	var p [3][]complex64
	for i := range p {
		p[i] = make([]complex64, n)
	}
	start := time.Now()
	parallel.Do(runtime.GOMAXPROCS(0), shape[0], func(_, z int) { polarize(m, o, p, z, n/shape[0]) })
	for i := range p {
		plan.Complex64(p[i], p[i], false, &work)
	}
	turned := newRotation(0.5, shape[1], shape[2])
	turned.tabulate()
	out, count := make([]float64, n/shape[0]), make([]float64, n/shape[0])
	addSamples(out, count, turned.table, cutDirect(m, p, energy), 1)
	return time.Since(start).Seconds()
}

// polarize fills slice z of the polarization for a field along x.
func polarize(m *Morphology, o []Constants, p [3][]complex64, z, size int) {
	for i := range p {
		clear(p[i][z*size : (z+1)*size])
	}
	for k := range m.Materials {
		c := o[k].contrast()
		vf := m.Materials[k].Vfrac.Data().([]float32)
		for v := z * size; v < (z+1)*size; v++ {
			iso := c.iso * complex(float64(vf[v]), 0)
			if s := m.Materials[k].S; s != nil {
				pa := float64(vf[v] * s.Data().([]float32)[v])
				st, ct := math.Sincos(float64(m.Materials[k].Theta.Data().([]float32)[v]))
				sp, cp := math.Sincos(float64(m.Materials[k].Psi.Data().([]float32)[v]))
				x, y := cp*st, sp*st
				iso += c.axial * complex(pa, 0)
				p[0][v] += complex64(c.tensor * complex(pa*x*x, 0))
				p[1][v] += complex64(c.tensor * complex(pa*x*y, 0))
				p[2][v] += complex64(c.tensor * complex(pa*x*ct, 0))
			}
			p[0][v] += complex64(iso)
		}
	}
}

// cutDirect projects the detector's pixels.
func cutDirect(m *Morphology, p [3][]complex64, energy float64) []float64 {
	n := m.Shape()
	l := newLattice(n, m.PhysSize, CyRSoXSGrid)
	v := newView(l, &beam{k: vec{0, 0, 1}}, energy, Linear)
	f := &projector{wave: v.wave, own: true, field: [][2]float64{{1, 0}}}
	image := make([]float64, n[1]*n[2])
	parallel.Do(runtime.GOMAXPROCS(0), n[1], func(_, y int) {
		for x := range n[2] {
			out := image[y*n[2]+x:][:1]
			c, ok := v.cut(y, x)
			for dz, w := range c.weights() {
				if !ok || w == 0 {
					continue
				}
				at := (l.index(0, c.z+dz)*n[1]+l.index(1, y))*n[2] + l.index(2, x)
				a := cvec{complex128(p[0][at]), complex128(p[1][at]), complex128(p[2][at])}
				f.add(out, w, &a, &a, v.transfer(c.z+dz, y, x))
			}
		}
	})
	return image
}
