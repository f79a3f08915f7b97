package assembly

import "fmt"

// Round is what one step did to one area.
type Round struct {
	Area      string
	Winners   []int32 // in order of falling input
	Kth, Next float64 // the smallest input of a winner, the largest of another neuron
	Input     float64 // summed over the winners
	First     int     // winners that never fired before
	Support   int     // neurons that ever fired
}

// Project runs steps of a plan and returns its rounds, step after step, target after
// target. Areas without winners send nothing.
func (b *Brain) Project(p *Plan, steps int) ([][]Round, error) {
	if len(p.targets) == 0 {
		return nil, fmt.Errorf("assembly: a plan without fibres")
	}
	trace := make([][]Round, steps)
	for t := range trace {
		trace[t] = b.once(p)
	}
	return trace, nil
}

// once runs one step: all targets read the old winners.
func (b *Brain) once(p *Plan) []Round {
	rounds, recruits := make([]Round, len(p.targets)), make([]drawn, len(p.targets))
	for i, t := range p.targets {
		r := &rounds[i]
		r.Area = t.Name
		switch {
		case t.fixed:
			r.Winners = t.winners
		case b.fired(t) == 0 && (b.set.EmptyIfSilent || b.set.Activity == Silent || t.Lazy):
		case t.Lazy:
			*r, recruits[i] = b.selectLazy(t, b.inputs(t))
		default:
			x := b.inputs(t)
			r.Winners, r.Kth, r.Next = top(x, t.K)
			for _, j := range r.Winners {
				r.Input += float64(x[j])
			}
		}
	}
	for i, t := range p.targets {
		t.support += len(recruits[i].list)
	}
	b.connectRecruits(p, recruits)
	if !b.frozen {
		for i, t := range p.targets {
			b.learn(t, rounds[i].Winners)
		}
	}
	b.commit(p, rounds)
	b.step++
	return rounds
}

// inputs returns the summed weights onto every neuron of a target.
func (b *Brain) inputs(t target) []float32 {
	n := t.stored()
	if len(b.x) < n {
		b.x = make([]float32, 2*n)
	}
	x := b.x[:n]
	clear(x)
	for _, f := range t.fibres {
		b.gather(x, f)
	}
	return x
}

// learn strengthens what fires into the new winners of a target.
func (b *Brain) learn(t target, winners []int32) {
	if n := t.stored(); len(b.isWinner) < n {
		b.isWinner = make([]bool, 2*n)
	}
	for _, j := range winners {
		b.isWinner[j] = true
	}
	for _, f := range t.fibres {
		var sources []int32
		if f.rows != nil {
			a, _ := b.area(f.From)
			sources = a.winners
		}
		b.strengthen(f, sources, winners)
	}
	for _, j := range winners {
		b.isWinner[j] = false
	}
}

// commit makes the new winners fire, together.
func (b *Brain) commit(p *Plan, rounds []Round) {
	if b.set.Activity == Silent {
		for _, a := range b.areas {
			if !a.fixed && !p.drives(b, a) {
				a.winners = nil
			}
		}
	}
	for i, t := range p.targets {
		before := t.support
		if !t.fixed {
			t.fire(rounds[i].Winners)
		}
		if !t.Lazy {
			rounds[i].First = t.support - before
		}
		rounds[i].Support = t.support
	}
}

// drives reports whether an area gets input from something that fires.
func (p *Plan) drives(b *Brain, a *area) bool {
	for _, t := range p.targets {
		if t.area == a {
			return true
		}
	}
	return false
}
