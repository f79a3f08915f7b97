// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"slices"
)

// Round is what one step did to one area.
type Round struct {
	Area      string
	Winners   []int32 // neurons that won, in order of falling input
	Kth, Next float64 // smallest input of a winner, and largest input of any other neuron
	Input     float64 // sum of the winners' inputs
	First     int     // number of winners that never fired before
	Kept      int     // number of winners that also fired before the step
	Support   int     // number of neurons that ever fired
	idle      bool    // whether nothing reached the area, which then keeps its winners
}

// Project runs steps of a plan and returns the rounds, step by step and target by target. Closed
// fibres send nothing.
//
// It returns a [*SilentError] for each fibre whose source does not fire and never will in this plan.
// A source that fires from the second step on, such as an area that a stimulus reaches, is no error.
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

// Continue is Project without a check of what fires: silent areas send nothing.
func (b *Brain) Continue(p *Plan, steps int) ([][]Round, error) {
	if err := b.owns(p, steps); err != nil {
		return nil, err
	}
	if steps > 0 {
		if err := b.attach(p, b.set.Backend); err != nil {
			return nil, err
		}
	}
	if b.gpu != nil {
		l := newLockstep(p)
		var err error
		for t := 0; t < steps && err == nil; t++ {
			err = l.step()
		}
		return l.runs[0].trace, err
	}
	trace := make([][]Round, steps)
	for t := range trace {
		trace[t] = b.run(p, b.equations())
	}
	return trace, nil
}

// owns returns an error for a plan that the brain cannot run.
func (b *Brain) owns(p *Plan, steps int) error {
	switch {
	case p == nil || len(p.targets) == 0:
		return fmt.Errorf("assembly: the plan has no fibres: give it at least one")
	case p.brain != b:
		return fmt.Errorf("assembly: the plan belongs to another brain: make new plans for a copy")
	case steps < 0:
		return fmt.Errorf("assembly: %d steps cannot be run: want at least 0", steps)
	}
	return nil
}

// equations are the parts of a step. A Brain computes them; a profile measures them.
type equations interface {
	gather(t *target)  // x_j = sum of w_ij over the firing neurons i of every open fibre
	inhibit(t *target) // x_j less the latency and the refraction of neuron j
	choose(t *target)  // winners: the K neurons of largest x that the policy lets fire
	recruit(p *Plan)   // lazy areas: winners that never fired before get their synapses
	learn(t *target)   // w_ij by the rule of its fibre, for firing i and winners j
	fire(p *Plan)      // winners become what fires
}

// run computes one step: all targets read the winners of the step before.
func (b *Brain) run(p *Plan, eq equations) []Round {
	b.begin(p)
	for _, t := range p.targets {
		if t.takesPart(b) {
			eq.gather(t)
			eq.inhibit(t)
			eq.choose(t)
		}
	}
	b.inhibitRivals(p)
	eq.recruit(p)
	if !b.frozen {
		for _, t := range p.targets {
			eq.learn(t)
		}
	}
	eq.fire(p)
	return p.rounds()
}

// begin starts a step in which no target has a winner yet.
func (b *Brain) begin(p *Plan) {
	b.step++
	b.arena, b.cuts = b.arena[:0], b.cuts[:0]
	p.open(b)
	b.storeWhole(p)
	for _, t := range p.targets {
		t.round, t.recruits = Round{Area: t.Name}, recruits{list: t.recruits.list[:0]}
	}
}

// takesPart reports whether a target has winners to choose. A fixed area keeps its winners; one that
// nothing fires into keeps or loses them.
func (t *target) takesPart(b *Brain) bool {
	reached := t.fired() > 0
	switch {
	case t.fixed:
		t.keep(false)
		return false
	case !reached && (b.set.EmptyIfSilent || b.set.Activity == Silent):
		return false
	case !reached && (t.Lazy || !t.hasStimulus()):
		t.keep(true)
		return false
	}
	return true
}

// keep makes the winners of the step before the winners of the round.
func (t *target) keep(idle bool) {
	t.round.Winners, t.round.Kept, t.round.idle = slices.Clone(t.winners), len(t.winners), idle
}

func (b *Brain) choose(t *target) {
	b.chooseOf(t, b.best(t))
	b.moved += 8 * len(t.x)
}

// best returns the K+1 stored neurons of a target with the largest inputs, in order.
func (b *Brain) best(t *target) []entry {
	m := min(t.K+1, len(t.x))
	if !b.conditional(t.area) {
		return entries(t.x, top(t.x, m))
	}
	return b.ranked.best(t.x, t.memory.ranks, m) // among equals the lower rank comes first, not the lower number
}

// chooseOf chooses the winners of a target. The candidates are its stored neurons of largest input, K+1 if there
// are as many, in order.
func (b *Brain) chooseOf(t *target, candidates []entry) {
	if t.Lazy {
		b.chooseLazy(t, candidates)
	} else {
		t.chooseStored(candidates)
	}
	before := b.marks(t.stored() + t.K)
	for _, j := range t.winners {
		before.add(j)
	}
	for _, j := range t.round.Winners {
		if before.has(j) {
			t.round.Kept++
		}
	}
}

// chooseStored chooses the winners of an area whose neurons are all stored.
func (t *target) chooseStored(candidates []entry) {
	r, n := &t.round, 0
	for n < len(candidates) && t.fires(candidates[n].x, n, candidates[0].x) {
		n++
	}
	if n < len(candidates) {
		r.Next = candidates[n].x
	}
	if n == 0 {
		return
	}
	r.Winners = make([]int32, n)
	for i, c := range candidates[:n] {
		r.Winners[i] = c.j
		r.Input += c.x
	}
	r.Kth = candidates[n-1].x
}

func (b *Brain) learn(t *target) {
	winners := t.round.Winners
	if len(winners) == 0 || t.round.idle {
		return
	}
	b.markWinners(t.stored(), winners, 1)
	for _, f := range t.active {
		b.strengthen(f, f.growth(b), f.sources(), winners, t.changesWith(t.round))
	}
	b.markWinners(t.stored(), winners, 0)
}

// markWinners marks winners among n neurons, or with 0 takes the marks off.
func (b *Brain) markWinners(n int, winners []int32, mark uint8) {
	if len(b.isWinner) <= n {
		b.isWinner = make([]uint8, 2*n+1)
	}
	for _, j := range winners {
		b.isWinner[j+1] = mark
	}
}

func (b *Brain) fire(p *Plan) {
	if b.set.Activity == Silent {
		b.silenceOthers(p)
	}
	for _, t := range p.targets {
		before := t.support
		if !t.fixed && !t.round.idle {
			t.area.fire(t.round, b.step)
		}
		t.round.First, t.round.Support, t.round.idle = t.support-before, t.support, false
	}
	b.trim()
}

// silenceOthers removes the winners of areas that are not targets of the plan.
func (b *Brain) silenceOthers(p *Plan) {
	for _, a := range b.areas {
		isTarget := slices.ContainsFunc(p.targets, func(t *target) bool { return t.area == a })
		if !a.fixed && !isTarget && len(a.winners) > 0 {
			a.set(nil)
		}
	}
}
