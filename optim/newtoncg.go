// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// NewtonCG minimises in a trust region by conjugate gradients on the exact second derivatives,
// which it needs only as products with vectors (Steihaug, doi:10.1137/0720042). It follows
// directions of negative curvature to the edge of the region. It does not support bounds.
type NewtonCG struct {
	// Radius is the radius of the first trust region. Default 1.
	Radius float64
}

func (NewtonCG) name() string { return "newton_cg" }

func (a NewtonCG) minimise(w *search) (Status, error) {
	if err := w.unbounded("NewtonCG"); err != nil {
		return marquardt.None, err
	}
	s := &w.state
	if s.Radius == 0 {
		s.Radius = orDefault(a.Radius, 1)
	}
	n := w.n
	mem := linalg.NewArena(6 * n)
	step, x, g := mem.Floats(n), mem.Floats(n), mem.Floats(n)
	cg := &steihaug{search: w, r: mem.Floats(n), d: mem.Floats(n), hd: mem.Floats(n)}
	if w.projected() <= w.s.GTol {
		return GradientSmall, nil
	}
	for first := s.Iteration == 0; ; {
		predicted, edge, err := cg.solve(step, s.Radius)
		if err != nil {
			return w.stopped(), err
		}
		// A region in which nothing visible could be gained is too small to begin with.
		if first = first && edge && predicted < marquardt.Visible*math.Abs(s.Value) && s.Radius < 1e300; first {
			s.Radius *= marquardt.Grow
			continue
		}
		for i, v := range s.X {
			x[i] = v + step[i]
		}
		value, err := w.at(g, x)
		if err != nil {
			return w.stopped(), err
		}
		actual := s.Value - value
		ratio := actual / predicted
		length := linalg.Norm(step)
		switch {
		case !(ratio >= 0.25):
			s.Radius = 0.25 * length
		case ratio > 0.75 && edge:
			s.Radius *= 2
		}
		if w.cut = edge; ratio > 1e-4 && actual > 0 {
			if end, err := w.move(value, x, g); end != marquardt.None || err != nil {
				return end, err
			}
			continue
		}
		if predicted <= 0x1p-52*math.Abs(s.Value) || length <= 0x1p-52*linalg.Norm(s.X) || s.Radius < 1e-300 {
			if edge && linalg.Norm(s.Grad)*linalg.Norm(s.X) > 1e-8*math.Abs(s.Value) {
				return Stuck, nil
			}
			return CostSettled, nil // rounding leaves nothing to gain
		}
	}
}

// steihaug solves the trust region by conjugate gradients.
type steihaug struct {
	*search
	r, d, hd []float64
}

// solve sets p to a step of at most radius, and returns the decrease that the
// quadratic model predicts and whether the step ends at the edge.
func (c *steihaug) solve(p []float64, radius float64) (predicted float64, edge bool, err error) {
	clear(p)
	copy(c.r, c.state.Grad)
	for i, v := range c.r {
		c.d[i] = -v
	}
	rr := linalg.Dot(c.r, c.r)
	gnorm := math.Sqrt(rr)
	tol := min(0.5, math.Sqrt(gnorm)) * gnorm
	for range 2*c.n + 20 {
		if c.ctx.Err() != nil {
			return 0, false, errStopped
		}
		c.nhev++
		if err := c.second(c.hd, c.state.X, c.d); err != nil {
			return 0, false, err
		}
		curve := linalg.Dot(c.d, c.hd)
		if !linalg.Finite(curve) {
			return c.toEdge(p, predicted, 0, radius)
		}
		if curve <= 0 {
			return c.toEdge(p, predicted, curve, radius)
		}
		alpha := rr / curve
		pp, pd, dd := linalg.Dot(p, p), linalg.Dot(p, c.d), linalg.Dot(c.d, c.d)
		if pp+2*alpha*pd+alpha*alpha*dd >= radius*radius {
			return c.toEdge(p, predicted, curve, radius)
		}
		linalg.AddScaled(p, alpha, c.d)
		predicted += alpha * rr / 2
		linalg.AddScaled(c.r, alpha, c.hd)
		next := linalg.Dot(c.r, c.r)
		if math.Sqrt(next) <= tol {
			return predicted, false, nil
		}
		beta := next / rr
		for i, v := range c.r {
			c.d[i] = beta*c.d[i] - v
		}
		rr = next
	}
	return predicted, false, nil
}

// toEdge goes along d to the edge of the region.
func (c *steihaug) toEdge(p []float64, predicted, curve, radius float64) (float64, bool, error) {
	pp, pd, dd := linalg.Dot(p, p), linalg.Dot(p, c.d), linalg.Dot(c.d, c.d)
	t := (-pd + math.Sqrt(max(0, pd*pd+dd*(radius*radius-pp)))) / dd
	linalg.AddScaled(p, t, c.d)
	return predicted - t*linalg.Dot(c.r, c.d) - t*t*curve/2, true, nil
}
