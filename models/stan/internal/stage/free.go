// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"errors"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// Free turns the known value of a parameter into its unconstrained numbers; the inverse of Constrain. It fails if the value does not obey
// the constraint, or lies on a bound.
func (m *Machine) Free(p Param, v value.Value) ([]float64, error) {
	if p.Parts != nil {
		var all []float64
		elems := v.Elems
		for range max(0, v.Type.Dims-1) {
			var next []value.Value
			for _, e := range elems {
				next = append(next, e.Elems...)
			}
			elems = next
		}
		for i, q := range p.Parts {
			u, err := m.Free(q, elems[i])
			if err != nil {
				return nil, err
			}
			all = append(all, u...)
		}
		return all, nil
	}
	if v.Type.Kind.IsComplex() {
		var all []float64
		for i := range v.Elems[0].F {
			all = append(all, v.Elems[0].F[i], v.Elems[1].F[i])
		}
		return all, nil
	}
	if err := m.validBounds(p.Decl, v); err != nil {
		return nil, err
	}
	if err := m.validShape(p.Decl, v); err != nil {
		return nil, err
	}
	own := p.Shape[len(p.Type.Dims):]
	size := value.Size(own)
	invert := inverses[p.Type.Word]
	if invert == nil {
		return m.freeBounded(p, v, own)
	}
	var all []float64
	for e := 0; e < len(v.F); e += size {
		all = append(all, invert(v.F[e:e+size], own)...)
	}
	for _, u := range all {
		if math.IsInf(u, 0) || math.IsNaN(u) {
			return nil, fmt.Errorf("%s lies on the edge of its constraint %s, where no unconstrained number is finite: move it inside", p.Decl.Name, p.Type.Word)
		}
	}
	return all, nil
}

// freeBounded inverts bounds, or an offset and a multiplier. Matrices run down their columns.
func (m *Machine) freeBounded(p Param, v value.Value, own []int) ([]float64, error) {
	lower, err := m.limits(p.Type.Lower, math.Inf(-1), v.F)
	if err != nil {
		return nil, err
	}
	upper, err := m.limits(p.Type.Upper, math.Inf(1), v.F)
	if err != nil {
		return nil, err
	}
	offset, err := m.limits(p.Type.Offset, 0, v.F)
	if err != nil {
		return nil, err
	}
	multiplier, err := m.limits(p.Type.Multiplier, 1, v.F)
	if err != nil {
		return nil, err
	}
	all := make([]float64, len(v.F))
	for i, x := range v.F {
		lo, hi := lower[i], upper[i]
		u := (x - offset[i]) / multiplier[i]
		switch {
		case !math.IsInf(lo, 0) && !math.IsInf(hi, 0):
			u = math.Log(x-lo) - math.Log(hi-x)
		case !math.IsInf(lo, 0):
			u = math.Log(x - lo)
		case !math.IsInf(hi, 0):
			u = math.Log(hi - x)
		}
		if math.IsInf(u, 0) || math.IsNaN(u) {
			return nil, fmt.Errorf("%s%s is %g, which is no value inside its bounds: move it away from them", p.Decl.Name, place(v, i), x)
		}
		all[columnwise(i, own)] = u
	}
	return all, nil
}

// columnwise is the place of element i among unconstrained numbers that run down the columns of matrices.
func columnwise(i int, own []int) int {
	if len(own) != 2 {
		return i
	}
	rows, cols := own[0], own[1]
	matrix, at := i/(rows*cols), i%(rows*cols)
	return matrix*rows*cols + at%cols*rows + at/cols
}

// limits evaluates a bound for each element of x.
func (m *Machine) limits(e syntax.Expr, without float64, x []float64) ([]float64, error) {
	out := make([]float64, len(x))
	for i := range out {
		out[i] = without
	}
	if e == nil || len(x) == 0 {
		return out, nil
	}
	v, err := m.eval(e)
	if err != nil {
		return nil, err
	}
	if !v.Known() || len(v.F) == 0 {
		return nil, errors.New("a bound depends on a parameter that has no value: give that parameter a value, too")
	}
	for i := range out {
		out[i] = v.F[i%len(v.F)]
	}
	return out, nil
}

// inverses are those of vectors, for one vector or matrix.
var inverses = map[string]func(x []float64, own []int) []float64{
	"ordered":              func(x []float64, _ []int) []float64 { return gaps(x, x[0]) },
	"positive_ordered":     func(x []float64, _ []int) []float64 { return gaps(x, math.Log(x[0])) },
	"simplex":              func(x []float64, _ []int) []float64 { return logRatios(x) },
	"sum_to_zero_vector":   func(x []float64, _ []int) []float64 { return fromZeroSum(x) },
	"unit_vector":          func(x []float64, _ []int) []float64 { return x },
	"cholesky_factor_corr": func(x []float64, own []int) []float64 { return partials(x, own[0], lowerByRow(own[0])) },
	"corr_matrix": func(x []float64, own []int) []float64 {
		return partials(lowerOf(x, own[0]), own[0], lowerByColumn(own[0]))
	},
	"cov_matrix":          func(x []float64, own []int) []float64 { return logDiagonal(lowerOf(x, own[0]), own[0], own[0]) },
	"cholesky_factor_cov": func(x []float64, own []int) []float64 { return logDiagonal(x, own[0], own[1]) },
	"column_stochastic_matrix": func(x []float64, own []int) (all []float64) {
		for j := range own[1] {
			all = append(all, logRatios(strided(x, j, own[1]))...)
		}
		return all
	},
	"row_stochastic_matrix": func(x []float64, own []int) []float64 {
		return transposed(x, own[0], own[1], logRatios)
	},
	"sum_to_zero_matrix": func(x []float64, own []int) (all []float64) {
		byColumn := transposed(x, own[0], own[1], fromZeroSum)
		for j := range own[1] - 1 {
			all = append(all, fromZeroSum(byColumn[j*own[0]:(j+1)*own[0]])...)
		}
		return all
	},
}

// gaps are the logarithms of the differences of neighbours, after the first number.
func gaps(x []float64, first float64) []float64 {
	u := []float64{first}
	for i := 1; i < len(x); i++ {
		u = append(u, math.Log(x[i]-x[i-1]))
	}
	return u
}

// logRatios is the isometric log ratio of a simplex.
func logRatios(x []float64) []float64 {
	z, mean := make([]float64, len(x)), 0.0
	for i, p := range x {
		z[i] = math.Log(p)
		mean += z[i] / float64(len(x))
	}
	for i := range z {
		z[i] -= mean
	}
	return fromZeroSum(z)
}

// fromZeroSum inverts zeroSum.
func fromZeroSum(z []float64) []float64 {
	u, sum := make([]float64, len(z)-1), 0.0
	for i := len(z) - 1; i > 0; i-- {
		n := float64(i)
		w := (sum - z[i]) / n
		sum += w
		u[i-1] = w * math.Sqrt(n*(n+1))
	}
	return u
}

// partials are the unconstrained partial correlations of a Cholesky factor, at places below its diagonal.
func partials(l []float64, k int, at []int) (u []float64) {
	for _, p := range at {
		row, rest := p/k*k, 1.0
		for c := row; c < p; c++ {
			rest -= l[c] * l[c]
		}
		u = append(u, math.Atanh(l[p]/math.Sqrt(rest)))
	}
	return u
}

// logDiagonal lists a lower triangle row by row, with the logarithm of the diagonal.
func logDiagonal(l []float64, rows, cols int) (u []float64) {
	for i := range rows {
		for j := range min(i+1, cols) {
			x := l[i*cols+j]
			if i == j {
				x = math.Log(x)
			}
			u = append(u, x)
		}
	}
	return u
}

// strided returns every n-th element, from one on.
func strided(x []float64, from, n int) (out []float64) {
	for i := from; i < len(x); i += n {
		out = append(out, x[i])
	}
	return out
}

// transposed inverts each row, and lists the results column by column.
func transposed(x []float64, rows, cols int, invert func(row []float64) []float64) []float64 {
	out := make([]float64, rows*(cols-1))
	for i := range rows {
		for j, u := range invert(x[i*cols : (i+1)*cols]) {
			out[j*rows+i] = u
		}
	}
	return out
}

// lowerOf is the Cholesky factor of a positive definite matrix.
func lowerOf(a []float64, k int) []float64 {
	l := make([]float64, k*k)
	cholesky(a, l, k)
	return l
}

// cholesky factorises a symmetric matrix, and says whether it is positive definite.
func cholesky(a, l []float64, k int) bool {
	for i := range k {
		for j := range i + 1 {
			s := a[i*k+j]
			for c := range j {
				s -= l[i*k+c] * l[j*k+c]
			}
			if i != j {
				l[i*k+j] = s / l[j*k+j]
				continue
			}
			if !(s > 0) {
				return false
			}
			l[i*k+i] = math.Sqrt(s)
		}
	}
	return true
}

// positiveDefinite says whether a symmetric matrix is positive definite.
func positiveDefinite(a []float64, k int) bool { return cholesky(a, make([]float64, k*k), k) }
