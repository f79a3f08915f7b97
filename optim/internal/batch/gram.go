// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

// gramMatrix writes the inner products of the columns and f, which comes last, of lane l as
// a lower triangle. It works on two by two columns, which halves the loads.
func gramMatrix(out []float64, columns [][]float64, f []float64, l int) {
	n := len(columns)
	w := n + 1
	at := func(i int) []float64 {
		if i == n {
			return f[l:]
		}
		return columns[i][l:]
	}
	for i := 0; i < w; i += 2 {
		two := i+1 < w
		a0 := at(i)
		a1 := a0
		if two {
			a1 = at(i + 1)
		}
		for j := 0; j < i; j += 2 {
			p, q, r, s := pairProducts(a0, a1, at(j), at(j+1))
			out[i*w+j], out[i*w+j+1] = p, q
			if two {
				out[(i+1)*w+j], out[(i+1)*w+j+1] = r, s
			}
		}
		if !two {
			out[i*w+i] = sumSquares(a0)
			continue
		}
		out[i*w+i], out[(i+1)*w+i], out[(i+1)*w+i+1] = pairSquares(a0, a1)
	}
}

// pairProducts returns the inner products of each of a0, a1 with each of b0, b1.
func pairProducts(a0, a1, b0, b1 []float64) (p, q, r, s float64) {
	a1, b0, b1 = a1[:len(a0)], b0[:len(a0)], b1[:len(a0)]
	for i := 0; i < len(a0); i += Lanes {
		x, y, u, v := a0[i], a1[i], b0[i], b1[i]
		p += x * u
		q += x * v
		r += y * u
		s += y * v
	}
	return p, q, r, s
}

// pairSquares returns the inner products of a0 and a1 with each other.
func pairSquares(a0, a1 []float64) (p, q, r float64) {
	a1 = a1[:len(a0)]
	for i := 0; i < len(a0); i += Lanes {
		x, y := a0[i], a1[i]
		p += x * x
		q += x * y
		r += y * y
	}
	return p, q, r
}

// sumSquares returns the inner product of x with itself.
func sumSquares(x []float64) float64 {
	s := 0.0
	for i := 0; i < len(x); i += Lanes {
		s += x[i] * x[i]
	}
	return s
}
