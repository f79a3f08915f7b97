package language

import "github.com/euryale-dev/euryale/sim/assembly"

// hearing is a brain that hears a sentence.
type hearing struct {
	*Grammar
	brain      *assembly.Brain
	inhibition assembly.Inhibition
	words      []string
	outer      targets            // fibres that were active outside of clauses
	inner      map[string]targets // those active within the clause of the noun in an area
	memory     targets            // which of them grows
	within     bool               // a clause is being heard
	bonds      *bonds             // between words whose areas fired together
	now        targets            // fibres that were active for the last word
	root       string             // word that was read from the area VERB
	out        []Dependency       // that were read
	restricted bool               // the read-out follows only fibres that were active
	traced     bool
	steps      []Step // if traced
}

// newMind returns the mind of a try, which has a seed of its own.
func (p *Parser) newMind(words []string, try uint64, traced bool) (*hearing, error) {
	q := p.g.Parameters
	outer := targets{}
	m := &hearing{Grammar: p.g, words: words, outer: outer, memory: outer, inner: map[string]targets{}, bonds: newBonds(),
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

func (m *hearing) setPlasticity() error {
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

// run activates what is open for some steps, and remembers which fibres made an area
// fire. With wanted it leaves out other fibres.
func (m *hearing) run(steps int, wanted func(from, to string) bool) error {
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
