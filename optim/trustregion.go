package optim

import (
	"context"
	"math"
)

// minimise runs the trust-region iteration. Without bounds the region is an
// ellipsoid of the column norms (Moré, Lecture Notes in Mathematics 630, 1978);
// with bounds it is shaped by the distance to those that the gradient points at,
// and steps may be reflected (Branch, Coleman and Li, SIAM J. Sci. Comput. 21,
// 1999). Both solve the subproblem exactly by singular values.
func (w *work) minimise(ctx context.Context) Status {
	bounded := w.p.bounded()
	radius, alpha := w.firstRadius(bounded), 0.0
	for {
		w.shape(bounded)
		gnorm := w.slope()
		if gnorm < w.s.GTol || gnorm == 0 {
			return GradientSmall
		}
		w.factor()
		theta := max(0.995, 1-gnorm)
		for {
			if ctx.Err() != nil {
				return Interrupted
			}
			if w.nfev >= w.s.MaxEvaluations {
				return MaxEvaluations
			}
			alpha = w.solveRegion(radius, alpha)
			predicted := w.choose(radius, theta, bounded)
			newRadius, accepted, end := w.try(predicted, radius, bounded)
			if end != none {
				return end
			}
			if radius > 0 {
				alpha *= radius / newRadius
			}
			radius = newRadius
			if accepted {
				break
			}
			if radius < 1e-300 || norm(w.step) < 1e-17*norm(w.x) {
				return Stuck
			}
		}
		if err := w.linearise(); err != nil {
			return Stuck
		}
	}
}

// slope is the largest cosine between the residuals and a column of the
// Jacobian, which no unit changes; a parameter whose way down ends at a bound
// counts by how much of the residuals that way could remove.
func (w *work) slope() float64 {
	size := norm(w.fw)
	if size == 0 {
		return 0
	}
	worst := 0.0
	for i, g := range w.grad {
		column := norm(w.j[i*w.m : (i+1)*w.m])
		if column == 0 {
			continue
		}
		c := math.Abs(g) / column / size
		if w.diagH[i] != 0 { // a bound ahead at distance scratch[0]
			c *= min(1, w.scratch[0][i]*column/size)
		}
		worst = max(worst, c)
	}
	return worst
}

const none Status = -100 // not ended

// firstRadius is |x| in the scale of the region. (MINPACK takes 100 times that,
// which throws NIST's BoxBOD onto a plateau from its first start.)
func (w *work) firstRadius(bounded bool) float64 {
	w.shape(bounded)
	for i, x := range w.x {
		w.step[i] = x / w.d[i]
	}
	r := norm(w.step)
	if r == 0 {
		r = 1
	}
	return r
}

// shape computes the step scaling d, and the Coleman-Li distances v into
// scratch[0].
func (w *work) shape(bounded bool) {
	for i, g := range w.grad {
		v, dv := 1.0, 0.0
		switch {
		case !bounded:
		case g < 0 && !math.IsInf(w.p.Upper[i], 1):
			v, dv = w.p.Upper[i]-w.x[i], -1
		case g > 0 && !math.IsInf(w.p.Lower[i], -1):
			v, dv = w.x[i]-w.p.Lower[i], 1
		}
		w.scratch[0][i] = v
		if dv != 0 {
			v *= w.scale[i]
		}
		w.d[i] = math.Sqrt(v) / w.scale[i]
		w.diagH[i] = g * dv / w.scale[i]
		w.gh[i] = w.d[i] * g
	}
}

// factor decomposes the scaled Jacobian, with the rows of diagH under it.
func (w *work) factor() {
	clear(w.a)
	for k := range w.n {
		for i, v := range w.j[k*w.m : (k+1)*w.m] {
			w.a[k*w.rows+i] = v * w.d[k]
		}
	}
	clear(w.b)
	copy(w.b, w.fw)
	qr(w.a, w.rows, w.n, w.b, w.r)
	n := w.n
	clear(w.aug)
	clear(w.rhs)
	copy(w.rhs, w.b[:n])
	for k := range n {
		copy(w.aug[k*2*n:], w.r[k*n:(k+1)*n])
		w.aug[k*2*n+n+k] = math.Sqrt(max(w.diagH[k], 0))
	}
	jacobiSVD(w.aug, 2*n, n, w.sv, w.v)
	for k, s := range w.sv {
		w.uf[k], w.suf[k] = 0, dot(w.aug[k*2*n:(k+1)*2*n], w.rhs)
		if s > 0 {
			w.uf[k] = w.suf[k] / s
		}
	}
}

func (w *work) fullRank() bool {
	lo, hi := math.Inf(1), 0.0
	for _, s := range w.sv {
		lo, hi = min(lo, s), max(hi, s)
	}
	return w.m >= w.n && lo > 0x1p-52*float64(w.m)*hi
}

// solveRegion finds the step of at most radius that minimises the model, by
// Newton's method on the secular equation. It returns the multiplier.
func (w *work) solveRegion(radius, alpha float64) float64 {
	full := w.fullRank()
	if full {
		w.stepFor(0)
		if norm(w.stepH) <= radius {
			return 0
		}
	}
	upper, lower := norm(w.suf)/radius, 0.0
	if full {
		phi, slope := w.secular(0, radius)
		lower = -phi / slope
	}
	if alpha == 0 {
		alpha = max(0.001*upper, math.Sqrt(lower*upper))
	}
	for range 10 {
		if alpha < lower || alpha > upper {
			alpha = max(0.001*upper, math.Sqrt(lower*upper))
		}
		phi, slope := w.secular(alpha, radius)
		if phi < 0 {
			upper = alpha
		}
		ratio := phi / slope
		lower = max(lower, alpha-ratio)
		alpha -= (phi + radius) * ratio / radius
		if math.Abs(phi) < 0.01*radius {
			break
		}
	}
	w.stepFor(alpha)
	if l := norm(w.stepH); l > 0 {
		for i := range w.stepH {
			w.stepH[i] *= radius / l
		}
	}
	return alpha
}

// stepFor sets stepH = -(J^T J + alpha)^-1 J^T f.
func (w *work) stepFor(alpha float64) {
	clear(w.stepH)
	for k, s := range w.sv {
		if den := s*s + alpha; den > 0 {
			c := w.suf[k] / den
			for i := range w.n {
				w.stepH[i] -= c * w.v[k*w.n+i]
			}
		}
	}
}

func (w *work) secular(alpha, radius float64) (phi, slope float64) {
	p, q := 0.0, 0.0
	for k, s := range w.sv {
		if den := s*s + alpha; den > 0 {
			c := w.suf[k] / den
			p += c * c
			q += c * c / den
		}
	}
	l := math.Sqrt(p)
	return l - radius, -q / l
}

// model returns the change of the quadratic model for a scaled step.
func (w *work) model(h []float64) float64 {
	a, b := w.quadratic(h, nil)
	return a + b
}

// quadratic returns a and b of a t^2 + b t, the model along from + t h.
func (w *work) quadratic(h, from []float64) (a, b float64) {
	n := w.n
	for i := range n {
		rh, rf := 0.0, 0.0
		for k := i; k < n; k++ {
			rh += w.r[k*n+i] * h[k]
			if from != nil {
				rf += w.r[k*n+i] * from[k]
			}
		}
		a += rh * rh
		b += rh * rf
	}
	a /= 2
	for i, v := range h {
		a += v * v * w.diagH[i] / 2
		b += w.gh[i] * v
		if from != nil {
			b += from[i] * w.diagH[i] * v
		}
	}
	return a, b
}

// try evaluates the cost at the chosen step and moves there if it is lower.
func (w *work) try(predicted, radius float64, bounded bool) (newRadius float64, accepted bool, end Status) {
	for i := range w.x {
		w.xNew[i] = w.x[i] + w.step[i]
	}
	if bounded {
		w.inside(w.xNew, 0)
	}
	hNorm := norm(w.stepH)
	err := w.residual(w.fNew, w.xNew)
	cost := w.s.Loss.cost(w.fNew, w.s.LossScale)
	if err != nil || math.IsNaN(cost) || math.IsInf(cost, 0) {
		return 0.25 * hNorm, false, none
	}
	actual := w.cost - cost
	ratio := 0.0
	if predicted > 0 {
		ratio = actual / predicted
	} else if actual == 0 {
		ratio = 1
	}
	newRadius = radius
	switch {
	case ratio < 0.25:
		newRadius = 0.25 * hNorm
	case ratio > 0.75 && hNorm > 0.95*radius:
		newRadius = 2 * radius
	}
	stepNorm, xNorm := norm(w.step), norm(w.x)
	settled := actual < w.s.FTol*w.cost && ratio > 0.25
	small := stepNorm < w.s.XTol*(w.s.XTol+xNorm)
	if actual > 0 {
		w.accept(cost)
		accepted = true
	}
	end = none
	switch {
	case settled && small:
		end = BothSettled
	case settled:
		end = CostSettled
	case small:
		end = StepSmall
	}
	if end != none && accepted {
		if w.linearise() != nil {
			end = Stuck
		}
	}
	return newRadius, accepted, end
}

func (w *work) accept(cost float64) {
	w.x, w.xNew = w.xNew, w.x
	w.f, w.fNew = w.fNew, w.f
	w.cost = cost
}
