// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Variances returns the variances of the parameters with the given names. It works also if the
// Jacobian is too large to store; each variance then costs an iterative solution and is accurate to
// about six digits. It is +Inf for a parameter that the data do not determine, and 0 for a fixed
// one.
//
// The variance of a combination g of parameters is |u|^2 for the shortest u with J^T u = g, which
// LSMR finds.
func (r *Result) Variances(names ...string) ([]float64, error) {
	out := make([]float64, len(names))
	at := map[string]int{}
	for i, name := range r.Names {
		at[name] = i
	}
	for k, name := range names {
		i, ok := at[name]
		switch {
		case !ok:
			return nil, unknown("parameter", name, r.Names)
		case r.Cov != nil:
			out[k] = r.Cov[i*len(r.Names)+i]
		case r.far == nil:
			return nil, fmt.Errorf("optim: the result was read from a file and has no covariance: fit again to get it")
		default:
			g := make([]float64, r.far.n)
			if r.tieGradient == nil {
				g[i] = 1
			} else {
				r.tieGradient(g, i)
			}
			out[k] = r.far.variance(g) * r.Scale
		}
	}
	return out, nil
}

// variance of the combination g of fitted parameters.
func (o *operator) variance(g []float64) float64 {
	weights := o.weights
	o.weights = nil
	defer func() { o.weights = weights }()
	o.setInverseScales()
	scaled := make([]float64, o.n)
	for k, v := range g {
		scaled[k] = o.d[k] * v
	}
	if linalg.Norm(scaled) == 0 {
		return 0
	}
	u, v := make([]float64, o.m), make([]float64, o.n)
	var solver linalg.LSMR
	left := solver.Solve(u, scaled, func(out, x []float64) {
		o.transposed(out, x)
		for k := range out {
			out[k] *= o.d[k]
		}
	}, func(out, x []float64) {
		for k := range x {
			v[k] = o.d[k] * x[k]
		}
		o.apply(out, v)
	}, 0, 1e-9, 20*(o.n+50))
	if !(left <= 1e-6*linalg.Norm(scaled)) {
		return math.Inf(1)
	}
	return linalg.Dot(u, u)
}
