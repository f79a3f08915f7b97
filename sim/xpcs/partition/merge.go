// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"fmt"
	"slices"
)

// Merge joins two partitions of one detector along their first axis, such as rings at small and at large q: the
// bins of b follow those of a. A pixel that is in both belongs to a.
func Merge(a, b *Partition) (*Partition, error) {
	if a.Names != b.Names || a.Units != b.Units {
		return nil, fmt.Errorf("partition: maps of %v (%v) and of %v (%v) cannot be merged: divide both along the same axes", a.Names, a.Units, b.Names, b.Units)
	}
	if len(a.Mask) != len(b.Mask) {
		return nil, fmt.Errorf("partition: maps of %d and of %d pixels cannot be merged: use maps of one detector", len(a.Mask), len(b.Mask))
	}
	p := &Partition{Names: a.Names, Units: a.Units, Mask: slices.Clone(a.Mask), Dynamic: merge(a.Dynamic, b.Dynamic), Static: merge(a.Static, b.Static)}
	for i, keep := range b.Mask {
		p.Mask[i] = p.Mask[i] || keep
	}
	return p, nil
}

func merge(a, b *Cells) *Cells {
	c := &Cells{Of: make([]int32, len(a.Of)), N: [2]int{a.N[0] + b.N[0], max(a.N[1], b.N[1])}}
	c.Centers[0] = slices.Concat(a.Centers[0], b.Centers[0])
	if c.Centers[1] = a.Centers[1]; len(b.Centers[1]) > len(a.Centers[1]) {
		c.Centers[1] = b.Centers[1]
	}
	left := make([]bool, len(b.Cell)) // cells of b that keep a pixel
	for i, k := range b.Of {
		if a.Of[i] == 0 && k > 0 {
			left[k-1] = true
		}
	}
	for _, cell := range a.Cell {
		c.Cell = append(c.Cell, cell/a.N[1]*c.N[1]+cell%a.N[1])
	}
	number := make([]int32, len(b.Cell))
	for k, cell := range b.Cell {
		if left[k] {
			c.Cell = append(c.Cell, (cell/b.N[1]+a.N[0])*c.N[1]+cell%b.N[1])
			number[k] = int32(len(c.Cell))
		}
	}
	for i := range c.Of {
		if c.Of[i] = a.Of[i]; c.Of[i] == 0 && b.Of[i] > 0 {
			c.Of[i] = number[b.Of[i]-1]
		}
	}
	return c
}
