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
	inhibited  map[string]map[int]bool // by area, or by "from to" in alphabetical order
	remembered targets                 // fibres that were active
	now        targets                 // those of the last step
	out        []Dependency            // that were read
	lost       int                     // words that were heard or should be read, but are not held
	learns     bool
	restores   bool // the read-out of an area leaves no trace in the others
	traced     bool
	steps      []Step // if traced
}

// targets says where areas project.
type targets map[string][]string

func (t targets) add(from, to string) {
	if !slices.Contains(t[from], to) {
		t[from] = append(t[from], to)
	}
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

// reset inhibits all fibres and all areas but those that are open at first.
func (m *mind) reset() {
	m.inhibited = map[string]map[int]bool{}
	for i, a := range m.Areas {
		if !slices.Contains(m.Open, a) {
			m.inhibited[a] = map[int]bool{0: true}
		}
		for _, b := range m.Areas[i:] {
			m.inhibited[pair(a, b)] = map[int]bool{0: true}
		}
	}
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

func pair(a, b string) string { return min(a, b) + " " + max(a, b) }

// apply applies rules.
func (m *mind) apply(rules []Rule) {
	for _, r := range rules {
		key := r.From
		if r.To != "" {
			key = pair(r.From, r.To)
		}
		if m.inhibited[key] == nil {
			m.inhibited[key] = map[int]bool{}
		}
		if r.Free {
			delete(m.inhibited[key], r.Index)
		} else {
			m.inhibited[key][r.Index] = true
		}
	}
}

func (m *mind) open(key string) bool { return len(m.inhibited[key]) == 0 }

// targets returns where every area projects now.
func (m *mind) targets() targets {
	fires := map[string]bool{}
	for _, a := range m.Areas {
		w, _ := m.brain.Winners(a)
		fires[a] = len(w) > 0
	}
	out := targets{}
	for _, a := range m.Areas {
		for _, b := range m.Areas {
			if !m.open(a) || !m.open(b) || a == lex && b == lex || !m.open(pair(a, b)) {
				continue
			}
			for _, from := range []string{a, b} {
				if fires[from] {
					out.add(from, b)
				}
			}
		}
	}
	return out
}

// fibres writes targets as the fibres of a plan, in the order of the areas.
func (m *mind) fibres(t targets) (list []string) {
	for _, from := range m.Areas {
		for _, to := range m.Areas {
			if slices.Contains(t[from], to) {
				list = append(list, from+">"+to)
			}
		}
	}
	return list
}

// project activates fibres for one step.
func (m *mind) project(t targets) error {
	fibres := m.fibres(t)
	if len(fibres) == 0 {
		return nil
	}
	p, err := m.brain.Plan(fibres...)
	if err != nil {
		return err
	}
	_, err = m.brain.Project(p, 1)
	return err
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
