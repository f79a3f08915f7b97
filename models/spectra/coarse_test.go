// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/tier"
)

// Leaving out a node tells the error of the interpolation in the middle of a cell: that of a parabola is exact.
func TestLeftOutNode(t *testing.T) {
	s := RegularSettings{Axes: [][]float64{{0, 1, 3, 4}, {0, 1}}}
	for i, x := range s.Axes[0] {
		for k, y := range s.Axes[1] {
			s.IDs, s.Points = append(s.IDs, 2*i+k), append(s.Points, x, y)
			s.LogFlux = append(s.LogFlux, 0.7*x*x+y)
		}
	}
	r, err := NewRegular(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{0.2, 1.5, 2.7, 3.9} {
		width := 1.0
		if x > 1 && x < 3 {
			width = 2
		}
		got := r.leftOut([]float64{x, 0.3}, 0)
		if want := 0.7 * width * width / 4; got == nil || math.Abs(got[0]-want) > 1e-12 {
			t.Errorf("at %g: %v, want %g", x, got, want)
		}
	}
	if got := r.leftOut([]float64{0.5, 0.5}, 1); got != nil {
		t.Errorf("of an axis with two nodes: %v", got)
	}
}

// A grid whose steps are wide for the errors of the data is noted, with the sizes of both, and one of a star with large errors is not.
func TestCoarseGridIsNoted(t *testing.T) {
	tier.SlowOnly(t)
	lib := goldenLibrary(t, "grid")
	d := draw(t, goldenLibrary(t, "nn"), 9)
	for e, want := range map[float64]bool{0.003: true, 1: false} {
		noted := 0
		fits := fitAll(t, lib, Settings{Continuum: 10, Batch: 4}, d.stars(t, 4, same(e), nil))
		for _, fit := range fits {
			for _, n := range fit.Verdict.Notes {
				if n.Kind == KindCoarse && strings.Contains(n.Text, "standard deviations") {
					noted++
					t.Log(check.Flag{Text: n.Text})
				}
			}
		}
		if want && noted < 3 || !want && noted > 0 {
			t.Errorf("errors of %g: noted for %d of 4 stars", e, noted)
		}
	}
}
