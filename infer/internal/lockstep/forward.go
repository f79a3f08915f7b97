// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import "github.com/euryale-dev/euryale/internal/given"

// forward runs the program. A panic is an error, which may be of any lane.
func (r *Runner) forward() (err error) {
	defer given.Caught(&err)
	return r.integrator.run()
}

// forwardHealthy finds the lanes in which the program fails, and runs it for the others
// with a copy of one of them in each lane that fails.
func (r *Runner) forwardHealthy() {
	healthy := -1
	for i := range r.lanes {
		if l := &r.lanes[i]; l.chain != nil {
			if l.fault = r.alone(i); l.fault == nil {
				healthy = i
			}
		}
	}
	if healthy < 0 {
		return
	}
	for i := range r.lanes {
		if l := &r.lanes[i]; l.chain == nil || l.fault != nil {
			r.integrator.imitate(i, healthy)
		}
	}
	err := r.forward()
	for i := range r.lanes {
		if l := &r.lanes[i]; l.chain != nil && l.fault != nil {
			r.integrator.load(i, l.chain.Data())
		} else if l.fault == nil {
			l.fault = err
		}
	}
}

// alone makes the leapfrog step of one lane by the scalar program.
func (r *Runner) alone(i int) (err error) {
	defer given.Caught(&err)
	return r.integrator.alone(i, r.lanes[i].tree)
}
