package language

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// Trace is what happened in a brain while it heard a sentence. It prints as a table.
type Trace struct {
	Steps        []Step
	Dependencies []Dependency
}

// Step is what one word did. The words of a sentence that are gone through again at
// the end of a clause have steps of their own.
type Step struct {
	Word   string
	Areas  []string        // that were open
	Fibres []string        // that were active, each "from>to"
	States []State         // of all areas in which something fires
	Brain  *assembly.Brain // a copy as it was then, to look further into
}

// State is what an area holds.
type State struct {
	Area    string
	Word    string // that it brings back in the lexicon, or NonWord
	Winners []int32
	Support int // neurons that ever fired
}

// Trace parses a sentence as [Parser.Parse] does and returns what every word did. On
// an error the trace holds the words before it.
func (p *Parser) Trace(sentence string) (*Trace, error) {
	t := &Trace{}
	m, err := p.parse(sentence, true)
	if m != nil {
		t.Steps, t.Dependencies = m.steps, m.out
	}
	return t, err
}

// note keeps what a word did, if that is wanted.
func (m *hearing) note(word string) {
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

// state reads what an area holds, from a copy of the brain.
func (m *hearing) state(area string) (s State) {
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

// String writes a line per word: the open areas, the fibres that were active, and
// what every area holds as word/support.
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
