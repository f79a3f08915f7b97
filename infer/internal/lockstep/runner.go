// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import (
	"math"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Runner advances the chains of a queue in lock step on one core.
type Runner struct {
	queue      Queue
	integrator integrator
	lanes      []lane
	// busy is the number of lanes that have a chain.
	busy int
	// at is the lane that takes a leaf.
	at int
}

// lane is one place of a runner, vacant without a chain.
type lane struct {
	chain Chain
	tree  *hamiltonian.Tree
	point *hamiltonian.Point
	// over is true when the chain has ended, with err if it failed.
	over bool
	err  error
	// fault is the error of the last leapfrog step.
	fault error
}

// Run advances all lanes until there is no chain left. It reports whether all chains that
// it took have ended, which is not so after a stop.
func (r *Runner) Run() (ended bool) {
	for i := range r.lanes {
		if !r.fill(i) && r.busy > 0 {
			r.integrator.imitate(i, 0)
			r.integrator.park(i, r.lanes[0].point.Q)
		}
	}
	for r.busy > 0 && !r.queue.Stopped() {
		if r.forward() != nil {
			r.forwardHealthy()
		}
		for r.at = 0; r.at < len(r.lanes); {
			if err := r.takeLeaves(); err != nil {
				r.lanes[r.at].end(err)
				r.at++
			}
		}
		r.replaceEnded()
	}
	return r.busy == 0
}

// end marks the chain of a lane as ended.
func (l *lane) end(err error) { l.over, l.err = true, err }

// replaceEnded gives the lanes whose chains have ended new ones.
func (r *Runner) replaceEnded() {
	ended := false
	for i := range r.lanes {
		l := r.lanes[i]
		if !l.over {
			continue
		}
		r.lanes[i] = lane{}
		r.busy--
		l.chain.End(l.err)
		if !r.fill(i) {
			r.integrator.park(i, l.point.Q)
		}
		ended = true
	}
	for i := 0; ended && r.busy < len(r.lanes) && i < len(r.lanes); i++ { // a chain that ends may bring forth several
		if r.lanes[i].chain == nil && !r.fill(i) {
			return
		}
	}
}

// fill gives a lane the next chain that finds a start. It returns false when there is none.
func (r *Runner) fill(i int) bool {
	for {
		c := r.queue.Next()
		if c == nil {
			return false
		}
		r.lanes[i] = lane{chain: c, tree: c.Tree(), point: c.Point()}
		err := r.start(i)
		if err == nil {
			r.busy++
			return true
		}
		r.lanes[i] = lane{}
		c.End(err)
	}
}

// start begins the chain of a lane.
func (r *Runner) start(i int) (err error) {
	c := r.lanes[i].chain
	defer given.CaughtAs(&err, c.Fault)
	if err := c.Begin(); err != nil {
		return err
	}
	r.integrator.load(i, c.Data())
	r.depart(i)
	return nil
}

// depart begins a transition in a lane.
func (r *Runner) depart(i int) {
	l := &r.lanes[i]
	l.tree.DrawMomentum(l.point)
	l.tree.Begin(l.point, l.chain.Step())
	r.integrator.place(i, l.tree, true)
}

// takeLeaves lets the trees of the lanes from r.at on take their leaves. It stops at a
// chain that fails or panics and returns its error.
func (r *Runner) takeLeaves() (err error) {
	defer given.CaughtAs(&err, func(err error) error { return r.lanes[r.at].chain.Fault(err) })
	for ; r.at < len(r.lanes); r.at++ {
		if l := &r.lanes[r.at]; l.chain != nil {
			if err := r.advance(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance lets one tree take its leaf and says from where it grows on.
func (r *Runner) advance(l *lane) error {
	t := l.tree
	t.Count++
	side := t.Side
	h, e, err := r.read(l, t)
	if err != nil && !hamiltonian.Recoverable(err) {
		return l.chain.Fault(err)
	}
	if t.TakeLeaf(h, e, err) {
		if side != t.Side {
			r.integrator.leave(r.at, &t.Ends[side])
		}
		r.integrator.place(r.at, t, side != t.Side)
		return nil
	}
	if l.over, err = l.chain.Keep(t.Finish(l.point)); err != nil {
		return err
	}
	if !l.over {
		r.depart(r.at)
	}
	return nil
}

// read makes the next leaf of a tree. The error says why the density does not exist at the
// place that the leaf has reached.
func (r *Runner) read(l *lane, t *hamiltonian.Tree) (h, e float64, err error) {
	if l.fault != nil {
		err, l.fault = l.fault, nil
		t.Next()
		return math.Inf(1), 0, err
	}
	h, e = r.integrator.fetch(r.at, t)
	if h-t.H0 <= t.MaxError && !math.IsInf(h, -1) {
		return h, e, nil
	}
	end := &t.Ends[t.Side]
	r.integrator.leave(r.at, end)
	switch {
	case math.IsInf(end.Lp, 1):
		err = hamiltonian.ErrInfinite
	case !linalg.Finite(end.Lp): // the error may say more
		_, err = t.Target.LogProbGrad(end.Q, t.V)
	}
	return h, e, err
}
