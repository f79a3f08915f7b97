// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
)

// Frames without counts are a flaw of a movie whose other frames have many, and natural in one of few photons.
func TestBlankFrames(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		counts float64 // in a frame
		blank  int
		want   int
	}{{5000, 0, 0}, {5000, 300, 300}, {5000, 1, 1}, {0.05, 0, 0}, {0.05, 300, 0}, {3, 0, 0}} {
		var trace nexus.Trace
		for i := range 800 {
			n := 0.0
			for at := rng.ExpFloat64(); at < c.counts; at += rng.ExpFloat64() {
				n++
			}
			if i < c.blank {
				n = 0
			}
			trace.Mean = append(trace.Mean, n/1e4)
		}
		if n, of := blank(&trace); n != c.want || of != 800 {
			t.Errorf("%g counts and %d blank frames: %d of %d", c.counts, c.blank, n, of)
		}
		flagged := len(flaws(&nexus.Result{Trace: &trace}))
		if want := c.want > 2; (flagged == 1) != want {
			t.Errorf("%g counts and %d blank frames: %d flaws", c.counts, c.blank, flagged)
		}
	}
	if len(flaws(&nexus.Result{Attrs: map[string]string{nexus.AttrMisplaced: "x"}})) != 1 {
		t.Error("another geometry is no flaw")
	}
}

// g2 of the first frames differs from that of all if the sample ages, and only by its errors if not.
func TestAgeingIsNamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	const n, runs = 40, 300
	delays := make([]float64, n)
	for i := range delays {
		delays[i] = 1e-3 * math.Pow(10, 4*float64(i)/n)
	}
	matrix := func(v []float64) *nexus.Matrix { return &nexus.Matrix{Rows: n, Cols: 1, Data: v} }
	for _, change := range []float64{0, 0.5, -0.5} { // of ln tau in the first quarter
		told := 0
		for range runs {
			all, part, sd := make([]float64, n), make([]float64, n), make([]float64, n)
			for i, x := range delays {
				sd[i] = 0.004
				own := rng.NormFloat64() * sd[i]
				rest := rng.NormFloat64() * sd[i] / math.Sqrt(3)
				all[i] = 1 + 0.2*math.Exp(-2*x/0.1) + own/4 + 3*rest/4
				part[i] = 1 + 0.2*math.Exp(-2*x/(0.1*math.Exp(change))) + own
			}
			m := &nexus.Multitau{G2: matrix(all), Partial: []*nexus.Matrix{matrix(part), matrix(all)}, PartialErr: []*nexus.Matrix{matrix(sd), matrix(sd)}, PartialFrames: []float64{250, 1000}}
			if a, ok := ageing(m, 1, delays); ok {
				told++
				if a.Kind != "ageing" {
					t.Errorf("%+v", a)
				}
			}
		}
		if change == 0 && told > 0 || change != 0 && told < runs*99/100 {
			t.Errorf("a change of %g: told in %d of %d runs", change, told, runs)
		}
	}
}
