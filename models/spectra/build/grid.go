package build

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/delaunay"
	"github.com/euryale-dev/euryale/tensor"
)

// mapped returns the parameters of the templates as they are interpolated, a row for each template.
func mapped(l *rvspecfit.Library) [][]float64 {
	dim, n := l.Points.Shape()[0], l.Points.Shape()[1]
	v := l.Points.Float64s()
	rows := make([][]float64, n)
	for i := range rows {
		for k := range dim {
			x := v[k*n+i]
			if slices.Contains(l.Mapper.Log, k) {
				x = math.Log10(x)
			}
			rows[i] = append(rows[i], x)
		}
	}
	return rows
}

// withPoints returns a copy of a set of templates whose parameters are mapped ones.
func withPoints(l *rvspecfit.Library, rows [][]float64) (*rvspecfit.Library, error) {
	c := *l
	n, dim := len(rows), len(l.ParNames)
	turned := make([]float64, n*dim)
	for i, r := range rows {
		for k, x := range r {
			turned[k*n+i] = x
		}
	}
	var err error
	c.Points, err = tensor.From(turned, dim, n)
	return &c, err
}

// mostNodes bounds the nodes of a regular grid, some of which may have no template.
const mostNodes = 1 << 26

// Regular makes a library that is interpolated on a regular grid of templates, as [Templates] makes them. Nodes
// may be missing; no two templates may have the same parameters.
func Regular(l *rvspecfit.Library) (*rvspecfit.Library, error) {
	rows := mapped(l)
	g := &rvspecfit.Grid{Regular: true}
	nodes := 1
	for k := range l.ParNames {
		var axis []float64
		for _, r := range rows {
			axis = append(axis, r[k])
		}
		slices.Sort(axis)
		axis = slices.Compact(axis)
		if nodes *= len(axis); nodes > mostNodes {
			return nil, fmt.Errorf("build: %s: a grid of %d templates would have more than %d nodes: these parameters are on no regular grid; triangulate them", l.Setup, len(rows), mostNodes)
		}
		g.Axes = append(g.Axes, axis)
	}
	ids := slices.Repeat([]int64{-1}, nodes)
	shape := make([]int, len(g.Axes))
	for i, r := range rows {
		at := 0
		for k, x := range r {
			shape[k] = len(g.Axes[k])
			j, _ := slices.BinarySearch(g.Axes[k], x)
			at = at*shape[k] + j
		}
		if ids[at] >= 0 {
			return nil, fmt.Errorf("build: %s: templates %d and %d have the same parameters %v", l.Setup, ids[at], i, r)
		}
		ids[at] = int64(i)
	}
	c, err := withPoints(l, rows)
	if err != nil {
		return nil, err
	}
	if g.IDs, err = tensor.From(ids, shape...); err != nil {
		return nil, err
	}
	c.Grid = g
	return c, nil
}

// Triangulated makes a library that is interpolated in a Delaunay triangulation of templates, as [Templates] makes
// them. Around them are the corners of a box 0.2 of the ranges wider, with the spectra of the nearest templates.
func Triangulated(l *rvspecfit.Library) (*rvspecfit.Library, error) {
	rows := mapped(l)
	dim := len(l.ParNames)
	lo, hi := slices.Clone(rows[0]), slices.Clone(rows[0])
	for _, r := range rows {
		for k, x := range r {
			lo[k], hi[k] = min(lo[k], x), max(hi[k], x)
		}
	}
	t := &rvspecfit.Triangulation{}
	all := slices.Clone(rows)
	t.Flags = make([]float64, len(rows))
	spectra := l.Spectra.Float64s()
	pixels := len(l.Lam)
	for corner := range 1 << dim {
		p := make([]float64, dim)
		for k := range p {
			pad := 0.2 * (hi[k] - lo[k])
			if p[k] = lo[k] - pad; corner>>k&1 == 1 {
				p[k] = hi[k] + pad
			}
		}
		nearest, best := 0, math.Inf(1)
		for i, r := range rows {
			d := 0.0
			for k, x := range r {
				d += (x - p[k]) * (x - p[k])
			}
			if d < best {
				nearest, best = i, d
			}
		}
		all, t.Flags = append(all, p), append(t.Flags, 1)
		spectra = append(spectra, spectra[nearest*pixels:(nearest+1)*pixels]...)
	}
	d, err := delaunay.New(slices.Concat(all...), dim)
	if err != nil {
		return nil, fmt.Errorf("build: %s: %w", l.Setup, err)
	}
	c, err := withPoints(l, rows)
	if err != nil {
		return nil, err
	}
	var transform []float64
	for s := range d.Len() {
		matrix, origin := d.Map(s)
		transform = append(append(transform, matrix...), origin...)
	}
	if t.Points, err = tensor.From(slices.Concat(all...), len(all), dim); err != nil {
		return nil, err
	}
	if t.Transform, err = tensor.From(transform, d.Len(), dim+1, dim); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		to   **tensor.Tensor
		from []int32
	}{{&t.Simplices, d.Simplices}, {&t.Neighbors, d.Neighbours}} {
		wide := make([]int64, len(part.from))
		for i, v := range part.from {
			wide[i] = int64(v)
		}
		if *part.to, err = tensor.From(wide, d.Len(), dim+1); err != nil {
			return nil, err
		}
	}
	c.Triangulation = t
	if c.Spectra, err = tensor.From(spectra, len(all), pixels); err == nil && l.Spectra.DType() == tensor.Float32 {
		c.Spectra = c.Spectra.Convert(tensor.Float32).Compact()
	}
	return c, err
}
