// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"
	"strings"
	"testing"
)

func TestAngleLists(t *testing.T) {
	for _, c := range []struct {
		a           Angles
		n           int
		first, last float64
	}{
		{Angles{}, 1, 0, 0}, {Angles{30, 0, 30}, 1, 30, 30}, {Angles{0, 1, 360}, 361, 0, 360},
		{Angles{0, 15, 179.9}, 13, 0, 180}, {Angles{0, 40, 100}, 4, 0, 120}, {Angles{-90, 45, 90}, 5, -90, 90}, {Angles{0, 7, 2}, 1, 0, 0},
	} {
		list, err := c.a.List()
		if err != nil || len(list) != c.n || list[0] != c.first || list[len(list)-1] != c.last {
			t.Errorf("%v: %v, %v", c.a, list, err)
		}
	}
	nan := math.NaN()
	for _, a := range []Angles{{10, 1, 0}, {0, 0, 10}, {0, -1, 10}, {nan, 1, 2}, {0, nan, 2}, {0, 1, math.Inf(1)}, {0, 1e-9, 360}} {
		if list, err := a.List(); err == nil {
			t.Errorf("%v: %d angles, want an error", a, len(list))
		}
	}
}

// Angles that occur twice count twice: 0 to 360 degrees has the first at its end.
func TestAnglesCountAsOftenAsTheyOccur(t *testing.T) {
	m, o := blend3([3]int{2, 6, 6}, 1)
	cfg := Config{Energies: []float64{285}, RotMask: true, Grid: ExactGrid}
	sum := make([]float64, 36)
	for _, a := range []float64{0, 120, 240, 360} {
		cfg.Angles = Angles{a, 0, a}
		for i, v := range image(t, m, o, cfg) {
			sum[i] += v / 4
		}
	}
	cfg.Angles = Angles{0, 120, 360}
	got := image(t, m, o, cfg)
	for i := range got { // inside, where every angle reaches
		if math.Hypot(float64(i/6-3), float64(i%6-3)) > 2 {
			got[i], sum[i] = 0, 0
		}
	}
	near(t, "mean", got, sum, 1e-13)
}

func TestConfigsThatAreRefused(t *testing.T) {
	ok := Config{Energies: []float64{285}}
	for want, change := range map[string]func(c *Config){
		"no energies":        func(c *Config) { c.Energies = nil },
		"energy 0 is -1":     func(c *Config) { c.Energies = []float64{-1} },
		"energy 1 is NaN":    func(c *Config) { c.Energies = []float64{285, math.NaN()} },
		"energy 0 is +Inf":   func(c *Config) { c.Energies = []float64{math.Inf(1)} },
		"angles start at 10": func(c *Config) { c.Angles = Angles{10, 1, 0} },
		"opposite to +Z":     func(c *Config) { c.Case, c.K = BeamDivergence, [][3]float64{{0, 0, -3}} },
		"K[1] is [0 0 0]":    func(c *Config) { c.Case, c.K = BeamDivergence, [][3]float64{{0, 0, 1}, {}} },
		"K[0] is [NaN 0 1]":  func(c *Config) { c.Case, c.K = BeamDivergence, [][3]float64{{math.NaN(), 0, 1}} },
		"no directions K":    func(c *Config) { c.Case = BeamDivergence },
		"Detector is [0 0 -1]": func(c *Config) {
			c.Case, c.K, c.Detector = GrazingIncidence, [][3]float64{{0, 0, 1}}, [3]float64{0, 0, -1}
		},
		"precision is 16":    func(c *Config) { c.Precision = 16 },
		"Case is 3":          func(c *Config) { c.Case = 3 },
		"Interpolation is 2": func(c *Config) { c.Interpolation = 2 },
		"Window is -1":       func(c *Config) { c.Window = -1 },
		"Frame is 2":         func(c *Config) { c.Frame = 2 },
		"Grid is 9":          func(c *Config) { c.Grid = 9 },
	} {
		c := ok
		change(&c)
		if _, err := New([3]int{1, 4, 4}, 1, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, size := range []float64{0, -1, math.NaN()} {
		if _, err := New([3]int{1, 4, 4}, size, ok); err == nil {
			t.Errorf("voxels of %g nm: no error", size)
		}
	}
	if _, err := New([3]int{0, 4, 4}, 1, ok); err == nil {
		t.Error("no slices: no error")
	}
}

// Directions of the light have no length.
func TestDirectionsOfAnyLength(t *testing.T) {
	m, o := blend3([3]int{5, 6, 7}, 1)
	cfg := Config{Energies: []float64{285}, Case: BeamDivergence, RotMask: true, Grid: ExactGrid, Angles: Angles{3, 20, 90}}
	cfg.K = [][3]float64{{0.6, 0, 0.8}}
	want := image(t, m, o, cfg)
	cfg.K = [][3]float64{{3, 0, 4}}
	near(t, "longer", image(t, m, o, cfg), want, 1e-13)
	cfg.K, cfg.CorrectBaseAngle = [][3]float64{{0, 0, 2}}, true
	tilted := image(t, m, o, cfg)
	cfg.Case = Transmission
	near(t, "along Z", tilted, image(t, m, o, cfg), 1e-13)
}

// Part of the sphere of an oblique beam lies outside the planes of the transform.
func TestObliqueBeamsLeaveTheVolume(t *testing.T) {
	m, o := blend3([3]int{8, 9, 9}, 1)
	cfg := Config{Energies: []float64{285}, Case: BeamDivergence, K: [][3]float64{{0.9, 0, 0.44}}, Grid: ExactGrid}
	seen, hidden := 0, 0
	s, p := simulated(t, m, o, cfg)
	for _, v := range p.Intensity.Float64s() {
		if v == v {
			seen++
		} else {
			hidden++
		}
	}
	if seen == 0 || hidden == 0 {
		t.Errorf("%d pixels see the sample, %d do not", seen, hidden)
	}
	near(t, "direct", p.Intensity.Float64s(), (&direct{m: m, o: o, cfg: s.cfg}).pattern(), 1e-11)
}
