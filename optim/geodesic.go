// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// geodesic adds to a step v of LM the acceleration a along the geodesic that
// leaves the point with velocity v: it solves
//
//	(J^T J + par D^2) a = -J^T r_vv
//
// with the second derivative r_vv of the residuals along v, and moves by
// v + a/2 where a is short against v (Transtrum & Sethna, arXiv:1201.5885).
type geodesic struct {
	*iterate
	d *dense
	t *linalg.Damped
	// bend is the second derivative r_vv of the residuals along the step.
	bend  []float64
	accel []float64
}

// longest is the most that 2|a|/|v| may be.
const longestBend = 0.75

func (w *iterate) newGeodesic(d *dense, t *linalg.Damped) *geodesic {
	if !w.s.Geodesic {
		return nil
	}
	return &geodesic{iterate: w, d: d, t: t, bend: make([]float64, d.q.M), accel: make([]float64, w.n)}
}

// follow bends step, which is of the scaled length given; false if it turns too
// sharply to be trusted.
func (g *geodesic) follow(par, length float64) bool {
	if g == nil || length == 0 {
		return true
	}
	if !g.second() {
		return true
	}
	if g.weights != nil {
		for i, v := range g.weights {
			g.bend[i] *= v
		}
	}
	clear(g.bend[g.m:])
	g.d.q.MultiplyQT(g.bend)
	if par == 0 && g.d.q.Rank < g.n {
		return true
	}
	g.t.Damp(par, g.d.b)
	g.t.Normal(g.accel, g.bend)
	size := linalg.Norm(g.accel)
	if !linalg.Finite(size) {
		return true
	}
	if 2*size > longestBend*length {
		return false
	}
	for i, a := range g.accel {
		g.step[i] += g.iterate.d[i] * a / 2
		g.stepH[i] += a / 2
	}
	return true
}

// second sets bend to the second derivative along step; false where there is
// none that is finite.
func (g *geodesic) second() bool {
	r := g.bend[:g.m]
	if g.p.Second != nil {
		return g.p.Second(r, g.x, g.step) == nil && linalg.AllFinite(r)
	}
	const h = 0.1
	for i, x := range g.x {
		g.xNew[i] = x + h*g.step[i]
	}
	if g.residual(r, g.xNew) != nil || !linalg.AllFinite(r) {
		return false
	}
	jv := g.d.work[:g.m]
	clear(jv)
	for k, v := range g.step {
		linalg.AddScaled(jv, v, g.d.j[k*g.m:(k+1)*g.m])
	}
	for i := range r {
		v := jv[i]
		if g.weights != nil { // J holds them, r must not yet
			v /= g.weights[i]
		}
		r[i] = 2 / h * ((r[i]-g.f[i])/h - v)
	}
	return !math.IsNaN(linalg.Norm(r))
}
