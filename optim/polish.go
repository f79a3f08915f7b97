// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// polish follows a converged fit with Gauss-Newton steps: parameters at a bound
// that the gradient pushes against go onto it and stay, the others move while
// the cost falls and the steps shrink.
func (d *dense) polish(status Status) Status {
	held := d.snap()
	last := math.Inf(1)
	for range 40 { // large residuals converge at a rate, not quadratically
		if !d.gaussNewton(held) {
			return status
		}
		size, length := 0.0, linalg.Norm(d.stepH)
		for i, s := range d.step {
			size = max(size, math.Abs(s)/max(math.Abs(d.x[i]), 1e-300))
			d.xNew[i] = d.x[i] + s
			if !held[i] && !(d.xNew[i] > d.p.Lower[i] && d.xNew[i] < d.p.Upper[i]) {
				return status
			}
		}
		if size < 1e-15 || length >= last || size > 1e-2 {
			return status
		}
		last = length
		cost, ok := d.tried()
		if !ok || cost > d.cost*(1+1e-11) { // near a minimum the cost is noise; the steps must shrink
			return status
		}
		if !d.advance(cost) {
			return status
		}
	}
	return status
}

// snap puts parameters that press against a bound onto it, if the cost agrees,
// and returns which are held.
func (d *dense) snap() []bool {
	held := d.pressed()
	moved := false
	copy(d.xNew, d.x)
	for i, x := range d.x {
		if held[i] {
			d.xNew[i] = d.p.Lower[i]
			if d.grad[i] < 0 {
				d.xNew[i] = d.p.Upper[i]
			}
			moved = moved || d.xNew[i] != x
		}
	}
	if !moved {
		return held
	}
	if cost, ok := d.tried(); ok && cost <= d.cost+rounding(d.cost) && d.advance(cost) {
		return held
	}
	return make([]bool, d.n)
}

// gaussNewton sets step to the full Gauss-Newton step of the parameters that
// are not held; false where the data do not determine it.
func (d *dense) gaussNewton(held []bool) bool {
	d.setInverseScales()
	free := d.n
	for i, h := range held {
		if h {
			d.iterate.d[i] = 0
			free--
		}
	}
	d.scaled()
	if free == 0 || d.q.Rank < free || math.Abs(d.q.Diag[free-1]) < 1e-13*math.Abs(d.q.Diag[0]) {
		return false
	}
	d.q.SolveUpper(d.stepH, d.b)
	clear(d.step)
	for k, to := range d.q.Perm[:free] {
		d.step[to] = -d.stepH[k] * d.iterate.d[to]
	}
	return true
}
