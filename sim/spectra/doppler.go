// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff"
)

// shifted are observed wavelengths that a velocity moves over the knots of a grid. The observed lam_k reads the
// template at
//
//	x_k = lam_k sqrt((1-b)/(1+b)) = lam_k exp(-atanh b),  b = velocity/c
//
// which on a logarithmic grid is the same number of cells for all k.
type shifted struct {
	grid  *Grid
	cells *autodiff.CubicCells
	at    *autodiff.Node // position in the cell at velocity 0, in steps of the grid
	slope *autodiff.Node // cells per relative change of wavelength; nil on a logarithmic grid
}

// dopplerFactor is sqrt((1+b)/(1-b)), the observed wavelength over the emitted.
func dopplerFactor(velocity float64) float64 { return math.Exp(math.Atanh(velocity / SpeedOfLight)) }

// CheckCoverage returns a *CoverageError if the template does not cover ascending wavelengths lam (Angstrom) at some
// velocity from lo to hi (km/s).
func (g *Grid) CheckCoverage(lam []float64, lo, hi float64) error {
	first, last := g.lam[0], g.lam[len(g.lam)-1]
	for _, v := range []float64{lo, hi} {
		f := dopplerFactor(v)
		if !(first*f <= lam[0] && last*f >= lam[len(lam)-1]) {
			return &CoverageError{First: first * f, Last: last * f, NeedFirst: lam[0], NeedLast: lam[len(lam)-1], Point: -1, Velocity: v}
		}
	}
	return nil
}

func (g *Grid) shifted(lam []float64) *shifted {
	first, at, slope := make([]int, len(lam)), make([]float64, len(lam)), make([]float64, len(lam))
	for k, x := range lam {
		if j, t, ok := g.cell(x); ok {
			first[k], at[k] = j, t
			if g.log {
				at[k] = math.Log1p(t*math.Expm1(g.step)) / g.step
			}
		} else {
			p := (x - g.lam[0]) / g.step
			if g.log {
				p = math.Log(x/g.lam[0]) / g.step
			}
			first[k], at[k] = int(math.Floor(p)), p-math.Floor(p)
		}
		slope[k] = x / g.step
	}
	s := &shifted{grid: g, cells: autodiff.NewCubicCells(first, g.ratio, true), at: autodiff.Const(at)}
	if !g.log {
		s.slope = autodiff.Const(slope)
	}
	return s
}

// evaluate returns the splines through the rows of y at the wavelengths that velocities (km/s) shift. velocity lacks
// the axis of the rows.
func (s *shifted) evaluate(y, velocity *autodiff.Node, nearest bool) *autodiff.Node {
	b := autodiff.Scale(1/SpeedOfLight, column(velocity))
	shift := autodiff.Neg(autodiff.Atanh(b))
	if s.slope == nil {
		shift = autodiff.Add(s.at, autodiff.Scale(1/s.grid.step, shift))
	} else {
		shift = autodiff.Add(s.at, autodiff.Mul(s.slope, autodiff.Expm1(shift)))
	}
	t := autodiff.Sub(shift, autodiff.Floor(shift))
	if nearest {
		return s.cells.At(y, autodiff.Full(0, y.Shape()...), shift, autodiff.Ceil(t), 0)
	}
	if s.grid.log {
		h := s.grid.step
		t = autodiff.Scale(1/math.Expm1(h), autodiff.Expm1(autodiff.Scale(h, t)))
	}
	return s.cells.At(y, s.grid.Spline(y), shift, t, 0)
}

// column gives x a last axis of length 1.
func column(x *autodiff.Node) *autodiff.Node {
	return autodiff.Reshape(x, append(x.Shape().Clone(), 1)...)
}
