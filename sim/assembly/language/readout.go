// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"fmt"
	"slices"
)

// read reads the dependencies, starting from the verb.
func (m *sentenceState) read() (err error) {
	if _, held := m.bonds.holds[verb]; !held {
		return fmt.Errorf("language: nothing fires in the area %s from which the sentence is read: give it a verb of its own", verb)
	}
	m.brain.Learn(false)
	for _, a := range m.Areas {
		m.brain.Fix(a, false)
	}
	m.root, err = m.readFrom(verb, m.follow(m.outer))
	return err
}

// follow returns the fibres that the read-out follows, among those that were active, in the order of
// the areas.
func (m *sentenceState) follow(active targets) targets {
	out := targets{}
	for _, from := range m.Areas {
		for _, to := range m.Areas {
			if (!m.restricted || slices.Contains(active[from], to)) && slices.Contains(m.ReadOut[from], to) {
				out.add(from, to)
			}
		}
	}
	return out
}

// readFrom reads the word of an area, its dependents and theirs in turn, and returns that word.
func (m *sentenceState) readFrom(area string, follow targets) (head string, err error) {
	to := follow[area]
	if err := m.project(targets{area: to}); err != nil || !slices.Contains(to, lex) {
		return NonWord, err
	}
	head = m.word()
	held := m.winners()
	for _, t := range to {
		if err := m.readDependent(head, t); err != nil {
			return head, err
		}
	}
	for _, t := range to {
		m.fire(held)
		if err := m.readBelow(area, t, follow); err != nil {
			return head, err
		}
	}
	return head, nil
}

// readDependent reads the word of an area that the area of its head leads to.
func (m *sentenceState) readDependent(head, area string) error {
	role := area
	switch area {
	case lex:
		return nil
	case clause:
		if err := m.project(targets{clause: {verb}}); err != nil {
			return err
		}
		area, role = verb, DepVerb
	}
	err := m.project(targets{area: {lex}})
	m.found(Dependency{head, m.word(), role})
	return err
}

// readBelow reads the dependents of an area's word; for a clause, those of its verb.
func (m *sentenceState) readBelow(from, area string, follow targets) (err error) {
	switch area {
	case lex:
	case clause:
		if err = m.project(targets{clause: {verb}}); err == nil {
			_, err = m.readFrom(verb, m.follow(m.inner[from]).only(func(_, to string) bool { return to != clause }))
		}
	default:
		_, err = m.readFrom(area, follow)
	}
	return err
}

// found records a dependency.
func (m *sentenceState) found(d Dependency) {
	if d.Head != NonWord && d.Dependent != NonWord && !slices.Contains(m.out, d) {
		m.out = append(m.out, d)
	}
}

// winners returns the winners of all areas.
func (m *sentenceState) winners() map[string][]int32 {
	out := map[string][]int32{}
	for _, a := range m.Areas {
		out[a], _ = m.brain.Winners(a)
	}
	return out
}

// fire makes the winners fire again.
func (m *sentenceState) fire(winners map[string][]int32) {
	for _, a := range m.Areas {
		m.brain.SetWinners(a, winners[a])
	}
}

// word returns the word whose block fires in the lexicon.
func (m *sentenceState) word() string {
	w, _ := m.brain.Winners(lex)
	return m.wordOf(w)
}

// wordOf returns the first word of which enough neurons are among the winners of the lexicon's area.
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
