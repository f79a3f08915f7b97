package language

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// mind is a brain that hears a sentence.
type mind struct {
	*Grammar
	brain      *assembly.Brain
	inhibition assembly.Inhibition
	remembered targets      // fibres that were active
	now        targets      // those of the last step
	out        []Dependency // that were read
	lost       int          // words that were heard or should be read, but are not held
	learns     bool
	restores   bool // the read-out of an area leaves no trace in the others
	traced     bool
	steps      []Step // if traced
}

// newMind returns the mind of a try, which has a seed of its own.
func (p *Parser) newMind(try uint64) (*mind, error) {
	q := p.g.Parameters
	m := &mind{Grammar: p.g, learns: true, remembered: targets{},
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

func (m *mind) setPlasticity() error {
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

// run activates what is open for some steps, and remembers it.
func (m *mind) run(steps int) error {
	for range steps {
		m.now = m.targets()
		for from, list := range m.now {
			for _, to := range list {
				m.remembered.add(from, to)
			}
		}
		if err := m.project(m.now); err != nil {
			return err
		}
	}
	return nil
}

// listen hears a sentence that checkSentence let pass.
func (m *mind) listen(words []string) error {
	var outer []string // words outside of clauses
	within := false
	for i, w := range words {
		next := ""
		if i+1 < len(words) && m.clauses() {
			next = words[i+1]
		}
		var err error
		switch {
		case m.clauses() && w == that:
			within, err = true, m.beginClause()
		case m.clauses() && w == comma:
			within, err = false, m.endClause(outer)
		default:
			if !within {
				outer = append(outer, w)
			}
			// What a word leaves behind is undone by the clause that begins or ends.
			err = m.hear(w, m.Parameters.Rounds, next != that && next != comma)
		}
		if err != nil {
			return fmt.Errorf("language: word %d, %q: %w", i+1, w, err)
		}
	}
	return nil
}

// hear presents a word for some steps, and then applies what it leaves behind.
func (m *mind) hear(word string, steps int, after bool) error {
	w := m.Lexicon.Words.Find(word)
	if err := m.brain.Activate(lex, w.Block); err != nil {
		return err
	}
	m.brain.Fix(lex, true)
	m.apply(m.Lexicon.Classes[w.Class].Before)
	if err := m.prepare(); err != nil {
		return err
	}
	if err := m.run(steps); err != nil {
		return err
	}
	if err := m.check(word); err != nil {
		return err
	}
	m.note(word)
	if after {
		m.apply(m.Lexicon.Classes[w.Class].After)
	}
	return nil
}

// prepare fixes the areas that speak and empties those that the word will enter.
func (m *mind) prepare() error {
	now := m.targets()
	if len(now[lex]) > 2 {
		return fmt.Errorf("the word would enter %v at once: a grammar leads it to one area and its own at most", now[lex])
	}
	for from := range now {
		entered := slices.Contains(now[lex], from)
		if from == lex {
			continue
		}
		m.brain.Fix(from, !entered)
		if entered {
			m.brain.SetWinners(from, nil)
		}
	}
	return nil
}

// learn switches plasticity.
func (m *mind) learn(on bool) {
	m.learns = on
	m.brain.Learn(on)
}

// check counts a word as lost if the area that it entered does not bring it back.
func (m *mind) check(word string) error {
	b := m.Lexicon.Words.Find(word).Block
	for _, area := range m.now[lex] {
		if area == lex {
			continue
		}
		got, err := m.recall(area)
		if err != nil {
			return err
		}
		if w := m.Lexicon.Words.Find(got); w == nil || w.Block != b {
			m.lost++
		}
	}
	return m.brain.Activate(lex, b)
}

// recall returns the word that an area brings back, in the place of that which fires.
func (m *mind) recall(area string) (string, error) {
	m.brain.Learn(false)
	m.brain.Fix(lex, false)
	err := m.project(targets{area: {lex}})
	m.brain.Learn(m.learns)
	m.brain.Fix(lex, true)
	return m.word(), err
}
