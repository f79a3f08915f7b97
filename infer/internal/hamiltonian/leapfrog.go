// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/kernels"
)

// Point is a place in phase space. The momentum z is whitened: p = F^-T z, so
// that its kinetic energy is |z|^2/2 and p^T M^-1 p' = z . z'.
type Point struct {
	// Q is the position, Z the whitened momentum, G the gradient and W the force F^T G.
	Q, Z, G, W []float64
	Lp         float64
}

// NewPoint makes a Point of n parameters.
func NewPoint(n int) Point {
	b := make([]float64, 4*n)
	return Point{Q: b[:n:n], Z: b[n : 2*n : 2*n], G: b[2*n : 3*n : 3*n], W: b[3*n:]}
}

// Set makes p the place o.
func (p *Point) Set(o *Point) {
	linalg.Assign(p.Q, o.Q)
	linalg.Assign(p.Z, o.Z)
	linalg.Assign(p.G, o.G)
	linalg.Assign(p.W, o.W)
	p.Lp = o.Lp
}

// Energy is the Hamiltonian, +Inf where it is not a number.
func (p *Point) Energy() float64 {
	h := linalg.FastDot(p.Z, p.Z)/2 - p.Lp
	if math.IsNaN(h) {
		return math.Inf(1)
	}
	return h
}

// Density is the density of trajectories: the logarithm, and its gradient into grad.
type Density interface {
	Dim() int
	LogProbGrad(q, grad []float64) (float64, error)
}

// System moves points along the trajectories of a target under a metric.
type System struct {
	Target Density
	Metric *Metric
	// V is the velocity.
	V []float64
	// Count is the number of leapfrog steps made.
	Count int
}

// Leapfrog moves p by one step of length eps, backwards if negative.
//
//	z += eps/2 F^T g,  q += eps F z,  new g,  z += eps/2 F^T g
func (s *System) Leapfrog(p *Point, eps float64) (err error) {
	s.Depart(p, eps)
	if p.Lp, err = s.Target.LogProbGrad(p.Q, p.G); err != nil {
		p.Lp = math.Inf(-1)
		return err
	}
	if math.IsInf(p.Lp, 1) {
		return ErrInfinite
	}
	s.Arrive(p, eps)
	return nil
}

// Depart is the first part of Leapfrog: it moves p to where the density is wanted.
func (s *System) Depart(p *Point, eps float64) {
	s.Count++
	if f := s.Metric.Sparse; f != nil && f.chain != nil {
		f.chain.Depart(kernels.Best(), p.Q, p.Z, p.W, eps)
		return
	}
	if scale := s.Metric.fewScales(); scale != nil {
		q, z, w, half := p.Q[:len(scale)], p.Z[:len(scale)], p.W[:len(scale)], eps/2
		for i, f := range scale {
			z[i] += half * w[i]
			q[i] += eps * (f * z[i])
		}
		return
	}
	linalg.AddScaled(p.Z, eps/2, p.W)
	s.Metric.Velocity(s.V, p.Z)
	linalg.AddScaled(p.Q, eps, s.V)
}

// Arrive is the last part of Leapfrog, after the gradient.
func (s *System) Arrive(p *Point, eps float64) {
	if f := s.Metric.Sparse; f != nil && f.chain != nil {
		f.chain.Arrive(kernels.Best(), p.Z, p.W, p.G, eps)
		return
	}
	if scale := s.Metric.fewScales(); scale != nil {
		g, z, w, half := p.G[:len(scale)], p.Z[:len(scale)], p.W[:len(scale)], eps/2
		for i, f := range scale {
			w[i] = f * g[i]
			z[i] += half * w[i]
		}
		return
	}
	s.Metric.Force(p.W, p.G)
	linalg.AddScaled(p.Z, eps/2, p.W)
}

// Start evaluates the target at p.q.
func (s *System) Start(p *Point) (err error) {
	if p.Lp, err = s.Target.LogProbGrad(p.Q, p.G); err != nil {
		return err
	}
	if math.IsInf(p.Lp, 1) {
		return ErrInfinite
	}
	s.Metric.Force(p.W, p.G)
	return nil
}

// complaint says why a trajectory ended at p.
func complaint(p *Point, energyError, limit float64, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case math.IsNaN(p.Lp):
		return "log density is NaN"
	case math.IsInf(p.Lp, -1):
		return "log density is -Inf"
	}
	for i, g := range p.G {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return fmt.Sprintf("gradient of parameter %d is %g", i, g)
		}
	}
	return fmt.Sprintf("energy error %.4g exceeds %g", energyError, limit)
}
