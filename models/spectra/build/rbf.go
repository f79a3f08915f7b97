// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// radial interpolates between scattered points by multiquadrics -sqrt(1+r^2) and a constant, as SciPy's
// RBFInterpolator does with the kernel multiquadric, epsilon 1 and degree 0 (Hardy 1971,
// doi:10.1029/JB076i008p01905). The weights of the values depend on the points alone.
type radial struct {
	points []float64 // a row for each
	dim    int
	system mat.LU // [K + smoothing, 1; 1, 0]
}

func newRadial(points []float64, dim int, smoothing float64) (*radial, error) {
	n := len(points) / dim
	a := mat.NewDense(n+1, n+1, nil)
	for i := range n {
		for j := range i + 1 {
			v := multiquadric(points[i*dim:(i+1)*dim], points[j*dim:(j+1)*dim])
			if a.Set(i, j, v); i != j {
				a.Set(j, i, v)
			} else {
				a.Set(i, i, v+smoothing)
			}
		}
		a.Set(i, n, 1)
		a.Set(n, i, 1)
	}
	r := &radial{points: points, dim: dim}
	if r.system.Factorize(a); !(r.system.Cond() < 1/1e-13) {
		return nil, fmt.Errorf("build: the interpolation between %d templates is singular, with condition number %.1e: two have nearly the same parameters, so mark one as bad", n, r.system.Cond())
	}
	return r, nil
}

func multiquadric(a, b []float64) float64 {
	sum := 1.0
	for k, x := range a {
		sum += (x - b[k]) * (x - b[k])
	}
	return -math.Sqrt(sum)
}

// weights returns the weights of the values at the points in the value at x.
func (r *radial) weights(x []float64) []float64 {
	n := len(r.points) / r.dim
	v := mat.NewVecDense(n+1, nil)
	for i := range n {
		v.SetVec(i, multiquadric(x, r.points[i*r.dim:(i+1)*r.dim]))
	}
	v.SetVec(n, 1)
	var w mat.VecDense
	r.system.SolveVecTo(&w, true, v) // the matrix is symmetric; its condition was checked
	return w.RawVector().Data[:n]
}
