package optim

import "math"

// factorJacobian decomposes the Jacobian itself where its normal equations have lost
// the digits that an undamped step needs. The outputs must be those of x.
func (t *stepper) factorJacobian(c *batchWorker, l int, v *lane) {
	n, rows := t.n, max(t.m, t.n)
	if t.tall == nil {
		t.tall = newPivoted(rows, n, func(k int) []float64 { return make([]float64, k) })
		t.tallB = make([]float64, rows)
		t.flat = newPivoted(2*n, n, func(k int) []float64 { return make([]float64, k) })
	}
	for k := range n {
		col, to := c.out[1+k][l:], t.tall.a[k*rows:(k+1)*rows]
		clear(to[t.m:])
		for i := range t.m {
			to[i] = col[i*lanes] * v.d[k]
		}
	}
	clear(t.tallB[t.m:])
	for i := range t.m {
		t.tallB[i] = c.out[0][i*lanes+l]
	}
	t.tall.factor()
	t.tall.transposed(t.tallB)
	clear(v.r)
	for k, to := range t.tall.perm {
		col := v.r[to*n : (to+1)*n]
		copy(col, t.tall.a[k*rows:k*rows+k])
		col[k] = t.tall.diag[k]
	}
	copy(v.qtf, t.tallB)
	v.orthogonal = true
}

// solveSharp is solve from the triangle: least squares of [R; sqrt(par)].
func (t *stepper) solveSharp(v *lane, par float64) {
	n := t.n
	k := t.choose(v)
	f := t.flat
	f.n = k
	clear(t.rhs)
	for i, q := range v.qtf {
		t.rhs[i] = -q
	}
	for j, y := range v.y {
		if !v.free[j] && y != 0 {
			axpy(t.rhs[:n], -y, v.r[j*n:(j+1)*n])
		}
	}
	for i, fi := range t.at[:k] {
		col := f.a[i*2*n : (i+1)*2*n]
		clear(col)
		copy(col, v.r[fi*n:(fi+1)*n])
		col[n+i] = math.Sqrt(par)
	}
	f.factor()
	f.transposed(t.rhs)
	f.back(t.b[:k], t.rhs)
	for i, to := range f.perm[:k] {
		v.y[t.at[to]] = t.b[i]
	}
}

// bendSharp is bend with the last factor of solveSharp; 0 where it has not full
// rank.
func (t *stepper) bendSharp(v *lane, length float64) float64 {
	f := t.flat
	if f.rank < f.n {
		return 0
	}
	for i, to := range f.perm[:f.n] {
		t.w[i] = v.y[t.at[to]] / length
	}
	f.forward(t.w[:f.n])
	return dot(t.w[:f.n], t.w[:f.n])
}
