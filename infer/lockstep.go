package infer

import (
	"math"
	"runtime/debug"
	"time"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
)

// lockstep advances many chains in lock step on one core: one run of a program
// moves each of them by a leapfrog, and between runs every lane's tree takes its
// new leaf. A lane that completes a chain goes on with the next.
type lockstep struct {
	each       *eachRunner
	integrator integrator
	columns    *columnWriter
	lanes      []lane
	busy       int
	at         int // lane in hand
}

// lane is one place of a lock-step runner; without a chain it is vacant.
type lane struct {
	chain *chain
	set   int
	since time.Time
	over  bool  // the chain has ended
	fault error // of its last leapfrog
}

// integrator makes the leapfrogs of all lanes.
type integrator interface {
	// load puts the data of a posterior into a lane.
	load(lane int, p *Posterior)
	// place tells a lane from where and how its tree grows on: from the place it
	// is at unless moved.
	place(lane int, t *hamiltonian.Trajectory, moved bool)
	// run makes one leapfrog in every lane.
	run() error
	// fetch puts where the tree's end has come to into its next leaf, and returns
	// the energy h there and exp(-|H0 - h|).
	fetch(lane int, t *hamiltonian.Trajectory) (h, e float64)
	// leave writes the place of a lane into the end of its tree.
	leave(lane int, end *hamiltonian.Point)
	// alone moves the end of the tree by the scalar program, where run failed.
	alone(lane int, t *hamiltonian.Trajectory) error
	// imitate gives a lane all inputs of another.
	imitate(lane, other int)
	// park lets a vacant lane stay at q, where its data have a density.
	park(lane int, q []float64)
}

func newLockstep(e *eachRunner, m integrator, w *columnWriter) *lockstep {
	return &lockstep{each: e, integrator: m, columns: w, lanes: make([]lane, e.lanes)}
}

// run advances all lanes until there is no work left.
func (c *lockstep) run() {
	for i := range c.lanes {
		if !c.fill(i) && c.busy > 0 {
			c.integrator.imitate(i, 0)
			c.integrator.park(i, c.lanes[0].chain.p.Q)
		}
	}
	for c.busy > 0 && !c.each.stop.Load() {
		if c.forward() != nil {
			c.single()
		}
		for c.at = 0; c.at < len(c.lanes); {
			c.arrive()
		}
		for i := range c.lanes {
			if l := &c.lanes[i]; l.over {
				if err := c.complete(l.chain); l.chain.err == nil {
					l.chain.err = err
				}
				ended := *l
				*l = lane{}
				c.busy--
				c.each.finish(ended.set)
				if !c.fill(i) {
					c.integrator.park(i, ended.chain.p.Q)
				}
			}
		}
	}
	if c.busy > 0 {
		c.each.unfinished.Store(true)
	}
}

// complete gives the draws of a chain that has ended their columns.
func (c *lockstep) complete(ch *chain) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = ch.fault(&PanicError{Value: v, Stack: string(debug.Stack())})
		}
	}()
	for _, r := range []*record{&ch.warm, &ch.kept} {
		if err := c.columns.fill(ch.target.(*Posterior), r); err != nil {
			return ch.fault(err)
		}
	}
	return nil
}

// forward runs the program. A panic is an error, too: there is no telling whose.
func (c *lockstep) forward() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v}
		}
	}()
	return c.integrator.run()
}

// single finds the lanes in which the program fails, and runs it for the others
// with one of them in the place of those.
func (c *lockstep) single() {
	healthy := -1
	for i := range c.lanes {
		if l := &c.lanes[i]; l.chain != nil {
			if l.fault = c.alone(i); l.fault == nil {
				healthy = i
			}
		}
	}
	if healthy < 0 {
		return
	}
	for i := range c.lanes {
		if l := &c.lanes[i]; l.chain == nil || l.fault != nil {
			c.integrator.imitate(i, healthy)
		}
	}
	err := c.forward()
	for i := range c.lanes {
		if l := &c.lanes[i]; l.chain != nil && l.fault != nil {
			c.integrator.load(i, l.chain.target.(*Posterior))
		} else if l.fault == nil {
			l.fault = err
		}
	}
}

func (c *lockstep) alone(i int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: string(debug.Stack())}
		}
	}()
	return c.integrator.alone(i, c.lanes[i].chain.tr)
}

// fill gives a lane the next chain that finds a start; it returns false when there
// is none.
func (c *lockstep) fill(i int) bool {
	for {
		ch, set := c.each.take()
		if ch == nil {
			return false
		}
		c.lanes[i] = lane{chain: ch, set: set, since: time.Now()}
		if ch.err = c.start(i); ch.err == nil {
			c.busy++
			return true
		}
		c.lanes[i] = lane{}
		c.each.finish(set)
	}
}

// start begins the lane's chain.
func (c *lockstep) start(i int) (err error) {
	ch := c.lanes[i].chain
	defer func() {
		if v := recover(); v != nil {
			err = ch.fault(&PanicError{Value: v, Stack: string(debug.Stack())})
		}
	}()
	ch.outputs = nil // columns come at the end, see complete
	if err := ch.begin(); err != nil {
		return err
	}
	c.integrator.load(i, ch.target.(*Posterior))
	c.depart(i)
	return nil
}

// depart begins a transition.
func (c *lockstep) depart(i int) {
	ch := c.lanes[i].chain
	ch.tr.DrawMomentum(&ch.p)
	ch.tr.Begin(&ch.p, ch.stride())
	c.integrator.place(i, ch.tr, true)
}

// arrive lets the trees of the lanes from c.at on take their leaves. A panic is
// an error of the chain in hand.
func (c *lockstep) arrive() {
	defer func() {
		if v := recover(); v != nil {
			l := &c.lanes[c.at]
			l.chain.err, l.over = l.chain.fault(&PanicError{Value: v, Stack: string(debug.Stack())}), true
			c.at++
		}
	}()
	for ; c.at < len(c.lanes); c.at++ {
		if l := &c.lanes[c.at]; l.chain != nil {
			if err := c.advance(l); err != nil {
				l.chain.err, l.over = err, true
			}
		}
	}
}

// advance lets one tree take its leaf and says from where it grows on.
func (c *lockstep) advance(l *lane) error {
	ch := l.chain
	t := ch.tr
	t.Count++
	side := t.Side
	h, e, err := c.read(l, t)
	if err != nil && !hamiltonian.Recoverable(err) {
		return ch.fault(err)
	}
	if t.TakeLeaf(h, e, err) {
		if side != t.Side {
			c.integrator.leave(c.at, &t.Ends[side])
		}
		c.integrator.place(c.at, t, side != t.Side)
		return nil
	}
	if err := ch.keep(t.Finish(&ch.p)); err != nil {
		return err
	}
	l.clock()
	if l.over = ch.done == ch.total(); !l.over {
		c.depart(c.at)
	}
	return nil
}

// read makes the next leaf of a tree; the error says why the place it has come to
// has no density.
func (c *lockstep) read(l *lane, t *hamiltonian.Trajectory) (h, e float64, err error) {
	if l.fault != nil {
		err, l.fault = l.fault, nil
		t.Next()
		return math.Inf(1), 0, err
	}
	h, e = c.integrator.fetch(c.at, t)
	if h-t.H0 <= t.MaxError && !math.IsInf(h, -1) {
		return h, e, nil
	}
	end := &t.Ends[t.Side]
	c.integrator.leave(c.at, end)
	switch {
	case math.IsInf(end.Lp, 1):
		err = ErrInfinite
	case !finite(end.Lp): // the error may say more
		_, err = t.Target.LogProbGrad(end.Q, t.V)
	}
	return h, e, err
}

// clock notes the time at the end of a phase.
func (l *lane) clock() {
	ch := l.chain
	if warm := ch.cfg.warmup(); ch.done == warm || ch.done == ch.total() {
		now := time.Now()
		ch.times[ch.phaseOf(ch.done-1)] = now.Sub(l.since)
		l.since = now
	}
}
