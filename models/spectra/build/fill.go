// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// FillSettings say how empty nodes of a grid are filled.
type FillSettings struct {
	// Window is the number of neighbouring nodes along the first axis, about an empty node, whose templates
	// count. Default 12.
	Window int
	// Smoothing is added to the diagonal of the matrix; if it is above 0, templates are taken to
	// have errors. Default 0.
	Smoothing float64
	// Reach is the largest number of steps, along any axis, from an empty node to a template for
	// the node to be filled. Default: all nodes are filled, also by extrapolation.
	Reach int
}

// mostRadial is the greatest number of templates in a window: their matrix takes 0.3 GB.
const mostRadial = 6000

// Fill computes templates for the empty nodes of a regular grid from those in the neighbourhood, by
// multiquadrics in the number of the node along each axis, and returns the grid with them. They
// have no number in the catalogue: -1. It takes the place of rvs_regularize_grid, which uses
// smoothed numbers of nodes as coordinates.
//
// Filled templates are guesses, which are worse the farther they are from real ones: a grid
// interpolates between them as if they were real.
func Fill(ctx context.Context, l *rvspecfit.Library, s FillSettings) (*rvspecfit.Library, error) {
	if l.Grid == nil || l.Spectra == nil {
		return nil, fmt.Errorf("build: arm %s has no regular grid: make one with Regular first", l.Setup)
	}
	if s.Window == 0 {
		s.Window = 12
	}
	if s.Window < 2 || s.Reach < 0 || !(s.Smoothing >= 0) {
		return nil, fmt.Errorf("build: the window has %s, the reach is %d and the smoothing %g: want at least 2, 0 and 0", errtext.Count(s.Window, "node"), s.Reach, s.Smoothing)
	}
	f := &filler{FillSettings: s, grid: l.Grid, ids: slices.Clone(l.Grid.IDs.Compact().Data().([]int64))}
	f.spectra = l.Spectra.Convert(tensor.Float64).Compact().Float64s()
	f.norms, f.real = slices.Clone(l.LogNorms), l.Spectra.Shape()[0]
	f.count = f.real
	if err := f.run(ctx); err != nil {
		return nil, fmt.Errorf("build: arm %s: %w", l.Setup, err)
	}
	return f.library(l)
}

type filler struct {
	FillSettings
	grid    *rvspecfit.Grid
	ids     []int64
	real    int       // templates of the library
	count   int       // templates so far
	spectra []float64 // of the library
	norms   []float64
	added   []float64 // spectra of filled nodes
	nodes   []int     // filled nodes
}

// place returns the numbers of a node along the axes.
func (f *filler) place(node int) []float64 {
	p := make([]float64, len(f.grid.Axes))
	for k, a := range slices.Backward(f.grid.Axes) {
		p[k] = float64(node % len(a))
		node /= len(a)
	}
	return p
}

// run fills the nodes of one window after another.
func (f *filler) run(ctx context.Context) error {
	length := len(f.grid.Axes[0])
	window := min(f.Window, length)
	stride := len(f.ids) / length
	groups := make([][]int, length) // of empty nodes, by the first node of the window
	for node, id := range f.ids {
		if id < 0 {
			first := min(max(node/stride-window/2, 0), length-window)
			groups[first] = append(groups[first], node)
		}
	}
	full := slices.Clone(f.ids) // filled nodes do not count
	for first, empty := range groups {
		if len(empty) == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var points []float64
		var ids []int
		for node := first * stride; node < (first+window)*stride; node++ {
			if full[node] >= 0 {
				points, ids = append(points, f.place(node)...), append(ids, int(full[node]))
			}
		}
		if err := f.fill(empty, points, ids); err != nil {
			return fmt.Errorf("nodes %d to %d of the first axis: %w", first, first+window-1, err)
		}
	}
	return nil
}

func (f *filler) fill(empty []int, points []float64, ids []int) error {
	dim := len(f.grid.Axes)
	if len(ids) <= dim || len(ids) > mostRadial {
		return fmt.Errorf("the window has %s: want more than %d and at most %d, so change the window", errtext.Count(len(ids), "template"), dim, mostRadial)
	}
	r, err := newRadial(points, dim, f.Smoothing)
	if err != nil {
		return err
	}
	pixels := len(f.spectra) / f.real
	for _, node := range empty {
		at := f.place(node)
		if f.Reach > 0 && !near(points, at, float64(f.Reach)) {
			continue
		}
		out := make([]float64, pixels)
		norm := 0.0
		for i, w := range r.weights(at) {
			for p, v := range f.spectra[ids[i]*pixels : (ids[i]+1)*pixels] {
				out[p] += w * v
			}
			if f.norms != nil {
				norm += w * f.norms[ids[i]]
			}
		}
		if f.norms != nil {
			f.norms = append(f.norms, norm)
		}
		f.ids[node] = int64(f.count)
		f.count++
		f.added, f.nodes = append(f.added, out...), append(f.nodes, node)
	}
	return nil
}

// near reports whether a point is within a number of steps along every axis.
func near(points, at []float64, reach float64) bool {
	for i := 0; i < len(points); i += len(at) {
		far := 0.0
		for k, x := range at {
			far = max(far, x-points[i+k], points[i+k]-x)
		}
		if far <= reach {
			return true
		}
	}
	return false
}

func (f *filler) library(l *rvspecfit.Library) (*rvspecfit.Library, error) {
	out := *l
	old, n := f.real, f.count
	dim := len(l.ParNames)
	columns := make([]float64, dim*n)
	was := l.Points.Compact().Float64s()
	for k := range dim {
		copy(columns[k*n:], was[k*old:(k+1)*old])
		for i, node := range f.nodes {
			columns[k*n+old+i] = f.grid.Axes[k][int(f.place(node)[k])]
		}
	}
	out.LogNorms = f.norms
	if l.FileIDs != nil {
		out.FileIDs = append(slices.Clone(l.FileIDs), slices.Repeat([]int{-1}, n-old)...)
	}
	all, err := tensor.From(append(slices.Clone(f.spectra), f.added...), n, len(l.Lam))
	if err != nil {
		return nil, err
	}
	out.Spectra = all.Convert(l.Spectra.DType())
	if out.Points, err = tensor.From(columns, dim, n); err != nil {
		return nil, err
	}
	ids, err := tensor.From(f.ids, l.Grid.IDs.Shape()...)
	out.Grid = &rvspecfit.Grid{Axes: l.Grid.Axes, IDs: ids, Regular: l.Grid.Regular}
	return &out, err
}
