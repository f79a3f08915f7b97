package language

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// Dependency says that a word depends on another in a role.
type Dependency struct{ Head, Dependent, Role string }

// Parser parses sentences; each starts from a brain that knows nothing.
type Parser struct {
	g    *Grammar
	seed uint64
}

// NewParser returns a parser of the grammar.
func NewParser(g *Grammar, seed uint64) (*Parser, error) { return &Parser{g, seed}, g.check() }

// Parse returns the dependencies of a sentence, whose words are separated by spaces.
// It returns an error for words that the grammar does not have.
func (p *Parser) Parse(sentence string) ([]Dependency, error) {
	words := strings.Fields(sentence)
	for i, w := range words {
		if p.g.Lexicon.Words.Find(w) == nil {
			return nil, fmt.Errorf("language: word %d, %q, is not in the lexicon", i+1, w)
		}
	}
	m, err := p.newMind()
	if err != nil {
		return nil, err
	}
	for i, w := range words {
		if err := m.hear(w); err != nil {
			return nil, fmt.Errorf("language: word %d, %q: %w", i+1, w, err)
		}
	}
	return m.read()
}

// mind is a brain that hears a sentence.
type mind struct {
	*Grammar
	brain      *assembly.Brain
	inhibited  map[string]map[int]bool // by area, or by "from to" in alphabetical order
	remembered map[string][]string     // fibres that were active
}

func (p *Parser) newMind() (*mind, error) {
	q := p.g.Parameters
	m := &mind{Grammar: p.g, inhibited: map[string]map[int]bool{}, remembered: map[string][]string{},
		brain: assembly.New(assembly.Settings{P: q.P, Seed: p.seed, EmptyIfSilent: true})}
	for i, a := range p.g.Areas {
		if !slices.Contains(p.g.Open, a) {
			m.inhibited[a] = map[int]bool{0: true}
		}
		for _, b := range p.g.Areas[i:] {
			m.inhibited[pair(a, b)] = map[int]bool{0: true}
		}
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
func (m *mind) targets() map[string][]string {
	out := map[string][]string{}
	add := func(from, to string) {
		if w, _ := m.brain.Winners(from); len(w) > 0 && !slices.Contains(out[from], to) {
			out[from] = append(out[from], to)
		}
	}
	for _, a := range m.Areas {
		for _, b := range m.Areas {
			if m.open(a) && m.open(b) && (a != lex || b != lex) && m.open(pair(a, b)) {
				add(a, b)
				add(b, b)
			}
		}
	}
	return out
}

// project activates fibres for one step.
func (m *mind) project(targets map[string][]string) error {
	var fibres []string
	for _, from := range m.Areas {
		for _, to := range targets[from] {
			fibres = append(fibres, from+">"+to)
		}
	}
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

// hear presents a word.
func (m *mind) hear(word string) error {
	w := m.Lexicon.Words.Find(word)
	if err := m.brain.Activate(lex, w.Block); err != nil {
		return err
	}
	m.brain.Fix(lex, true)
	m.apply(m.Lexicon.Classes[w.Class].Before)
	if err := m.prepare(); err != nil {
		return err
	}
	for range m.Parameters.Rounds {
		now := m.targets()
		for from, list := range now {
			for _, to := range list {
				if !slices.Contains(m.remembered[from], to) {
					m.remembered[from] = append(m.remembered[from], to)
				}
			}
		}
		if err := m.project(now); err != nil {
			return err
		}
	}
	m.apply(m.Lexicon.Classes[w.Class].After)
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

// read follows the remembered fibres from the verb.
func (m *mind) read() ([]Dependency, error) {
	m.brain.Learn(false)
	for _, a := range m.Areas {
		m.brain.Fix(a, false)
	}
	follow := map[string][]string{}
	for from, list := range m.remembered {
		for _, to := range m.Areas {
			if slices.Contains(list, to) && slices.Contains(m.ReadOut[from], to) {
				follow[from] = append(follow[from], to)
			}
		}
	}
	return m.readFrom("VERB", follow, nil)
}

func (m *mind) readFrom(area string, follow map[string][]string, out []Dependency) ([]Dependency, error) {
	to := follow[area]
	if err := m.project(map[string][]string{area: to}); err != nil {
		return nil, err
	}
	head := m.word()
	for _, t := range to {
		if t == lex {
			continue
		}
		if err := m.project(map[string][]string{t: {lex}}); err != nil {
			return nil, err
		}
		if d := m.word(); d != NonWord {
			out = append(out, Dependency{head, d, t})
		}
	}
	var err error
	for _, t := range to {
		if t == lex {
			continue
		}
		if out, err = m.readFrom(t, follow, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// word returns the word whose block fires in the lexicon.
func (m *mind) word() string {
	w, _ := m.brain.Winners(lex)
	k := m.Parameters.LexK
	counts := make([]int, m.Words)
	for _, i := range w {
		if b := int(i) / k; b < len(counts) {
			counts[b]++
		}
	}
	for _, x := range m.Lexicon.Words {
		if float64(counts[x.Block]) >= m.Parameters.Threshold*float64(k) {
			return x.Name
		}
	}
	return NonWord
}
