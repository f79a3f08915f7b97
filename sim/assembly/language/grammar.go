// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Grammar holds the areas, words and rules of a language, as data.
type Grammar struct {
	Areas []string `json:"areas"`
	// areas that learn from themselves and from each other
	Recurrent []string `json:"recurrent_plasticity_areas"`
	Open      []string `json:"initially_disinhibited"` // areas that are open at first
	Words     int      `json:"lex_words"`              // number of blocks of the lexicon's area
	Lexicon   Lexicon  `json:"lexicon"`
	// areas in which the dependents of each area's words may lie
	ReadOut    map[string][]string `json:"readout"`
	Parameters Parameters          `json:"defaults"`
}

// Lexicon gives each word a block of neurons and a class, which has its rules. If words share a
// block, it is read as the first of them.
type Lexicon struct {
	Words   Words            `json:"words"`
	Classes map[string]Class `json:"classes"`
}

// Words is a list of words; in JSON it is an object {name: [block, class]}, whose order matters.
type Words []Word

// Word is a block of the lexicon's area and a class.
type Word struct {
	Name  string
	Block int
	Class string
}

// Find returns the word with this name, or nil if there is none.
func (w Words) Find(name string) *Word {
	if i := slices.IndexFunc(w, func(x Word) bool { return x.Name == name }); i >= 0 {
		return &w[i]
	}
	return nil
}

// Class holds the rules of one class of words: those applied before a word is projected and those
// applied after.
type Class struct {
	Before []Rule `json:"pre"`
	After  []Rule `json:"post"`
}

// Rule inhibits or frees an area or a fibre. In JSON it is ["area", action, area, index] or
// ["fiber", action, area, area, index]. Whatever any index inhibits is closed.
type Rule struct {
	Free     bool
	From, To string // ends of a fibre; To is empty for an area
	Index    int
}

// Parameters are the sizes and plasticities of a parser's brain.
type Parameters struct {
	P         float64 `json:"p"`
	LexK      int     `json:"LEX_k"`
	LexN      int     `json:"LEX_n"` // neurons of the lexicon's area; default Words times LexK
	N         int     `json:"non_LEX_n"`
	K         int     `json:"non_LEX_k"`
	Beta      float64 `json:"default_beta"`
	LexBeta   float64 `json:"LEX_beta"`       // plasticity between the lexicon and other areas
	OwnBeta   float64 `json:"recurrent_beta"` // plasticity of an area onto itself
	InterBeta float64 `json:"interarea_beta"` // plasticity between areas other than the lexicon
	Rounds    int     `json:"project_rounds"` // number of steps per word
	Threshold float64 `json:"word_threshold"` // overlap from which a block is read as its word
}

// Names of the area that holds the words and of the area of determiners, which is as small.
const (
	lex = "LEX"
	det = "DET"
)

// mostNeurons bounds the size of the lexicon's area, all of which is stored.
const mostNeurons = 1 << 24

// NonWord is read if no word's block fires.
const NonWord = "<NON-WORD>"

// ReadGrammar reads a grammar from JSON and checks it.
func ReadGrammar(r io.Reader) (*Grammar, error) {
	b, err := io.ReadAll(r)
	if err == nil {
		b, err = foreign.JSON(b)
	}
	if err != nil {
		return nil, fmt.Errorf("language: grammar: %w", err)
	}
	var g Grammar
	if err := json.Unmarshal(b, &g); err != nil {
		return nil, fmt.Errorf("language: grammar: %w", foreign.InWords(b, err))
	}
	return &g, g.check()
}

// UnmarshalJSON reads words in their order.
func (w *Words) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("words must be an object {name: [block, class]}: %w", err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		x := Word{Name: fmt.Sprint(name)}
		if err := d.Decode(&[]any{&x.Block, &x.Class}); err != nil {
			return fmt.Errorf("word %q: want [block, class]: %w", x.Name, err)
		}
		*w = append(*w, x)
	}
	return nil
}

// UnmarshalJSON reads a rule.
func (r *Rule) UnmarshalJSON(b []byte) error {
	var kind, action string
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	to := []any{&kind, &action, &r.From, &r.To, &r.Index}
	if len(parts) == 4 {
		to = []any{&kind, &action, &r.From, &r.Index}
	}
	if err := json.Unmarshal(b, &to); err != nil {
		return err
	}
	r.Free = action == "disinhibit"
	if kind == "fibre" {
		kind = "fiber"
	}
	if len(parts) != 4 && len(parts) != 5 || kind != "area" && kind != "fiber" || (kind == "area") != (r.To == "") || action != "inhibit" && !r.Free {
		return fmt.Errorf("rule %s: want [\"area\", action, area, index] or [\"fiber\", action, area, area, index] with the action inhibit or disinhibit", b)
	}
	return nil
}

// check reports references in a grammar to areas or classes that do not exist.
func (g *Grammar) check() error {
	known := func(area string) bool { return slices.Contains(g.Areas, area) }
	for _, a := range []string{lex, verb} {
		if !known(a) {
			return fmt.Errorf("language: the grammar lacks the area %s: add it to its areas", a)
		}
	}
	if q := g.Parameters; q.LexK < 1 || q.Rounds < 1 {
		return fmt.Errorf("language: the blocks have LEX_k = %d neurons, and words get %d rounds: want at least 1 of each", q.LexK, q.Rounds)
	}
	if q := g.Parameters; !(float64(g.Words)*float64(q.LexK) <= mostNeurons && q.LexN <= mostNeurons) {
		return fmt.Errorf("language: the lexicon has %d blocks of %d neurons, or %d in all: want at most %d", g.Words, q.LexK, q.LexN, mostNeurons)
	}
	if err := g.checkReadOut(verb, nil); err != nil {
		return err
	}
	for _, w := range g.Lexicon.Words {
		c, ok := g.Lexicon.Classes[w.Class]
		if !ok || w.Block < 0 || w.Block >= g.Words {
			return fmt.Errorf("language: word %q has block %d of %d and class %q: want a block and a class that exist", w.Name, w.Block, g.Words, w.Class)
		}
		for _, r := range append(slices.Clone(c.Before), c.After...) {
			if !known(r.From) || r.To != "" && !known(r.To) {
				return fmt.Errorf("language: class %s has a rule for %s %s, but there is no such area: add it, or correct the rule", w.Class, r.From, r.To)
			}
		}
	}
	return nil
}

// checkReadOut reports areas that do not exist, or to which the read-out would return for ever,
// starting from an area that was reached over others.
func (g *Grammar) checkReadOut(from string, over []string) error {
	if slices.Contains(over, from) {
		return fmt.Errorf("language: the read-out runs in a circle: %v and %s again: remove a link", over, from)
	}
	for _, to := range g.ReadOut[from] {
		if !slices.Contains(g.Areas, to) {
			return fmt.Errorf("language: the read-out goes from %s to %s, but there is no such area: add it, or correct the read-out", from, to)
		}
		if to == lex {
			continue
		}
		if err := g.checkReadOut(to, append(slices.Clone(over), from)); err != nil {
			return err
		}
	}
	return nil
}
