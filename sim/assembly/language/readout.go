package language

import (
	"fmt"
	"slices"
)

// read follows fibres from the verb.
func (m *mind) read(r ReadOut) error {
	if w, _ := m.brain.Winners(verb); len(w) == 0 {
		return fmt.Errorf("language: nothing fires in the area %s to read from: the sentence needs a verb", verb)
	}
	m.learn(false)
	for _, a := range m.Areas {
		m.brain.Fix(a, false)
	}
	m.restores = r == FixedMap
	return m.readFrom(verb, m.follow(r))
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
func (m *mind) readFrom(area string, follow targets) error {
	to := follow[area]
	if err := m.project(targets{area: to}); err != nil {
		return err
	}
	head := m.word()
	for _, t := range to {
		if err := m.readDependent(head, area, t); err != nil {
			return err
		}
	}
	for _, t := range to {
		if t == lex || t == clause {
			continue
		}
		before := m.winners()
		if err := m.readFrom(t, follow); err != nil {
			return err
		}
		if m.restores {
			m.fire(before)
		}
	}
	return nil
}

// readDependent reads the word of an area that the area of the head leads to.
func (m *mind) readDependent(head, from, to string) error {
	switch to {
	case lex:
		return nil
	case clause:
		return m.readClause(head)
	}
	err := m.project(targets{to: {lex}})
	m.found(Dependency{head, m.word(), to}, slices.Contains(m.remembered[from], to))
	return err
}

// found keeps a dependency between words. What reads as none counts as lost where the
// sentence had the fibre.
func (m *mind) found(d Dependency, had bool) {
	switch {
	case d.Head == NonWord || d.Dependent == NonWord:
		if had {
			m.lost++
		}
	case !slices.Contains(m.out, d):
		m.out = append(m.out, d)
	}
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
