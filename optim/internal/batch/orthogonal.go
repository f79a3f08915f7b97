// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// factorJacobian factors the Jacobian itself, where its normal equations have lost the
// digits that an undamped step needs. The outputs must be those of x.
func (t *solver) factorJacobian(c *Worker, l int, v *lane) {
	n, rows := t.n, max(t.m, t.n)
	if t.jacobianQR == nil {
		t.jacobianQR = linalg.NewPivotedQR(rows, n, new(linalg.Arena))
		t.rotated = make([]float64, rows)
		t.dampedQR = linalg.NewPivotedQR(2*n, n, new(linalg.Arena))
	}
	for k := range n {
		col, to := c.outputs[1+k][l:], t.jacobianQR.A[k*rows:(k+1)*rows]
		clear(to[t.m:])
		for i := range t.m {
			to[i] = col[i*Lanes] * v.scale[k]
		}
	}
	clear(t.rotated[t.m:])
	for i := range t.m {
		t.rotated[i] = c.outputs[0][i*Lanes+l]
	}
	t.jacobianQR.Factor()
	t.jacobianQR.MultiplyQT(t.rotated)
	clear(v.r)
	for k, to := range t.jacobianQR.Perm {
		col := v.r[to*n : (to+1)*n]
		copy(col, t.jacobianQR.A[k*rows:k*rows+k])
		col[k] = t.jacobianQR.Diag[k]
	}
	copy(v.qtf, t.rotated)
	v.orthogonal = true
}

// solveOrthogonal is solve by least squares with the matrix [R; sqrt(par) I].
func (t *solver) solveOrthogonal(v *lane, par float64) {
	n := t.n
	k := t.listFree(v)
	f := t.dampedQR
	f.N = k
	clear(t.rhs)
	for i, q := range v.qtf {
		t.rhs[i] = -q
	}
	for j, y := range v.y {
		if !v.free[j] && y != 0 {
			linalg.AddScaled(t.rhs[:n], -y, v.r[j*n:(j+1)*n])
		}
	}
	for i, fi := range t.at[:k] {
		col := f.A[i*2*n : (i+1)*2*n]
		clear(col)
		copy(col, v.r[fi*n:(fi+1)*n])
		col[n+i] = math.Sqrt(par)
	}
	f.Factor()
	f.MultiplyQT(t.rhs)
	f.SolveUpper(t.b[:k], t.rhs)
	for i, to := range f.Perm[:k] {
		v.y[t.at[to]] = t.b[i]
	}
}

// inverseQuadraticOrthogonal is inverseQuadratic with the last factor of solveOrthogonal, 0
// where that has not full rank.
func (t *solver) inverseQuadraticOrthogonal(v *lane, length float64) float64 {
	f := t.dampedQR
	if f.Rank < f.N {
		return 0
	}
	for i, to := range f.Perm[:f.N] {
		t.w[i] = v.y[t.at[to]] / length
	}
	f.SolveTransposed(t.w[:f.N])
	return linalg.Dot(t.w[:f.N], t.w[:f.N])
}
