// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import "math"

// FindStep returns a step near eps that one leapfrog from p accepts with
// probability about 0.8: it doubles or halves until it crosses. The momentum is
// fresh at every try.
func (t *Trajectory) FindStep(p *Point, eps float64) (float64, error) {
	limit := math.Log(0.8)
	at := &t.Ends[0]
	t.Metric.Force(p.W, p.G)
	for try, grow := 0, false; ; try++ {
		t.momentum.NormalTo(p.Z)
		at.Set(p)
		h0 := at.Energy()
		err := t.Leapfrog(at, eps)
		if err != nil && !Recoverable(err) {
			return 0, err
		}
		d := h0 - at.Energy()
		if err != nil {
			d = math.Inf(-1)
		}
		if try == 0 {
			grow = d > limit
		} else if grow != (d > limit) {
			return eps, nil
		}
		if grow {
			eps *= 2
		} else {
			eps /= 2
		}
		if eps > 1e7 {
			return 0, ErrImproper
		}
		if eps == 0 {
			return 0, ErrNoStep
		}
	}
}

// integrationDepth returns the doublings after which a trajectory of steps eps
// is at least time long.
func integrationDepth(time, eps float64) int {
	return max(1, int(math.Ceil(math.Log2(time/eps+1))))
}
