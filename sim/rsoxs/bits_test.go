// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// everything returns all numbers that a simulator gives for a morphology.
func everything(t *testing.T, s *Simulator, m *Morphology, o Optics) []float64 {
	t.Helper()
	ctx := context.Background()
	if err := s.Transform(ctx, m); err != nil {
		t.Fatal(err)
	}
	p, err := s.Pattern(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Clone(p.Intensity.Float64s())
	g, err := s.Gradient(ctx, o, p.Intensity)
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Materials {
		for _, f := range g.Materials[i].fields() {
			all = append(all, (*f.at).Float64s()...)
		}
	}
	for _, row := range g.Optics {
		for _, c := range row {
			all = append(all, c.DeltaPara, c.BetaPara, c.DeltaPerp, c.BetaPerp)
		}
	}
	along, err := s.Tangent(ctx, o, []Material{{Theta: noise(11, -1, 1, s.shape[:]...)}, {}, {Vfrac: noise(12, -1, 1, s.shape[:]...)}}, constants(len(o), 3))
	if err != nil {
		t.Fatal(err)
	}
	return append(all, along.Float64s()...)
}

// Pattern, gradient and tangent have the same bits for any number of workers, and
// again.
func TestBitsDoNotDependOnWorkers(t *testing.T) {
	m, o := blend3([3]int{7, 17, 12}, 3)
	for _, cfg := range []Config{
		{Energies: []float64{280, 285, 290}, Angles: Angles{0, 10, 360}, RotMask: true},
		{Energies: []float64{280, 285, 290}, Precision: 32, Window: Hann},
		{Energies: []float64{280, 285, 290}, Angles: Angles{0, 50, 100}, Frame: MaterialFrame, Grid: ExactGrid, Case: BeamDivergence, K: [][3]float64{{0.1, 0.2, 1}, {0, 0, 1}}, RotMask: true},
	} {
		cfg.Workers = 1
		s, err := New(m.Shape(), m.PhysSize, cfg)
		if err != nil {
			t.Fatal(err)
		}
		want := everything(t, s, m, o)
		p, err := s.Pattern(context.Background(), o) // after a gradient, which may have spoiled the spectra
		if err != nil || !bitwise(p.Intensity.Float64s(), want[:p.Intensity.Size()]) {
			t.Errorf("%+v: the pattern after a gradient differs (%v)", cfg, err)
		}
		if !bitwise(everything(t, s, m, o), want) {
			t.Errorf("%+v: a second run differs", cfg)
		}
		for _, n := range []int{2, 3, 7} {
			if !bitwise(everything(t, s.WithWorkers(n), m, o), want) {
				t.Errorf("%+v: %d workers differ from one", cfg, n)
			}
		}
	}
}

// Gradients written over others are new ones, also over those of another morphology.
func TestGradientTo(t *testing.T) {
	m, o := blend3([3]int{3, 6, 5}, 2)
	s, p := simulated(t, m, o, testConfig())
	w := noise(9, -1, 1, p.Intensity.Shape()...)
	want, err := s.Gradient(context.Background(), o, w)
	if err != nil {
		t.Fatal(err)
	}
	for name, old := range map[string]*Gradient{
		"empty": {}, "fewer": {Materials: []Material{{Vfrac: noise(1, 0, 1, 3, 6, 5)}}}, "inputs": {Materials: slices.Clone(m.Materials)},
		"another": {Materials: []Material{{Vfrac: noise(1, 0, 1, 3, 6, 5), S: noise(1, 0, 1, 3, 6, 4)}, {Vfrac: noise(1, 0, 1, 3, 6, 5)}, {}, {}}},
	} {
		before := m.Materials[0].S.Copy().Float64s()
		for range 2 {
			got, err := s.GradientTo(context.Background(), old, o, w)
			if err != nil || got != old || len(got.Materials) != 3 {
				t.Fatalf("%s: %v", name, err)
			}
			for i := range got.Materials {
				fields := want.Materials[i].Fields()
				for k, f := range got.Materials[i].Fields() {
					if !bitwise(f.Float64s(), fields[k].Float64s()) {
						t.Errorf("%s: material %d field %d differs", name, i+1, k)
					}
				}
			}
			if !slices.EqualFunc(got.Optics, want.Optics, slices.Equal[[]Constants]) {
				t.Errorf("%s: constants differ", name)
			}
		}
		if !bitwise(before, m.Materials[0].S.Float64s()) {
			t.Fatalf("%s: the morphology changed", name)
		}
	}
}

// A field that two materials share has the sum of their gradients, as differences
// say, and so do energies that share a morphology.
func TestSharedFields(t *testing.T) {
	shape := [3]int{3, 6, 5}
	v, s := noise(1, 0.1, 0.9, shape[:]...), noise(2, 0.1, 0.9, shape[:]...)
	theta, psi := noise(3, 0, 3, shape[:]...), noise(4, -3, 3, shape[:]...)
	m := &Morphology{PhysSize: 4, Materials: []Material{{Vfrac: v, S: s, Theta: theta, Psi: psi}, {Vfrac: s, S: v, Theta: theta, Psi: psi}, {Vfrac: v}}}
	o, cfg := constants(2, 3), testConfig()
	sim, p := simulated(t, m, o, cfg)
	w := noise(9, -1, 1, p.Intensity.Shape()...)
	g, err := sim.Gradient(context.Background(), o, w)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := g.Materials[0], g.Materials[1], g.Materials[2]
	for name, f := range map[string]struct {
		at    *tensor.Tensor
		parts []*tensor.Tensor
	}{"v": {v, []*tensor.Tensor{a.Vfrac, b.S, c.Vfrac}}, "s": {s, []*tensor.Tensor{a.S, b.Vfrac}}, "theta": {theta, []*tensor.Tensor{a.Theta, b.Theta}}} {
		data := f.at.Data().([]float64)
		for _, i := range []int{0, 31, 77} {
			want, old := 0.0, data[i]
			for _, part := range f.parts {
				want += part.Float64s()[i]
			}
			at := func(x float64) (sum float64) {
				data[i] = x
				defer func() { data[i] = old }()
				for k, v := range image(t, m, o, cfg) {
					if v == v {
						sum += w.Float64s()[k] * v
					}
				}
				return sum
			}
			const h = 1e-3
			got := (8*(at(old+h)-at(old-h)) - (at(old+2*h) - at(old-2*h))) / (12 * h)
			if math.Abs(got-want) > 1e-7*(math.Abs(want)+math.Abs(got)) {
				t.Errorf("%s at voxel %d: %g, differences say %g", name, i, want, got)
			}
		}
	}
}

// Gradients in float32 are those in float64 within 2e-3 of their length.
func TestSinglePrecisionGradients(t *testing.T) {
	m, o := blend3([3]int{8, 16, 16}, 3)
	cfg := Config{Energies: []float64{280, 285, 290}, Angles: Angles{0, 15, 165}, RotMask: true}
	var grads [2]*Gradient
	for k, bits := range []int{64, 32} {
		cfg.Precision = bits
		s, p := simulated(t, m, o, cfg)
		_, d := logLoss(p, noise(1, 1e-9, 1e-8, p.Intensity.Shape()...).Float64s(), noise(1, 1, 2, p.Intensity.Shape()...).Float64s(), 1e-9)
		g, err := s.Gradient(context.Background(), o, d)
		if err != nil {
			t.Fatal(err)
		}
		grads[k] = g
	}
	for i := range m.Materials {
		want := grads[0].Materials[i].fields()
		for k, f := range grads[1].Materials[i].fields() {
			diff, size := 0.0, 0.0
			for j, v := range (*want[k].at).Float64s() {
				d := (*f.at).Float64s()[j] - v
				diff, size = diff+d*d, size+v*v
			}
			if e := math.Sqrt(diff / size); !(e <= 2e-3) {
				t.Errorf("material %d: %s is off by %g", i+1, f.name, e)
			}
		}
	}
}
