// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// solve finds the coefficients at a, and the weighted residuals.
func (v *projection) solve(a []float64) error {
	if err := v.basis.Residual(v.values, a); err != nil {
		return err
	}
	v.at = append(v.at[:0], a...)
	for set := range v.k {
		w, y := v.weight[set*v.m:(set+1)*v.m], v.Y[set*v.m:(set+1)*v.m]
		for i, wi := range w {
			v.y[i] = wi * (y[i] - v.values[i])
			for j := range v.p {
				v.phi[j*v.m+i] = wi * v.values[(j+1)*v.m+i]
			}
		}
		c := v.c[set*v.p : (set+1)*v.p]
		if !linalg.AllFinite(v.phi) || !linalg.AllFinite(v.y) {
			fillNaN(v.residual)
			return nil // the fit turns back
		}
		v.solveSet(set, c)
		r := v.residual[set*v.m : (set+1)*v.m]
		for i, b := range v.y {
			r[i] = -b
		}
		for j, x := range c {
			linalg.AddScaled(r, x, v.phi[j*v.m:(j+1)*v.m])
		}
	}
	return nil
}

// solveSet finds the coefficients of a set and leaves the factors of its basis.
func (v *projection) solveSet(set int, c []float64) {
	q, rows := v.q[set], v.q[set].M
	if v.NonNegative {
		v.set.Solve(c, v.phi, v.y)
	}
	q.N = 0
	for j := range v.p {
		if v.NonNegative && !v.set.Passive[j] {
			continue
		}
		to := q.A[q.N*rows : (q.N+1)*rows]
		copy(to, v.phi[j*v.m:(j+1)*v.m])
		clear(to[v.m:])
		q.N++
	}
	q.Factor()
	if v.NonNegative {
		return
	}
	b := make([]float64, rows)
	copy(b, v.y)
	q.MultiplyQT(b)
	z := make([]float64, v.p)
	q.SolveUpper(z, b)
	for k, to := range q.Perm {
		c[to] = z[k]
	}
}

// outer is the problem in a alone.
func (v *projection) outer() *Problem {
	p := &Problem{M: v.k * v.m, N: v.basis.N, Names: v.basis.Names, Start: v.Start, Lower: v.Lower, Upper: v.Upper}
	p.Residual = func(r, a []float64) error {
		err := v.solve(a)
		copy(r, v.residual)
		return err
	}
	columns := make([]float64, v.m*p.N)
	p.Jacobian = func(j, a []float64) error {
		if !equal(v.at, a) {
			if err := v.solve(a); err != nil {
				return err
			}
		}
		for set := range v.k {
			if err := v.slope.SetData(v.c[set*v.p : (set+1)*v.p]); err != nil {
				return err
			}
			if err := v.slope.Jacobian(columns, a); err != nil {
				return err
			}
			for k := range p.N {
				to := j[k*p.M+set*v.m : k*p.M+(set+1)*v.m]
				for i := range to {
					to[i] = v.weight[set*v.m+i] * columns[k*v.m+i]
				}
				v.q[set].ProjectOut(to)
			}
		}
		return nil
	}
	return p
}

func equal(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}

// full is the problem in a and c, from a and its coefficients.
func (v *projection) full(a []float64) (*Problem, error) {
	if err := v.solve(a); err != nil {
		return nil, err
	}
	params := append([]*ad.Node{}, v.Params...)
	var sets []*ad.Node
	offset := v.Offset
	if offset == nil {
		offset = ad.Scalar(0)
	}
	for set := range v.k {
		sum := ad.Broadcast(ad.Reshape(offset, offset.Size()), v.m)
		for j, b := range v.Basis {
			c := ad.Input(v.Names[set*v.p+j])
			params = append(params, c)
			sum = ad.Add(sum, ad.Mul(ad.Reshape(b, b.Size()), c))
		}
		sets = append(sets, ad.Mul(ad.Sub(sum, ad.Const(v.Y[set*v.m:(set+1)*v.m])), ad.Const(v.weight[set*v.m:(set+1)*v.m])))
	}
	p, err := FromGraph(ad.Concat(0, sets...), params)
	if err != nil {
		return nil, err
	}
	p.Start = append(append([]float64{}, a...), v.c...)
	if v.Lower != nil || v.Upper != nil || v.NonNegative {
		p.Lower, p.Upper = repeated(-inf, p.N), repeated(inf, p.N)
		copy(p.Lower, v.Lower)
		copy(p.Upper, v.Upper)
		for i := len(a); v.NonNegative && i < p.N; i++ {
			p.Lower[i] = 0
		}
	}
	return p, nil
}
