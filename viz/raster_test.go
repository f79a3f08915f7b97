// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"strings"
	"testing"
)

// spikes is an area that settles and one that is silent now and then.
func spikes() []Firing {
	a, b := Firing{Area: "A"}, Firing{Area: "B"}
	for t := range 12 {
		var w, v []int32
		for j := range 30 {
			w = append(w, int32(10*j+min(7, t*(1+j%3))))
			v = append(v, int32((j*7+3*t)%40))
		}
		a.Steps, a.Winners = append(a.Steps, t+1), append(a.Winners, w)
		if t%4 != 1 {
			b.Steps, b.Winners = append(b.Steps, t+1), append(b.Winners, v)
		}
	}
	return []Firing{a, b}
}

func growth() Lines {
	l := Lines{XLabel: "step", YLabel: "support / k", Curves: []Line{{Name: "beta 0.05"}, {Name: "beta 0.1"}}}
	for t := range 30 {
		for i := range l.Curves {
			c := &l.Curves[i]
			c.X, c.Y = append(c.X, float64(t+1)), append(c.Y, 4-3*math.Exp(-float64(t*(i+1))/8))
		}
	}
	return l
}

func TestRasterAndPlots(t *testing.T) {
	raster, err := Raster("Winners", spikes()...)
	if err != nil {
		t.Fatal(err)
	}
	plots, err := Plots("Growth", growth())
	if err != nil {
		t.Fatal(err)
	}
	banded := growth()
	for i := range banded.Curves {
		c := &banded.Curves[i]
		for k, y := range c.Y {
			c.Low, c.High = append(c.Low, y-0.02*float64(k)), append(c.High, y+0.01*float64(k))
		}
	}
	bands, err := Plots("Bands", banded)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*Figure{"raster": raster, "plots": plots, "bands": bands} {
		valid(t, f)
		printable(t, f)
		compare(t, name, f.pixels(goldenDPI))
	}
}

// Cells say how a neuron comes to fire.
func TestRasterCells(t *testing.T) {
	got := Firing{Steps: []int{3, 4, 6}, Winners: [][]int32{{5, 9}, {9, 2}, {5, 9}}}.cells()
	want := [][]uint8{{novel, silent, silent, back}, {novel, kept, silent, kept}, {silent, novel, silent, silent}}
	for i := range want {
		if string(got[i]) != string(want[i]) {
			t.Errorf("neuron %d: %v, want %v", i, got[i], want[i])
		}
	}
}

// Of very many steps columns stand for several, and keep what is rarest.
func TestRasterOfManySteps(t *testing.T) {
	rows := Firing{Steps: []int{1, 2, 3, 2_000_000_000}, Winners: [][]int32{{5}, {5}, {5}, {5, 6}}}.cells()
	if len(rows) != 2 || len(rows[0]) != mostColumns || rows[0][0] != novel || rows[0][mostColumns-1] != kept || rows[1][mostColumns-1] != novel {
		t.Errorf("%d rows of %d columns", len(rows), len(rows[0]))
	}
}

func TestRasterRefuses(t *testing.T) {
	for says, f := range map[string]func() (*Figure, error){
		"no areas": func() (*Figure, error) { return Raster("x") },
		"0 steps":  func() (*Figure, error) { return Raster("x", Firing{Area: "A"}) },
		"no neuron": func() (*Figure, error) {
			return Raster("x", Firing{Area: "A", Steps: []int{1}, Winners: [][]int32{nil}})
		},
		"no plots to": func() (*Figure, error) { return Plots("x") },
		"0 values":    func() (*Figure, error) { return Plots("x", Lines{Curves: []Line{{Name: "a", X: []float64{1}}}}) },
		"the band of a": func() (*Figure, error) {
			return Plots("x", Lines{Curves: []Line{{Name: "a", X: []float64{1}, Y: []float64{1}, Low: []float64{0}}}})
		},
		"no curve ha": func() (*Figure, error) { return Plots("x", Lines{}) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q in it", err, says)
		}
	}
}
