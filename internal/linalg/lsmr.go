// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package linalg

import "math"

// LSMR minimises |A x - b|^2 + damp^2 |x|^2 by products with A and its transpose
// (Fong & Saunders, doi:10.1137/10079687X). It keeps its vectors between calls.
type LSMR struct {
	u, v, h, hbar, tu, tv []float64
}

// grow makes room for m rows and n columns.
func (l *LSMR) grow(m, n int) {
	if len(l.u) == m && len(l.v) == n {
		return
	}
	mem := NewArena(2*m + 4*n)
	l.u, l.tu = mem.Floats(m), mem.Floats(m)
	l.v, l.h, l.hbar, l.tv = mem.Floats(n), mem.Floats(n), mem.Floats(n), mem.Floats(n)
}

// Solve sets x to the solution and returns the norm of the residual. It ends where the
// gradient or the residual has shrunk by the factor tol, or after most iterations; apply
// and transposed multiply by A and by its transpose.
func (l *LSMR) Solve(x, b []float64, apply, transposed func(out, v []float64), damp, tol float64, most int) float64 {
	l.grow(len(b), len(x))
	clear(x)
	clear(l.hbar)
	copy(l.u, b)
	beta := Unit(l.u)
	normb := beta
	if beta == 0 {
		return 0
	}
	transposed(l.v, l.u)
	alpha := Unit(l.v)
	copy(l.h, l.v)
	if alpha == 0 {
		return normb
	}
	zetabar, alphabar := alpha*beta, alpha
	rho, rhobar, cbar, sbar := 1.0, 1.0, 1.0, 0.0
	e := lsmrError{betadd: beta, rhodold: 1}
	size2 := alpha * alpha
	normr := normb
	for range most {
		apply(l.tu, l.v)
		Scale(l.u, -alpha)
		AddScaled(l.u, 1, l.tu)
		if beta = Unit(l.u); beta > 0 {
			transposed(l.tv, l.u)
			Scale(l.v, -beta)
			AddScaled(l.v, 1, l.tv)
			alpha = Unit(l.v)
		}
		chat, shat, alphahat := rotation(alphabar, damp)
		rhoold := rho
		var c, s float64
		c, s, rho = rotation(alphahat, beta)
		thetanew := s * alpha
		alphabar = c * alpha

		rhobarold, zetaold := rhobar, e.zeta
		thetabar := sbar * rho
		cbar, sbar, rhobar = rotation(cbar*rho, thetanew)
		e.zeta = cbar * zetabar
		zetabar *= -sbar

		Scale(l.hbar, -thetabar*rho/(rhoold*rhobarold))
		AddScaled(l.hbar, 1, l.h)
		AddScaled(x, e.zeta/(rho*rhobar), l.hbar)
		Scale(l.h, -thetanew/rho)
		AddScaled(l.h, 1, l.v)

		normr = e.update(chat, shat, c, s, thetabar, zetaold, rhobar)
		size2 += beta * beta
		size := math.Sqrt(size2)
		size2 += alpha * alpha
		if math.Abs(zetabar) <= tol*size*normr || normr <= tol*normb || beta == 0 || alpha == 0 || !Finite(normr) {
			break
		}
	}
	return normr
}

// lsmrError follows the norm of the residual without computing it.
type lsmrError struct {
	betadd, betad, rhodold, tautilde, thetatilde, zeta, d float64
}

func (e *lsmrError) update(chat, shat, c, s, thetabar, zetaold, rhobar float64) float64 {
	acute, check := chat*e.betadd, -shat*e.betadd
	hat := c * acute
	e.betadd = -s * acute
	thetaold := e.thetatilde
	ct, st, rhot := rotation(e.rhodold, thetabar)
	e.thetatilde = st * rhobar
	e.rhodold = ct * rhobar
	e.betad = -st*e.betad + ct*hat
	e.tautilde = (zetaold - thetaold*e.tautilde) / rhot
	tau := (e.zeta - e.thetatilde*e.tautilde) / e.rhodold
	e.d += check * check
	return math.Sqrt(e.d + (e.betad-tau)*(e.betad-tau) + e.betadd*e.betadd)
}

// Unit scales v to length 1 and returns its length.
func Unit(v []float64) float64 {
	l := Norm(v)
	if l > 0 {
		Scale(v, 1/l)
	}
	return l
}
