// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Dependency says that a word depends on another in a role: the area that holds the
// dependent, or [DepVerb].
type Dependency struct{ Head, Dependent, Role string }

// DepVerb is the role of the verb of a relative clause; its head is the noun.
const DepVerb = "DEP-VERB"

// ReadOut says which fibres lead from a word to its dependents.
type ReadOut int

const (
	Fibres ReadOut = iota // the fibres of Grammar.ReadOut that were active in the sentence
	// FixedMap follows all of Grammar.ReadOut and drops whatever does not read as a word. It may
	// also find the verb of a clause at a noun that has none.
	FixedMap
)

// Parser parses sentences; each one starts from an untrained brain. It may be used by several
// goroutines at once.
type Parser struct {
	ReadOut ReadOut // fibres that the read-out follows. Default Fibres.
	// Tries is the largest number of brains that hear a sentence. They hear it one after another
	// until one loses nothing that another might keep; the one that lost least is read. Default 5.
	// If the assemblies of two words share a neuron by chance, one may activate the other: of the
	// brains of the reference's grammars, one in 300 loses something this way in a sentence with
	// relative clauses.
	Tries int
	g     *Grammar
	seed  uint64
}

// NewParser returns a parser of the grammar. The seed determines its brains.
func NewParser(g *Grammar, seed uint64) (*Parser, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	return &Parser{g: g, seed: seed}, nil
}

// Parse returns the dependencies of a sentence, those nearest to the verb first. Words are separated
// by spaces. In a grammar with the area DEPCLAUSE, "that" after a noun begins a relative clause and
// "," ends it: "dogs that cats chase, run".
//
// If the brain does not bring back some words, or brings back dependencies that cannot be meant,
// Parse returns a [*LostError] together with the parse of the rest. It returns other errors, without
// a parse, for words that the grammar does not have, for clauses without a beginning or an end or
// inside another clause, for a sentence that leaves no word in the area VERB, and for words that
// would enter two areas at once.
func (p *Parser) Parse(sentence string) ([]Dependency, error) {
	m, err := p.parse(sentence, false)
	if lost := (*LostError)(nil); err != nil && !errors.As(err, &lost) {
		return nil, err
	}
	return m.out, err
}

// parse returns the state of the brain that lost least; on an error, the state of the brain that
// heard the sentence, if any.
func (p *Parser) parse(sentence string, traced bool) (best *sentenceState, err error) {
	words := tokens(sentence)
	if err := p.g.checkSentence(words); err != nil {
		return nil, err
	}
	tries := p.Tries
	if tries == 0 {
		tries = 5
	}
	var least *LostError
	for try := range max(tries, 1) {
		m, err := p.newSentenceState(words, uint64(try), traced)
		if err != nil {
			return nil, err
		}
		if err := m.listen(); err != nil {
			return m, err
		}
		if err := m.read(); err != nil {
			return m, err
		}
		lost := m.lost()
		if best == nil || lost.size() < least.size() {
			best, least = m, lost
		}
		least.Seed, least.Brains = p.seed, try+1
		if !least.chance {
			break
		}
	}
	if least.size() > 0 {
		return best, least
	}
	return best, nil
}

// tokens splits a sentence into words and commas.
func tokens(sentence string) []string {
	return strings.Fields(strings.ReplaceAll(sentence, comma, " "+comma+" "))
}

// checkSentence reports words that the grammar does not have and clauses that do not
// begin after a word or do not end.
func (g *Grammar) checkSentence(words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("language: the sentence has no words: give at least one")
	}
	open := -1 // where a clause began
	for i, w := range words {
		fail := func(what string) error { return fmt.Errorf("language: word %d, %q, %s", i+1, w, what) }
		begins, ends := g.clauses() && w == that, g.clauses() && w == comma
		switch {
		case !begins && !ends:
			if g.Lexicon.Words.Find(w) == nil {
				return fail("is not in the lexicon" + g.suggest(w))
			}
		case i == 0 || words[i-1] == that || words[i-1] == comma:
			return fail("must follow a word")
		case begins && open >= 0:
			return fail(fmt.Sprintf("begins a clause inside that of word %d: end that one first, by a comma", open+1))
		case ends && open < 0:
			return fail("ends a clause that did not begin: begin it by \"that\"")
		case begins:
			open = i
		default:
			open = -1
		}
	}
	if open >= 0 {
		return fmt.Errorf("language: word %d, %q, begins a clause that does not end: put a comma after the clause", open+1, that)
	}
	return nil
}

// suggest names the word of the grammar nearest to an unknown one, if it is near enough.
func (g *Grammar) suggest(word string) string {
	best, least := "", len(word)/2+1
	for _, w := range g.Lexicon.Words {
		if d := distance(word, w.Name); d < least {
			best, least = w.Name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// distance is the least number of letters to change, add or drop (Levenshtein distance).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// clauses reports whether the grammar has relative clauses.
func (g *Grammar) clauses() bool { return slices.Contains(g.Areas, clause) }
