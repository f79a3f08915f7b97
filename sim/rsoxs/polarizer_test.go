// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// mixtures are morphologies with more fields than their polarization: of isotropic materials, of one that is aligned,
// in both forms, and of several.
func mixtures(shape [3]int) map[string]*Morphology {
	all, _ := blend3(shape, 1)
	a, b, c := all.Materials[0], all.Materials[1], all.Materials[2]
	d, e := Material{Vfrac: noise(21, 0, 1, shape[:]...)}, Material{Vfrac: noise(22, 0, 1, shape[:]...)}
	gone := Material{Vfrac: tensor.New(tensor.Float64, shape[:]...)}
	hidden := a
	hidden.S, hidden.Theta = a.S.Copy(), a.Theta.Copy()
	for i := range 40 { // angles that do not exist where nothing is aligned
		hidden.S.Data().([]float64)[3*i], hidden.Theta.Data().([]float64)[3*i] = 0, math.NaN()
	}
	list := map[string]*Morphology{}
	for name, m := range map[string][]Material{
		"isotropic": {c, d, e}, "angles": {c, a, d}, "vectors": {b}, "all": {a, b, c}, "absent": {gone, hidden, c},
	} {
		list[name] = &Morphology{PhysSize: 4, Materials: m}
	}
	return list
}

// The polarization has the pattern and the gradients of the fields that it stands for, whatever the volume is
// multiplied by or averaged over.
func TestPolarizer(t *testing.T) {
	for name, m := range mixtures([3]int{5, 9, 12}) {
		for _, cfg := range []Config{{}, {Window: Hann, Grid: ExactGrid}, {CollapseZ: true}, {RotMask: true, Interpolation: Nearest}} {
			t.Run(fmt.Sprint(name, " ", cfg.Window, cfg.CollapseZ, cfg.RotMask), func(t *testing.T) {
				cfg.Energies = []float64{285}
				samePolarization(t, m, cfg)
			})
		}
	}
}

func samePolarization(t *testing.T, m *Morphology, cfg Config) {
	ctx, o := context.Background(), constants(1, len(m.Materials))
	s, err := New(m.Shape(), m.PhysSize, cfg)
	if err != nil {
		t.Fatal(err)
	}
	var numbers [2][][]float64 // pattern, derivatives with respect to the arrays and to the constants
	for k, merge := range []bool{true, false} {
		if err := s.Transform(ctx, m); err != nil {
			t.Fatal(err)
		}
		if err := s.ready(ctx, o, merge); err != nil {
			t.Fatal(err)
		}
		if got := s.state == polarization; got != merge {
			t.Fatalf("state %v with merge=%v", s.state, merge)
		}
		p, err := s.Pattern(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		w := noise(9, -1, 1, p.Intensity.Shape()...)
		numbers[k] = append(numbers[k], p.Intensity.Float64s())
		g, err := s.Gradient(ctx, o, w)
		if err != nil {
			t.Fatal(err)
		}
		for i := range g.Materials {
			for _, f := range g.Materials[i].Fields() {
				numbers[k] = append(numbers[k], f.Float64s())
			}
		}
		for _, c := range g.Optics[0] {
			numbers[k] = append(numbers[k], []float64{c.DeltaPara, c.BetaPara, c.DeltaPerp, c.BetaPerp})
		}
	}
	for i, want := range numbers[1] {
		largest := 0.0
		for _, v := range want {
			if v == v {
				largest = max(largest, math.Abs(v))
			}
		}
		if largest > 0 {
			near(t, fmt.Sprintf("array %d", i), numbers[0][i], want, 1e-11)
		}
	}
}

// Other constants for a morphology have the pattern that they have from the start, and so have those after a gradient
// or a tangent.
func TestPolarizerOfOtherConstants(t *testing.T) {
	m, o := blend3([3]int{4, 8, 9}, 2)
	cfg := Config{Energies: []float64{285}}
	ctx := context.Background()
	s, first := simulated(t, m, o[:1], cfg)
	for i, c := range []Optics{o[1:], o[:1], o[1:]} {
		p, err := s.Pattern(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint("pattern ", i), p.Intensity.Float64s(), image(t, m, c, cfg), 1e-11)
		if _, err := s.Tangent(ctx, c, nil, c); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Gradient(ctx, c, first.Intensity); err != nil {
			t.Fatal(err)
		}
	}
	for _, workers := range []int{1, 2, 5} {
		if !bitwise(everything(t, s.WithWorkers(workers), m, o[:1]), everything(t, s, m, o[:1])) {
			t.Errorf("%d workers differ", workers)
		}
	}
}
