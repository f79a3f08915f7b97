// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// mapOf is a map of two energies, the first of which has whole counts, whose labels put q = 0 at a column and a row; the pattern is about
// the column 38.6 and the row 17.2.
func mapOf(column, row float64) *scatter.Set {
	const rows, columns, step = 40, 60, 0.01
	random := rand.New(rand.NewPCG(5, 5))
	set := &scatter.Set{Name: "map", Kind: scatter.Maps, Rows: rows, Columns: columns}
	for i, e := range []float64{284, 290} {
		m := scatter.Map{Energy: e, Exposure: 1, QY: middles(-(row+0.5)*step, step, rows), QX: middles(-(column+0.5)*step, step, columns)}
		for p := range rows * columns {
			y, x := float64(p/columns)-17.2, float64(p%columns)-38.6
			mu := 2 + 400*math.Exp(-math.Hypot(x/1.3, y)/4)
			m.I = append(m.I, distuv.Poisson{Lambda: mu, Src: random}.Rand()+0.3*float64(i))
		}
		set.Maps = append(set.Maps, m)
	}
	return set
}

// Maps whose labels exchange the beam's x and y are recognised and told, those that are right are not, and q is that of the energy with
// whole counts.
func TestExchangedAxes(t *testing.T) {
	for name, labels := range map[string][2]float64{"right": {37, 18.4}, "exchanged": {18.4, 37}} {
		d, notes, err := measured.FromFile(mapOf(labels[0], labels[1]), measured.Reading{})
		if err != nil {
			t.Fatal(err)
		}
		told := strings.Join(notes, "\n")
		if got := strings.Contains(told, "exchanged: qx = 0 and qy = 0 are at column 18.4 and row 37"); got != (name == "exchanged") {
			t.Errorf("%s: %s", name, told)
		}
		x, y := d.Geometry.PoniX/d.Detector.PixelX-0.5, d.Geometry.PoniY/d.Detector.PixelY-0.5
		if math.Abs(x-37) > 1e-6 || math.Abs(y-18.4) > 1e-6 {
			t.Errorf("%s: the beam is at column %g and row %g, want 37 and 18.4", name, x, y)
		}
		if q := d.Frames[0].Bins.Q[18*60+37]; q > 0.01 {
			t.Errorf("%s: q of the pixel beside the beam is %g 1/nm", name, q)
		}
		if want := 0.01 * d.Geometry.Distance / rsoxs.Wavenumber(284); math.Abs(d.Detector.PixelX/want-1) > 1e-9 {
			t.Errorf("%s: pixels are %g mm, want %g as 284 eV has them", name, d.Detector.PixelX, want)
		}
	}
}
