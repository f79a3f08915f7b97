// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"strings"
	"testing"
)

// disc is a slice with a phase of a spiral director and one around it.
func disc(normal string) Slice {
	const ny, nx = 30, 40
	s := Slice{Title: "A disc", Normal: normal, NY: ny, NX: nx, Voxel: 2}
	a, b := Phase{Name: "disc"}, Phase{Name: "matrix"}
	for k := range ny * nx {
		y, x := float64(k/nx)-14.5, float64(k%nx)-19.5
		r := math.Hypot(x, y)
		v := 1 / (1 + math.Exp(r-11))
		a.Vfrac, b.Vfrac = append(a.Vfrac, v), append(b.Vfrac, 1-v)
		a.S = append(a.S, math.Exp(-r/20))
		a.Theta, a.Psi = append(a.Theta, math.Pi/2+0.02*x), append(a.Psi, math.Atan2(y, x)+0.5)
	}
	s.Phases = []Phase{a, b}
	return s
}

func patternRows() []PatternRow {
	image := particle()[0][0]
	var rows []PatternRow
	for e := range 2 {
		im := image
		im.Title = []string{"284.7 eV", "285.2 eV"}[e]
		var q, i, para, a []float64
		for k := range 40 {
			x := 0.01 * float64(k+1)
			q, i = append(q, x), append(i, math.Exp(-10*x)*(1.1+math.Cos(30*x)))
			a = append(a, 0.3*math.Sin(12*x+float64(e)))
			para = append(para, i[k]*(1+a[k]))
		}
		rows = append(rows, PatternRow{Pattern: im, Plots: []Lines{
			{XLabel: "q (1/nm)", YLabel: "intensity", LogY: true, Curves: []Line{{Name: "I", X: q, Y: i}, {Name: "along", X: q, Y: para}}},
			{XLabel: "q (1/nm)", YLabel: "A", Curves: []Line{{Name: "A", X: q, Y: a}}, Low: -1, High: 1}}})
	}
	return rows
}

func TestScatteringRefuses(t *testing.T) {
	ragged := patternRows()
	ragged[1].Plots = nil
	uneven := disc("z")
	uneven.Phases[0].Psi = uneven.Phases[0].Psi[1:]
	for says, f := range map[string]func() (*Figure, error){
		"no patterns": func() (*Figure, error) { return Scattering("x", nil) },
		"0 plots":     func() (*Figure, error) { return Scattering("x", ragged) },
		"across":      func() (*Figure, error) { return Morphology(disc("w")) },
		"Psi of disc": func() (*Figure, error) { return Morphology(uneven) },
		"no phases":   func() (*Figure, error) { return Histograms("x", nil, 0) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q in it", err, says)
		}
	}
	// Nothing to see of a plot or of angles leaves a hole, not an error.
	empty := patternRows()[:1]
	empty[0].Plots[0].Curves = []Line{{Name: "I", X: []float64{1}, Y: []float64{math.NaN()}}}
	blank := disc("z")
	blank.Least = 2
	for _, f := range []func() (*Figure, error){func() (*Figure, error) { return Scattering("x", empty) }, func() (*Figure, error) { return Morphology(blank) }} {
		fig, err := f()
		if err != nil {
			t.Fatal(err)
		}
		valid(t, fig)
	}
}

func TestFold(t *testing.T) {
	for _, c := range [][2]float64{{0.3, 0.4}, {-0.3, 0.4}, {4, 1}, {9, -20}, {2 * math.Pi, 7}} {
		a, b := Fold(c[0], c[1])
		if a < 0 || a > math.Pi || b < 0 || b >= 2*math.Pi+1e-15 {
			t.Errorf("%v becomes %g, %g", c, a, b)
		}
		for i, d := range [3]float64{math.Cos(c[1])*math.Sin(c[0]) - math.Cos(b)*math.Sin(a), math.Sin(c[1])*math.Sin(c[0]) - math.Sin(b)*math.Sin(a), math.Cos(c[0]) - math.Cos(a)} {
			if math.Abs(d) > 1e-14 {
				t.Errorf("%v: component %d moves by %g", c, i, d)
			}
		}
	}
}
