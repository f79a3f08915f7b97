// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition

// Cells divides the pixels along two axes: the cells of the grid that have pixels are numbered from
// 1.
type Cells struct {
	Of      []int32 // cell of each pixel from 1; 0 is masked
	Cell    []int   // position i*N[1]+j of each cell in the grid, from 0, ascending
	N       [2]int  // number of bins along each axis
	Centers [2][]float64
}

// Count returns the number of cells that have pixels.
func (c *Cells) Count() int { return len(c.Cell) }

// Combine crosses two divisions of the same pixels. A pixel that is masked in either of them is
// masked.
func Combine(a, b *Bins) *Cells {
	c := &Cells{Of: make([]int32, len(a.Of)), N: [2]int{len(a.Centers), len(b.Centers)}, Centers: [2][]float64{a.Centers, b.Centers}}
	number := make([]int32, c.N[0]*c.N[1])
	at := func(i int) int { return (int(a.Of[i])-1)*c.N[1] + int(b.Of[i]) - 1 }
	for i := range a.Of {
		if a.Of[i] > 0 && b.Of[i] > 0 {
			number[at(i)] = 1
		}
	}
	for k, some := range number {
		if some != 0 {
			c.Cell = append(c.Cell, k)
			number[k] = int32(len(c.Cell))
		}
	}
	for i := range a.Of {
		if a.Of[i] > 0 && b.Of[i] > 0 {
			c.Of[i] = number[at(i)]
		}
	}
	return c
}
