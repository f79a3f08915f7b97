// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Twotime is a correlation as a function of two times.
type Twotime struct {
	Bins    []int     // dynamic bins with a map, in the order of the maps
	Delay   []float64 // delays in s; nil if absent
	G2      *Matrix   // mean along each diagonal, (delay, index in Bins); nil if absent
	Partial []*Matrix // G2 of five blocks along the diagonal; nil if absent
	Maps    []*Matrix // upper triangles as in the file, in the order of Bins; nil until read
	Stride  int
	Average int
	Smooth  string

	names []string // paths of the datasets of the maps
}

// frames returns the number of raw frames in one step of a map.
func (m *Twotime) frames() float64 { return float64(max(m.Stride, 1)) * float64(max(m.Average, 1)) }

// Bin returns the mean along the diagonals for an index in Bins, from 0, and the same for the
// blocks.
func (m *Twotime) Bin(i int) (g2 []float64, partial [][]float64) {
	if m.G2 != nil {
		g2 = m.G2.Column(i)
	}
	for _, p := range m.Partial {
		partial = append(partial, p.Column(i))
	}
	return g2, partial
}

// C2 is a symmetric two-time correlation matrix.
type C2 struct {
	Matrix
	Step float64 // time from one row to the next in s
	Bin  int     // number of the dynamic bin
}

// ReadC2 reads the map at an index in Twotime.Bins, from 0. If most is positive, only every n-th row
// and column is kept, so that at most that many remain. The diagonal, which contains shot noise, is
// replaced by the mean of its neighbours unless keepDiagonal is set.
func (r *Result) ReadC2(i, most int, keepDiagonal bool) (*C2, error) {
	half, err := r.readMap(i)
	if err != nil {
		return nil, err
	}
	stride := 1
	if most > 0 {
		stride = max(1, (half.Rows+most-1)/most)
	}
	n := (half.Rows + stride - 1) / stride
	c := &C2{Matrix: *NewMatrix(n, n), Step: r.FrameTime * r.Twotime.frames() * float64(stride), Bin: r.Twotime.Bins[i]}
	for a := range n {
		for b := a; b < n; b++ {
			v := half.At(a*stride, b*stride)
			c.Set(a, b, v)
			c.Set(b, a, v)
		}
	}
	if !keepDiagonal {
		c.correctDiagonal()
	}
	return c, nil
}

// ReadC2Means reads the map at an index in Twotime.Bins, from 0, averaged over squares of n x n values,
// so that no more than a given number of rows remain. The diagonal and values that are not finite are
// ignored; a square without any other value is NaN.
func (r *Result) ReadC2Means(i, most int) (*C2, error) {
	half, err := r.readMap(i)
	if err != nil {
		return nil, err
	}
	side := max(1, (half.Rows+most-1)/max(most, 1))
	if side == 1 {
		return r.ReadC2(i, 0, false)
	}
	n := (half.Rows + side - 1) / side
	c := &C2{Matrix: *NewMatrix(n, n), Step: r.FrameTime * r.Twotime.frames() * float64(side), Bin: r.Twotime.Bins[i]}
	count := make([]float64, n*n)
	for a := range half.Rows {
		for b := a + 1; b < half.Rows; b++ {
			if v := half.At(a, b); !math.IsNaN(v) && !math.IsInf(v, 0) {
				k := a/side*n + b/side
				c.Data[k] += v
				count[k]++
			}
		}
	}
	for a := range n {
		for b := a; b < n; b++ {
			v := c.At(a, b) / count[a*n+b]
			c.Set(a, b, v)
			c.Set(b, a, v)
		}
	}
	return c, nil
}

// correctDiagonal replaces each element of the diagonal by the mean of its neighbours, or at the
// ends by its only neighbour.
func (c *C2) correctDiagonal() {
	n := c.Rows
	if n < 2 {
		return
	}
	for i := range n {
		switch i {
		case 0:
			c.Set(0, 0, c.At(0, 1))
		case n - 1:
			c.Set(i, i, c.At(i-1, i))
		default:
			c.Set(i, i, (c.At(i-1, i)+c.At(i, i+1))/2)
		}
	}
}

func (r *Result) readMap(i int) (*Matrix, error) {
	if r.Twotime == nil || i < 0 || i >= len(r.Twotime.Bins) {
		n := 0
		if r.Twotime != nil {
			n = len(r.Twotime.Bins)
		}
		return nil, fmt.Errorf("nexus: %s: there is no two-time map at index %d: the file has %d maps", r.File, i, n)
	}
	if i < len(r.Twotime.Maps) && r.Twotime.Maps[i] != nil {
		return r.Twotime.Maps[i], nil
	}
	if r.file == nil || i >= len(r.Twotime.names) {
		return nil, fmt.Errorf("nexus: %s: the two-time map of bin %d is not in memory: open the file to read it", r.File, r.Twotime.Bins[i])
	}
	l := loader{file: r.file}
	m := l.matrix(key{keyMaps[0] + "/" + r.Twotime.names[i]}, true)
	if l.err == nil && m.Rows != m.Cols {
		l.fail("the two-time map %s has the shape %s: want a square", r.Twotime.names[i], m.shape())
	}
	return m, l.err
}

// mapNames returns the datasets of the maps, in order.
func mapNames(f *hdf5.File) ([]string, error) {
	keys, err := f.Keys(keyMaps[0])
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range keys {
		if strings.HasPrefix(k, "c2_") {
			names = append(names, k)
		}
	}
	return names, nil
}
