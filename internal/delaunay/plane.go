// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package delaunay

import (
	"math"
	"math/big"
)

// plane goes through the vertices of a facet. Its normal is the generalised cross product of the edges
// from the first vertex, so that normal . (q - origin) is the determinant of these and of q - origin.
type plane struct {
	origin []float64
	normal []float64
	length float64 // of normal
	bound  float64 // of the error of that determinant, over the length of q - origin
}

// rounding is the error of a sum of products of a determinant, relative to the sum of their sizes: some
// roundings for each of the factors and sums.
const rounding = 0x1p-52

func newPlane(h *hull, verts []int32) plane {
	d := h.dim
	p := plane{origin: h.point(verts[0]), normal: make([]float64, d)}
	edges := make([][]float64, d-1)
	p.bound = 8 * float64(d) * rounding
	for i := range edges {
		e := make([]float64, d)
		size := 0.0
		for k := range e {
			e[k] = h.point(verts[i+1])[k] - p.origin[k]
			size += math.Abs(e[k])
		}
		edges[i] = e
		p.bound *= size
	}
	columns := make([]int, d)
	for k := range columns {
		columns[k] = k
	}
	for k := range d {
		rest := append(append([]int{}, columns[:k]...), columns[k+1:]...)
		p.normal[k] = minor(edges, rest)
		if k%2 == 1 {
			p.normal[k] = -p.normal[k]
		}
	}
	p.length = norm(p.normal)
	return p
}

// minor returns the determinant of some columns of rows, as many as there are rows.
func minor(rows [][]float64, columns []int) float64 {
	switch len(rows) {
	case 0:
		return 1
	case 1:
		return rows[0][columns[0]]
	case 2:
		a, b := columns[0], columns[1]
		return rows[0][a]*rows[1][b] - rows[0][b]*rows[1][a]
	}
	sum := 0.0
	var rest [mostDim]int
	for k, c := range columns {
		n := copy(rest[:], columns[:k])
		n += copy(rest[n:], columns[k+1:])
		x := rows[0][c] * minor(rows[1:], rest[:n])
		if k%2 == 1 {
			x = -x
		}
		sum += x
	}
	return sum
}

// distance returns how far a point is from the plane.
func (p *plane) distance(q []float64) float64 {
	dot := 0.0
	for k, n := range p.normal {
		dot += n * (q[k] - p.origin[k])
	}
	return math.Abs(dot) / p.length
}

// side returns on which side of the plane through vertices a point lies: 1, -1, or 0 for in it.
func (p *plane) side(h *hull, verts []int32, q []float64) int {
	dot, size := 0.0, 0.0
	for k, n := range p.normal {
		d := q[k] - p.origin[k]
		dot += n * d
		size += math.Abs(d)
	}
	if bound := p.bound * size; dot > bound {
		return 1
	} else if dot < -bound {
		return -1
	}
	rows := [][]float64{p.origin, q}
	for _, v := range verts[1:] {
		rows = append(rows, h.point(v))
	}
	return exactSide(rows)
}

// exactSide returns the sign of the determinant of points less the first, without rounding.
func exactSide(points [][]float64) int {
	d := len(points) - 1
	// All coordinates are multiples of the same power of two.
	least := math.MaxInt
	for _, p := range points {
		for _, x := range p {
			if x != 0 {
				_, e := math.Frexp(x)
				least = min(least, e-53)
			}
		}
	}
	whole := func(x float64) *big.Int {
		if x == 0 {
			return new(big.Int)
		}
		m, e := math.Frexp(x)
		n := big.NewInt(int64(m * (1 << 53)))
		return n.Lsh(n, uint(e-53-least))
	}
	a := make([][]*big.Int, d)
	for i := range a {
		a[i] = make([]*big.Int, d)
		for k := range a[i] {
			a[i][k] = new(big.Int).Sub(whole(points[i+1][k]), whole(points[0][k]))
		}
	}
	// Elimination without fractions (Bareiss).
	sign, last := 1, big.NewInt(1)
	var product big.Int
	for k := range d {
		pivot := k
		for pivot < d && a[pivot][k].Sign() == 0 {
			pivot++
		}
		if pivot == d {
			return 0
		}
		if pivot != k {
			a[pivot], a[k] = a[k], a[pivot]
			sign = -sign
		}
		for i := k + 1; i < d; i++ {
			for j := k + 1; j < d; j++ {
				a[i][j].Mul(a[i][j], a[k][k])
				a[i][j].Sub(a[i][j], product.Mul(a[i][k], a[k][j]))
				a[i][j].Quo(a[i][j], last)
			}
		}
		last = a[k][k]
	}
	return sign * a[d-1][d-1].Sign()
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}
