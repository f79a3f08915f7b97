// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/sim/xpcs/partition"
)

// Merge joins two q maps of one detector along their first axis, such as rings at small and at large q; both need their
// Maps. The bins of b follow those of a, a pixel that is in both belongs to a, and one that is kept by either is kept. The
// geometry is that of a, from which that of b must not differ, and the hash is that of the whole.
func Merge(a, b *nexus.QMap) (*nexus.QMap, error) {
	if a.Maps == nil || b.Maps == nil {
		return nil, fmt.Errorf("xpcs: a q map without images of the detector cannot be merged: read its Maps first")
	}
	for _, q := range []*nexus.QMap{a, b} {
		if err := q.Check(); err != nil {
			return nil, err
		}
	}
	if a.Maps.Height != b.Maps.Height || a.Maps.Width != b.Maps.Width {
		return nil, fmt.Errorf("xpcs: maps of %d x %d and of %d x %d pixels cannot be merged: use maps of one detector", a.Maps.Height, a.Maps.Width, b.Maps.Height, b.Maps.Width)
	}
	for _, v := range []struct {
		name string
		a, b float64
	}{{"beam centre x", a.BeamX, b.BeamX}, {"beam centre y", a.BeamY, b.BeamY}, {"pixel size", a.PixelSize, b.PixelSize}, {"distance", a.Distance, b.Distance}, {"energy", a.Energy, b.Energy}} {
		if math.Abs(v.a-v.b) > 1e-6*math.Abs(v.a) {
			return nil, fmt.Errorf("xpcs: the %s is %g in one q map and %g in the other: merge maps of one geometry", v.name, v.a, v.b)
		}
	}
	p, err := partition.Merge(divided(a), divided(b))
	if err != nil {
		return nil, err
	}
	q := *a
	q.Names, q.Units = p.Names[:], p.Units[:]
	q.Dynamic, q.Static = cells(p.Dynamic), cells(p.Static)
	q.Maps = &nexus.Maps{Height: a.Maps.Height, Width: a.Maps.Width, Mask: p.Mask, Dynamic: p.Dynamic.Of, Static: p.Static.Of, Blemish: a.Maps.Blemish}
	q.BinQ, q.BinQ2 = nil, nil
	q.Hash, err = hash(&q)
	return measured(&q), err
}

// divided returns a q map as the partition that it was made of.
func divided(q *nexus.QMap) *partition.Partition {
	p := &partition.Partition{Mask: q.Maps.Mask, Dynamic: celled(q.Dynamic, q.Maps.Dynamic), Static: celled(q.Static, q.Maps.Static)}
	for i := range 2 {
		p.Names[i], p.Units[i] = q.Axis(i)
	}
	return p
}

func celled(p nexus.Partition, of []int32) *partition.Cells {
	return &partition.Cells{Of: of, Cell: p.Cells, N: [2]int{len(p.Axis0), len(p.Axis1)}, Centers: [2][]float64{p.Axis0, p.Axis1}}
}
