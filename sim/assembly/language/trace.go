// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// Trace records what happens in a brain while it hears a sentence. It prints as a table.
type Trace struct {
	Steps        []Step
	Dependencies []Dependency
}

// Step records the effect of one word. Words that are presented again at the end of a clause have
// steps of their own.
type Step struct {
	Word   string
	Areas  []string        // areas that were open
	Fibres []string        // fibres that were active, each as "from>to"
	States []State         // states of all areas in which something fires
	Brain  *assembly.Brain // copy of the brain after the word, for further inspection
}

// State is the content of one area.
type State struct {
	Area    string
	Word    string // word that the area brings back in the lexicon, or NonWord
	Winners []int32
	Support int // number of neurons that have ever fired
}

// Trace parses a sentence as [Parser.Parse] does and returns a record of each word. On an error, the
// trace holds the words before it.
func (p *Parser) Trace(sentence string) (*Trace, error) {
	t := &Trace{}
	m, err := p.parse(sentence, true)
	if m != nil {
		t.Steps, t.Dependencies = m.steps, m.out
	}
	return t, err
}

// note records a step if the sentence is traced.
func (m *sentenceState) note(word string) {
	if !m.traced {
		return
	}
	s := Step{Word: word, Fibres: m.fibres(m.now), Brain: m.brain.Clone()}
	for _, a := range m.Areas {
		if m.inhibition.Open(a) {
			s.Areas = append(s.Areas, a)
		}
		if state := m.state(a); len(state.Winners) > 0 {
			s.States = append(s.States, state)
		}
	}
	m.steps = append(m.steps, s)
}

// state reads the content of an area, from a copy of the brain.
func (m *sentenceState) state(area string) (s State) {
	s.Area = area
	s.Winners, _ = m.brain.Winners(area)
	s.Support, _ = m.brain.Support(area)
	s.Word = m.wordOf(s.Winners)
	if area != lex && len(s.Winners) > 0 {
		c := *m
		c.brain = m.brain.Clone()
		c.brain.Learn(false)
		c.brain.Fix(lex, false)
		c.project(targets{area: {lex}})
		s.Word = c.word()
	}
	return s
}

// String writes a line per word: the open areas, the active fibres, and the content of every area as
// word/support.
func (t *Trace) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "word\tactive\tholds")
	for _, s := range t.Steps {
		var holds []string
		for _, a := range s.States {
			if !slices.Contains(s.Areas, a.Area) {
				continue
			}
			holds = append(holds, fmt.Sprintf("%s=%s/%d", a.Area, a.Word, a.Support))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Word, strings.Join(s.Fibres, " "), strings.Join(holds, " "))
	}
	w.Flush()
	for _, d := range t.Dependencies {
		fmt.Fprintf(&b, "%s -> %s (%s)\n", d.Head, d.Dependent, d.Role)
	}
	return b.String()
}
