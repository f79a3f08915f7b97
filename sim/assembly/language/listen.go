// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"fmt"
	"slices"
)

// listen hears a sentence that checkSentence accepted.
func (m *sentenceState) listen() error {
	var outer []int // numbers of the words outside of clauses
	for i, w := range m.words {
		next := ""
		if i+1 < len(m.words) && m.clauses() {
			next = m.words[i+1]
		}
		var err error
		switch {
		case m.clauses() && w == that:
			err = m.beginClause(i)
		case m.clauses() && w == comma:
			err = m.endClause(outer)
		default:
			if !m.within {
				outer = append(outer, i)
			}
			// What a word leaves behind is undone by the clause that begins or ends.
			err = m.hear(i, next != that && next != comma)
		}
		if err != nil {
			return fmt.Errorf("language: word %d, %q: %w", i+1, w, err)
		}
	}
	return nil
}

// hear presents a word and then applies its rules for what it leaves behind.
//
// In an area that held another word before, whatever was linked to that word would bring it back in
// place of the new one: weights between the old words have grown by orders of magnitude, those of
// the new word have not. In such an area the word is heard alone at first.
func (m *sentenceState) hear(i int, after bool) error {
	w, entered, err := m.present(i)
	if err != nil {
		return err
	}
	alone := slices.ContainsFunc(entered, func(a string) bool { return m.bonds.heldOther(a, w.Block) })
	m.bonds.enter(entered, i, w.Block)
	if alone {
		err = m.hearAlone(entered)
	} else {
		err = m.run(m.Parameters.Rounds, nil)
	}
	m.note(w.Name)
	if after {
		m.leave(w)
	}
	return err
}

// hearAlone lets a word form its assembly by itself in the areas that it enters, and then links that
// assembly, held fixed, to others.
func (m *sentenceState) hearAlone(entered []string) error {
	ofLex := func(from, to string) bool { return (from == lex) != (to == lex) }
	if err := m.run(m.Parameters.Rounds, ofLex); err != nil {
		return err
	}
	for _, a := range entered {
		m.brain.Fix(a, true)
	}
	return m.run(m.Parameters.Rounds, func(from, to string) bool { return from != lex && to != lex })
}

// recall presents a word that was heard before for one step, so that its areas hold it again.
func (m *sentenceState) recall(i int) error {
	w, entered, err := m.present(i)
	if err != nil {
		return err
	}
	m.bonds.enter(entered, i, w.Block)
	err = m.run(1, nil)
	m.note(w.Name)
	m.leave(w)
	return err
}

// present makes a word fire and prepares the areas: those that send are fixed, and those that the
// word enters are emptied. It returns the latter.
func (m *sentenceState) present(i int) (w *Word, entered []string, err error) {
	w = m.Lexicon.Words.Find(m.words[i])
	if err := m.brain.Activate(lex, w.Block); err != nil {
		return nil, nil, err
	}
	m.brain.Fix(lex, true)
	m.apply(m.Lexicon.Classes[w.Class].Before)
	m.openClause(w, true)
	now := m.targets()
	if len(now[lex]) > 2 {
		return nil, nil, fmt.Errorf("the word would enter %v at once: correct the grammar, which may lead a word to at most one area besides its own", now[lex])
	}
	for from := range now {
		if from != lex {
			m.brain.Fix(from, true)
		}
	}
	for _, to := range now[lex] {
		if to != lex {
			m.brain.Fix(to, false)
			m.brain.SetWinners(to, nil)
			entered = append(entered, to)
		}
	}
	m.now = targets{}
	return w, entered, nil
}

// leave applies the rules for what a word leaves behind.
func (m *sentenceState) leave(w *Word) {
	m.apply(m.Lexicon.Classes[w.Class].After)
	m.openClause(w, false)
}
