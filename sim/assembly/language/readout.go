package language

import (
	"fmt"
	"slices"
)

// read follows fibres from the verb.
func (m *mind) read(r ReadOut) ([]Dependency, error) {
	if w, _ := m.brain.Winners(verb); len(w) == 0 {
		return nil, fmt.Errorf("language: nothing fires in the area %s to read from: the sentence needs a verb", verb)
	}
	m.learn(false)
	for _, a := range m.Areas {
		m.brain.Fix(a, false)
	}
	m.restores = r == FixedMap
	out, err := m.readFrom(verb, m.follow(r), nil)
	return unique(out), err
}

// follow returns which fibres a read-out follows, in the order of the areas.
func (m *mind) follow(r ReadOut) targets {
	out := targets{}
	for _, from := range m.Areas {
		for _, to := range m.Areas {
			active := r == FixedMap || slices.Contains(m.remembered[from], to)
			if active && slices.Contains(m.Grammar.ReadOut[from], to) {
				out.add(from, to)
			}
		}
	}
	return out
}

// readFrom reads the word of an area and its dependents, then theirs.
func (m *mind) readFrom(area string, follow targets, out []Dependency) ([]Dependency, error) {
	to := follow[area]
	if err := m.project(targets{area: to}); err != nil {
		return nil, err
	}
	head := m.word()
	for _, t := range to {
		var err error
		switch t {
		case lex:
		case clause:
			out, err = m.readClause(head, out)
		default:
			err = m.project(targets{t: {lex}})
			out = appendWords(out, Dependency{head, m.word(), t})
		}
		if err != nil {
			return nil, err
		}
	}
	for _, t := range to {
		if t == lex || t == clause {
			continue
		}
		before := m.winners()
		var err error
		if out, err = m.readFrom(t, follow, out); err != nil {
			return nil, err
		}
		if m.restores {
			m.fire(before)
		}
	}
	return out, nil
}

// winners returns what fires in all areas.
func (m *mind) winners() map[string][]int32 {
	out := map[string][]int32{}
	for _, a := range m.Areas {
		out[a], _ = m.brain.Winners(a)
	}
	return out
}

// fire makes the winners fire again.
func (m *mind) fire(winners map[string][]int32) {
	for _, a := range m.Areas {
		m.brain.SetWinners(a, winners[a])
	}
}

// unique leaves only the first of equal dependencies.
func unique(list []Dependency) (out []Dependency) {
	for _, d := range list {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// appendWords appends dependencies between words that were read.
func appendWords(out []Dependency, list ...Dependency) []Dependency {
	for _, d := range list {
		if d.Head != NonWord && d.Dependent != NonWord {
			out = append(out, d)
		}
	}
	return out
}

// word returns the word whose block fires in the lexicon.
func (m *mind) word() string {
	w, _ := m.brain.Winners(lex)
	return m.wordOf(w)
}

// wordOf returns the first word of which enough neurons are among winners of the
// lexicon's area.
func (g *Grammar) wordOf(winners []int32) string {
	k := g.Parameters.LexK
	counts := make([]int, g.Words)
	for _, i := range winners {
		if b := int(i) / k; b < len(counts) {
			counts[b]++
		}
	}
	for _, x := range g.Lexicon.Words {
		if float64(counts[x.Block]) >= g.Parameters.Threshold*float64(k) {
			return x.Name
		}
	}
	return NonWord
}
