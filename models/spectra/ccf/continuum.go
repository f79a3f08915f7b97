// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/median"
	"github.com/euryale-dev/euryale/sim/spectra"
)

const (
	// nodeSpeed is the speed of light in km/s that the distance of the continuum's nodes is defined with, in the files
	// as in the reference.
	nodeSpeed = 3e5
	// continuumNodes is the default of the greatest number of nodes.
	continuumNodes = 20
	// continuumSteps bounds the search; it mostly takes 7 steps, and 25 where the noise is 1e-5 of the flux.
	continuumSteps = 200
	// steepest bounds the logarithm of the continuum.
	steepest = 100
)

// nodeStep returns the distance of the nodes of continua, in km/s, of templates from exp(logL0) to exp(logL1) Angstrom:
// 1000 km/s, or what gives the greatest number of nodes.
func nodeStep(logL0, logL1 float64, nodes int) float64 {
	return max(1000, nodeSpeed*math.Expm1((logL1-logL0)/float64(nodes)))
}

// continuum fits exp(quadratic spline) to a spectrum at ascending wavelengths, with nodes at a distance of step (km/s)
// from the first wavelength on. It minimises sum over pixels of sqrt(1 + ((model-flux)/err)^2), the soft-L1 loss, which
// lines and bad pixels hardly move.
//
// Each step solves Newton's equations of the loss plus a multiple of those of iteratively reweighted least squares,
// whose curvature is never too small. The multiple falls when a step succeeds.
func continuum(lam, flux, err []float64, step float64) ([]float64, error) {
	n := len(lam)
	ratio := math.Log1p(step / nodeSpeed)
	count := max(3, int(math.Ceil(math.Log(lam[n-1]/lam[0])/ratio)))
	nodes := make([]float64, count)
	for i := range nodes {
		nodes[i] = lam[0] * math.Exp(ratio*float64(i))
	}
	q, e := spectra.NewQuadraticSpline(nodes)
	if e != nil {
		return nil, fmt.Errorf("ccf: the continuum has %s from %g Angstrom in steps of %g km/s: %w", errtext.Count(count, "node"), lam[0], step, e)
	}
	f := &continuumFit{flux: flux, first: make([]int, n), basis: make([][3]float64, n), weight: make([]float64, n), model: make([]float64, n)}
	for i, x := range lam {
		f.first[i], f.basis[i] = q.BSplines(x)
		f.weight[i] = 1 / err[i]
	}
	x := binned(lam, flux, ratio, count)
	f.minimise(x)
	if c := f.cost(x); math.IsNaN(c) || math.IsInf(c, 0) {
		return nil, fmt.Errorf("ccf: the fit of the continuum has the loss %v: check the fluxes and errors of the spectrum", c)
	}
	return f.model, nil
}

// binned returns the logarithms of the medians of the flux around each node, from which the search starts.
func binned(lam, flux []float64, ratio float64, count int) []float64 {
	middle := math.Abs(median.Of(flux))
	if middle == 0 {
		middle = 1
	}
	x := slices.Repeat([]float64{math.Log(middle)}, count)
	for i, from := 0, 0; i < count && from < len(lam); i++ {
		edge := lam[0] * math.Exp(ratio*(float64(i)+0.5))
		to := from
		for to < len(lam) && lam[to] < edge {
			to++
		}
		if to > from {
			x[i] = math.Log(max(median.Of(flux[from:to]), 1e-3*middle))
		}
		from = to
	}
	return x
}

// continuumFit is the data of a fit. Unknowns are the coefficients of B-splines, of which three count at a pixel.
type continuumFit struct {
	flux, weight []float64 // weight: 1/err
	first        []int
	basis        [][3]float64
	model        []float64 // at the coefficients of the last call of cost
}

// cost returns the loss at coefficients x.
func (f *continuumFit) cost(x []float64) (sum float64) {
	for i, b := range f.basis {
		c := x[f.first[i]:][:3]
		y := b[0]*c[0] + b[1]*c[1] + b[2]*c[2]
		m := math.Exp(min(max(y, -steepest), steepest))
		f.model[i] = m
		r := (m - f.flux[i]) * f.weight[i]
		sum += math.Sqrt(1 + r*r)
	}
	return sum
}

// banded is a symmetric matrix with two diagonals above the main one: row i has the elements (i,i), (i,i+1), (i,i+2).
type banded [][3]float64

// derivatives adds up the gradient and two approximations of the Hessian at the coefficients of the last call of
// cost: Newton's, without the curvature of the model, and that of reweighted least squares, which is larger.
func (f *continuumFit) derivatives(gradient []float64, newton, reweighted banded) {
	clear(gradient)
	clear(newton)
	clear(reweighted)
	for i, b := range f.basis {
		m := f.model[i] * f.weight[i]
		r := (f.model[i] - f.flux[i]) * f.weight[i]
		u := 1 / math.Sqrt(1+r*r)
		w := m * m * u
		v := w * u * u
		g := r * u * m
		k := f.first[i]
		for a := range 3 {
			gradient[k+a] += g * b[a]
			p, q := v*b[a], w*b[a]
			for c := a; c < 3; c++ {
				newton[k+a][c-a] += p * b[c]
				reweighted[k+a][c-a] += q * b[c]
			}
		}
	}
}

// minimise moves the coefficients x to the minimum of the loss and leaves the model there.
func (f *continuumFit) minimise(x []float64) {
	n := len(x)
	gradient, trial, step := make([]float64, n), make([]float64, n), make([]float64, n)
	newton, reweighted, h := make(banded, n), make(banded, n), make(banded, n)
	best := f.cost(x)
	f.derivatives(gradient, newton, reweighted)
	damping := 1.0
	for range continuumSteps {
		most := 0.0
		for i := range h {
			for d := range 3 {
				h[i][d] = newton[i][d] + damping*reweighted[i][d]
			}
			most = max(most, h[i][0])
		}
		for i := range h {
			h[i][0] += 1e-12 * most // what no good pixel determines stays where it is
		}
		copy(step, gradient)
		if !h.solve(step) {
			break
		}
		for i := range x {
			trial[i] = x[i] - step[i]
		}
		c := f.cost(trial)
		if !(c <= best) { // NaN as well
			if damping *= 8; damping > 1e12 {
				break
			}
			continue
		}
		done := best-c <= 1e-10*best && damping < 0.1
		copy(x, trial)
		best = c
		if done {
			return
		}
		damping = max(damping/8, 1e-6)
		f.derivatives(gradient, newton, reweighted)
	}
	f.cost(x)
}

// solve replaces b by the solution of h x = b and h by its factors. It returns false if h is not positive definite.
func (h banded) solve(b []float64) bool {
	n := len(h)
	for i := range n { // h = L D L^T; row i of the factors has D_i, L_{i+1,i}, L_{i+2,i}
		d := h[i][0]
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
		l1, l2 := h[i][1]/d, h[i][2]/d
		if i+1 < n {
			h[i+1][0] -= l1 * h[i][1]
			h[i+1][1] -= l1 * h[i][2]
			b[i+1] -= l1 * b[i]
		}
		if i+2 < n {
			h[i+2][0] -= l2 * h[i][2]
			b[i+2] -= l2 * b[i]
		}
		h[i][1], h[i][2] = l1, l2
	}
	for i := n - 1; i >= 0; i-- {
		b[i] /= h[i][0]
		if i+1 < n {
			b[i] -= h[i][1] * b[i+1]
		}
		if i+2 < n {
			b[i] -= h[i][2] * b[i+2]
		}
	}
	return true
}
