// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// Synapses that one brain returns make another go the same way, and a snapshot of it.
func TestCSRGoesOnAlike(t *testing.T) {
	make := func(given bool) *Brain {
		b := New(Settings{P: 0.1, Seed: 9})
		check(t, b.AddArea(Area{Name: "A", N: 500, K: 20, Beta: 0.1}))
		check(t, b.AddArea(Area{Name: "B", N: 700, K: 30, Beta: 0.1}))
		if given {
			c, err := b.Clone().CSR("A", "B")
			check(t, err)
			b.set.P = 0 // nothing is drawn
			check(t, b.SetCSR("A", "B", c))
			b.set.P = 0.1
		}
		check(t, b.Activate("A", 2))
		_, err := b.project(4, "A>B B>A")
		check(t, err)
		return b
	}
	a, b := make(false), make(true)
	var file bytes.Buffer
	check(t, b.Save(&file))
	c, err := Load(&file, nil)
	check(t, err)
	for _, x := range []*Brain{a, b, c} {
		_, err := x.project(3, "A>B B>A B>B")
		check(t, err)
	}
	if !slices.Equal(winners(t, a, "B"), winners(t, b, "B")) || !slices.Equal(winners(t, a, "B"), winners(t, c, "B")) {
		t.Error("given synapses go another way")
	}
	one, err := a.CSR("A", "B")
	check(t, err)
	two, err := c.CSR("A", "B")
	check(t, err)
	var npz bytes.Buffer
	check(t, two.WriteNPZ(&npz))
	two, err = ReadCSR(bytes.NewReader(npz.Bytes()), int64(npz.Len()))
	check(t, err)
	if !slices.Equal(one.Weights, two.Weights) || !slices.Equal(one.Targets, two.Targets) || !slices.Equal(one.Starts, two.Starts) {
		t.Error("weights differ")
	}
}

func TestCSRRefusals(t *testing.T) {
	b := New(Settings{P: 0.1})
	check(t, b.AddStimulus("S", 3))
	check(t, b.AddArea(Area{Name: "A", N: 3, K: 1}))
	check(t, b.AddArea(Area{Name: "L", N: 30, K: 1, Lazy: true}))
	if _, err := b.CSR("S", "A"); err == nil || !strings.Contains(err.Error(), "fire as one") {
		t.Error(err)
	}
	ok := CSR{[]int64{0, 1, 1, 2}, []int32{2, 0}, []float64{1, 3}, 0}
	check(t, b.SetCSR("A", "A", &ok))
	for want, c := range map[string]CSR{
		"each of 3 rows":     {[]int64{0, 1, 2}, []int32{2, 0}, []float64{1, 3}, 0},
		"leads to 3":         {[]int64{0, 1, 1, 2}, []int32{3, 0}, []float64{1, 3}, 0},
		"weight NaN":         {[]int64{0, 1, 1, 2}, []int32{2, 0}, []float64{1, math.NaN()}, 0},
		"in ascending order": {[]int64{0, 2, 2, 2}, []int32{2, 0}, []float64{1, 1}, 0},
		"onto 4 neurons":     {[]int64{0, 1, 1, 2}, []int32{2, 0}, []float64{1, 3}, 4},
		"2 targets and":      {[]int64{0, 1, 1, 2}, []int32{2, 0}, []float64{1}, 0},
	} {
		if err := b.SetCSR("A", "A", &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := b.SetCSR("A", "L", &ok); err == nil || !strings.Contains(err.Error(), "have all their neurons") {
		t.Error(err)
	}
}

func TestStatistics(t *testing.T) {
	b := New(Settings{P: 0.05, Seed: 2})
	check(t, b.AddArea(Area{Name: "A", N: 2000, K: 50, Beta: 0.1}))
	check(t, b.Activate("A", 0))
	_, err := b.project(2, "A>A")
	check(t, err)
	s, err := b.Statistics("A", "A")
	check(t, err)
	if math.Abs(s.Density-0.05) > 5e-4 || math.Abs(s.InVariance/(100*0.95)-1) > 0.15 || s.Largest < 1.1 || s.Grown == 0 || math.Abs(s.InMean-s.OutMean) > 1e-9 {
		t.Errorf("%+v", s)
	}
	if d, w, err := b.Density("A"); err != nil || d < 0.05 || w < 1 {
		t.Errorf("density %v, weight %v, %v", d, w, err)
	}
}
