// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"fmt"
	"slices"
	"strings"
)

// LostError says what a parse lacks or gets wrong. The parse that comes with it is from the brain
// that lost least.
type LostError struct {
	Sentence string
	Words    []LostWord // words without a place in the parse
	// dependencies between words that fired together which the brain does not bring back
	Missing []Dependency
	Wrong   []Dependency // dependencies in the parse between words that never fired together
	Seed    uint64       // seed of the parser
	Brains  int          // number of brains that heard the sentence, one after another
	chance  bool         // whether another brain may lose less
}

// LostWord is a word without a place in a parse.
type LostWord struct {
	Number int // position in the sentence, from 1; commas count
	Word   string
	Why    string
}

var _ error = (*LostError)(nil)

func (e *LostError) Error() string {
	var list []string
	named := map[string]bool{}
	for _, w := range e.Words {
		named[w.Word] = true
		list = append(list, fmt.Sprintf("word %d, %q, is lost: %s", w.Number, w.Word, w.Why))
	}
	for _, d := range e.Missing {
		if !named[d.Dependent] {
			list = append(list, fmt.Sprintf("%s -> %s (%s) does not come back", d.Head, d.Dependent, d.Role))
		}
	}
	for _, d := range e.Wrong {
		list = append(list, fmt.Sprintf("%s -> %s (%s) is read, but the two never fired together", d.Head, d.Dependent, d.Role))
	}
	heard := "one brain heard it"
	if e.Brains > 1 {
		heard = fmt.Sprintf("%d brains heard it, and the best is read", e.Brains)
	}
	try := "say that in a sentence of its own, for which the grammar has a place"
	if e.chance {
		try = fmt.Sprintf("try more brains, Parser.Tries above %d, or another seed", e.Brains)
	}
	return fmt.Sprintf("language: %q: %s; %s, seed %d: %s", e.Sentence, strings.Join(list, "; "), heard, e.Seed, try)
}

// size returns how many words and dependencies are lost or wrong.
func (e *LostError) size() int { return len(e.Words) + len(e.Missing) + len(e.Wrong) }

// lost compares what was read with what the brain should bring back.
func (m *sentenceState) lost() *LostError {
	e := &LostError{Sentence: strings.Join(m.words, " ")}
	top := m.bonds.holds[verb]
	placed := map[int]bool{top: m.root == m.readAs(top)}
	dependency := func(b bond) Dependency { return Dependency{m.readAs(b.head), m.readAs(b.dependent), b.role} }
	read := func(b bond) bool { return slices.Contains(m.out, dependency(b)) }
	bonds := m.bonds.expected(m.Grammar, place{verb, top}, read, map[place]bool{})
	var plausible []Dependency
	for _, b := range bonds {
		d := dependency(b)
		plausible = append(plausible, d)
		if read(b) {
			placed[b.dependent] = true
		} else if !slices.Contains(e.Missing, d) {
			e.Missing = append(e.Missing, d)
		}
	}
	for _, d := range m.out {
		if !slices.Contains(plausible, d) {
			e.Wrong = append(e.Wrong, d)
		}
	}
	for i, w := range m.words {
		if !placed[i] && !(m.clauses() && (w == that || w == comma)) {
			e.Words = append(e.Words, LostWord{i + 1, w, m.why(i, bonds)})
		}
	}
	e.chance = !placed[top] || len(e.Missing)+len(e.Wrong) > 0
	return e
}

// readAs returns the word that a word of the sentence is read as: the first of its block.
func (m *sentenceState) readAs(i int) string {
	block := m.Lexicon.Words.Find(m.words[i]).Block
	return m.Lexicon.Words[slices.IndexFunc(m.Lexicon.Words, func(x Word) bool { return x.Block == block })].Name
}

// why explains why a word has no place in the parse.
func (m *sentenceState) why(i int, bonds []bond) string {
	if i == m.bonds.holds[verb] {
		return "the area " + verb + " does not bring it back"
	}
	for _, b := range bonds {
		if b.dependent == i {
			return fmt.Sprintf("%q does not bring it back from %s", m.words[b.head], b.role)
		}
	}
	switch area, next := m.bonds.lastArea(i); {
	case area == "":
		return "no area was open to it"
	case next >= 0:
		return fmt.Sprintf("%q took its place in %s", m.words[next], area)
	default:
		return "nothing that is read leads to it in " + area
	}
}
