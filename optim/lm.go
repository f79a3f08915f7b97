package optim

import (
	"context"
	"math"
)

// farUp stands for a cost that is not finite or a hundred times the last.
const farUp = -100.0

// marquardt runs the Levenberg-Marquardt iteration of Moré (Lecture Notes in
// Mathematics 630, 1978): the region is an ellipsoid of the longest columns so
// far, a step that lowers the cost by more than 1e-4 of the prediction is taken.
func (w *iterate) marquardt(ctx context.Context) Status {
	d := w.model.(*dense)
	t := newMarquardtStep(d.q)
	bend := w.newGeodesic(d, t)
	par, radius, first := 0.0, 0.0, true
	for {
		w.spread()
		if first {
			radius = w.firstRadius()
		}
		gnorm := w.slope(nil)
		if gnorm < w.s.GTol || gnorm == 0 {
			return GradientSmall
		}
		d.scaled()
		for {
			if end, is := w.over(ctx); is {
				return end
			}
			par = t.within(w.stepH, d.b, radius, par)
			length := norm(w.stepH)
			if first {
				radius, first = min(radius, length), false
			}
			predicted, slope := w.expected(d, par, length)
			for i, h := range w.stepH {
				w.step[i] = w.d[i] * h
			}
			if !bend.follow(par, length) {
				radius, par = radius/2, par*2
				if radius < 1e-300 {
					return Stuck
				}
				continue
			}
			for i := range w.x {
				w.xNew[i] = w.x[i] + w.step[i]
			}
			cost, ok := w.tried()
			actual := farUp
			if ok && cost < 100*w.cost {
				actual = 1 - cost/w.cost
			}
			ratio := 0.0
			if predicted > 0 {
				ratio = actual / predicted
			}
			radius, par = stretch(radius, par, actual, ratio, slope, length)
			accepted := ratio > 1e-4
			if accepted {
				w.accept(cost)
			}
			end := w.endedMarquardt(actual, predicted, ratio, radius)
			if accepted && w.linearise() != nil {
				return Stuck
			}
			if end != none {
				return end
			}
			if accepted {
				break
			}
		}
	}
}

// spread sets d to the inverse scales.
func (w *iterate) spread() {
	for i, s := range w.scale {
		w.d[i] = 1 / s
	}
}

// expected returns the relative decrease of the cost that the model predicts for
// stepH, and the relative slope of the cost along it.
func (w *iterate) expected(d *dense, par, length float64) (predicted, slope float64) {
	d.image(d.work[:w.n], w.stepH)
	size := norm(w.fw)
	a := norm(d.work[:w.n]) / size
	b := math.Sqrt(par) * length / size
	scale := size * size / (2 * w.cost) // 1 but for robust losses
	return (a*a + 2*b*b) * scale, -(a*a + b*b) * scale
}

// stretch adapts radius and multiplier to the ratio of the actual to the
// predicted decrease.
func stretch(radius, par, actual, ratio, slope, length float64) (float64, float64) {
	switch {
	case ratio <= 0.25:
		by := 0.5
		if actual < 0 {
			by = 0.5 * slope / (slope + 0.5*actual)
		}
		if actual == farUp || !(by >= 0.1) {
			by = 0.1
		}
		return by * min(radius, 10*length), par / by
	case par == 0 || ratio >= 0.75:
		return 2 * length, par / 2
	}
	return radius, par
}

// endedMarquardt applies FTol and XTol, and ends where rounding leaves nothing to
// gain.
func (w *iterate) endedMarquardt(actual, predicted, ratio, radius float64) Status {
	for i, x := range w.x {
		w.scratch[0][i] = x * w.scale[i]
	}
	return settled(w.s.FTol, w.s.XTol, actual, predicted, ratio, radius, norm(w.scratch[0]))
}

// settled is MINPACK's test of a step: actual and predicted are relative
// decreases of the cost, size is the length of the scaled parameters.
func settled(ftol, xtol, actual, predicted, ratio, radius, size float64) Status {
	flat := math.Abs(actual) <= ftol && predicted <= ftol && ratio <= 2
	small := radius <= xtol*size
	switch {
	case flat && small:
		return BothSettled
	case flat, math.Abs(actual) <= 0x1p-52 && predicted <= 0x1p-52 && ratio <= 2:
		return CostSettled
	case small, radius <= 0x1p-52*size:
		return StepSmall
	case radius < 1e-300:
		return Stuck
	}
	return none
}
