// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import "github.com/euryale-dev/euryale/sim/assembly"

// sentenceState is a brain in the middle of a sentence.
type sentenceState struct {
	*Grammar
	brain      *assembly.Brain
	inhibition assembly.Inhibition
	words      []string
	outer      targets // fibres that were active outside of clauses
	// fibres active within a clause, by the area of the noun that the clause belongs to
	inner      map[string]targets
	memory     targets      // outer, or the element of inner that now records active fibres
	within     bool         // whether a clause is being heard
	bonds      *bonds       // links between words whose areas fired together
	now        targets      // fibres that were active for the last word
	root       string       // word read from the area VERB
	out        []Dependency // dependencies read so far
	restricted bool         // whether the read-out follows only fibres that were active
	traced     bool
	steps      []Step // one step per word if traced, otherwise nil
}

// newSentenceState returns the state before the first word. Each try has its own seed.
func (p *Parser) newSentenceState(words []string, try uint64, traced bool) (*sentenceState, error) {
	q := p.g.Parameters
	outer := targets{}
	m := &sentenceState{Grammar: p.g, words: words, outer: outer, memory: outer, inner: map[string]targets{}, bonds: newBonds(),
		traced: traced, restricted: p.ReadOut == Fibres,
		brain: assembly.New(assembly.Settings{P: q.P, Seed: p.seed ^ try<<56, EmptyIfSilent: true})}
	m.reset()
	for _, a := range p.g.Areas {
		if err := m.brain.AddArea(p.area(a)); err != nil {
			return nil, err
		}
	}
	return m, m.setPlasticity()
}

func (p *Parser) area(name string) assembly.Area {
	q := p.g.Parameters
	a := assembly.Area{Name: name, N: q.N, K: q.K, Beta: q.Beta, Lazy: true}
	switch name {
	case lex:
		a.Lazy, a.K, a.N = false, q.LexK, max(q.LexN, p.g.Words*q.LexK)
	case det:
		a.K = q.LexK
	}
	return a
}

func (m *sentenceState) setPlasticity() error {
	q := m.Parameters
	for _, a := range m.Recurrent {
		for _, f := range []struct {
			from, to string
			beta     float64
		}{{lex, a, q.LexBeta}, {a, lex, q.LexBeta}, {a, a, q.OwnBeta}} {
			if err := m.brain.SetBeta(f.from, f.to, f.beta); err != nil {
				return err
			}
		}
		for _, b := range m.Recurrent {
			if a != b {
				if err := m.brain.SetBeta(a, b, q.InterBeta); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// run activates the open fibres for some steps and records which of them made an area fire. If
// wanted is not nil, it leaves out the fibres for which wanted is false.
func (m *sentenceState) run(steps int, wanted func(from, to string) bool) error {
	for range steps {
		now := m.targets()
		if wanted != nil {
			now = now.only(wanted)
		}
		if err := m.project(now); err != nil {
			return err
		}
		for from, list := range now {
			for _, to := range list {
				if w, _ := m.brain.Winners(to); len(w) > 0 {
					m.now.add(from, to)
					m.memory.add(from, to)
					m.bonds.join(from, to)
				}
			}
		}
	}
	return nil
}
