// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/delaunay"
	"github.com/euryale-dev/euryale/tensor"
)

// Triangulated makes the Delaunay triangulation of a set of templates in mapped parameters,
// together with the corners of a box that is wider than their ranges by 0.2 of these, which carry
// the spectra of the nearest templates. The points are not moved at random, as rvspecfit does to
// tell those of grids apart: the triangulation is exact and does not depend on chance. The result
// has a copy of the spectra, followed by those of the corners.
func Triangulated(l *rvspecfit.Library) (*rvspecfit.Library, error) {
	points, err := mapped(l)
	if err != nil {
		return nil, err
	}
	dim := len(l.ParNames)
	n := len(points) / dim
	at := make([]float64, 0, (n+1<<dim)*dim)
	for i := range n {
		for k := range dim {
			at = append(at, points[k*n+i])
		}
	}
	rows := make([]int, n, n+1<<dim)
	flags := make([]float64, n, n+1<<dim)
	for i := range rows {
		rows[i] = i
	}
	for corner := range 1 << dim {
		p := make([]float64, dim)
		for k := range p {
			lo, hi := slices.Min(points[k*n:(k+1)*n]), slices.Max(points[k*n:(k+1)*n])
			if p[k] = lo - 0.2*(hi-lo); corner>>k&1 == 1 {
				p[k] = hi + 0.2*(hi-lo)
			}
		}
		rows, flags = append(rows, nearestPoint(at[:n*dim], p)), append(flags, 1)
		at = append(at, p...)
	}
	mesh, err := delaunay.New(at, dim)
	if err != nil {
		return nil, fmt.Errorf("build: arm %s: %w", l.Setup, err)
	}
	if len(mesh.Unused) > 0 {
		i := int(mesh.Unused[0])
		return nil, fmt.Errorf("build: arm %s: template %d has the same parameters %v as another: mark one as bad", l.Setup, fileID(l, i), physical(l, i))
	}
	out := *l
	out.Triangulation, err = triangulationOf(mesh, flags)
	if err != nil {
		return nil, err
	}
	if out.Points, err = tensor.From(points, dim, n); err != nil {
		return nil, err
	}
	out.Spectra, err = gather(l.Spectra, rows)
	return &out, err
}

func nearestPoint(points, p []float64) (near int) {
	best := math.Inf(1)
	for i := range len(points) / len(p) {
		sum := 0.0
		for k, x := range p {
			d := x - points[i*len(p)+k]
			sum += d * d
		}
		if sum < best {
			near, best = i, sum
		}
	}
	return near
}

func triangulationOf(mesh *delaunay.Triangulation, flags []float64) (*rvspecfit.Triangulation, error) {
	d, count := mesh.Dim, mesh.Len()
	transform := make([]float64, 0, count*(d+1)*d)
	for s := range count {
		matrix, origin := mesh.Map(s)
		transform = append(append(transform, matrix...), origin...)
	}
	t := &rvspecfit.Triangulation{Flags: flags}
	var errs [4]error
	t.Points, errs[0] = tensor.From(mesh.Points, len(flags), d)
	t.Simplices, errs[1] = tensor.From(int64s(mesh.Simplices), count, d+1)
	t.Neighbors, errs[2] = tensor.From(int64s(mesh.Neighbours), count, d+1)
	t.Transform, errs[3] = tensor.From(transform, count, d+1, d)
	return t, errors.Join(errs[:]...)
}

func int64s(x []int32) []int64 {
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = int64(v)
	}
	return out
}

// gather returns a copy of rows of spectra.
func gather(spectra *tensor.Tensor, rows []int) (*tensor.Tensor, error) {
	pixels := spectra.Shape()[1]
	switch x := spectra.Compact().Data().(type) {
	case []float32:
		out := make([]float32, 0, len(rows)*pixels)
		for _, i := range rows {
			out = append(out, x[i*pixels:(i+1)*pixels]...)
		}
		return tensor.From(out, len(rows), pixels)
	case []float64:
		out := make([]float64, 0, len(rows)*pixels)
		for _, i := range rows {
			out = append(out, x[i*pixels:(i+1)*pixels]...)
		}
		return tensor.From(out, len(rows), pixels)
	}
	return nil, fmt.Errorf("build: the spectra are of type %v: want float32 or float64", spectra.DType())
}
