// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"math"
	"slices"
	"testing"
)

// Images of some energies are bit for bit those of all.
func TestPatternOf(t *testing.T) {
	m, o := blend3([3]int{4, 6, 8}, 3)
	cfg, ctx := testConfig(), context.Background()
	cfg.Energies = []float64{284.4, 285.2, 288.6}
	s, err := New(m.Shape(), m.PhysSize, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Transform(ctx, m); err != nil {
		t.Fatal(err)
	}
	all, err := s.Pattern(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	want := all.Intensity.Float64s()
	size := len(want) / len(o)
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	for e := range o {
		p, err := s.PatternOf(ctx, o, e, e+1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(p.Intensity.Float64s(), want[e*size:(e+1)*size], same) || p.Energies[0] != cfg.Energies[e] {
			t.Errorf("energy %d differs", e)
		}
	}
	for _, r := range [][2]int{{-1, 1}, {0, len(o) + 1}, {1, 1}} {
		if _, err := s.PatternOf(ctx, o, r[0], r[1]); err == nil {
			t.Errorf("%v: no error", r)
		}
	}
}

func TestBeams(t *testing.T) {
	r := math.Sqrt2 / 2
	beams, err := Config{Energies: []float64{285}, Case: BeamDivergence, K: [][3]float64{{0, 0, 2}, {0, 1, 1}, {1, 1, 4}}}.Beams()
	if err != nil {
		t.Fatal(err)
	}
	if b := beams[0]; b.K != [3]float64{0, 0, 1} || b.Rotation != [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} || b.Base != 0 {
		t.Errorf("along z: %+v", b)
	}
	if got := mat3(beams[1].Rotation).times(vec{0, 0, 1}); math.Abs(got[1]-r) > 1e-15 || math.Abs(got[2]-r) > 1e-15 {
		t.Errorf("z goes to %v", got)
	}
	// The field, turned by the base angle, lies in y = 0.
	b := beams[2]
	s, c := math.Sincos(b.Base * math.Pi / 180)
	if e := mat3(b.Rotation).times(vec{c, s, 0}); math.Abs(e[1]) > 4e-5 || e[0] < 0 {
		t.Errorf("the field is %v", e)
	}
	if _, err := (Config{Energies: []float64{285}, Case: BeamDivergence}).Beams(); err == nil {
		t.Error("no beams: no error")
	}
}
