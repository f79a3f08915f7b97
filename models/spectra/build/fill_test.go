// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/golden"
)

// The interpolation is SciPy's, with and without smoothing.
func TestRadialGolden(t *testing.T) {
	var f struct {
		Points, Values, Query [][]float64
		Exact                 [][]float64 `json:"out_smooth0"`
		Smooth                [][]float64 `json:"out_smooth0p1"`
	}
	golden.JSON(t, &f, "spectra", "misc", "rbf.json")
	points := slices.Concat(f.Points...)
	for smoothing, want := range map[float64][][]float64{0: f.Exact, 0.1: f.Smooth} {
		r := must[*radial](t)(newRadial(points, len(f.Points[0]), smoothing))
		if len(f.Query) == 0 {
			t.Fatal("no queries")
		}
		for i, q := range f.Query {
			got := make([]float64, len(f.Values[0]))
			for k, w := range r.weights(q) {
				for c, v := range f.Values[k] {
					got[c] += w * v
				}
			}
			if d := worst(got, want[i]); !(d < 1e-10) {
				t.Errorf("smoothing %g, query %d differs by %g", smoothing, i, d)
			}
		}
	}
	if _, err := newRadial([]float64{1, 2, 3, 1}, 1, 0); err == nil || !strings.Contains(err.Error(), "singular") {
		t.Error(err)
	}
}

// Filled nodes are near what was left out, real ones stay as they are, and nodes out of reach stay empty.
func TestFill(t *testing.T) {
	ctx := context.Background()
	all := gridded(t, func(int) bool { return true })
	holes := []int{7, 22, 23}
	set := gridded(t, func(id int) bool { return !slices.Contains(holes, id) })
	grid := must[*rvspecfit.Library](t)(Regular(set))
	filled := must[*rvspecfit.Library](t)(Fill(ctx, grid, FillSettings{}))
	ids, pixels := filled.Grid.IDs.Data().([]int64), len(all.Lam)
	if len(filled.FileIDs) != 24 || len(filled.LogNorms) != 24 {
		t.Fatalf("%d templates, %d normalisations", len(filled.FileIDs), len(filled.LogNorms))
	}
	got, want := filled.Spectra.Float64s(), all.Spectra.Float64s()
	for node, id := range ids {
		tolerance := 1e-15
		if slices.Contains(holes, node) {
			if tolerance = 0.05; filled.FileIDs[id] != -1 {
				t.Errorf("the filled node %d has the number %d", node, filled.FileIDs[id])
			}
		}
		a, b := got[int(id)*pixels:(int(id)+1)*pixels], want[node*pixels:(node+1)*pixels]
		if d := worst(a, b); !(d < tolerance) {
			t.Errorf("node %d differs by %g", node, d)
		}
		for k, axis := range filled.Grid.Axes {
			at := filled.Points.Float64s()[k*24+int(id)]
			if place := []int{node / 6, node / 2 % 3, node % 2}[k]; math.Abs(axis[place]-at) > 1e-12 {
				t.Errorf("template %d of node %d has %g on axis %d, want %g", id, node, at, k, axis[place])
			}
		}
	}
	if n := len(must[*rvspecfit.Library](t)(Fill(ctx, filled, FillSettings{})).FileIDs); n != 24 {
		t.Errorf("a grid without holes gets %d templates", n)
	}
	// All of the lowest teff and one template of each other: logg 4 at the two highest teff is two steps away.
	few := must[*rvspecfit.Library](t)(Regular(gridded(t, func(id int) bool { return id < 6 || id%6 == 0 })))
	part := must[*rvspecfit.Library](t)(Fill(ctx, few, FillSettings{Reach: 1}))
	var empty []int
	for node, id := range part.Grid.IDs.Data().([]int64) {
		if id < 0 {
			empty = append(empty, node)
		}
	}
	if !slices.Equal(empty, []int{16, 17, 22, 23}) {
		t.Errorf("the empty nodes are %v", empty)
	}
	for text, f := range map[string]func() error{
		"make one with Regular": func() error { _, err := Fill(ctx, set, FillSettings{}); return err },
		"the window has 1":      func() error { _, err := Fill(ctx, grid, FillSettings{Window: 1}); return err },
		"context canceled": func() error {
			stopped, stop := context.WithCancel(ctx)
			stop()
			_, err := Fill(stopped, grid, FillSettings{})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
}
