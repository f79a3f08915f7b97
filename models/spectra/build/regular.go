// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// mostNodes is the greatest number of nodes of a regular grid.
const mostNodes = 1 << 26

// Regular puts a set of templates on a regular grid, whose axes are the values that each parameter
// takes, and may have different lengths. Nodes without a template stay empty. Values that differ by
// less than 1e-6 of a parameter's range count as one. The result shares its spectra with the set.
func Regular(l *rvspecfit.Library) (*rvspecfit.Library, error) {
	points, err := mapped(l)
	if err != nil {
		return nil, err
	}
	n := len(points) / len(l.ParNames)
	axes := make([][]float64, len(l.ParNames))
	size := 1
	shape := make([]int, len(axes))
	for k := range axes {
		axes[k] = axisOf(points[k*n : (k+1)*n])
		if len(axes[k]) < 2 {
			return nil, fmt.Errorf("build: all templates of arm %s have the same value of %s: leave the parameter out, or add templates", l.Setup, l.ParNames[k])
		}
		shape[k] = len(axes[k])
		if size *= shape[k]; size > mostNodes {
			return nil, fmt.Errorf("build: arm %s: %d templates have %v values of %v, and a grid of more than %d nodes would be almost empty: make a triangulation", l.Setup, n, shape[:k+1], l.ParNames[:k+1], mostNodes)
		}
	}
	ids := make([]int64, size)
	for i := range ids {
		ids[i] = -1
	}
	for i := range n {
		node := 0
		for k, a := range axes {
			node = node*len(a) + nearest(a, points[k*n+i])
		}
		if ids[node] >= 0 {
			return nil, fmt.Errorf("build: arm %s: templates %d and %d have the same parameters %v: mark one as bad", l.Setup, fileID(l, int(ids[node])), fileID(l, i), physical(l, i))
		}
		ids[node] = int64(i)
	}
	out := *l
	if out.Points, err = tensor.From(points, len(axes), n); err != nil {
		return nil, err
	}
	t, err := tensor.From(ids, shape...)
	out.Grid = &rvspecfit.Grid{Axes: axes, IDs: t, Regular: true}
	return &out, err
}

// axisOf returns the values that occur, ascending.
func axisOf(x []float64) []float64 {
	s := slices.Sorted(slices.Values(x))
	least := 1e-6 * (s[len(s)-1] - s[0])
	out := s[:1]
	for _, v := range s[1:] {
		if v-out[len(out)-1] > least {
			out = append(out, v)
		}
	}
	return slices.Clone(out)
}

// nearest returns the index of the value nearest to x.
func nearest(axis []float64, x float64) int {
	i, _ := slices.BinarySearch(axis, x)
	if i == len(axis) || i > 0 && x-axis[i-1] < axis[i]-x {
		i--
	}
	return i
}

// mapped checks a set of templates, and returns a copy of its parameters, mapped, one after another.
func mapped(l *rvspecfit.Library) ([]float64, error) {
	switch {
	case l.Grid != nil || l.Triangulation != nil || l.Network != nil:
		return nil, fmt.Errorf("build: arm %s has an interpolator already: want a set of templates, as Rebin makes it", l.Setup)
	case l.Mapper.Mean != nil:
		return nil, fmt.Errorf("build: arm %s has standardised parameters, as networks have: want a set of templates, as Rebin makes it", l.Setup)
	case l.Points == nil || l.Spectra == nil || len(l.ParNames) == 0:
		return nil, fmt.Errorf("build: arm %s lacks spectra or their parameters: want a set of templates, as Rebin makes it", l.Setup)
	}
	points := slices.Clone(l.Points.Compact().Float64s())
	n := l.Spectra.Shape()[0]
	if len(points) != n*len(l.ParNames) {
		return nil, fmt.Errorf("build: arm %s has %s for %s of %s: want one for each parameter of each template", l.Setup, errtext.Count(len(points), "number"), errtext.Count(len(l.ParNames), "parameter"), errtext.Count(n, "template"))
	}
	for _, k := range l.Mapper.Log {
		for i := range n {
			points[k*n+i] = math.Log10(points[k*n+i])
		}
	}
	for i, x := range points {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("build: arm %s: template %d has %s = %g: want a finite number, positive if its logarithm is taken", l.Setup, fileID(l, i%n), l.ParNames[i/n], physical(l, i%n)[i/n])
		}
	}
	return points, nil
}

// fileID returns the number of a template in the catalogue, or its position.
func fileID(l *rvspecfit.Library, i int) int {
	if i < len(l.FileIDs) {
		return l.FileIDs[i]
	}
	return i
}

// physical returns the parameters of a template.
func physical(l *rvspecfit.Library, i int) []float64 {
	all := l.Points.Compact().Float64s()
	n := l.Spectra.Shape()[0]
	out := make([]float64, len(l.ParNames))
	for k := range out {
		out[k] = all[k*n+i]
	}
	return out
}
