package assembly

import (
	"fmt"
	"slices"
)

// Round is what one step did to one area.
type Round struct {
	Area      string
	Winners   []int32 // in order of falling input
	Kth, Next float64 // the smallest input of a winner, the largest of another neuron
	Input     float64 // summed over the winners
	First     int     // winners that never fired before
	Kept      int     // winners that also fired before the step
	Support   int     // neurons that ever fired
	idle      bool    // nothing reached the area, which keeps its winners
}

// Project runs steps of a plan and returns its rounds, step after step, target after
// target. Fibres that are closed send nothing.
//
// It returns a [*SilentError] for each fibre whose source does not fire and will not as
// the plan goes on: one that fires from the second step on, as the area of a stimulus
// does, is no mistake.
func (b *Brain) Project(p *Plan, steps int) ([][]Round, error) {
	if err := b.owns(p, steps); err != nil {
		return nil, err
	}
	if steps > 0 {
		if err := p.check(); err != nil {
			return nil, err
		}
	}
	return b.Continue(p, steps)
}

// Continue is Project without a look at what fires: areas that are silent, or have
// fallen silent on the way, send nothing.
func (b *Brain) Continue(p *Plan, steps int) ([][]Round, error) {
	if err := b.owns(p, steps); err != nil {
		return nil, err
	}
	trace := make([][]Round, steps)
	for t := range trace {
		trace[t] = b.once(p)
	}
	return trace, nil
}

// owns reports a plan that the brain cannot run.
func (b *Brain) owns(p *Plan, steps int) error {
	switch {
	case p == nil || len(p.targets) == 0:
		return fmt.Errorf("assembly: a plan without fibres")
	case p.brain != b:
		return fmt.Errorf("assembly: the plan is of another brain: make plans of a copy anew")
	case steps < 0:
		return fmt.Errorf("assembly: %d steps: want 0 or more", steps)
	}
	return nil
}

// once runs one step: all targets read the old winners.
func (b *Brain) once(p *Plan) []Round {
	rounds, recruits := make([]Round, len(p.targets)), make([]drawn, len(p.targets))
	b.step++
	b.arena = b.arena[:0]
	p.begin(b)
	for i, t := range p.targets {
		rounds[i], recruits[i] = b.choose(t)
	}
	b.silenceRivals(p, rounds, recruits)
	for i, t := range p.targets {
		t.support += len(recruits[i].list)
	}
	b.timed(opRecruit, func() { b.connectRecruits(p, recruits) })
	if !b.frozen {
		b.timed(opLearn, func() {
			for i, t := range p.targets {
				b.learn(t, rounds[i])
			}
		})
	}
	b.commit(p, rounds)
	b.trim()
	b.prof.peak(b)
	return rounds
}

// choose returns the winners of a target, and those of a lazy one that are new.
func (b *Brain) choose(t target) (r Round, d drawn) {
	r.Area = t.Name
	if t.fixed {
		r.Winners, r.Kept = slices.Clone(t.winners), len(t.winners)
		return r, d
	}
	if t.fired() == 0 {
		switch {
		case b.set.EmptyIfSilent || b.set.Activity == Silent:
			return r, d
		case t.Lazy || !t.hears():
			r.Winners, r.Kept, r.idle = slices.Clone(t.winners), len(t.winners), true
			return r, d
		}
	}
	var x []float64
	b.timed(opGather, func() { x = b.inputs(t) })
	b.timed(opSelect, func() {
		if t.Lazy {
			r, d = b.selectLazy(t, x)
		} else {
			r = t.selectStored(x)
		}
		b.prof.moved(8 * len(x))
	})
	before := b.marks(t.stored() + t.K)
	for _, j := range t.winners {
		before.add(j)
	}
	for _, j := range r.Winners {
		if before.has(j) {
			r.Kept++
		}
	}
	return r, d
}

// selectStored returns the round of an area whose neurons all exist.
func (a *area) selectStored(x []float64) Round {
	order := top(x, min(a.K+1, len(x)))
	r := Round{Area: a.Name}
	for i, j := range order {
		if !a.fires(x[j], i, x[order[0]]) {
			r.Next = x[j]
			break
		}
		r.Winners = append(r.Winners, j)
		r.Kth = x[j]
		r.Input += x[j]
	}
	return r
}

// learn strengthens what fires into the new winners of a target.
func (b *Brain) learn(t target, r Round) {
	winners := r.Winners
	if len(winners) == 0 || r.idle {
		return
	}
	if n := t.stored(); len(b.isWinner) < n {
		b.isWinner = make([]uint8, max(n, min(2*n, t.N)))
	}
	for _, j := range winners {
		b.isWinner[j] = 1
	}
	for _, f := range t.active {
		b.strengthen(f, winners, t.changesWith(r))
	}
	for _, j := range winners {
		b.isWinner[j] = 0
	}
}

// commit makes the new winners fire, together.
func (b *Brain) commit(p *Plan, rounds []Round) {
	if b.set.Activity == Silent {
		for _, a := range b.areas {
			if !a.fixed && !p.drives(a) && len(a.winners) > 0 {
				a.set(nil)
			}
		}
	}
	for i, t := range p.targets {
		before := t.support
		if !t.fixed && !rounds[i].idle {
			t.fire(rounds[i], b.step)
		}
		if !t.Lazy {
			rounds[i].First = t.support - before
		}
		rounds[i].Support, rounds[i].idle = t.support, false
	}
}

// drives reports whether an area is a target.
func (p *Plan) drives(a *area) bool {
	for _, t := range p.targets {
		if t.area == a {
			return true
		}
	}
	return false
}
