package spectra

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// errors computes covariances from the Hessian of -2 log posterior. The first parameters are velocities.
func (fit *Fit) errors(h []float64, d *descent, velocities int) {
	n := len(fit.X)
	fit.SD, fit.Conditional, fit.Cov = slices.Repeat([]float64{math.NaN()}, n), slices.Repeat([]float64{math.NaN()}, n), make([]float64, n*n)
	for k, x := range fit.X {
		if !d.fixed[k] && (x <= d.lower[k] || x >= d.upper[k]) {
			fit.AtBound = append(fit.AtBound, fit.Names[k])
		}
	}
	for k := range velocities {
		fit.held = append(fit.held, math.Sqrt(2/h[k*n+k]))
	}
	free := d.free()
	cov, good := inverse(h, n, free)
	fit.BadHessian = !good
	for a, k := range free {
		for b, l := range free {
			fit.Cov[k*n+l] = cov[a*len(free)+b]
		}
		fit.SD[k] = math.Sqrt(cov[a*len(free)+a])
	}
	var atmosphere []int
	for _, k := range free {
		if k > velocities {
			atmosphere = append(atmosphere, k)
		}
	}
	cov, _ = inverse(h, n, atmosphere)
	for a, k := range atmosphere {
		fit.Conditional[k] = math.Sqrt(cov[a*len(atmosphere)+a])
	}
}

// inverse returns the covariance of some parameters, given the Hessian of -2 log L of all: twice the inverse
// of its part. Where that has a negative variance, twice one over the element of the Hessian stands for it,
// which is NaN in turn where that is negative, and the result is not good.
func inverse(h []float64, n int, list []int) (cov []float64, good bool) {
	m := len(list)
	if m == 0 {
		return nil, true
	}
	part := mat.NewDense(m, m, nil)
	for a, k := range list {
		for b, l := range list {
			part.Set(a, b, (h[k*n+l]+h[l*n+k])/4)
		}
	}
	cov, good = make([]float64, m*m), true
	var inv mat.Dense
	if err := inv.Inverse(part); err != nil && inv.IsEmpty() {
		good = false
	} else {
		for a := range m {
			for b := range m {
				cov[a*m+b] = inv.At(a, b)
			}
		}
	}
	for a := range m {
		if v := cov[a*m+a]; !(v > 0) || math.IsInf(v, 1) {
			good = false
			if cov[a*m+a] = 1 / part.At(a, a); !(cov[a*m+a] >= 0) {
				cov[a*m+a] = math.NaN()
			}
		}
	}
	return cov, good
}
