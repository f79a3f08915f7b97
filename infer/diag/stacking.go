// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
)

// Stacking returns the non-negative weights of sum one with which a mixture of models predicts best:
// those that maximise
//
//	sum_i log sum_k w_k exp(elpd[k][i])
//
// for the estimates elpd[model][observation]. An observation that is impossible under every model is
// ignored. Equal models share their weight in an arbitrary but reproducible way.
//
// Reference: Yao, Vehtari, Simpson and Gelman, doi 10.1214/17-BA1091; the
// optimum is found by Newton steps on a quadratic with non-negative unknowns,
// after Kim, Carbonetto, Stephens and Anitescu, doi 10.1080/10618600.2019.1689985.
func Stacking(elpd [][]float64) []float64 {
	l := densities(elpd)
	k := len(elpd)
	w := make([]float64, k)
	for i := range w {
		w[i] = 1 / float64(k)
	}
	if len(l) == 0 || k < 2 {
		return w
	}
	for range 100 {
		grad, hess := stackingDerivatives(l, w)
		if optimal(grad, w) {
			break
		}
		to := nonNegativeMinimum(hess, grad, w)
		if !descend(l, w, to, grad) {
			break
		}
	}
	sum := total(w)
	for i := range w {
		w[i] /= sum
	}
	return w
}

// densities returns exp(elpd) by observation, scaled so that the largest of each
// is one.
func densities(elpd [][]float64) [][]float64 {
	var out [][]float64
	for i := range elpd[0] {
		top := math.Inf(-1)
		for k := range elpd {
			top = math.Max(top, elpd[k][i])
		}
		if math.IsInf(top, -1) {
			continue
		}
		row := make([]float64, len(elpd))
		for k := range elpd {
			row[k] = math.Exp(elpd[k][i] - top)
		}
		out = append(out, row)
	}
	return out
}

// stackingLoss is -mean log(L w) + sum w: its minimum over w >= 0 has sum one.
func stackingLoss(l [][]float64, w []float64) float64 {
	s := 0.0
	for _, row := range l {
		s -= math.Log(dot(row, w))
	}
	s /= float64(len(l))
	for _, x := range w {
		s += x
	}
	return s
}

func stackingDerivatives(l [][]float64, w []float64) (grad []float64, hess [][]float64) {
	k, n := len(w), float64(len(l))
	grad, hess = make([]float64, k), make([][]float64, k)
	for i := range k {
		grad[i], hess[i] = 1, make([]float64, k)
		hess[i][i] = 1e-10 // equal models make the rest singular
	}
	for _, row := range l {
		d := dot(row, w)
		for i := range k {
			grad[i] -= row[i] / d / n
			for j := range k {
				hess[i][j] += row[i] * row[j] / d / d / n
			}
		}
	}
	return grad, hess
}

// optimal reports whether no weight would grow and no positive weight would change.
func optimal(grad, w []float64) bool {
	for i, g := range grad {
		if g < -1e-12 || w[i]*math.Abs(g) > 1e-12 {
			return false
		}
	}
	return true
}

// descend moves w towards to as far as the loss falls sufficiently, and reports whether it moved.
func descend(l [][]float64, w, to, grad []float64) bool {
	start, slope := stackingLoss(l, w), 0.0
	for i := range w {
		slope += grad[i] * (to[i] - w[i])
	}
	try := make([]float64, len(w))
	for step := 1.0; step > 1e-9; step /= 2 {
		for i := range w {
			try[i] = math.Max(w[i]+step*(to[i]-w[i]), 0)
		}
		if loss := stackingLoss(l, try); loss < start+1e-4*step*slope {
			copy(w, try)
			return true
		}
	}
	return false
}

// nonNegativeMinimum returns the y >= 0 that minimises the quadratic with the
// given gradient at w: coordinates that would be negative are held at zero, and
// released where that lowers it.
func nonNegativeMinimum(hess [][]float64, grad, w []float64) []float64 {
	k := len(w)
	rhs, y, free := make([]float64, k), make([]float64, k), make([]bool, k)
	for i := range k {
		rhs[i] = dot(hess[i], w) - grad[i]
	}
	for range 3 * k {
		best, at := 1e-13, -1
		for i := range k {
			if up := rhs[i] - dot(hess[i], y); !free[i] && up > best {
				best, at = up, i
			}
		}
		if at < 0 {
			break
		}
		free[at] = true
		settle(hess, rhs, y, free)
	}
	return y
}

// settle solves for the free coordinates and fixes those that leave the allowed range, until none
// does.
func settle(hess [][]float64, rhs, y []float64, free []bool) {
	for {
		z := solveFree(hess, rhs, free)
		step, at := 1.0, -1
		for i, f := range free {
			if f && z[i] <= 0 {
				if s := y[i] / (y[i] - z[i]); s < step || at < 0 {
					step, at = s, i
				}
			}
		}
		for i, f := range free {
			if f {
				y[i] += step * (z[i] - y[i])
			}
		}
		if at < 0 {
			return
		}
		y[at], free[at] = 0, false
	}
}

// solveFree solves the free part of a positive definite system by Cholesky.
func solveFree(hess [][]float64, rhs []float64, free []bool) []float64 {
	var idx []int
	for i, f := range free {
		if f {
			idx = append(idx, i)
		}
	}
	n := len(idx)
	l, x := make([][]float64, n), make([]float64, n)
	for a, i := range idx {
		l[a] = make([]float64, n)
		for b := range a + 1 {
			s := hess[i][idx[b]] - dot(l[a][:b], l[b][:b])
			if a == b {
				l[a][a] = math.Sqrt(math.Max(s, 1e-300))
			} else {
				l[a][b] = s / l[b][b]
			}
		}
		x[a] = (rhs[i] - dot(l[a][:a], x[:a])) / l[a][a]
	}
	for a := n - 1; a >= 0; a-- {
		for b := a + 1; b < n; b++ {
			x[a] -= l[b][a] * x[b]
		}
		x[a] /= l[a][a]
	}
	out := make([]float64, len(rhs))
	for a, i := range idx {
		out[i] = x[a]
	}
	return out
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, x := range a {
		s += x * b[i]
	}
	return s
}
