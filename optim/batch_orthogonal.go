package optim

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// factorJacobian decomposes the Jacobian itself where its normal equations have lost
// the digits that an undamped step needs. The outputs must be those of x.
func (t *stepper) factorJacobian(c *batchWorker, l int, v *lane) {
	n, rows := t.n, max(t.m, t.n)
	if t.tall == nil {
		t.tall = linalg.NewPivotedQR(rows, n, new(linalg.Arena))
		t.tallB = make([]float64, rows)
		t.flat = linalg.NewPivotedQR(2*n, n, new(linalg.Arena))
	}
	for k := range n {
		col, to := c.out[1+k][l:], t.tall.A[k*rows:(k+1)*rows]
		clear(to[t.m:])
		for i := range t.m {
			to[i] = col[i*lanes] * v.d[k]
		}
	}
	clear(t.tallB[t.m:])
	for i := range t.m {
		t.tallB[i] = c.out[0][i*lanes+l]
	}
	t.tall.Factor()
	t.tall.MultiplyQT(t.tallB)
	clear(v.r)
	for k, to := range t.tall.Perm {
		col := v.r[to*n : (to+1)*n]
		copy(col, t.tall.A[k*rows:k*rows+k])
		col[k] = t.tall.Diag[k]
	}
	copy(v.qtf, t.tallB)
	v.orthogonal = true
}

// solveSharp is solve from the triangle: least squares of [R; sqrt(par)].
func (t *stepper) solveSharp(v *lane, par float64) {
	n := t.n
	k := t.choose(v)
	f := t.flat
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

// bendSharp is bend with the last factor of solveSharp; 0 where it has not full
// rank.
func (t *stepper) bendSharp(v *lane, length float64) float64 {
	f := t.flat
	if f.Rank < f.N {
		return 0
	}
	for i, to := range f.Perm[:f.N] {
		t.w[i] = v.y[t.at[to]] / length
	}
	f.SolveTransposed(t.w[:f.N])
	return linalg.Dot(t.w[:f.N], t.w[:f.N])
}
