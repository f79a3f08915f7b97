// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/autodiff"
)

// Grid holds the knots of a template and the factors of its natural cubic spline.
type Grid struct {
	lam  []float64
	log  bool
	step float64 // of the logarithm, or in Angstrom

	// w = system^-1 slopes y are the second derivatives at the knots times h_i^2/6, h_i being the length of cell i.
	slopes *autodiff.Node
	system *autodiff.Tridiagonal
	ratio  []float64 // (h_i/h_(i+1))^2
}

// minKnots is the number of knots below which there is no natural spline.
const minKnots = 4

// stepTolerance is how far steps of a grid may differ, in Angstrom or of the logarithm.
const stepTolerance = 1e-10

// NewGrid makes the grid of wavelengths (Angstrom) at equal steps, or at equal steps of the
// logarithm. It returns a *GridError if the steps are not equal.
func NewGrid(lam []float64, log bool) (*Grid, error) {
	n := len(lam)
	if n < minKnots {
		return nil, fmt.Errorf("spectra: the template has %d wavelengths: want at least %d", n, minKnots)
	}
	g := &Grid{lam: lam, log: log}
	position := func(i int) float64 { return lam[i] }
	if log {
		if !(lam[0] > 0) {
			return nil, fmt.Errorf("spectra: the logarithmic grid begins at %g Angstrom: want more than 0", lam[0])
		}
		position = func(i int) float64 { return math.Log(lam[i]) }
	}
	first := position(1) - position(0)
	for i := 1; i < n; i++ {
		if !(lam[i] > lam[i-1]) || math.IsInf(lam[i], 0) {
			return nil, &GridError{Index: i, Log: log}
		}
		if s := position(i) - position(i-1); !(math.Abs(s-first) <= stepTolerance) {
			return nil, &GridError{Index: i, Step: s, Want: first, Log: log, Ascending: true}
		}
	}
	g.step = (position(n-1) - position(0)) / float64(n-1)
	g.factor()
	return g, nil
}

// factor makes the natural spline's system for w: with z_i = c_i w_i, c_i = 6/h_i^2,
//
//	h_(i-1) z_(i-1) + 2 (h_(i-1) + h_i) z_i + h_i z_(i+1) = 6 (s_i - s_(i-1)),  s_i = (y_(i+1) - y_i)/h_i
//
// and z = 0 at both ends.
func (g *Grid) factor() {
	n := len(g.lam)
	h := make([]float64, n) // the last, which has no cell, continues the grid
	for i := range n - 1 {
		h[i] = g.lam[i+1] - g.lam[i]
	}
	h[n-1] = h[n-2]
	g.ratio = make([]float64, n)
	for i := range n - 1 {
		r := h[i] / h[i+1]
		g.ratio[i] = r * r
	}
	below, diagonal, above := make([]float64, n-1), make([]float64, n), make([]float64, n-1)
	slopes := make([]float64, 3*n)
	diagonal[0], diagonal[n-1] = 1, 1
	for i := 1; i < n-1; i++ {
		// Divided by 6/h_i, so that all numbers are near 1 in programs of float32.
		scale := h[i] / 6
		if i > 1 {
			below[i-1] = scale * h[i-1] * 6 / (h[i-1] * h[i-1])
		}
		diagonal[i] = scale * 2 * (h[i-1] + h[i]) * 6 / (h[i] * h[i])
		if i < n-2 {
			above[i] = scale * h[i] * 6 / (h[i+1] * h[i+1])
		}
		slopes[i] = scale * 6 / h[i-1]
		slopes[2*n+i] = scale * 6 / h[i]
		slopes[n+i] = -slopes[i] - slopes[2*n+i]
	}
	g.slopes = autodiff.Const(slopes, 3, n)
	g.system = autodiff.NewTridiagonal(below, diagonal, above)
}

// Wavelengths returns the knots in Angstrom; do not change them.
func (g *Grid) Wavelengths() []float64 { return g.lam }

// Log reports whether the steps of the logarithm are equal.
func (g *Grid) Log() bool { return g.log }

// Step returns the step of the logarithm, or the step in Angstrom.
func (g *Grid) Step() float64 { return g.step }

// Spline returns the second derivatives of the natural cubic splines through the rows of y at the knots, times
// h_i^2/6, where h_i is the length of cell i. Gradient: the transposed solve.
func (g *Grid) Spline(y *autodiff.Node) *autodiff.Node {
	return g.system.Solve(autodiff.BandedMatVec(g.slopes, y, false))
}

// cell returns the cell of x and the fraction of it, by the knots themselves. ok is false if x is before the first
// knot, or not before the last.
func (g *Grid) cell(x float64) (j int, t float64, ok bool) {
	n := len(g.lam)
	if !(x >= g.lam[0] && x < g.lam[n-1]) {
		return 0, 0, false
	}
	at := (x - g.lam[0]) / g.step
	if g.log {
		at = math.Log(x/g.lam[0]) / g.step
	}
	j = min(max(int(at), 0), n-2)
	for j > 0 && x < g.lam[j] {
		j--
	}
	for j < n-2 && x >= g.lam[j+1] {
		j++
	}
	return j, (x - g.lam[j]) / (g.lam[j+1] - g.lam[j]), true
}

// Points are wavelengths at which splines are evaluated.
type Points struct {
	grid   *Grid
	cells  *autodiff.CubicCells
	t      *autodiff.Node
	perLam []float64 // 1/h of each point's cell
}

// At finds the cells of wavelengths (Angstrom) in any order. It checks every one and returns a *CoverageError for the
// first that is before the first knot, or not before the last.
func (g *Grid) At(x []float64) (*Points, error) {
	first, t, per := make([]int, len(x)), make([]float64, len(x)), make([]float64, len(x))
	ascending := true
	for k, v := range x {
		j, f, ok := g.cell(v)
		if !ok {
			return nil, &CoverageError{First: g.lam[0], Last: g.lam[len(g.lam)-1], NeedFirst: v, NeedLast: v, Point: k}
		}
		first[k], t[k], per[k] = j, f, 1/(g.lam[j+1]-g.lam[j])
		ascending = ascending && (k == 0 || first[k-1] <= j)
	}
	return &Points{g, autodiff.NewCubicCells(first, g.ratio, ascending), autodiff.Const(t), per}, nil
}

// Derivative returns, for rows y of values at the knots, the derivative of some order by wavelength of their natural
// splines at the points; order 0 is the spline. Gradient: with respect to y.
func (p *Points) Derivative(y *autodiff.Node, order int) *autodiff.Node {
	v := p.cells.At(y, p.grid.Spline(y), autodiff.Full(0, p.t.Size()), p.t, order)
	if order == 0 {
		return v
	}
	scale := make([]float64, len(p.perLam))
	for k, s := range p.perLam {
		scale[k] = math.Pow(s, float64(order))
	}
	return autodiff.Mul(v, autodiff.Const(scale))
}
