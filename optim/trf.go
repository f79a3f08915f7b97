// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// TRF is the trust region reflective method (Branch, Coleman & Li, doi:10.1137/S1064827595289108).
const TRF Method = "trf"

func init() { methods[TRF] = method{run: (*iterate).reflective, bounds: true, products: true} }

// reflective runs the trust-region iteration. Without bounds the region is an
// ellipsoid; with bounds it is shaped by the distance to those that the gradient
// points at, and steps may be reflected (Branch, Coleman & Li 1999).
func (w *iterate) reflective(ctx context.Context) Status {
	bounded := w.p.bounded()
	for i := range w.images {
		w.images[i] = make([]float64, w.model.imageSize())
	}
	w.shape(bounded)
	radius, par := w.firstRadius(), 0.0
	for first := true; ; {
		w.shape(bounded)
		gnorm := w.slope(nil)
		if gnorm < w.s.GTol || gnorm == 0 {
			return GradientSmall
		}
		w.model.factor()
		theta := max(0.995, 1-gnorm)
		for {
			if end, is := w.over(ctx); is {
				return end
			}
			par = w.model.region(radius, par)
			predicted := w.choose(radius, theta, bounded)
			if first = first && w.tooSmall(predicted, gnorm, linalg.Norm(w.stepH) > 0.95*radius); first {
				radius *= marquardt.Grow
				continue
			}
			next, again, end := w.try(predicted, radius, bounded)
			if end != marquardt.None {
				return end
			}
			par *= radius / next
			radius = next
			if !w.moves(radius) {
				return Stuck
			}
			if again {
				break
			}
		}
	}
}

// beyondReach is the distance to a bound, relative to the parameter and to the step that would remove all residuals, from
// which the bound says nothing: it would only stretch the scaled problem by many orders of magnitude.
const beyondReach = 1e12

// shape computes the step scaling d from the distances of Coleman and Li.
func (w *iterate) shape(bounded bool) {
	size := linalg.Norm(w.fw)
	for i, g := range w.grad {
		v, dv := 1.0, 0.0
		switch {
		case !bounded:
		case g < 0:
			v, dv = w.p.Upper[i]-w.x[i], -1
		case g > 0:
			v, dv = w.x[i]-w.p.Lower[i], 1
		}
		if dv != 0 && v*w.scale[i] > beyondReach*max(size, math.Abs(w.x[i])*w.scale[i]) {
			v, dv = 1, 0
		}
		w.distance[i] = v
		if dv != 0 {
			v *= w.scale[i]
		}
		w.d[i] = math.Sqrt(v) / w.scale[i]
		w.diagH[i] = g * dv / w.scale[i]
		w.gh[i] = w.d[i] * g
	}
}

// predict returns the change of the quadratic model for a scaled step.
func (w *iterate) predict(h []float64) float64 {
	a, b := w.quadratic(h, nil)
	return a + b
}

// quadratic returns a and b of a t^2 + b t, the model along from + t h.
func (w *iterate) quadratic(h, from []float64) (a, b float64) {
	ih := w.images[0]
	w.model.image(ih, h)
	a = linalg.Dot(ih, ih) / 2
	if from != nil {
		w.model.image(w.images[1], from)
		b = linalg.Dot(ih, w.images[1])
	}
	for i, v := range h {
		a += v * v * w.diagH[i] / 2
		b += w.gh[i] * v
		if from != nil {
			b += from[i] * w.diagH[i] * v
		}
	}
	return a, b
}

// moves reports whether a step as long as the last one, in a region of this radius, changes a parameter.
func (w *iterate) moves(radius float64) bool {
	return radius >= 1e-300 && linalg.Norm(w.step) >= 1e-17*linalg.Norm(w.x)
}

// try evaluates the cost at the chosen step and moves there if it is lower. It reports whether the Jacobian was evaluated again.
func (w *iterate) try(predicted, radius float64, bounded bool) (next float64, again bool, end Status) {
	for i := range w.x {
		w.xNew[i] = w.x[i] + w.step[i]
	}
	if bounded {
		w.inside(w.xNew, 0)
	}
	length := linalg.Norm(w.stepH)
	cost, ok := w.tried()
	if !ok {
		return 0.25 * length, false, marquardt.None
	}
	actual := w.cost - cost
	atEdge := length > 0.95*radius
	next, ratio := resize(radius, actual, predicted, length, atEdge)
	end = w.ended(actual, ratio, atEdge)
	if actual > 0 && !w.advance(cost) {
		return 0.25 * length, true, marquardt.None
	}
	return next, actual > 0, end
}

// resize adapts the radius to how well the model predicted a step.
func resize(radius, actual, predicted, length float64, atEdge bool) (next, ratio float64) {
	switch {
	case predicted > 0:
		ratio = actual / predicted
	case actual == 0:
		ratio = 1
	}
	switch {
	case ratio < 0.25:
		return 0.25 * length, ratio
	case ratio > 0.75 && atEdge:
		return 2 * radius, ratio
	}
	return radius, ratio
}
