// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// halfLog2Pi is log(2 pi)/2.
const halfLog2Pi = 0.91893853320467274178

// LaplaceSettings says where to start and how much to draw; its zero value is the
// default.
type LaplaceSettings struct {
	// Init is where the search for the mode begins, unconstrained. Default: a random place,
	// from which it ascends.
	Init []float64
	// Draws is the number of draws of the result. Default 1000.
	Draws int
	Seed  uint64
}

// Laplace is the normal distribution at the mode of the log density in unconstrained space,
// Jacobians included, with the inverse of minus its Hessian as covariance. The
// Hessian comes from fourth-order central differences of the gradient. ELBO holds
// the estimate of the log evidence:
//
//	log p(mode) + dim/2 log(2 pi) - log det(-H)/2
func Laplace(t Target, c LaplaceSettings) (_ *Approximation, err error) {
	defer given.Caught(&err)
	if err := given.Args("infer.Laplace", "t", t); err != nil {
		return nil, err
	}
	if t.Dim() == 0 {
		return nil, errors.New("infer: Laplace: the target has no parameters to fit: declare at least one")
	}
	if c.Draws <= 0 {
		c.Draws = 1000
	}
	p, a, err := climbed(t, c)
	if err != nil {
		return nil, err
	}
	chol, err := p.curvature(a)
	if err != nil {
		return nil, err
	}
	return p.normal(t, a, chol, c.Draws)
}

// climbed ascends to the mode.
func climbed(t Target, c LaplaceSettings) (*path, *ascent, error) {
	n := t.Dim()
	p := &path{density: density{target: t.Clone()}, cfg: &PathfinderSettings{InitRadius: 2}, src: tensor.NewStream(c.Seed, purposeLaplace, 0)}
	if c.Init != nil {
		if len(c.Init) != n {
			return nil, nil, fmt.Errorf("infer: Laplace: Init has %d numbers: want %d, one for each unconstrained parameter", len(c.Init), n)
		}
		p.cfg.Init = [][]float64{c.Init}
	}
	a, err := p.start(0, n)
	if err != nil {
		return nil, nil, err
	}
	for range 5000 {
		before := a.lp
		if up, err := a.step(); err != nil {
			return nil, nil, err
		} else if !up || a.lp-before <= 1e-15*math.Abs(a.lp) {
			break
		}
	}
	if i := endless(p.at, a.q); i >= 0 {
		return nil, nil, fmt.Errorf("infer: Laplace: %w", unboundedAt(t, a.q, i))
	}
	return p, a, nil
}

// Maximum is a place where the log density rises no further.
type Maximum struct {
	// Q are the unconstrained coordinates.
	Q       []float64
	LogProb float64
	// Gradients is the number of evaluations that it took.
	Gradients int
}

// Maximize ascends the log density by L-BFGS from a start, to a local maximum. It is an error if the density grows without end.
func Maximize(t Target, c LaplaceSettings) (_ *Maximum, err error) {
	defer given.Caught(&err)
	if err := given.Args("infer.Maximize", "t", t); err != nil {
		return nil, err
	}
	if t.Dim() == 0 {
		return nil, errors.New("infer: Maximize: the target has no parameters to fit: declare at least one")
	}
	p, a, err := climbed(t, c)
	if err != nil {
		return nil, err
	}
	return &Maximum{a.q, a.lp, p.calls + a.calls}, nil
}

// curvature factorises minus the Hessian at the mode.
func (p *path) curvature(a *ascent) (*mat.Cholesky, error) {
	n := len(a.q)
	h := mat.NewSymDense(n, nil)
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		at := a.q[i]
		step := 1e-3 * math.Max(1, math.Abs(at))
		for _, s := range []struct{ by, w float64 }{{-2, 1}, {-1, -8}, {1, 8}, {2, -1}} {
			a.q[i] = at + s.by*step
			if _, err := p.at(a.q, a.nextG); err != nil {
				return nil, err
			}
			linalg.AddScaled(rows[i], -s.w/(12*step), a.nextG)
		}
		a.q[i] = at
	}
	for i := range n {
		for j := range i + 1 {
			h.SetSym(i, j, (rows[i][j]+rows[j][i])/2)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil, fmt.Errorf("infer: Laplace: the search for the mode ended at log density %.6g, where the density does not fall in every direction: try Pathfinder", a.lp)
	}
	var newton mat.VecDense
	g := mat.NewVecDense(n, a.g)
	if err := chol.SolveVecTo(&newton, g); err != nil || !(mat.Dot(&newton, g) < 1e-4) {
		return nil, fmt.Errorf("infer: Laplace: the search for the mode ended at log density %.6g, where the density still rises (squared Newton step %.3g): it may have no mode; try Pathfinder, or an Init near the mode", a.lp, mat.Dot(&newton, g))
	}
	return &chol, nil
}

func (p *path) normal(t Target, a *ascent, chol *mat.Cholesky, draws int) (*Approximation, error) {
	n := len(a.q)
	var u mat.TriDense
	chol.UTo(&u) // -H = U^T U, so U^-1 z has the covariance
	half := chol.LogDet() / 2
	var q [][]float64
	var logP, logQ []float64
	z, g := make([]float64, n), make([]float64, n)
	for range draws {
		p.src.NormalTo(z)
		var v mat.VecDense
		if err := v.SolveVec(&u, mat.NewVecDense(n, z)); err != nil {
			return nil, fmt.Errorf("infer: Laplace: the Hessian is nearly singular, so try Pathfinder: %w", err)
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = a.q[i] + v.AtVec(i)
		}
		lp, err := p.at(x, g)
		if err != nil {
			return nil, err
		}
		q, logP, logQ = append(q, x), append(logP, lp), append(logQ, half-float64(n)*halfLog2Pi-linalg.FastDot(z, z)/2)
	}
	out, err := newApproximation("Laplace", t, q, logP, logQ)
	if err == nil {
		out.ELBO = a.lp + float64(n)*halfLog2Pi - half
		out.Gradients = p.calls + a.calls
	}
	return out, err
}
