// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// bestOfEach is best for contrasts and offsets that each angle has of its own: angles do not know of each other, and it takes as long as
// there are angles instead of the cube of that.
func (f *fitter) bestOfEach() ([]float64, error) {
	k, angles := f.size(), len(f.gram)
	out := make([]float64, 2*angles)
	for angle, g := range f.gram {
		x, err := solved(mat.NewSymDense(2, []float64{g[k+1], g[1], g[1], g[0]}), mat.NewVecDense(2, []float64{g[k+k-1], g[k-1]}))
		if err != nil {
			return nil, err
		}
		out[angle], out[angles+angle] = x[0], x[1]
	}
	return out, nil
}

// eliminated are two rows of the triangle of an angle, of its contrast and of its offset, without the columns of contrasts and offsets.
type eliminated [2][]float64

// reduced is triangle(f.joint(l), f.linear()) for contrasts and offsets that each angle has of its own, without the elements that are 0.
func (f *fitter) reduced(l []float64) []float64 {
	m := len(f.free) + 1
	rest, rows := make([]float64, m*m), make([]eliminated, len(f.gram))
	for angle, g := range f.gram {
		contrast, offset := f.scales(angle, l)
		f.terms = append(f.terms[:0], term{0, 1, 1}, term{1, 0, 1})
		for i, parameter := range f.free {
			f.terms = append(f.terms, term{2 + i, 2 + parameter, contrast})
		}
		f.terms = append(f.terms, term{m + 1, 0, offset}, term{m + 1, 1, contrast}, term{m + 1, f.size() - 1, -1})
		var own [2][]float64
		for i := range own {
			own[i] = make([]float64, m+2)
		}
		for _, u := range f.terms {
			for _, v := range f.terms {
				switch product := u.weight * v.weight * g[u.at*f.size()+v.at]; {
				case u.weight == 0 || v.weight == 0 || u.column > v.column:
				case u.column < 2:
					own[u.column][v.column] += product
				default:
					rest[(u.column-2)*m+v.column-2] += product
				}
			}
		}
		rows[angle] = eliminate(own)
	}
	return triangleBelow(rest, rows, m)
}

// eliminate returns the rows of contrast and offset from their products with themselves and all else.
func eliminate(a [2][]float64) (out eliminated) {
	var r [2][]float64
	for i := range r {
		r[i] = make([]float64, len(a[i]))
		for j := i; j < len(r[i]); j++ {
			sum := a[i][j]
			if i == 1 {
				sum -= r[0][1] * r[0][j]
			}
			if j == i {
				r[i][i] = pivot(sum, a[i][i])
			} else if r[i][i] > 0 {
				r[i][j] = sum / r[i][i]
			}
		}
		out[i] = r[i][2:]
	}
	return out
}

// triangleBelow returns the upper triangle whose square is what rows leave of products of m columns.
func triangleBelow(a []float64, rows []eliminated, m int) []float64 {
	r := make([]float64, m*m)
	for i := range m {
		for j := i; j < m; j++ {
			sum := a[i*m+j]
			for part := range 2 {
				for _, row := range rows {
					sum -= row[part][i] * row[part][j]
				}
			}
			for k := range i {
				sum -= r[k*m+i] * r[k*m+j]
			}
			switch {
			case j == i && i == m-1:
				r[i*m+i] = math.Sqrt(max(0, sum))
			case j == i:
				r[i*m+i] = pivot(sum, a[i*m+i])
			case r[i*m+i] > 0:
				r[i*m+j] = sum / r[i*m+i]
			}
		}
	}
	return r
}

// pivot is the square root of what is left of a diagonal element, 0 if that is no more than rounding.
func pivot(left, of float64) float64 {
	if left < 0 || left < 1e-14*of {
		return 0
	}
	return math.Sqrt(left)
}
