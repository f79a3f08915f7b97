// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"slices"
	"strings"
)

// Plan is a set of fibres that are active in a step, with their names resolved.
type Plan struct {
	brain   *Brain
	targets []*target
}

// target is an area with the fibres into it, stimuli first, and what a step computes.
type target struct {
	*area
	fibres   []*fibre
	active   []*fibre  // fibres that are open in this step
	x        []float64 // inputs of the stored neurons, valid until those of the next target are gathered
	round    Round
	recruits recruits
}

// Plan makes a plan in which the given fibres are active. Each is written as "from>to"; they may be
// separated by spaces or given one by one.
func (b *Brain) Plan(fibres ...string) (*Plan, error) {
	p := &Plan{brain: b}
	var list [][2]string
	for _, s := range fibres {
		for _, w := range strings.Fields(s) {
			from, to, ok := strings.Cut(w, ">")
			if !ok {
				return nil, fmt.Errorf(`assembly: the fibre %q is not of the form from>to: write it as "A>B"`, w)
			}
			list = append(list, [2]string{strings.TrimSuffix(from, "-"), to})
		}
	}
	for _, stimuli := range []bool{true, false} {
		for _, l := range list {
			if (b.stimulus(l[0]) != nil) == stimuli {
				if err := p.add(b, l[0], l[1]); err != nil {
					return nil, err
				}
			}
		}
	}
	return p, nil
}

func (p *Plan) add(b *Brain, from, to string) error {
	f, err := b.fibre(from, to)
	if err != nil {
		return err
	}
	f.planned = true
	for _, t := range p.targets {
		if t.Name == to {
			if slices.Contains(t.fibres, f) {
				return fmt.Errorf("assembly: fibre %s>%s appears twice in a plan: name it once", from, to)
			}
			t.insert(f)
			return nil
		}
	}
	p.targets = append(p.targets, &target{area: f.target, fibres: []*fibre{f}})
	return nil
}

// insert adds a fibre, stimuli first and then by name: draws of lazy areas must not
// depend on the order in which fibres are written.
func (t *target) insert(f *fibre) {
	at, _ := slices.BinarySearchFunc(t.fibres, f, func(a, b *fibre) int {
		if (a.stimulus != nil) != (b.stimulus != nil) {
			if a.stimulus != nil {
				return -1
			}
			return 1
		}
		return strings.Compare(a.From, b.From)
	})
	t.fibres = slices.Insert(t.fibres, at, f)
}

// open finds the fibres that are open.
func (p *Plan) open(b *Brain) {
	for _, t := range p.targets {
		t.active = t.active[:0]
		for _, f := range t.fibres {
			if b.closed.Carries(f.From, f.To) {
				t.active = append(t.active, f)
			}
		}
	}
}

// hasStimulus reports whether a stimulus, even an empty one, is open to the target.
func (t *target) hasStimulus() bool {
	return slices.ContainsFunc(t.active, func(f *fibre) bool { return f.stimulus != nil })
}

// fired returns the number of neurons that fire into a target.
func (t *target) fired() (n int) {
	for _, f := range t.active {
		n += f.firing()
	}
	return n
}

// rounds returns what a step did to the targets.
func (p *Plan) rounds() []Round {
	rounds := make([]Round, len(p.targets))
	for i, t := range p.targets {
		rounds[i] = t.round
	}
	return rounds
}
