package infer

import (
	"fmt"
	"math"
)

// point is a place in phase space. The momentum z is whitened: p = F^-T z, so
// that its kinetic energy is |z|^2/2 and p^T M^-1 p' = z . z'.
type point struct {
	q, z, g, w []float64 // position, whitened momentum, gradient, force F^T g
	lp         float64
}

func newPoint(n int) point {
	b := make([]float64, 4*n)
	return point{q: b[:n:n], z: b[n : 2*n : 2*n], g: b[2*n : 3*n : 3*n], w: b[3*n:]}
}

func (p *point) set(o *point) {
	assign(p.q, o.q)
	assign(p.z, o.z)
	assign(p.g, o.g)
	assign(p.w, o.w)
	p.lp = o.lp
}

// energy is the Hamiltonian, +Inf where it is not a number.
func (p *point) energy() float64 {
	h := dot(p.z, p.z)/2 - p.lp
	if math.IsNaN(h) {
		return math.Inf(1)
	}
	return h
}

// system moves points along the trajectories of a target under a metric.
type system struct {
	target Target
	metric *Metric
	v      []float64 // velocity
	count  int       // leapfrog steps made
}

// leapfrog moves p by one step of length eps, backwards if negative.
//
//	z += eps/2 F^T g,  q += eps F z,  new g,  z += eps/2 F^T g
func (s *system) leapfrog(p *point, eps float64) (err error) {
	s.count++
	axpy(p.z, eps/2, p.w)
	s.metric.velocity(s.v, p.z)
	axpy(p.q, eps, s.v)
	if p.lp, err = s.target.LogProbGrad(p.q, p.g); err != nil {
		p.lp = math.Inf(-1)
		return err
	}
	if math.IsInf(p.lp, 1) {
		return ErrInfinite
	}
	s.metric.force(p.w, p.g)
	axpy(p.z, eps/2, p.w)
	return nil
}

// start evaluates the target at p.q.
func (s *system) start(p *point) (err error) {
	if p.lp, err = s.target.LogProbGrad(p.q, p.g); err != nil {
		return err
	}
	if math.IsInf(p.lp, 1) {
		return ErrInfinite
	}
	s.metric.force(p.w, p.g)
	return nil
}

// complaint says why a trajectory ended at p.
func complaint(p *point, energyError, limit float64, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case math.IsNaN(p.lp):
		return "log density is NaN"
	case math.IsInf(p.lp, -1):
		return "log density is -Inf"
	}
	for i, g := range p.g {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return fmt.Sprintf("gradient of parameter %d is %g", i, g)
		}
	}
	return fmt.Sprintf("energy error %.4g exceeds %g", energyError, limit)
}
