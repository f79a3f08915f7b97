// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

// MostColumns is the length up to which a vector in lanes is kept by columns: each element by lane. Rows of a few elements are slow to
// walk, and columns as long as there are lanes are fast.
const MostColumns = 8

// FromColumns returns a vector in lanes of its elements by lane. A column without axes is the same for all lanes.
func FromColumns(t typing.Type, lanes int, cols []*ad.Node) Value {
	k := len(cols)
	p := &parts{from: make([]int32, lanes*k), at: make([]int32, lanes*k), cols: make([]*ad.Node, k)}
	for j, c := range cols {
		if c.Size() != lanes {
			c = ad.Broadcast(ad.Reshape(c), lanes)
		}
		p.cols[j] = ad.Reshape(c, lanes)
		for l := range lanes {
			p.from[l*k+j], p.at[l*k+j] = int32(j), int32(l)
		}
	}
	p.nodes = append(p.nodes, p.cols...)
	return Value{Type: t, Shape: []int{k}, Lanes: lanes, F: make([]float64, lanes*k), parts: p}
}

// ByColumns says whether a value is a short vector in lanes that was put together from its elements.
func (v Value) ByColumns() bool { return v.Lanes > 0 && v.parts != nil && short(v.Shape) }

func short(shape []int) bool { return len(shape) == 1 && shape[0] > 1 && shape[0] <= MostColumns }

// Columns returns the elements of a short vector by lane, or of one that is the same for all lanes, as Nodes without axes. A number is
// repeated k times.
func (v Value) Columns(k int) []*ad.Node {
	cols := make([]*ad.Node, k)
	switch {
	case v.parts != nil && v.parts.cols != nil:
		copy(cols, v.parts.cols)
		return cols
	case len(v.Shape) == 0:
		n := v.Node()
		if v.Lanes > 0 {
			n = ad.Reshape(n, v.Lanes)
		}
		for j := range cols {
			cols[j] = n
		}
		return cols
	}
	for j := range cols {
		index := make([]int, max(1, v.Lanes))
		for l := range index {
			index[l] = l*k + j
		}
		cols[j] = v.column(index)
		if v.Lanes == 0 {
			cols[j] = ad.Reshape(cols[j])
		}
	}
	return cols
}

// column returns elements of a value as a vector.
func (v Value) column(index []int) *ad.Node {
	if p := v.parts; p != nil {
		f := p.from[index[0]]
		same := f >= 0 && p.nodes[f].Size() == len(index)
		for l, i := range index {
			same = same && p.from[i] == f && int(p.at[i]) == l
		}
		if same {
			return p.nodes[f]
		}
	}
	return ad.Reshape(v.pick(index).Node(), len(index))
}

// columnsAt takes k elements by lane.
func (v Value) columnsAt(index []int, t typing.Type, lanes, k int) Value {
	cols := make([]*ad.Node, k)
	own := make([]int, lanes)
	for j := range cols {
		for l := range own {
			own[l] = index[l*k+j]
		}
		cols[j] = v.column(append([]int(nil), own...))
	}
	return FromColumns(t, lanes, cols)
}
