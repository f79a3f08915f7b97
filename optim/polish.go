package optim

import "math"

// polish follows a converged fit with Gauss-Newton steps: parameters at a bound
// that the gradient pushes against go onto it and stay, the others move while
// the cost falls and the steps shrink.
func (w *work) polish(status Status) Status {
	if !status.Converged() {
		return status
	}
	held := w.snap()
	last := math.Inf(1)
	for range 20 {
		if !w.gaussNewton(held) {
			return status
		}
		size := 0.0
		for i, s := range w.step {
			size = max(size, math.Abs(s)/max(math.Abs(w.x[i]), 1e-300))
			w.xNew[i] = w.x[i] + s
			if !held[i] && !(w.xNew[i] > w.p.Lower[i] && w.xNew[i] < w.p.Upper[i]) {
				return status
			}
		}
		if size < 1e-15 || size >= last || size > 1e-2 {
			return status
		}
		last = size
		if err := w.residual(w.fNew, w.xNew); err != nil {
			return status
		}
		cost := w.s.Loss.cost(w.fNew, w.s.LossScale)
		if !(cost <= w.cost*(1+1e-11)) { // near a minimum the cost is noise; the steps must shrink
			return status
		}
		w.accept(cost)
		if w.linearise() != nil {
			return Stuck
		}
	}
	return status
}

// snap puts parameters that press against a bound onto it, if the cost agrees,
// and returns which are held.
func (w *work) snap() []bool {
	held := make([]bool, w.n)
	any := false
	copy(w.xNew, w.x)
	for i, x := range w.x {
		width := w.p.Upper[i] - w.p.Lower[i]
		reach := 1e-3 * min(width, max(1, math.Abs(x)))
		// The distance that a step along the gradient would go is the test: a
		// bound well inside it is active.
		go_ := math.Abs(w.grad[i]) / (w.scale[i] * w.scale[i])
		switch {
		case w.grad[i] > 0 && x-w.p.Lower[i] < min(reach, 0.1*go_):
			w.xNew[i], held[i], any = w.p.Lower[i], true, true
		case w.grad[i] < 0 && w.p.Upper[i]-x < min(reach, 0.1*go_):
			w.xNew[i], held[i], any = w.p.Upper[i], true, true
		}
	}
	if !any {
		return held
	}
	if err := w.residual(w.fNew, w.xNew); err == nil {
		if cost := w.s.Loss.cost(w.fNew, w.s.LossScale); cost <= w.cost {
			w.accept(cost)
			if w.linearise() == nil {
				return held
			}
		}
	}
	return make([]bool, w.n)
}

// gaussNewton sets step to the full Gauss-Newton step of the parameters that
// are not held; false where the problem is rank-deficient.
func (w *work) gaussNewton(held []bool) bool {
	clear(w.diagH)
	for i := range w.d {
		w.d[i] = 1 / w.scale[i]
		if held[i] {
			w.d[i] = 0
		}
	}
	w.factor()
	hi := 0.0
	for _, s := range w.sv {
		hi = max(hi, s)
	}
	clear(w.step)
	for k, s := range w.sv {
		if s == 0 {
			continue // a held parameter
		}
		if s < 1e-13*hi {
			return false
		}
		c := w.suf[k] / (s * s)
		for i := range w.n {
			w.step[i] -= c * w.v[k*w.n+i] * w.d[i]
		}
	}
	return true
}
