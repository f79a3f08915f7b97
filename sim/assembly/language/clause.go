// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"fmt"
	"slices"
)

// Words and areas of relative clauses. The area clause holds the link from a noun
// to the verb of its clause.
//
// Reference: Mitropolsky, Ejaz, Shi, Yannakakis and Papadimitriou, Center-Embedding
// and Constituency in the Brain and a New Characterization of Context-Free Languages
// (2022), arXiv:2206.13217.
const (
	that   = "that"
	comma  = ","
	clause = "DEPCLAUSE"
	verb   = "VERB"
)

// nouns lists the areas whose words may have a clause: those from which the read-out leads to the
// clause.
func (g *Grammar) nouns() (list []string) {
	for _, a := range g.Areas {
		for _, to := range g.ReadOut[a] {
			if to == clause {
				list = append(list, a)
			}
		}
	}
	return list
}

// beginClause links the noun that was just heard to the area of clauses, resets the inhibition and
// opens that area. Of the other areas, only the noun's goes on firing: the noun may be the subject
// of the clause too.
func (m *sentenceState) beginClause(word int) error {
	rules := []Rule{{Free: true, From: clause}, {From: lex}, {From: verb}}
	for _, a := range m.nouns() {
		rules = append(rules, Rule{Free: true, From: a, To: clause})
	}
	m.apply(rules)
	m.brain.SetWinners(clause, nil)
	for from := range m.targets() {
		m.brain.Fix(from, true)
	}
	m.brain.Fix(clause, false)
	m.bonds.holds[clause] = word
	m.now = targets{}
	if err := m.run(m.Parameters.Rounds, nil); err != nil {
		return err
	}
	if w, _ := m.brain.Winners(clause); len(w) == 0 {
		return fmt.Errorf("no noun fires to which the clause could belong, in any of the areas %v: put the clause after a noun", m.nouns())
	}
	m.note(that)
	m.within, m.memory = true, targets{}
	keep := []string{clause}
	for _, a := range m.nouns() {
		if slices.Contains(m.now[a], clause) {
			keep, m.inner[a] = append(keep, a), m.memory
		}
	}
	m.reset()
	m.silence(keep...)
	m.apply([]Rule{{Free: true, From: clause}})
	return nil
}

// endClause resets the inhibition and presents the words outside of clauses once more, without
// plasticity, so that their areas hold them again.
func (m *sentenceState) endClause(outer []int) error {
	m.note(comma)
	m.within, m.memory = false, m.outer
	m.reset()
	m.silence()
	m.brain.Learn(false)
	for _, i := range outer {
		if err := m.recall(i); err != nil {
			return err
		}
	}
	m.brain.Learn(true)
	return nil
}

// silence makes all areas fall silent except those to keep.
func (m *sentenceState) silence(keep ...string) {
	for _, a := range m.Areas {
		if !slices.Contains(keep, a) {
			m.brain.SetWinners(a, nil)
			delete(m.bonds.holds, a)
		}
	}
}

// openClause opens the fibre between verbs and clauses while the verb of a clause is heard, and
// closes it afterwards. Grammars need no rule for it.
func (m *sentenceState) openClause(w *Word, on bool) {
	isVerb := func(r Rule) bool { return r.Free && (r.From == lex && r.To == verb || r.From == verb && r.To == lex) }
	if m.within && slices.ContainsFunc(m.Lexicon.Classes[w.Class].Before, isVerb) {
		m.apply([]Rule{{Free: on, From: verb, To: clause}})
	}
}
