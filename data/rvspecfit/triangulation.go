// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// Triangulation is a Delaunay triangulation of templates in mapped parameters. rvspecfit keeps it as a
// Python pickle, which is a program and is refused. The open form is triang_<setup>.h5 beside
// interp_<setup>.h5, with the arrays of this type; it is exported, where rvspecfit is installed, by
//
//	import sys, numpy as np
//	from rvspecfit import serializer as s
//	d = s.load_dict_from_hdf5("interp_%s.h5" % sys.argv[1])
//	t = d["triang"]
//	s.save_dict_to_hdf5("triang_%s.h5" % sys.argv[1], dict(points=t.points, simplices=t.simplices,
//	    neighbors=t.neighbors, transform=t.transform, extraflags=np.asarray(d["extraflags"], float)))
type Triangulation struct {
	Points    *tensor.Tensor // coordinates of the vertices, (n, ndim), including the corners added around the library
	Simplices *tensor.Tensor // indices of the vertices of each simplex, (nsimplex, ndim+1), int64
	Neighbors *tensor.Tensor // simplex opposite each vertex, (nsimplex, ndim+1), int64, -1 for none
	Transform *tensor.Tensor // inverse of the affine map, and the last vertex, (nsimplex, ndim+1, ndim)
	Flags     []float64      // kind of each point: 0 for a template, 1 for an added corner
}

const triangTry = "export it in Python, as the comment of rvspecfit.Triangulation and docs/guide/spectra-files.md say"

func (l *Library) triangulation(dir, file string, d Dict) error {
	open := filepath.Join(dir, "triang_"+l.Setup+".h5")
	if !exists(open) {
		e := bad(file, "triang", "the triangulation is a Python pickle, which is a program and is not run, and there is no %s", open)
		e.Err, e.Try = ErrRefused, triangTry
		return e
	}
	t, err := ReadDict(open)
	if err != nil {
		return err
	}
	l.Triangulation, err = triangulationOf(open, t)
	return err
}

func triangulationOf(file string, d Dict) (*Triangulation, error) {
	t := &Triangulation{}
	for _, part := range []struct {
		key  string
		to   **tensor.Tensor
		rank int
		typ  tensor.DType
	}{{"points", &t.Points, 2, tensor.Float64}, {"simplices", &t.Simplices, 2, tensor.Int64}, {"neighbors", &t.Neighbors, 2, tensor.Int64}, {"transform", &t.Transform, 3, tensor.Float64}} {
		a, ok := d[part.key].(*Array)
		if !ok || a.Numbers == nil || len(a.Numbers.Shape()) != part.rank {
			return nil, d.missing(file, part.key, fmt.Sprintf("an array with the number of axes %d", part.rank))
		}
		*part.to = a.Numbers.Convert(part.typ).Compact()
	}
	var err error
	t.Flags, _, err = d.floats(file, "extraflags", 1)
	return t, err
}

func (t *Triangulation) dict() Dict {
	return Dict{"points": &Array{As: "ndarray", Numbers: t.Points}, "simplices": &Array{As: "ndarray", Numbers: t.Simplices}, "neighbors": &Array{As: "ndarray", Numbers: t.Neighbors},
		"transform": &Array{As: "ndarray", Numbers: t.Transform}, "extraflags": numbers("ndarray", t.Flags, len(t.Flags))}
}

// check compares shapes and indices.
func (t *Triangulation) check(file string, ndim, spectra int) error {
	n := t.Points.Shape()[0]
	s := t.Simplices.Shape()[0]
	for key, got := range map[string][2][]int{
		"points":    {t.Points.Shape(), {n, ndim}},
		"simplices": {t.Simplices.Shape(), {s, ndim + 1}},
		"neighbors": {t.Neighbors.Shape(), {s, ndim + 1}},
		"transform": {t.Transform.Shape(), {s, ndim + 1, ndim}},
	} {
		if !slices.Equal(got[0], got[1]) {
			return bad(file, key, "the array has the shape %v: want %v", got[0], got[1])
		}
	}
	if len(t.Flags) != n || spectra != n {
		return bad(file, "extraflags", "there are %d points, %d flags and %d spectra: want equal numbers", n, len(t.Flags), spectra)
	}
	for i, v := range t.Simplices.Data().([]int64) {
		if v < 0 || v >= int64(n) {
			return bad(file, "simplices", "element %d refers to point %d, counted from 0, but there are %d points: export the triangulation again", i, v, n)
		}
	}
	for i, v := range t.Neighbors.Data().([]int64) {
		if v < -1 || v >= int64(s) {
			return bad(file, "neighbors", "element %d refers to simplex %d, counted from 0, but there are %d simplices: export the triangulation again", i, v, s)
		}
	}
	return nil
}
