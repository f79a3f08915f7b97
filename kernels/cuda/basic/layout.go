// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package basic

import (
	"encoding/binary"
	"fmt"
)

// MostAxes is the largest number of axes of a Layout, after axes that can be merged have been
// merged.
const MostAxes = 8

// Layout says where the elements of an array are: the lengths of its axes and, for each axis, the
// distance between neighbours in elements.
type Layout struct{ Shape, Strides []int }

// size returns the number of elements.
func (l Layout) size() int {
	n := 1
	for _, s := range l.Shape {
		n *= s
	}
	return n
}

// merged returns the layout without axes of length 1 and with neighbouring axes as one where their
// elements lie at equal steps.
func (l Layout) merged() Layout {
	var m Layout
	for i := range min(len(l.Shape), len(l.Strides)) {
		n, step, last := l.Shape[i], l.Strides[i], len(m.Shape)-1
		switch {
		case n == 1:
		case last >= 0 && m.Strides[last] == n*step:
			m.Shape[last], m.Strides[last] = m.Shape[last]*n, step
		default:
			m.Shape, m.Strides = append(m.Shape, n), append(m.Strides, step)
		}
	}
	return m
}

// turned is a batch of matrices in which the elements of a column are neighbours in memory.
type turned struct{ batches, rows, columns, batchStride, columnStride int }

// transposed returns a merged layout as a batch of matrices, and whether it is one.
func (l Layout) transposed() (turned, bool) {
	k := len(l.Shape)
	if k < 2 || k > 3 || l.Strides[k-2] != 1 || l.Strides[k-1] < 2 {
		return turned{}, false
	}
	t := turned{batches: 1, rows: l.Shape[k-2], columns: l.Shape[k-1], columnStride: l.Strides[k-1]}
	if k == 3 {
		t.batches, t.batchStride = l.Shape[0], l.Strides[0]
	}
	return t, true
}

// bytes returns the struct that kernels take.
func (l Layout) bytes() ([]byte, error) {
	if len(l.Shape) > MostAxes {
		return nil, fmt.Errorf("basic: the layout has %d axes that cannot be merged: want at most %d", len(l.Shape), MostAxes)
	}
	var b [16*MostAxes + 8]byte
	for i := range l.Shape {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(l.Shape[i]))
		binary.LittleEndian.PutUint64(b[8*(MostAxes+i):], uint64(l.Strides[i]))
	}
	binary.LittleEndian.PutUint32(b[16*MostAxes:], uint32(len(l.Shape)))
	return b[:], nil
}
